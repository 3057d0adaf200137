"""The page that adds a kind is followed to the letter, in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.running import QUICK, Stack

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-kind.md").read_text()
_COPIED = ("src", "tests", "migrations", "assets", "requirements", "README.md", "pyproject.toml")
_SHARED = ("node_modules", ".venv", "package.json", "package-lock.json")


def block(language: str, *, after: str) -> str:
    """Return the page's first block of that language behind these words."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.split(after, 1)[1], re.M | re.S)
    assert found, after
    return found[1]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout in which somebody has followed the page."""
    copy = Path(tmp_path_factory.mktemp("checkout"))
    for name in (*_COPIED, *[path.name for path in ROOT.glob("wrangler*.toml")]):
        _copy(ROOT / name, copy / name)
    _copy(ROOT / "python_modules", copy / "python_modules")
    for name in _SHARED:
        (copy / name).symlink_to(ROOT / name)
    for path in re.findall(r"^`(\S+\.py)`:$", PAGE, re.M):
        (copy / path).write_text(block("python", after=f"`{path}`:"))
    patch = block("diff", after="## 2.")
    subprocess.run(["git", "apply", "-"], cwd=copy, input=patch, text=True, check=True)
    return copy


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def run(checkout: Path, *command: str, **variables: str) -> str:
    paths = os.pathsep.join((f"{checkout}/src", f"{checkout}/src/worker"))
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_test_passes_and_it_is_as_tidy_as_the_others(checkout: Path) -> None:
    run(checkout, "pytest", "-q", "tests/unit/kinds/test_outline.py")
    for paths in re.findall(r"^`(\S+\.py)`:$", PAGE, re.M):
        run(checkout, "ruff", "check", paths)
        run(checkout, "ruff", "format", "--check", paths)


def test_it_runs_and_is_described_without_more(checkout: Path, tmp_path: Path) -> None:
    stack = Stack(state=tmp_path, settings=QUICK, checkout=checkout).start()
    try:
        (command,) = re.findall(r"^\.venv/bin/uketsuke (submit .*)$", PAGE, re.M)
        told = run(
            checkout,
            "uketsuke_client.command",
            *command.split(),
            "--json",
            UKETSUKE_URL=stack.ready["url"],
            UKETSUKE_KEY=stack.ready["tenant_key"],
        )
        with stack.api() as api:
            described = api.get("/openapi.json").json()["components"]["schemas"]
    finally:
        stack.stop()
    assert '"lines"' in told
    assert "OutlineParams" in described
