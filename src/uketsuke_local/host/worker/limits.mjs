/** Production's limits that the simulators do not know: delays, memory, CPU. */
import { env } from "cloudflare:workers";
import settings from "./settings.mjs";
import { writeError } from "./log.mjs";

export const LONGEST_DELAY_SECONDS = 86_400;

function refuseLongDelay(options) {
  const seconds = options?.delaySeconds;
  if (seconds === undefined || seconds <= LONGEST_DELAY_SECONDS) return;
  const text = `delaySeconds is ${seconds}; the platform's limit is ${LONGEST_DELAY_SECONDS}`;
  writeError(text);
  throw new TypeError(text);
}

/** Replace methods of an object's class by ones that look at the delays first. */
function guard(object, methods) {
  const prototype = Object.getPrototypeOf(object);
  for (const [name, replace] of Object.entries(methods)) {
    const native = prototype[name];
    if (!native.guarded)
      prototype[name] = Object.assign(replace(native), { guarded: true });
  }
}

/** What fails when its promise is awaited. */
const sending = (delaysOf) => (native) =>
  async function (...args) {
    delaysOf(...args).forEach(refuseLongDelay);
    return native.apply(this, args);
  };

/** What fails at once. */
const retrying = (native) =>
  function (options) {
    refuseLongDelay(options);
    return native.call(this, options);
  };

/** The queues that this Worker sends to. */
export function guardProducers() {
  for (const binding of Object.values(env)) {
    if (binding?.constructor?.name !== "WorkerQueue") continue;
    guard(binding, {
      send: sending((_, options) => [options]),
      sendBatch: sending((messages, options) => [options, ...messages]),
    });
  }
}

/** A batch that this Worker is handed. */
export function guardBatch(batch) {
  guard(batch, { retryAll: retrying });
  if (batch.messages.length > 0) guard(batch.messages[0], { retry: retrying });
}

/** Report an event that took more CPU than the Worker's limit. */
export function reportCpu({ name, cpuMs }) {
  if (cpuMs <= settings.cpuMs) return;
  writeError(
    `The ${name} event used ${Math.round(cpuMs)} ms of CPU; the limit is ${settings.cpuMs} ms`,
  );
}
