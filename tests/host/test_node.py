"""The tests of the Node side that need no Worker, written for Node's own runner."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from uketsuke_local.runtime import node

FILES = sorted(Path(__file__).parent.glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nodes_runner_finds_no_fault(file: Path) -> None:
    done = subprocess.run(
        [node(), "--test", str(file)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
