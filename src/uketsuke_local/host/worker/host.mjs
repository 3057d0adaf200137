/** What the generated entry exports: classes made while the Worker is at global scope. */
import { WorkerEntrypoint, WorkflowEntrypoint, env } from "cloudflare:workers";
import { deliveries } from "./deliveries.mjs";
import { onDoom, orderDoom } from "./doom.mjs";
import { makeEntrypoint } from "./entrypoint.mjs";
import { Interpreter } from "./interpreter.mjs";
import { guardProducers } from "./limits.mjs";
import { writeError } from "./log.mjs";
import settings from "./settings.mjs";

let interpreter = null;
let failure = null;
let deaths = 0;

const isolate = {
  alive() {
    if (interpreter === null) throw new Error(failure);
    return interpreter;
  },

  /** Production destroys an isolate that takes too much memory, with all its events. */
  async afterEvent(python) {
    python.heap.measure();
    const { memory } = python.heap;
    if (python !== interpreter || memory <= settings.heapBytes) return;
    const reason = `The Worker exceeded its memory limit: ${memory} bytes of ${settings.heapBytes}`;
    await replace(reason);
    throw new Error(reason);
  },
};

/**
 * Boot where workerd's own rules for start-up hold: no randomness, no timers, no I/O, a clock at 1970.
 *
 * A failure is kept for the Node side, which ends the start with it: thrown here, it would drown in
 * workerd's complaints about missing exports.
 */
export async function start() {
  guardProducers();
  onDoom(replace);
  await boot();
  if (failure === null) return { defaultEntrypoint, entrypoint };
  return {
    defaultEntrypoint: () => WorkerEntrypoint,
    entrypoint: () => WorkflowEntrypoint,
  };
}

async function boot() {
  interpreter = null;
  try {
    interpreter = await Interpreter.boot(settings.main, onFatal);
  } catch (error) {
    failure = String(error?.message ?? error);
  }
}

function entrypoint(className) {
  return makeEntrypoint(isolate, className);
}

function defaultEntrypoint() {
  return "Default" in interpreter.kinds ? entrypoint("Default") : {};
}

function onFatal() {
  if (interpreter === null) return; // it never came up: boot tells why
  replace("The Python interpreter failed fatally.");
}

async function replace(reason) {
  deaths += 1;
  writeError(reason);
  interpreter.kill(reason);
  await boot();
}

/** The Node side's way in. */
export class HostControl extends WorkerEntrypoint {
  /** What kept the Worker from starting, or null. */
  failure() {
    return failure;
  }

  deliveries(queue) {
    return deliveries(queue);
  }

  heap() {
    return { ...interpreter.heap.report(), deaths };
  }

  /** As when an isolate dies: nothing of the interpreter goes on, and the next event finds a fresh one. */
  async kill() {
    await replace("The isolate was destroyed by order.");
    return { deaths };
  }

  /** The same, at the next calls that the Worker makes with certain headers. */
  killAt(order) {
    orderDoom(order);
  }

  async workflow({ binding, id, action, event }) {
    const instance = await env[binding].get(id);
    if (action === "status") return instance.status();
    if (action === "terminate") return instance.terminate();
    if (action === "send_event") return instance.sendEvent(event);
    throw new TypeError(`${action} is not status, terminate or send_event`);
  }
}
