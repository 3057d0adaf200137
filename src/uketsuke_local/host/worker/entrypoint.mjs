/** JavaScript classes that workerd can call, one for each Python entrypoint class. */
import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { writeError } from "./log.mjs";

const BASES = { WorkerEntrypoint, WorkflowEntrypoint };

/** @param {() => import("./interpreter.mjs").Interpreter} interpreter the one that is alive */
export function makeEntrypoint(interpreter, className) {
  const kind = interpreter().kinds[className];
  const Base = BASES[kind];
  if (!Base) throw new Error(`The Python module has no entrypoint class named ${className}.`);
  if (kind === "WorkflowEntrypoint") return makeWorkflow(interpreter, className);
  return class extends Base {
    constructor(ctx, env) {
      super(ctx, env);
      return new Proxy(this, methods(interpreter, className, ctx, env));
    }
    fetch() {} // what workerd looks for on the class; the proxy answers
    queue() {}
    scheduled() {}
  };
}

function methods(interpreter, className, ctx, env) {
  return {
    get(target, name) {
      if (typeof name !== "string" || name in Object.prototype || name === "then") return target[name];
      return (...args) => call(interpreter(), className, ctx, env, name, args);
    },
  };
}

async function call(python, className, ctx, env, name, args) {
  // env and ctx are on the instance; the platform passes these two parameters as undefined.
  const all = name === "queue" || name === "scheduled" ? [args[0], undefined, undefined] : args;
  return reported(name, async () => {
    const instance = await python.instantiate(className, ctx, env);
    return python.invoke(instance, name, all);
  });
}

function makeWorkflow(interpreter, className) {
  return class extends WorkflowEntrypoint {
    run(event, step) {
      return reported("run", async () => {
        const instance = await interpreter().instantiate(className, this.ctx, this.env);
        return interpreter().run(instance, event, step);
      });
    }
  };
}

async function reported(name, work) {
  try {
    return await work();
  } catch (error) {
    if (name !== "fetch") writeError(`Uncaught (in ${name}) ${error?.message ?? error}`);
    throw error;
  }
}
