/** Which files a Worker is made of: its module root, and the packages beside the wrangler file. */
import fs from "node:fs";
import path from "node:path";

const SHIPPED = new Set([".py", ".txt", ".html", ".sql", ".bin"]); // wrangler's default rules
const NEVER = new Set(["__pycache__"]);

/** @typedef {{name: string, contents: Buffer}} TreeFile name: relative to /session/metadata */

/**
 * @param {string} main the main module
 * @param {string} project the folder of the wrangler file
 * @returns {TreeFile[]}
 */
export function workerFiles(main, project) {
  const root = path.dirname(main);
  const packages = path.join(project, "python_modules");
  refuseNestedPackages(root, packages);
  const own = [...walk(root, "")].filter(
    ({ name }) =>
      SHIPPED.has(path.extname(name)) && !name.startsWith("python_modules/"),
  );
  const vendored = fs.existsSync(packages)
    ? [...walk(packages, "python_modules/")]
    : [];
  return [
    ...own,
    ...vendored.filter(({ name }) => !name.startsWith("python_modules/tests/")),
  ];
}

function refuseNestedPackages(root, packages) {
  const nested = path.join(root, "python_modules");
  if (nested === packages || !fs.existsSync(nested)) return;
  throw new Error(
    `The 'python_modules' directory cannot exist in your module root. Delete ${nested} to continue.`,
  );
}

function* walk(folder, prefix) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (NEVER.has(entry.name)) continue;
    if (entry.isDirectory()) yield* walk(full, `${prefix}${entry.name}/`);
    else yield { name: prefix + entry.name, contents: fs.readFileSync(full) };
  }
}
