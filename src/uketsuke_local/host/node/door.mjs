/**
 * The Node side's way into workerd: a Worker that is bound to each Worker's HostControl and to the database.
 *
 * Not by the bindings that Miniflare hands out: a call of theirs, such as `prepare`, blocks this process until
 * workerd answers. While it blocks it reads no log, and workerd stops where its pipe is full: both wait for ever.
 */
export const DOOR = "uketsuke-host-door";

const SCRIPT = `export default {
  async fetch(request, env) {
    const { worker, method, args, batch } = await request.json();
    try {
      const answer = batch ? await run(env.DB, batch) : await env[worker][method](...args);
      return Response.json(answer ?? null);
    } catch (error) {
      return Response.json(error.message, { status: 400 });
    }
  },
};

async function run(db, statements) {
  const prepared = statements.map(({ sql, params }) => db.prepare(sql).bind(...(params ?? [])));
  return (await db.batch(prepared)).map(({ results, meta }) => ({ results, meta }));
}`;

export class RefusedByWorker extends Error {}

export function doorWorker(workers) {
  const bindings = workers.map(({ name }) => [
    name,
    { name, entrypoint: "HostControl" },
  ]);
  return {
    name: DOOR,
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule", path: "door.mjs", contents: SCRIPT }],
    serviceBindings: Object.fromEntries(bindings),
    d1Databases: databaseOf(workers),
  };
}

/** The database that the Workers share, by the first that has it. */
function databaseOf(workers) {
  const owner = workers.find(
    ({ options }) => "DB" in (options.d1Databases ?? {}),
  );
  return owner ? { DB: owner.options.d1Databases.DB } : {};
}

/** Call a method of a Worker's HostControl. */
export async function callHost(miniflare, worker, method, ...args) {
  return ask(miniflare, { worker, method, args });
}

/**
 * Run statements on the database as one batch.
 * @param {{sql: string, params?: unknown[]}[]} batch
 * @returns {Promise<{results: object[], meta: object}[]>}
 */
export async function runBatch(miniflare, batch) {
  return batch.length === 0 ? [] : ask(miniflare, { batch });
}

async function ask(miniflare, question) {
  const door = await miniflare.getWorker(DOOR);
  const body = JSON.stringify(question);
  const response = await door.fetch("http://door/", { method: "POST", body });
  const answer = await response.json();
  if (!response.ok) throw new RefusedByWorker(answer);
  return answer;
}
