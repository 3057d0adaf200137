/** What the control server does, by route. */
import { BadRequest } from "./control.mjs";
import { callHost, RefusedByWorker, runBatch } from "./door.mjs";

/**
 * @param {import("miniflare").Miniflare} miniflare
 * @param {import("./options.mjs").Worker[]} workers
 */
export function controlRoutes(miniflare, workers) {
  const host = (worker, method, ...args) =>
    asked(callHost(miniflare, worker, method, ...args));
  return {
    "POST /d1": (body) => batch(miniflare, workers, body),
    "POST /queue": (body) =>
      deliver(miniflare, known(workers, body.worker), body),
    "POST /cron": ({ worker, cron }) =>
      fireCron(miniflare, known(workers, worker), cron),
    "GET /deliveries": ({ queue }) =>
      host(consumer(workers, queue), "deliveries", queue),
    "GET /heap": () => heaps(workers, host),
    "POST /kill": ({ worker, at }) =>
      at
        ? host(known(workers, worker).name, "killAt", at)
        : host(known(workers, worker).name, "kill"),
    "GET /r2": ({ prefix }) => objects(miniflare, workers, prefix),
    "POST /workflow": (body) =>
      host(owner(workers, "workflows", body.binding), "workflow", body),
  };
}

/** What the caller got wrong is told as such. */
async function asked(promise) {
  try {
    return await promise;
  } catch (error) {
    throw error instanceof RefusedByWorker
      ? new BadRequest(error.message)
      : error;
  }
}

function known(workers, name) {
  const worker = workers.find((each) => each.name === name);
  if (!worker) throw new BadRequest(`no Worker is named ${name}`);
  return worker;
}

/** The first Worker that has a binding of this kind, by this name if one is given. */
function owner(workers, kind, binding) {
  const found = workers.find(({ options }) => binding in (options[kind] ?? {}));
  if (!found)
    throw new BadRequest(`no Worker has ${binding} among its ${kind}`);
  return found.name;
}

function consumer(workers, queue) {
  const found = workers.find(
    ({ options }) => queue in (options.queueConsumers ?? {}),
  );
  if (!found) throw new BadRequest(`no Worker consumes ${queue}`);
  return found.name;
}

async function batch(miniflare, workers, { batch: statements }) {
  owner(workers, "d1Databases", "DB"); // or there is none
  return asked(runBatch(miniflare, statements));
}

async function deliver(miniflare, { name }, { queue, messages }) {
  const worker = await miniflare.getWorker(name);
  const batch = messages.map(({ id, timestamp, attempts, body }) => ({
    id,
    timestamp: timestamp === undefined ? new Date() : new Date(timestamp),
    attempts: attempts ?? 1,
    body,
  }));
  return worker.queue(queue, batch);
}

/** @returns {Promise<{outcome: string, noRetry: boolean}>} */
export async function fireCron(
  miniflare,
  { name },
  cron,
  scheduledTime = new Date(),
) {
  const worker = await miniflare.getWorker(name);
  return worker.scheduled({ cron, scheduledTime });
}

async function heaps(workers, host) {
  const reports = await Promise.all(
    workers.map(async ({ name }) => [name, await host(name, "heap")]),
  );
  return Object.fromEntries(reports);
}

async function objects(miniflare, workers, prefix = "") {
  const worker = workers.find(
    ({ options }) => Object.keys(options.r2Buckets ?? {}).length > 0,
  );
  if (!worker) throw new BadRequest("no Worker has an R2 bucket");
  const [binding] = Object.keys(worker.options.r2Buckets);
  const bucket = await miniflare.getR2Bucket(binding, worker.name);
  const found = [];
  let cursor;
  do {
    const page = await bucket.list({ prefix, cursor });
    found.push(...page.objects.map(({ key, size }) => ({ key, size })));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return found;
}
