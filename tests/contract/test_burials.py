"""A job's end and its dead letter are one transaction, on every road.

Each road is walked with a database that breaks down before each of its statements in turn: nothing
of it may be left. Then it is walked to its end.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest

from tests.contract.factories import RETENTION, Store, ending, new_job
from uketsuke.adapters.sql.costs import SqlCosts
from uketsuke.adapters.sql.database import Row, Statement
from uketsuke.adapters.sql.repository import SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.domain.failure import ErrorClass, Failure, Road
from uketsuke.domain.job import Checkpoint, JobKey, SilentRun, Usage
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.price import Expected, Rates, Tariff
from uketsuke.services.ports import Delivery

pytestmark = pytest.mark.anyio
_TARIFF: Final = Tariff(rates={"summarize": Rates(10**6, 10**6, 0)})
_ASKED: Final = Usage(provider="openai_compatible", model="m-1", asked_model="m", input_tokens=7)
_GIVEN_UP: Final = Delivery(id="m-1", queue="jobs-dlq", number=1, body=None)
_REFUSED: Final = Failure(error_class=ErrorClass.REFUSED, code="provider_refused")
# What both drivers fail at, in the middle of a transaction.
_BREAKDOWN: Final = Statement("SELECT json('torn')")

End = Callable[[], Awaitable[object]]


@dataclass
class Torn:
    """A database that breaks down before one statement of every transaction."""

    inner: Any
    before: int | None = None
    longest: int = 0

    async def batch(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        if self.before is None:
            return await self._run(statements)
        self.longest = max(self.longest, len(statements))
        head, tail = statements[: self.before], statements[self.before :]
        return await self._run([*head, _BREAKDOWN, *tail])

    async def _run(self, statements: Sequence[Statement]) -> Sequence[Sequence[Row]]:
        answers: Sequence[Sequence[Row]] = await self.inner.batch(statements)
        return answers


@pytest.fixture
def torn(store: Store) -> Torn:
    """The store's database, from now on; the store's prices are known."""
    store.database = torn = Torn(store.database)
    store.jobs = SqlJobs(torn, RETENTION, _TARIFF)
    store.runs = SqlRuns(torn, RETENTION, _TARIFF)
    return torn


async def _settled(store: Store, usage: Usage | None = None) -> tuple[JobKey, End]:
    leased = await store.leased()
    failed = ending(
        leased, JobState.FAILED, failure=_REFUSED, road=Road.PERMANENT, usage=usage, provider_ms=1
    )
    return leased.job.key, lambda: store.jobs.settle([failed])


async def _asked(store: Store) -> tuple[JobKey, End]:
    return await _settled(store, usage=_ASKED)


async def _turned_away(store: Store) -> tuple[JobKey, End]:
    leased = await store.leased()
    lane = Failure(error_class=ErrorClass.DENIED, code="provider_denied", lane="workers_ai/x/y")
    failed = ending(leased, JobState.FAILED, failure=lane, road=Road.PERMANENT)
    return leased.job.key, lambda: store.jobs.settle([failed])


async def _asked_nobody_the_last_time(store: Store) -> tuple[JobKey, End]:
    key = await store.accepted()
    first = ending(await store.leased(key), JobState.RETRYING, usage=_ASKED)
    await store.jobs.settle([first])
    gone = Failure(error_class=ErrorClass.NOT_FOUND, code="input_gone")
    failed = ending(
        await store.leased(key), JobState.FAILED, failure=gone, road=Road.PERMANENT, usage=None
    )
    return key, lambda: store.jobs.settle([failed])


async def _crashed(store: Store) -> tuple[JobKey, End]:
    key = await store.accepted(max_attempts=1)
    await store.leased(key, alone=True)
    await store.expire_lease(key)
    return key, lambda: store.jobs.take_back([key])


async def _given_up(store: Store) -> tuple[JobKey, End]:
    key, _ = await _crashed(store)
    return key, lambda: store.jobs.take_back([key], given_up=_GIVEN_UP)


async def _overdue(store: Store) -> tuple[JobKey, End]:
    key = await store.accepted()
    await store.jobs.settle([ending(await store.leased(key), JobState.RETRYING, usage=_ASKED)])
    await store.pass_deadline(key)
    return key, lambda: store.jobs.take_back([key])


async def _hopeless(store: Store) -> tuple[JobKey, End]:
    key = await store.accepted(kind="translate")
    return key, lambda: store.jobs.fail_hopeless(key, code="kind_unknown")


async def _over_budget(store: Store) -> tuple[JobKey, End]:
    key = await store.accepted(max_cost_micros=1, expected=Expected(input_tokens=99, calls=1))
    costs = SqlCosts(store.database, RETENTION, _TARIFF)
    return key, lambda: costs.fail_over_budget(key)


async def _silent(store: Store) -> SilentRun:
    leased = await store.started(max_attempts=1)
    step = Checkpoint(step="s", digest="d", attempt=1, content="{}", usage=_ASKED)
    await store.runs.keep(leased.job.key, step)
    return await store.silent(leased.job.key)


async def _silent_crash(store: Store) -> tuple[JobKey, End]:
    run = await _silent(store)
    return run.job.key, lambda: store.runs.end_silent([run], error_class=ErrorClass.CRASHED)


async def _silent_too_long(store: Store) -> tuple[JobKey, End]:
    run = await _silent(store)
    return run.job.key, lambda: store.runs.end_silent([run], error_class=ErrorClass.STALE)


async def _outlived(store: Store) -> tuple[JobKey, End]:
    run_key = secrets.token_hex(4)
    old = (await store.started(run_key=run_key)).job.key
    await store.shift(old, "leased_at", -timedelta(hours=1))
    new = new_job(store.tenant, run_key=run_key)
    return old, lambda: store.jobs.accept(new)


async def _overdue_holder(store: Store) -> tuple[JobKey, End]:
    run_key = secrets.token_hex(4)
    old = await store.accepted(run_key=run_key)
    await store.pass_deadline(old)
    new = new_job(store.tenant, run_key=run_key)
    return old, lambda: store.jobs.accept(new)


# The road, the class and the code, and the model: none where nobody was asked.
ROADS: Final[dict[Callable[[Store], Awaitable[tuple[JobKey, End]]], tuple[str | None, ...]]] = {
    _settled: ("permanent", "refused", "provider_refused", None),
    _asked: ("permanent", "refused", "provider_refused", "m"),
    _turned_away: ("permanent", "denied", "provider_denied", "x/y"),
    _asked_nobody_the_last_time: ("permanent", "not_found", "input_gone", None),
    _crashed: ("crashed", "crashed", "worker_crashed", None),
    _given_up: ("queue_dlq", "crashed", "worker_crashed", None),
    _overdue: ("deadline", "deadline", "deadline_passed", "m"),
    _hopeless: ("permanent", "not_found", "kind_unknown", None),
    _over_budget: ("budget", "budget", "budget_exceeded", None),
    _silent_crash: ("crashed", "crashed", "worker_crashed", "m"),
    _silent_too_long: ("stale", "stale", "run_outlived_its_limit", "m"),
    _outlived: ("stale", "stale", "run_outlived_its_limit", None),
    _overdue_holder: ("deadline", "deadline", "deadline_passed", None),
}


# That D1's transactions are whole is seen on two roads as well as on all.
_WALKS: Final = [("sqlite", road) for road in ROADS] + [("d1", _asked), ("d1", _outlived)]


@pytest.mark.parametrize(("store", "prepare"), _WALKS, indirect=["store"])
async def test_a_job_ends_with_its_letter_or_not_at_all(
    store: Store, torn: Torn, prepare: Callable[[Store], Awaitable[tuple[JobKey, End]]]
) -> None:
    key, end = await prepare(store)
    before = await store.row(key), await store.attempts(key)

    at = torn.longest = 0
    while at <= torn.longest:
        torn.before = at
        with pytest.raises((sqlite3.OperationalError, AssertionError), match="JSON"):
            await end()
        torn.before = None
        assert (await store.row(key), await store.attempts(key)) == before
        assert await store.dead_letters(key) == []
        at += 1
    await end()

    row = await store.row(key)
    (letter,) = await store.dead_letters(key)
    assert row["state"] == "failed"
    road, error_class, code, model = ROADS[prepare]
    assert (letter["road"], letter["model"]) == (road, model)
    assert (row["error_class"], row["error_code"]) == (error_class, code)
    assert (letter["class"], letter["code"]) == (error_class, code)
    assert letter["fingerprint"] == f"{row['kind']}:{error_class}:{code}:{model or ''}"
    assert (letter["kind"], letter["attempts"]) == (row["kind"], row["attempts"])
    assert (letter["status"], letter["redrives"]) == ("open", 0)
    brought_by = ("jobs-dlq", "m-1") if road == "queue_dlq" else (None, None)
    assert (letter["queue"], letter["message_id"]) == brought_by
    assert letter["first_failed_at"] <= letter["last_failed_at"]
    assert letter["triage_due_at"] - letter["last_failed_at"] in range(72 * 3_600_000, 259_200_010)
