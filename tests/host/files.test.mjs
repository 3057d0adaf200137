/** Which files a Worker is made of. */
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { workerFiles } from "../../src/uketsuke_local/host/node/files.mjs";

/** @param {string[]} names files, relative to a folder that goes with the test */
function project(t, names) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "files-"));
  t.after(() => fs.rmSync(root, { recursive: true }));
  for (const name of names) {
    fs.mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), "");
  }
  return root;
}

function shipped(root, main) {
  return workerFiles(path.join(root, main), root)
    .map(({ name }) => name)
    .sort();
}

test("only what lies under the folder of main ships, and of it only the default kinds", (t) => {
  const root = project(t, [
    "beside.py",
    "src/main.py",
    "src/pack/inner.py",
    "src/notes.txt",
    "src/data.json",
    "src/__pycache__/main.txt",
  ]);
  assert.deepEqual(shipped(root, "src/main.py"), [
    "main.py",
    "notes.txt",
    "pack/inner.py",
  ]);
});

test("of the packages every file ships, except their tests", (t) => {
  const root = project(t, [
    "src/main.py",
    "python_modules/pack/data.json",
    "python_modules/tests/test_pack.py",
  ]);
  assert.deepEqual(shipped(root, "src/main.py"), [
    "main.py",
    "python_modules/pack/data.json",
  ]);
});

test("packages in the folder of main are refused", (t) => {
  const root = project(t, ["src/main.py", "src/python_modules/pack.py"]);
  assert.throws(
    () => shipped(root, "src/main.py"),
    /cannot exist in your module root/,
  );
});
