/** The Node side's way to each Worker's HostControl: a Worker that is bound to all of them. */
export const DOOR = "uketsuke-host-door";

const SCRIPT = `export default {
  async fetch(request, env) {
    const { worker, method, args } = await request.json();
    try {
      return Response.json((await env[worker][method](...args)) ?? null);
    } catch (error) {
      return Response.json(error.message, { status: 400 });
    }
  },
};`;

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
  };
}

/** Call a method of a Worker's HostControl. */
export async function callHost(miniflare, worker, method, ...args) {
  const door = await miniflare.getWorker(DOOR);
  const body = JSON.stringify({ worker, method, args });
  const response = await door.fetch("http://door/", { method: "POST", body });
  const answer = await response.json();
  if (!response.ok) throw new RefusedByWorker(answer);
  return answer;
}
