"""The console's own modules, outside a browser: what they hold and what their functions say."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.console.browser import ROOT
from uketsuke_local.runtime import node

CONSOLE: Final = ROOT / "assets" / "console"
_VENDOR: Final = CONSOLE / "vendor"


def own_files(*suffixes: str) -> list[Path]:
    """Return the files that we wrote, of these endings."""
    found = (path for path in CONSOLE.rglob("*") if path.suffix in suffixes)
    return sorted(path for path in found if not path.is_relative_to(_VENDOR))


def run_module(script: str, **given: Any) -> Any:
    """Run a script that prints JSON. ``load(path)`` imports a module; ``given`` is what it says."""
    whole = f"""
    const given = {json.dumps(given)};
    const load = (path) => import("{CONSOLE.as_uri()}/" + path);
    const tell = (value) => console.log(JSON.stringify(value));
    {script}
    """
    done = subprocess.run(
        [node(), "--input-type=module", "--no-warnings", "--eval", whole],
        cwd=ROOT,
        env={**os.environ, "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
