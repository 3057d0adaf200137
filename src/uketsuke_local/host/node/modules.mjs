/** The JavaScript Worker that carries a Python Worker: the host's modules, Pyodide, the Python files. */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { workerFiles } from "./files.mjs";

const require = createRequire(import.meta.url);
const HOST = path.join(import.meta.dirname, "..", "worker");

const pyodideFile = (name) =>
  fs.readFileSync(require.resolve(`pyodide/${name}`));

/**
 * @param {{name: string, main: string, project: string, classes: string[], limits: Limits}} worker
 * @typedef {{heapBytes: number, cpuMs: number}} Limits above which an event fails, or is reported
 * @returns Miniflare's list of modules, the entry first
 */
export function workerModules(worker) {
  return [
    { type: "ESModule", path: "main.mjs", contents: entry(worker.classes) },
    ...hostModules(),
    { type: "ESModule", path: "settings.mjs", contents: settings(worker) },
    ...pyodideModules(),
    ...treeModules(workerFiles(worker.main, worker.project)),
    ...sdkModules(worker.project),
  ];
}

/** Exports must be written out, so the entry is: one for each class that a wrangler file names. */
function entry(classes) {
  return [
    `import { start } from "./host.mjs";`,
    `const host = await start();`,
    `export default host.defaultEntrypoint();`,
    ...classes.map(
      (name) => `export const ${name} = host.entrypoint("${name}");`,
    ),
    `export { HostControl } from "./host.mjs";`,
  ].join("\n");
}

function settings({ name, main, limits }) {
  const values = { worker: name, main: path.basename(main, ".py"), ...limits };
  return `export default ${JSON.stringify(values)};`;
}

function hostModules() {
  return fs.readdirSync(HOST).map((name) => ({
    type: name.endsWith(".mjs") ? "ESModule" : "Text",
    path: name,
    contents: fs.readFileSync(path.join(HOST, name), "utf8"),
  }));
}

function pyodideModules() {
  const { info } = JSON.parse(pyodideFile("pyodide-lock.json"));
  const version = JSON.parse(pyodideFile("package.json")).version;
  const lock = { info: { ...info, version }, packages: {} }; // packages are vendored, never fetched
  const file = (type, name) => ({
    type,
    path: `pyodide/${name}`,
    contents: pyodideFile(name),
  });
  return [
    file("ESModule", "pyodide.mjs"),
    file("ESModule", "pyodide.asm.mjs"),
    file("CompiledWasm", "pyodide.asm.wasm"),
    file("Data", "python_stdlib.zip"),
    { type: "Text", path: "pyodide/lock.json", contents: JSON.stringify(lock) },
  ];
}

function treeModules(files) {
  const index = files.map(({ name, contents }) => [name, contents.length]);
  return [
    { type: "Text", path: "tree.json", contents: JSON.stringify(index) },
    {
      type: "Data",
      path: "tree.bin",
      contents: Buffer.concat(files.map((file) => file.contents)),
    },
  ];
}

/** The SDK imports JavaScript files of its own as modules; without them each Workflow run fails. */
function sdkModules(project) {
  const folder = path.join(project, "python_modules", "workers");
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => /\.m?js$/.test(name))
    .map((name) => ({
      type: "ESModule",
      path: `python_modules/workers/${name}`,
      contents: fs.readFileSync(path.join(folder, name), "utf8"),
    }));
}
