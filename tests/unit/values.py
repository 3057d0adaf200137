"""Jobs for tests that need one and do not care which."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from uketsuke.domain.job import InputForm, InputPlace, Job, LeasedJob
from uketsuke.domain.lifecycle import Engine, JobState, Origin

CREATED = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def a_job(**changes: Any) -> Job:
    """A running job of the tenant ``acme``; ``changes`` say what matters."""
    values: dict[str, Any] = dict.fromkeys(Job.__dataclass_fields__)
    values |= {
        "id": "job_" + "0" * 26,
        "tenant_id": "acme",
        "kind": "summarize",
        "engine": Engine.QUEUE,
        "origin": Origin.API,
        "state": JobState.RUNNING,
        "attempts": 1,
        "attempt_no": 1,
        "max_attempts": 5,
        "created_at": CREATED,
        "due_at": CREATED,
        "deadline_at": CREATED + timedelta(days=1),
        "metadata": {},
        "params": {},
        "input": InputPlace(form=InputForm.TEXT, bytes=4),
    }
    return Job(**{**values, **changes})


def a_lease(**changes: Any) -> LeasedJob:
    """A lease on ``a_job()``."""
    values: dict[str, Any] = {
        "job": a_job(),
        "token": "token.job",
        "call_epoch": 0,
        "inline_input": '"text"',
        "time_left": timedelta(days=1),
        "taken_over": False,
    }
    return LeasedJob(**{**values, **changes})
