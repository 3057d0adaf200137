/**
 * The globals that behave otherwise while a Worker starts, and after its interpreter has died.
 *
 * At global scope workerd itself refuses timers, fetch and randomness, and stops the clock; here is only
 * what Pyodide needs to get through its own loading in spite of that, and what holds for an interpreter
 * that is started again later, inside an event.
 */
import { dieAtCall, isFatal } from "./doom.mjs";

const EIO = 29; // the errno that os.urandom then raises, as in production
const HASH_SEED = 43;

/** What the interpreter that is alive may do; a dead one's timers find `dead` set. */
let life = { phase: "loading", dead: false };

/** Begin the life of a new interpreter; the caller moves it through its phases, and ends it. */
export function beginLife() {
  life = { phase: "loading", dead: false };
  return life;
}

const nativeRandom = crypto.getRandomValues.bind(crypto);

crypto.getRandomValues = (array) => {
  if (life.phase === "running") return nativeRandom(array);
  if (life.phase === "loading") return array.fill(HASH_SEED); // Python's generators are seeded anew later
  throw Object.assign(
    new Error("Randomness is not allowed while a Worker is starting"),
    {
      name: "ErrnoError",
      errno: EIO,
    },
  );
};

for (const clock of [Date, performance]) {
  const nativeNow = clock.now.bind(clock);
  clock.now = () => (life.phase === "running" ? nativeNow() : 0);
}

/** workerd says this itself at global scope; here it is for an interpreter that starts inside an event. */
function refuseWhileStarting() {
  if (life.phase === "running") return;
  throw new Error(
    "Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting " +
      "a timeout, and generating random values are not allowed within global scope.",
  );
}

const nativeTimeout = globalThis.setTimeout;

globalThis.setTimeout = (callback, delay, ...rest) => {
  if (delay) refuseWhileStarting();
  if (typeof callback !== "function")
    return nativeTimeout(callback, delay, ...rest);
  const own = life;
  const step = () => {
    if (!own.dead) callback(...rest);
  };
  if (delay) return nativeTimeout(step, delay);
  queueMicrotask(step); // "as soon as possible" is possible at global scope, and stays inside its event
  return 0;
};

const nativeFetch = globalThis.fetch;

globalThis.fetch = (...args) => {
  refuseWhileStarting();
  return isFatal(...args) ? dieAtCall() : nativeFetch(...args);
};

const nativeUuid = crypto.randomUUID.bind(crypto);

crypto.randomUUID = () => {
  refuseWhileStarting();
  return nativeUuid();
};
