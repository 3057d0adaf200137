/** What the generated entry uses: start the interpreter at global scope, make the classes. */
import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { Interpreter } from "./interpreter.mjs";
import { makeEntrypoint } from "./entrypoint.mjs";

let interpreter;
let failure = null;

/**
 * Boot while the Worker is at global scope, where workerd's own rules for start-up hold.
 *
 * A failure is kept for the Node side, which ends the start with it: thrown here, it would be buried under
 * workerd's complaints about missing exports.
 */
export async function start(main) {
  try {
    interpreter = await Interpreter.boot(main);
    return { defaultEntrypoint, entrypoint };
  } catch (error) {
    failure = String(error?.message ?? error);
    return { defaultEntrypoint: () => WorkerEntrypoint, entrypoint: () => WorkflowEntrypoint };
  }
}

function defaultEntrypoint() {
  return "Default" in interpreter.kinds ? entrypoint("Default") : {};
}

function entrypoint(className) {
  return makeEntrypoint(() => interpreter, className);
}

/** The Node side's way in. */
export class HostControl extends WorkerEntrypoint {
  /** What kept the Worker from starting, or null. */
  failure() {
    return failure;
  }
}
