/** Crons that fire by themselves: once when ready, then at each minute that an expression matches. */

const FIELDS = [
  { name: "minute", from: 0, to: 59, of: (time) => time.getUTCMinutes() },
  { name: "hour", from: 0, to: 23, of: (time) => time.getUTCHours() },
  { name: "day", from: 1, to: 31, of: (time) => time.getUTCDate() },
  { name: "month", from: 1, to: 12, of: (time) => time.getUTCMonth() + 1 },
  { name: "weekday", from: 1, to: 7, of: (time) => time.getUTCDay() + 1 }, // Cloudflare: 1 is Sunday
];

const MINUTE_MS = 60_000;

/**
 * A predicate of a time, for numbers, `*`, lists, ranges and steps.
 * @param {string} expression
 * @returns {(time: Date) => boolean}
 */
export function cronMatcher(expression) {
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    throw new Error(`cron "${expression}": five fields are needed`);
  const allowed = parts.map((part, index) =>
    values(part, FIELDS[index], expression),
  );
  return (time) =>
    FIELDS.every(({ of }, index) => allowed[index].has(of(time)));
}

function values(part, field, expression) {
  const found = new Set();
  for (const item of part.split(",")) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(item);
    if (!match)
      throw new Error(
        `cron "${expression}": the ${field.name} field is not understood`,
      );
    const [, first, last, step] = match;
    const from = first === undefined ? field.from : Number(first);
    const to = Number(last ?? (first === undefined || step ? field.to : first));
    for (let value = from; value <= to; value += Number(step ?? 1))
      found.add(value);
  }
  return found;
}

/**
 * @param {{worker: string, cron: string}[]} crons
 * @param {(worker: string, cron: string, time: Date) => void} fire
 * @returns {() => void} what stops them
 */
export function startCrons(crons, fire) {
  const armed = crons.map((entry) => ({
    ...entry,
    matches: cronMatcher(entry.cron),
  }));
  let timer;
  const fireAll = (due) => {
    const now = new Date();
    for (const { worker, cron } of armed.filter(({ matches }) =>
      due(matches, now),
    )) {
      fire(worker, cron, now);
    }
    timer = setTimeout(
      fireAll,
      MINUTE_MS - (Date.now() % MINUTE_MS),
      (matches, time) => matches(time),
    );
  };
  fireAll(() => true);
  return () => clearTimeout(timer);
}
