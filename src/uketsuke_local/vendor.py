"""Fill `python_modules/` with what both Workers vendor: wheels for their interpreter.

`pywrangler sync` does the same for a deploy, but downloads an interpreter first. Here pip alone
picks the wheels by their tags, and checks each against the hashes of the lock.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLATFORM = "pyemscripten_2026_0_wasm32"
PYTHON = "3.14"
STAMP = ".lock-sha256"


class VendoringFailed(Exception):
    """pip could not install the lock; `python_modules/` is as it was."""


def vendor(root: Path) -> bool:
    """Install `requirements/worker.txt` into `python_modules/`; say whether that was needed.

    Does nothing when the lock is the one that was installed last. The folder is swapped in whole,
    so whoever reads it meanwhile sees the old one or the new one.
    """
    lock = root / "requirements" / "worker.txt"
    target = root / "python_modules"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if _stamp(target) == digest:
        return False
    cache = root / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="python_modules-", dir=cache) as scratch:
        fresh = Path(scratch) / "fresh"
        _install(lock, fresh)
        (fresh / "pyvenv.cfg").touch()  # pywrangler takes a folder without it for a foreign one
        (fresh / STAMP).write_text(digest)
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)
    return True


def _stamp(target: Path) -> str | None:
    try:
        return (target / STAMP).read_text()
    except OSError:
        return None


def _install(lock: Path, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:"]
    command += ["--platform", PLATFORM, "--platform", "any", "--python-version", PYTHON]
    command += ["--implementation", "cp", "--abi", "cp314", "--abi", "abi3", "--abi", "none"]
    command += ["--target", str(target), "--requirement", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise VendoringFailed(done.stderr.strip())
    shutil.rmtree(target / "bin", ignore_errors=True)


def main() -> int:
    """Vendor for the checkout that this file belongs to."""
    try:
        vendor(Path(__file__).resolve().parents[2])
    except VendoringFailed as problem:
        sys.stderr.write(f"python_modules could not be filled:\n{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
