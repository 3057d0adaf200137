"""The versions that the host was made for: young tools whose shapes change under us."""

from __future__ import annotations

import json

import pytest

from uketsuke_local.stack import ROOT


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("wrangler", "4.164.0"),
        ("miniflare", "5.20261117.0-beta"),
        ("workerd", "1.20261117.1"),
        ("pyodide", "314.0.6"),
    ],
)
def test_the_tool_has_the_version_that_the_host_was_made_for(package: str, version: str) -> None:
    """If it has not: read what changed, run all of ``tests/host``, then move the pin here too."""
    manifest = json.loads((ROOT / "node_modules" / package / "package.json").read_text())

    assert manifest["version"] == version


def test_the_sdk_has_the_version_whose_private_parts_are_used() -> None:
    lock = (ROOT / "requirements" / "worker.txt").read_text()

    assert "workers-runtime-sdk==1.9.5" in lock
