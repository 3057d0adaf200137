/**
 * The Node side of the local stack: reads one JSON line of configuration from stdin, runs the Workers,
 * prints one JSON event a line, and ends with its parent.
 */
import { createInterface } from "node:readline";
import { Miniflare } from "miniflare";
import { BadRequest, startControl } from "./node/control.mjs";
import { migrate, runBatch } from "./node/database.mjs";
import { emit, emitLog } from "./node/events.mjs";
import { DOOR, miniflareOptions, readWorker } from "./node/options.mjs";

/** The parent's configuration; when stdin ends, so does this process. */
async function configuration() {
  const lines = createInterface({ input: process.stdin });
  const first = await new Promise((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve("null"));
  });
  lines.once("close", () => stop(0));
  return JSON.parse(first);
}

let miniflare;
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

async function call(worker, method, ...args) {
  const door = await miniflare.getWorker(DOOR);
  const body = JSON.stringify({ worker, method, args });
  const response = await door.fetch("http://door/", { method: "POST", body });
  if (!response.ok) throw new Error(`${worker}: ${await response.text()}`);
  return response.json();
}

async function refuseFailed(worker) {
  const failure = await call(worker, "failure");
  if (failure) throw new Error(`${worker} could not start:\n${failure}`);
}

async function run(config) {
  const workers = config.workers.map(readWorker);
  const { host, port, state } = config;
  miniflare = new Miniflare(miniflareOptions(workers, { host, port, state, onLog: emitLog }));
  const url = await miniflare.ready;
  for (const { name } of workers) await refuseFailed(name);
  const db = await miniflare.getD1Database("DB", workers[0].name);
  await migrate(db, config.migrations);
  await runBatch(db, config.seed ?? []);
  const control = await startControl({ ...config.control, routes: routes(db) });
  emit("ready", { url: url.origin, control_url: control.url });
}

function routes(db) {
  return {
    "POST /d1": async ({ batch }) => {
      try {
        const answers = await runBatch(db, batch);
        return answers.map(({ results, meta }) => ({ results, meta }));
      } catch (error) {
        throw new BadRequest(error.message);
      }
    },
  };
}

for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop(0));

try {
  await run(await configuration());
} catch (error) {
  emit("error", { message: error.message, code: error.code ?? null });
  await stop(1);
}
