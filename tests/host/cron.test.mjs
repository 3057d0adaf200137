/** When crons fire: expressions, and the minutes after the first time. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  cronMatcher,
  startCrons,
} from "../../src/uketsuke_local/host/node/cron.mjs";

const SUNDAY = new Date("2026-11-29T10:30:00Z");

for (const [expression, matches] of [
  ["* * * * *", true],
  ["30 10 * * *", true],
  ["31 10 * * *", false],
  ["*/15 * * * *", true],
  ["*/7 * * * *", false],
  ["0-30/10 8-12 * * *", true],
  ["5,30 * 29 11 *", true],
  ["* * * 12 *", false],
  ["* * * * 1", true],
  ["* * * * 2-7", false],
]) {
  test(`${expression} ${matches ? "matches" : "does not match"} ${SUNDAY.toUTCString()}`, () => {
    assert.equal(cronMatcher(expression)(SUNDAY), matches);
  });
}

for (const expression of ["* * * *", "MON * * * *", "1-x * * * *"]) {
  test(`${expression} is refused when the host starts`, () => {
    assert.throws(() => cronMatcher(expression), /cron/);
  });
}

test("all fire at once, then each at the minutes it matches, until stopped", (t) => {
  t.mock.timers.enable({
    apis: ["setTimeout", "Date"],
    now: new Date("2026-11-29T10:29:30Z").getTime(),
  });
  const fired = [];
  const stop = startCrons(
    [
      { worker: "a", cron: "* * * * *" },
      { worker: "b", cron: "31 * * * *" },
    ],
    (worker, cron, time) =>
      fired.push(`${worker} ${time.toISOString().slice(14, 19)}`),
  );
  t.mock.timers.tick(30_000);
  t.mock.timers.tick(60_000);
  stop();
  t.mock.timers.tick(60_000);

  assert.deepEqual(fired, [
    "a 29:30",
    "b 29:30",
    "a 30:00",
    "a 31:00",
    "b 31:00",
  ]);
});
