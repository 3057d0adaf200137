"""What a newcomer is told when the machine lacks something: one line that says what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "setup.py"


def set_up(root: Path, before: str) -> subprocess.CompletedProcess[str]:
    """Run the set-up in an empty root, after changing what Python believes of the machine."""
    (root / "scripts").mkdir()
    shutil.copy(SCRIPT, root / "scripts")
    program = f"{before}\nimport runpy\nrunpy.run_path('scripts/setup.py', run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("module", ["ensurepip", "venv"])
def test_a_missing_venv_module_is_told_in_one_line(tmp_path: Path, module: str) -> None:
    done = set_up(tmp_path, f"import sys; sys.modules[{module!r}] = None")

    assert done.returncode == 1
    *progress, told = done.stderr.splitlines()
    assert len(progress) <= 1
    assert "apt-get install python3-venv" in told
    assert "Traceback" not in done.stderr


def test_an_old_python_is_told_in_one_line(tmp_path: Path) -> None:
    done = set_up(tmp_path, "import sys; sys.version_info = (3, 10, 4)")

    assert done.returncode == 1
    assert done.stderr == "setup: Python 3.11 or newer is needed; python3 here is 3.10.4\n"
