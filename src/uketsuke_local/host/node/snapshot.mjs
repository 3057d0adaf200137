/**
 * A snapshot of the interpreter's memory after its own start. It takes seconds to make, so it is kept in a
 * folder; it is made inside workerd, by the modules that load it, so that it fits them.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { Miniflare, convertV4MiniflareOptions } from "miniflare";
import { interpreterModules } from "./modules.mjs";

/** @param {string} folder where it is kept @returns {Promise<Buffer>} */
export async function readSnapshot(folder) {
  const modules = interpreterModules("snapshot", Buffer.alloc(0));
  const file = path.join(folder, `pyodide-${fingerprint(modules)}.snapshot`);
  const kept = read(file);
  if (kept) return kept;
  const made = await make(modules);
  store(file, made);
  return made;
}

function read(file) {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

function fingerprint(modules) {
  const hash = createHash("sha256");
  for (const { path: name, contents } of modules)
    hash.update(name).update(contents);
  return hash.digest("hex").slice(0, 16);
}

async function make(modules) {
  const entry = {
    type: "ESModule",
    path: "main.mjs",
    contents: `export { default } from "./snapshot.mjs";`,
  };
  const options = convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: 0,
    workers: [
      {
        name: "snapshot",
        compatibilityDate: "2026-11-01",
        unsafeEvalBinding: "UNSAFE_EVAL",
        modules: [entry, ...modules],
      },
    ],
  });
  const miniflare = new Miniflare(options);
  try {
    const response = await miniflare.dispatchFetch("http://snapshot/");
    if (!response.ok) throw new Error(`no snapshot: ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  } finally {
    await miniflare.dispose();
  }
}

/** Whole or not at all: several stacks may start at once. Those of other versions go. */
function store(file, contents) {
  const folder = path.dirname(file);
  fs.mkdirSync(folder, { recursive: true });
  for (const name of fs.readdirSync(folder)) {
    if (name.endsWith(".snapshot"))
      fs.rmSync(path.join(folder, name), { force: true });
  }
  const scratch = `${file}.${process.pid}`;
  fs.writeFileSync(scratch, contents);
  fs.renameSync(scratch, file);
}
