/**
 * The globals that behave otherwise while a Worker starts, as the platform's own Python start-up has them.
 *
 * workerd itself refuses timers, fetch and randomness at global scope, and stops the clock; here is only
 * what Pyodide needs to get through its own loading in spite of that.
 */
const EIO = 29; // what os.urandom then raises, as in production

/** loading: Pyodide's own start; importing: user code at global scope; running: events. */
let phase = "loading";

/** @param {"loading" | "importing" | "running"} next */
export function enter(next) {
  phase = next;
}

const nativeRandom = crypto.getRandomValues.bind(crypto);

crypto.getRandomValues = (array) => {
  if (phase === "running") return nativeRandom(array);
  if (phase === "loading") return array.fill(43); // hash seeds; Python's generators are seeded anew later
  throw Object.assign(new Error("Randomness is not allowed while a Worker is starting"), {
    name: "ErrnoError",
    errno: EIO,
  });
};

const nativeTimeout = globalThis.setTimeout;

// "As soon as possible" stays inside the event that asks for it, and is possible at global scope.
globalThis.setTimeout = (callback, delay, ...rest) => {
  if (delay || typeof callback !== "function") return nativeTimeout(callback, delay, ...rest);
  queueMicrotask(() => callback(...rest));
  return 0;
};
