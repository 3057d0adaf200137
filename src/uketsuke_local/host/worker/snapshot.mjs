/** The Worker that makes the snapshot: an interpreter with what most Python imports, and its memory. */
import { load } from "./pyodide.mjs";
import preload from "./preload.py";

const python = await load();
python.runPython(preload);

export default {
  fetch() {
    return new Response(python.makeMemorySnapshot());
  },
};
