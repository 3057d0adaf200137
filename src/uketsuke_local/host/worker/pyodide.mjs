/** Pyodide, loaded from the modules of this Worker instead of from the network. */
import { disguise, undisguise } from "./prelude.mjs";
import { loadPyodide } from "./pyodide/pyodide.mjs";
import createPyodideModule from "./pyodide/pyodide.asm.mjs";
import stdlib from "./pyodide/python_stdlib.zip";
import lock from "./pyodide/lock.json";
import snapshot from "./snapshot.bin";
import { writeError, writeOut } from "./log.mjs";

const BASE = "http://pyodide.invalid/";

/**
 * An interpreter as it starts in production: fixed hash seed, output by lines, and from a snapshot of its
 * memory, without which a start takes seconds. While that is made, `snapshot` is empty.
 */
export async function load() {
  const fromSnapshot = snapshot.byteLength > 0;
  disguise();
  globalThis.fetch = async () => ({
    ok: true,
    arrayBuffer: async () => stdlib,
  });
  try {
    return await loadPyodide({
      createPyodideModule,
      lockFileContents: JSON.parse(lock),
      indexURL: BASE,
      packageBaseUrl: BASE,
      stdLibURL: `${BASE}python_stdlib.zip`,
      env: { HOME: "/", PYTHONHASHSEED: "111" },
      stdout: writeOut,
      stderr: writeError,
      ...(fromSnapshot
        ? { _loadSnapshot: new Uint8Array(snapshot) }
        : { _makeSnapshot: true }),
    });
  } finally {
    undisguise(); // before user code: the SDK keeps the `fetch` that it sees at import
  }
}
