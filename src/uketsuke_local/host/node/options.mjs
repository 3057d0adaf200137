/** Miniflare's options, from the wrangler files alone. */
import path from "node:path";
import { convertV4MiniflareOptions } from "miniflare";
import {
  unstable_getMiniflareWorkerOptions as readOptions,
  unstable_readConfig as readConfig,
} from "wrangler";
import { workerModules } from "./modules.mjs";

const UNSAFE_EVAL = "UNSAFE_EVAL";

/**
 * @typedef {{path: string, vars?: Record<string, string>}} Source a wrangler file, and overrides of its vars
 * @typedef {{name: string, main: string, project: string, options: any}} Worker
 */

/** @param {Source} source @returns {Worker} */
export function readWorker(source) {
  const file = path.resolve(source.path);
  const { name, main } = readConfig({ config: file }, { hideWarnings: true });
  const { modulesRules, ...options } = readOptions(file).workerOptions;
  // With this flag workerd would load the interpreter that it has to download.
  options.compatibilityFlags = options.compatibilityFlags.filter((flag) => !/^python_/.test(flag));
  options.bindings = { ...options.bindings, ...source.vars };
  return { name, main, project: path.dirname(file), options };
}

/** The named entrypoints that any of the wrangler files asks of this Worker. */
function namedClasses(worker, workers) {
  const names = new Set();
  for (const { name, options } of workers) {
    for (const flow of Object.values(options.workflows ?? {})) {
      if ((flow.scriptName ?? name) === worker.name) names.add(flow.className);
    }
    for (const binding of Object.values(options.serviceBindings ?? {})) {
      if (binding.name === worker.name && binding.entrypoint) names.add(binding.entrypoint);
    }
  }
  return [...names];
}

function hosted(worker, workers) {
  const classes = namedClasses(worker, workers);
  return {
    ...worker.options,
    name: worker.name,
    modules: workerModules({ ...worker, classes }),
    unsafeEvalBinding: UNSAFE_EVAL,
  };
}

/** The Node side's door to each Worker's HostControl. */
function doorWorker(workers) {
  const bindings = workers.map(({ name }) => [name, { name, entrypoint: "HostControl" }]);
  const script = `export default { async fetch(request, env) {
    const { worker, method, args } = await request.json();
    return Response.json((await env[worker][method](...args)) ?? null);
  } }`;
  return {
    name: DOOR,
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule", path: "door.mjs", contents: script }],
    serviceBindings: Object.fromEntries(bindings),
  };
}

export const DOOR = "uketsuke-host-door";

/**
 * @param {Worker[]} workers the first answers HTTP requests
 * @param {{host: string, port: number, state: string | null, onLog: (log: object) => void}} settings
 */
export function miniflareOptions(workers, { host, port, state, onLog }) {
  const options = convertV4MiniflareOptions({
    host,
    port,
    handleStructuredLogs: onLog,
    workers: [...workers.map((worker) => hosted(worker, workers)), doorWorker(workers)],
  });
  if (state) options.resourcePersistencePath = state;
  return options;
}
