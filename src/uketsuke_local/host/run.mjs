/**
 * The Node side of the local stack: reads one JSON line of configuration from stdin, runs the Workers,
 * prints one JSON event a line, and ends when its stdin ends, that is with its parent.
 *
 * Configuration: `workers` [{path, vars, ai}] (the first answers HTTP), `models` {base_url, api_key}, `host`, `port`, `state` (folder),
 * `cache` (folder), `migrations` (folder), `seed` [{sql, params}], `control` {token, port}, `crons` (fire by themselves),
 * `limits` {heap_bytes, cpu_ms}.
 */
import fs from "node:fs";
import { createInterface } from "node:readline";
import { Miniflare } from "miniflare";
import { startControl } from "./node/control.mjs";
import { startCrons } from "./node/cron.mjs";
import { migrate } from "./node/database.mjs";
import { callHost, runBatch } from "./node/door.mjs";
import { emit, emitLog } from "./node/events.mjs";
import { miniflareOptions, readWorker } from "./node/options.mjs";
import { readSnapshot } from "./node/snapshot.mjs";
import { controlRoutes, fireCron } from "./node/routes.mjs";

let miniflare = null;
let stopping = false;

async function stop(code) {
  if (stopping) return;
  stopping = true;
  try {
    await miniflare?.dispose();
  } finally {
    process.exit(code);
  }
}

async function configuration() {
  const lines = createInterface({ input: process.stdin });
  lines.once("close", () => stop(0));
  const [first] = await new Promise((resolve) =>
    lines.once("line", (line) => resolve([line])),
  );
  return JSON.parse(first);
}

async function refuseFailedStart({ name, main }) {
  const failure = await callHost(miniflare, name, "failure");
  if (failure) throw new Error(`${name} could not start: ${main}\n${failure}`);
}

async function prepareDatabase({ options }, { migrations, seed = [] }) {
  if (!("DB" in (options.d1Databases ?? {}))) return;
  await migrate(miniflare, migrations);
  await runBatch(miniflare, seed);
}

function fireCrons(workers) {
  const crons = workers.flatMap(({ name, options }) =>
    (options.cronTriggers ?? []).map((cron) => ({ worker: name, cron })),
  );
  startCrons(crons, (worker, cron, time) => {
    fireCron(miniflare, { name: worker }, cron, time).catch((error) => {
      if (!stopping)
        emit("log", {
          worker,
          level: "error",
          line: `cron ${cron}: ${error.message}`,
        });
    });
  });
}

/** Tell the parent which processes are ours, in case we are killed before we can end them. */
function tellChildren() {
  const list = `/proc/${process.pid}/task/${process.pid}/children`;
  if (!fs.existsSync(list)) return; // not Linux
  const pids = fs
    .readFileSync(list, "utf8")
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  for (const pid of pids) emit("workerd", { pid: Number(pid) });
}

async function run(config) {
  const workers = config.workers.map((source) =>
    readWorker(source, config.limits),
  );
  const snapshot = await readSnapshot(config.cache);
  const options = miniflareOptions(workers, {
    ...config,
    snapshot,
    onLog: emitLog,
  });
  miniflare = new Miniflare(options);
  const url = await miniflare.ready;
  tellChildren();
  for (const worker of workers) await refuseFailedStart(worker);
  await prepareDatabase(workers[0], config);
  const control = await startControl({
    ...config.control,
    routes: controlRoutes(miniflare, workers),
  });
  emit("ready", { url: url.origin, control_url: control.url });
  if (config.crons) fireCrons(workers);
}

process.stdout.on("error", () => stop(0)); // nobody reads: the parent is gone
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop(0));

try {
  await run(await configuration());
} catch (error) {
  if (!stopping)
    emit("error", { message: error.message, code: error.code ?? null });
  await stop(1);
}
