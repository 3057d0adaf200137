/** One Python interpreter, from its start to its death. */
import * as cloudflareSockets from "cloudflare:sockets";
import { WorkerEntrypoint } from "cloudflare:workers";
import { beginLife } from "./globals.mjs";
import { Heap } from "./heap.mjs";
import hostSource from "./host.py";
import { mount } from "./mount.mjs";
import { load } from "./pyodide.mjs";
import { waitUntilFor } from "./wait_until.mjs";

const PROMISING = { promising: true };

/** The compatibility flags that the SDK asks for; both follow from the compatibility date. */
const COMPATIBILITY = {
  python_workflows_implicit_dependencies: true,
  python_request_headers_preserve_commas: true,
};

export class Interpreter {
  /**
   * Start one and import the Worker's main module. Awaits nothing but microtasks: it works at global scope,
   * and nothing else runs meanwhile.
   * @param {string} main the name of the main module
   * @param {() => void} onFatal called when the interpreter itself has failed and can run nothing any more
   */
  static async boot(main, onFatal) {
    const interpreter = new Interpreter(beginLife());
    await interpreter.#start(main, onFatal);
    return interpreter;
  }

  #life;
  #python;
  #host;
  #module;
  #woken = false;
  #broken = false;
  /** What ends with this interpreter: how to reject each. */
  #running = new Set();

  constructor(life) {
    this.#life = life;
  }

  async #start(main, onFatal) {
    this.#python = await load();
    this.#python._api.on_fatal = () => {
      this.#broken = true;
      queueMicrotask(onFatal);
    };
    mount(this.#python.FS);
    this.#provideModules();
    this.#host = this.#importHost();
    this.#host.prepare();
    this.#life.phase = "importing";
    this.#module = await this.#host.import_main.callWithOptions(
      PROMISING,
      main,
    );
    /** @type {Record<string, string>} each entrypoint class and its kind */
    this.kinds = this.#host
      .entrypoints(this.#module)
      .toJs({ dict_converter: Object.fromEntries });
    this.heap = new Heap(this.#python._module);
    this.#life.phase = "running";
  }

  #provideModules() {
    const { patchWaitUntil, cloudflareWorkersModule } = waitUntilFor((work) =>
      this.untilDeath(work),
    );
    this.#python.registerJsModule("_cloudflare_compat_flags", COMPATIBILITY);
    this.#python.registerJsModule("_pyodide_entrypoint_helper", {
      doAnImport: (name) => import(name),
      cloudflareWorkersModule,
      cloudflareSocketsModule: cloudflareSockets,
      workerEntrypoint: WorkerEntrypoint,
      patchWaitUntil,
    });
  }

  #importHost() {
    const folder = this.#python.runPython(
      "import sysconfig; sysconfig.get_path('purelib')",
    );
    this.#python.FS.writeFile(`${folder}/_uketsuke_host.py`, hostSource);
    // The clock stands still: a folder's time does not tell Python that it has changed.
    this.#python.runPython("import importlib; importlib.invalidate_caches()");
    return this.#python.pyimport("_uketsuke_host");
  }

  /** Make an instance, as the platform does for each event. */
  instantiate(className, ctx, env) {
    this.#wake();
    return this.#module[className].callWithOptions(PROMISING, ctx, env);
  }

  /** Randomness exists from the first event on: Python's generators are seeded then. */
  #wake() {
    if (this.#woken) return;
    this.#woken = true;
    this.#host.begin_requests();
  }

  /** Call a method; arguments and result are converted as over RPC. `fetch` takes as many as it likes. */
  invoke(instance, method, args) {
    const relaxed = method === "fetch";
    return this.#host.invoke.callWithOptions(
      PROMISING,
      relaxed,
      instance,
      method,
      ...args,
    );
  }

  /** Call a Workflow's run, whose conversions are the SDK's own. */
  runWorkflow(instance, event, step) {
    return instance.run.callWithOptions(
      { relaxed: true, promising: true },
      event,
      step,
    );
  }

  /** The same promise, except that it fails when this interpreter dies. */
  untilDeath(work) {
    return new Promise((resolve, reject) => {
      this.#running.add(reject);
      work.then(resolve, reject).finally(() => this.#running.delete(reject));
    });
  }

  /**
   * Die with everything that runs. The events fail, so that workerd ends their timers, fetches and binding
   * calls; whatever could still come back finds a loop that schedules nothing.
   */
  kill(reason) {
    this.#life.dead = true;
    if (!this.#broken) this.#host.stop_scheduling();
    for (const reject of this.#running) reject(new Error(reason));
    this.#running.clear();
  }
}
