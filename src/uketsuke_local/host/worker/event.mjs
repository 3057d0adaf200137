/**
 * The event that runs: what its Python cost, by adding up the stretches in which Python had the thread.
 *
 * There is no CPU clock inside an isolate. All of asyncio's steps enter Python through a promising export
 * (wasm.mjs), so timing those calls sees an event's Python, except what follows a wait of synchronous code
 * (`time.sleep`) within the same step. Async context tells whose step it is.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage();

/** @typedef {{name: string, cpuMs: number}} Event */

/**
 * Run `work` as an event of its own.
 * @template T
 * @param {string} name
 * @param {(event: Event) => Promise<T>} work
 */
export function asEvent(name, work) {
  const event = { name, cpuMs: 0 };
  return current.run(event, () => work(event));
}

/** Call `step` now and put its time on the event it belongs to. */
export function timed(step) {
  const event = current.getStore();
  if (!event) return step();
  const from = performance.now();
  try {
    return step();
  } finally {
    event.cpuMs += performance.now() - from;
  }
}
