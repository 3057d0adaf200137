/** The Worker's own files and its packages, read-only, where the platform puts them. */
import index from "./tree.json";
import tree from "./tree.bin";

const ROOT = "/session/metadata";
const READ_ONLY_FILE = 0o444;
const READ_ONLY_FOLDER = 0o555;

export function mount(FS) {
  const folders = new Set([ROOT]);
  let offset = 0;
  FS.mkdirTree(ROOT);
  for (const [name, size] of JSON.parse(index)) {
    const path = `${ROOT}/${name}`;
    addFolders(FS, folders, path);
    FS.writeFile(path, new Uint8Array(tree, offset, size));
    FS.chmod(path, READ_ONLY_FILE);
    offset += size;
  }
  for (const folder of folders) FS.chmod(folder, READ_ONLY_FOLDER);
  FS.chdir("/");
}

function addFolders(FS, folders, path) {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (folders.has(folder)) return;
  addFolders(FS, folders, folder);
  FS.mkdirTree(folder);
  folders.add(folder);
}
