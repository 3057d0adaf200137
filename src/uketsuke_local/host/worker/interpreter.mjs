/** One Python interpreter: loaded, its files mounted, the Worker's main module imported. */
import { disguise, undisguise } from "./prelude.mjs";
import { enter } from "./globals.mjs";
import * as cloudflareWorkers from "cloudflare:workers";
import * as cloudflareSockets from "cloudflare:sockets";
import { loadPyodide } from "./pyodide/pyodide.mjs";
import createPyodideModule from "./pyodide/pyodide.asm.mjs";
import stdlib from "./pyodide/python_stdlib.zip";
import lock from "./pyodide/lock.json";
import hostSource from "./host.py";
import { mount } from "./mount.mjs";
import { cloudflareWorkersModule, patchWaitUntil } from "./wait_until.mjs";
import { writeError, writeOut } from "./log.mjs";

const BASE = "http://pyodide.invalid/";
const PROMISING = { promising: true };

/** The compatibility flags that the SDK asks for; all follow from the compatibility date. */
const COMPATIBILITY = {
  python_workflows_implicit_dependencies: true,
  python_request_headers_preserve_commas: true,
};

async function load() {
  disguise();
  globalThis.fetch = async () => ({ ok: true, arrayBuffer: async () => stdlib });
  try {
    return await loadPyodide({
      createPyodideModule,
      lockFileContents: JSON.parse(lock),
      indexURL: BASE,
      packageBaseUrl: BASE,
      stdLibURL: `${BASE}python_stdlib.zip`,
      env: { HOME: "/", PYTHONHASHSEED: "111" },
      stdout: writeOut,
      stderr: writeError,
    });
  } finally {
    undisguise(); // before user code: the SDK keeps the `fetch` that it sees at import
  }
}

function provideRuntimeModules(python) {
  python.registerJsModule("_cloudflare_compat_flags", COMPATIBILITY);
  python.registerJsModule("_pyodide_entrypoint_helper", {
    doAnImport: (name) => import(name),
    cloudflareWorkersModule,
    cloudflareSocketsModule: cloudflareSockets,
    workerEntrypoint: cloudflareWorkers.WorkerEntrypoint,
    patchWaitUntil,
  });
}

function loadHostModule(python) {
  const path = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  python.FS.writeFile(`${path}/_uketsuke_host.py`, hostSource);
  python.runPython("import importlib; importlib.invalidate_caches()"); // the clock stands still
  return python.pyimport("_uketsuke_host");
}

export class Interpreter {
  /** @param {string} main the name of the Worker's main module */
  static async boot(main) {
    enter("loading");
    const python = await load();
    mount(python.FS);
    provideRuntimeModules(python);
    const host = loadHostModule(python);
    host.prepare();
    enter("importing");
    const module = await host.import_main.callWithOptions(PROMISING, main);
    enter("running");
    return new Interpreter(python, host, module);
  }

  constructor(python, host, module) {
    this.python = python;
    this.host = host;
    this.module = module;
    this.kinds = host.entrypoints(module).toJs({ dict_converter: Object.fromEntries });
    this.fresh = true;
  }

  /** Randomness exists from the first event on: Python's generators are seeded then. */
  wake() {
    if (!this.fresh) return;
    this.fresh = false;
    this.host.begin_requests();
  }

  instantiate(className, ctx, env) {
    this.wake();
    return this.module[className].callWithOptions(PROMISING, ctx, env);
  }

  /** Call a method as the platform does: arguments and result cross as over RPC. */
  invoke(instance, method, args) {
    return this.host.invoke.callWithOptions(PROMISING, method === "fetch", instance, method, ...args);
  }

  run(instance, event, step) {
    return instance.run.callWithOptions({ relaxed: true, promising: true }, event, step);
  }
}
