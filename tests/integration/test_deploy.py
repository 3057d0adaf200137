"""Both Workers can be deployed, and only what they need is uploaded."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = {
    "api.py",
    "consumer.py",
    "uketsuke",
    "python_modules",
    "README.md",
}  # the last is wrangler's


@pytest.mark.parametrize("config", ["wrangler.toml", "wrangler.consumer.toml"])
def test_a_dry_run_of_the_deployment_uploads_the_worker_and_nothing_else(
    config: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "PATH": f"{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}",
        "WRANGLER_SEND_METRICS": "false",
        "CI": "true",
        "HOME": str(tmp_path),
    }
    command = [str(ROOT / "node_modules/.bin/wrangler"), "deploy", "--dry-run", "-c", config]

    done = subprocess.run(
        [*command, "--outdir", str(tmp_path / "out")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    uploaded = {path.name for path in (tmp_path / "out").iterdir()}
    assert uploaded <= OURS
    assert {"api.py", "consumer.py", "uketsuke"} <= uploaded
    text = " ".join(str(path) for path in (tmp_path / "out").rglob("*"))
    assert not any(word in text for word in ("uketsuke_client", "uketsuke_local", "/tests/"))
