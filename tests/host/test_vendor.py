"""Vendoring: once a lock, checked against its hashes, for the Workers' interpreter.

The wheels are made here, so that no registry is asked.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from uketsuke_local.vendor import VendoringFailed, vendor

FOR_THE_WORKER = "cp314-cp314-pyemscripten_2026_0_wasm32"
FOR_THIS_MACHINE = "cp314-cp314-manylinux_2_17_x86_64"


def make_wheel(folder: Path, tags: str) -> str:
    """Write a wheel of the package ``probe`` and return its digest."""
    path = folder / f"probe-1.0-{tags}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("probe/built_for.txt", tags)
        wheel.writestr(
            "probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n"
        )
        wheel.writestr("probe-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tags}\n")
        wheel.writestr("probe-1.0.dist-info/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose lock names ``probe``, of which there are wheels for two platforms."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    digests = [make_wheel(wheels, tags) for tags in (FOR_THE_WORKER, FOR_THIS_MACHINE)]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    hashes = " ".join(f"--hash=sha256:{digest}" for digest in digests)
    write_lock(tmp_path, f"probe==1.0 {hashes}\n")
    return tmp_path


def write_lock(checkout: Path, text: str) -> None:
    folder = checkout / "requirements"
    folder.mkdir(exist_ok=True)
    (folder / "worker.txt").write_text(text)


def test_the_wheel_for_the_workers_interpreter_is_taken(checkout: Path) -> None:
    assert vendor(checkout)

    packages = checkout / "python_modules"
    assert (packages / "probe" / "built_for.txt").read_text() == FOR_THE_WORKER
    assert (packages / "pyvenv.cfg").exists()


def test_a_second_time_does_nothing(checkout: Path) -> None:
    vendor(checkout)
    (checkout / "python_modules" / "mine.py").touch()

    assert not vendor(checkout)

    assert (checkout / "python_modules" / "mine.py").exists()


def test_a_changed_lock_is_installed_anew(checkout: Path) -> None:
    vendor(checkout)
    (checkout / "python_modules" / "mine.py").touch()
    with (checkout / "requirements" / "worker.txt").open("a") as lock:
        lock.write("# changed\n")

    assert vendor(checkout)

    assert not (checkout / "python_modules" / "mine.py").exists()


@pytest.mark.parametrize("lock", ["probe==1.0\n", f"probe==1.0 --hash=sha256:{'0' * 64}\n"])
def test_a_package_that_is_not_the_locked_one_is_refused_and_nothing_is_lost(
    checkout: Path, lock: str
) -> None:
    vendor(checkout)
    write_lock(checkout, lock)

    with pytest.raises(VendoringFailed, match=r"(?i)hash"):
        vendor(checkout)

    assert (checkout / "python_modules" / "probe").exists()
