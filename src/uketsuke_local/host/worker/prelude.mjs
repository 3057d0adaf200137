/**
 * What Pyodide's modules must not see, and must see, while they load.
 *
 * Imported first, so it is evaluated before them: `process` would make them take workerd for Node, a
 * MessageChannel would run one request's Python under another request's context, and they resolve
 * URLs against `location`.
 */
import "./globals.mjs";
import "./wasm.mjs";

const NAMES = ["process", "MessageChannel", "location", "fetch"];
const seen = NAMES.map((name) => [
  name,
  Object.getOwnPropertyDescriptor(globalThis, name),
]);

/** Hide and define, before Pyodide is loaded. */
export function disguise() {
  globalThis.process = undefined;
  globalThis.MessageChannel = undefined;
  globalThis.location = new URL("http://pyodide.invalid/");
}

/** Give user code the globals that the platform has. */
export function undisguise() {
  for (const [name, descriptor] of seen) {
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else delete globalThis[name];
  }
}

disguise();
