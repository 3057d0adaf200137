"""What cannot be started is told in one line, before anything of the local stack is started."""

from __future__ import annotations

import fcntl
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from uketsuke_local.dev import run_dev


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Leave the test process's own handlers as they were."""
    kept = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    yield
    for name, handler in kept.items():
        signal.signal(name, handler)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("NO_SUCH_THING", "1", "no such setting: NO_SUCH_THING"),
        ("LEASE_SECONDS", "abc", "LEASE_SECONDS: must be a number of seconds"),
        ("JOBS_AT_ONCE", "0", "JOBS_AT_ONCE: must be a whole number"),
    ],
)
def test_a_wrong_setting_is_one_line_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, value: str, told: str
) -> None:
    code = run_dev(port=0, state=tmp_path / "state", json_output=False, settings={name: value})

    assert code == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


def test_a_state_folder_that_another_stack_holds_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        code = run_dev(port=0, state=tmp_path, json_output=False, settings={})

    assert code == 1
    assert f"another stack runs on {tmp_path}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_state_folder_that_cannot_be_made_is_told_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    code = run_dev(port=0, state=tmp_path / "file" / "state", json_output=False, settings={})

    told = capsys.readouterr().err
    assert code == 1
    assert "cannot be used (Not a directory): choose another with --state" in told
