"""Copy the console's libraries out of `node_modules` to where the browser finds them.

The console has no build step: its pages import these files as they are, by the names in the import
map of `assets/console/index.html`. The versions are those of `package-lock.json`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What the browser loads, and out of which package. `.js`, for not every server knows `.mjs`.
FILES = {
    "preact.js": "preact/dist/preact.mjs",
    "preact-hooks.js": "preact/hooks/dist/hooks.mjs",
    "htm.js": "htm/dist/htm.mjs",
    "marked.js": "marked/lib/marked.esm.js",
    "uplot.js": "uplot/dist/uPlot.esm.js",
    "uplot.css": "uplot/dist/uPlot.min.css",
}
_LICENSES = {
    "preact": "preact/LICENSE",
    "htm": "htm/LICENSE",
    "marked": "marked/LICENSE",
    "uplot": "uplot/LICENSE",
}


def copy_libraries(root: Path) -> None:
    """Fill `assets/console/vendor/` anew, the libraries' licences included."""
    target = root / "assets" / "console" / "vendor"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, source in FILES.items():
        shutil.copyfile(root / "node_modules" / source, target / name)
    for package, source in _LICENSES.items():
        shutil.copyfile(root / "node_modules" / source, target / f"{package}.LICENSE.txt")


if __name__ == "__main__":
    copy_libraries(ROOT)
