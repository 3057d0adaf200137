/** Miniflare's options, from the wrangler files alone. */
import path from "node:path";
import { convertV4MiniflareOptions } from "miniflare";
import {
  unstable_getMiniflareWorkerOptions as readOptions,
  unstable_readConfig as readConfig,
} from "wrangler";
import { aiBinding, aiWorker } from "./ai.mjs";
import { DOOR, doorWorker } from "./door.mjs";
import { workerModules } from "./modules.mjs";

// Of production's 128 MB an isolate, what is left when V8 has its own heap, code and buffers. It bounds the
// Wasm memory, of which Pyodide takes some 30 MB to begin with.
const HEAP_BYTES = 96 * 1024 * 1024;
const CPU_MS = 30_000; // production's, where a wrangler file says nothing

/**
 * @typedef {{path: string, vars?: Record<string, string>, ai?: boolean}} Source a wrangler file, overrides of
 *   its vars, and whether it gets the stand-in for Workers AI
 * @typedef {{heap_bytes?: number, cpu_ms?: number}} LimitOverrides
 * @typedef {{name: string, main: string, project: string, limits: object, options: any}} Worker
 */

/** @param {Source} source @param {LimitOverrides} [overrides] @returns {Worker} */
export function readWorker(source, overrides = {}) {
  const file = path.resolve(source.path);
  const { name, main, limits } = readConfig(
    { config: file },
    { hideWarnings: true },
  );
  // A file's own `ai` would ask the platform, and cost money.
  const { modulesRules, ai, ...options } = readOptions(file).workerOptions;
  options.bindings = { ...options.bindings, ...source.vars };
  if (source.ai)
    options.serviceBindings = { ...options.serviceBindings, ...aiBinding() };
  options.compatibilityFlags = hostFlags(options.compatibilityFlags);
  const heapBytes = overrides.heap_bytes ?? HEAP_BYTES;
  const cpuMs = overrides.cpu_ms ?? limits?.cpu_ms ?? CPU_MS;
  return {
    name,
    main,
    project: path.dirname(file),
    limits: { heapBytes, cpuMs },
    options,
  };
}

/** With Python's flag workerd would load the interpreter that it has to download. */
function hostFlags(flags) {
  return flags.filter((flag) => !flag.startsWith("python_"));
}

/** The named entrypoints that any of the wrangler files asks of this Worker. */
function namedClasses(worker, workers) {
  const names = new Set();
  for (const { name, options } of workers) {
    for (const flow of Object.values(options.workflows ?? {})) {
      if ((flow.scriptName ?? name) === worker.name) names.add(flow.className);
    }
    for (const binding of Object.values(options.serviceBindings ?? {})) {
      if (binding.name === worker.name && binding.entrypoint)
        names.add(binding.entrypoint);
    }
  }
  return [...names];
}

function hosted(worker, workers, snapshot) {
  const classes = namedClasses(worker, workers);
  return {
    ...worker.options,
    name: worker.name,
    modules: workerModules({ ...worker, classes }, snapshot),
    unsafeEvalBinding: "UNSAFE_EVAL",
  };
}

/**
 * @param {Worker[]} workers the first answers HTTP requests
 * @param {Settings} settings
 * @typedef {{host: string, port: number, state: string | null, snapshot: Buffer, models?: object, onLog: (log: object) => void}} Settings
 */
export function miniflareOptions(
  workers,
  { host, port, state, snapshot, models, onLog },
) {
  const options = convertV4MiniflareOptions({
    host,
    port,
    handleStructuredLogs: onLog,
    workers: [
      ...workers.map((worker) => hosted(worker, workers, snapshot)),
      doorWorker(workers),
      ...(models ? [aiWorker(models)] : []),
    ],
  });
  if (state) options.resourcePersistencePath = state;
  return options;
}
