/** The JavaScript Worker that carries a Python Worker: the host's modules, Pyodide, the Python files. */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { workerFiles } from "./files.mjs";

const require = createRequire(import.meta.url);
const HOST = path.join(import.meta.dirname, "..", "worker");

const pyodideFile = (name) =>
  fs.readFileSync(require.resolve(`pyodide/${name}`));
const esModule = (name, contents) => ({
  type: "ESModule",
  path: name,
  contents,
});
const data = (name, contents) => ({ type: "Data", path: name, contents });
const text = (name, contents) => ({ type: "Text", path: name, contents });

/**
 * @param {{name: string, main: string, project: string, classes: string[], limits: Limits}} worker
 * @param {Buffer} snapshot
 * @typedef {{heapBytes: number, cpuMs: number}} Limits above which an event fails, or is reported
 * @returns Miniflare's list of modules, the entry first
 */
export function workerModules(
  { name, main, project, classes, limits },
  snapshot,
) {
  const settings = {
    worker: name,
    main: path.basename(main, ".py"),
    ...limits,
  };
  return [
    esModule("main.mjs", entry(classes)),
    ...interpreterModules(settings, snapshot),
    ...treeModules(workerFiles(main, project)),
    ...sdkModules(project),
  ];
}

/** What an interpreter needs, whatever it runs. */
export function interpreterModules(settings, snapshot) {
  return [
    esModule("settings.mjs", `export default ${JSON.stringify(settings)};`),
    data("snapshot.bin", snapshot),
    ...hostModules(),
    ...pyodideModules(),
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

function hostModules() {
  return fs.readdirSync(HOST).map((name) => {
    const contents = fs.readFileSync(path.join(HOST, name), "utf8");
    return name.endsWith(".mjs")
      ? esModule(name, contents)
      : text(name, contents);
  });
}

function pyodideModules() {
  const { info } = JSON.parse(pyodideFile("pyodide-lock.json"));
  const { version } = JSON.parse(pyodideFile("package.json"));
  const lock = { info: { ...info, version }, packages: {} }; // packages are vendored, never fetched
  const wasm = "pyodide/pyodide.asm.wasm";
  return [
    esModule("pyodide/pyodide.mjs", pyodideFile("pyodide.mjs")),
    esModule("pyodide/pyodide.asm.mjs", pyodideFile("pyodide.asm.mjs")),
    {
      type: "CompiledWasm",
      path: wasm,
      contents: pyodideFile("pyodide.asm.wasm"),
    },
    data("pyodide/python_stdlib.zip", pyodideFile("python_stdlib.zip")),
    text("pyodide/lock.json", JSON.stringify(lock)),
  ];
}

function treeModules(files) {
  const index = files.map(({ name, contents }) => [name, contents.length]);
  return [
    text("tree.json", JSON.stringify(index)),
    data("tree.bin", Buffer.concat(files.map((file) => file.contents))),
  ];
}

/** The SDK imports JavaScript files of its own as modules; without them each Workflow run fails. */
function sdkModules(project) {
  const folder = path.join(project, "python_modules", "workers");
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => /\.m?js$/.test(name))
    .map((name) => {
      const contents = fs.readFileSync(path.join(folder, name), "utf8");
      return esModule(`python_modules/workers/${name}`, contents);
    });
}
