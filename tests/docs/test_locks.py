"""The locks pin everything by hash and name no registry."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_python_package_is_pinned_with_hashes(lock: Path) -> None:
    text = re.sub(r"\\\n\s*", " ", lock.read_text())
    pins = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]

    assert pins
    assert all(re.match(r"[\w.\[\]-]+==\S+", pin) and "--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_every_npm_package_is_pinned_with_its_integrity() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}

    assert packages
    assert all(entry.get("integrity") or entry.get("bundled") for entry in packages.values())
    assert not any("resolved" in entry for entry in packages.values())


def test_what_the_worker_vendors_is_what_the_project_depends_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    vendored = (ROOT / "requirements" / "worker.txt").read_text()

    for dependency in project["dependencies"]:
        assert f"{dependency} " in vendored


@pytest.mark.parametrize("config", ["wrangler.toml", "wrangler.consumer.toml"])
def test_both_workers_share_their_stores_and_their_date(config: str) -> None:
    ours = tomllib.loads((ROOT / config).read_text())
    other = tomllib.loads((ROOT / "wrangler.toml").read_text())

    for name in ("compatibility_date", "compatibility_flags", "d1_databases", "r2_buckets"):
        assert ours[name] == other[name]
