"""Reading the log that a test has caused, as one who has nothing but the log does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

Line = Mapping[str, Any]


def lines_in(capsys: pytest.CaptureFixture[str]) -> Sequence[Line]:
    """Return what was logged since the last look."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def life_of(job_id: str, lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines of one job's transitions, in their order."""
    return [line for line in lines if line.get("job_id") == job_id and "job_" in line["event"]]
