"""Settings that make no sense are told before anything of the local stack is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from uketsuke_local.dev import run_dev


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
