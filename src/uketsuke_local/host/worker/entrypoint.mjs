/** JavaScript classes that workerd can call, one for each Python entrypoint class. */
import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { record } from "./deliveries.mjs";
import { asEvent } from "./event.mjs";
import { guardBatch, reportCpu } from "./limits.mjs";
import { writeError } from "./log.mjs";

/**
 * @typedef {{alive: () => Interpreter, afterEvent: (python: Interpreter) => Promise<void>}} Isolate
 *   the interpreter for a new event, and what is checked after one
 * @typedef {import("./interpreter.mjs").Interpreter} Interpreter
 */

/** @param {Isolate} isolate @param {string} className */
export function makeEntrypoint(isolate, className) {
  const kind = isolate.alive().kinds[className];
  if (kind === "WorkerEntrypoint") return makeWorker(isolate, className);
  if (kind === "WorkflowEntrypoint") return makeWorkflow(isolate, className);
  throw new Error(
    `the main module has no entrypoint class ${className} that this host can run`,
  );
}

/** Any method name may be called over RPC, so a proxy answers for the class. */
function makeWorker(isolate, className) {
  return class extends WorkerEntrypoint {
    constructor(ctx, env) {
      super(ctx, env);
      return new Proxy(this, {
        get: (self, name) => method(isolate, className, self, name),
      });
    }
    // workerd looks for these on the class before it sends an event.
    fetch() {}
    queue() {}
    scheduled() {}
  };
}

function isExposed(name) {
  return typeof name === "string" && name !== "then" && !name.startsWith("_");
}

function method(isolate, className, self, name) {
  if (!isExposed(name) || name in Object.prototype) return self[name];
  return (...args) =>
    run(isolate, name, async (python) => {
      const instance = await python.instantiate(className, self.ctx, self.env);
      return python.invoke(instance, name, argumentsOf(name, args));
    });
}

/** The platform calls these with three arguments, of which the last two, env and ctx, are undefined. */
function argumentsOf(name, args) {
  if (name === "queue") {
    guardBatch(args[0]);
    record(args[0]);
  }
  return name === "queue" || name === "scheduled"
    ? [args[0], undefined, undefined]
    : args;
}

function makeWorkflow(isolate, className) {
  return class extends WorkflowEntrypoint {
    run(event, step) {
      return run(isolate, "run", async (python) => {
        const instance = await python.instantiate(
          className,
          this.ctx,
          this.env,
        );
        return python.runWorkflow(instance, event, step);
      });
    }
  };
}

/** Run one event: it ends with its interpreter, its failure is told, its cost is measured. */
function run(isolate, name, work) {
  return asEvent(name, async (event) => {
    const python = isolate.alive();
    try {
      return await python.untilDeath(work(python));
    } catch (error) {
      // workerd shows what a fetch raises; of the others nobody else would ever hear.
      if (name !== "fetch")
        writeError(`Uncaught in ${name}: ${error?.message ?? error}`);
      throw error;
    } finally {
      reportCpu(event);
      await isolate.afterEvent(python);
    }
  });
}
