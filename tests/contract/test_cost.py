"""The shape of the store's cost, counted from what D1 returns: rows written are the price.

The budget is ``bench/budget.json``. Index entries count as rows, as D1 bills them. One row of each
attempt is its day's sum, which a trigger keeps; the first attempt of a tenant's day (and kind, and
model) writes that row's index entry too.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import RemoteD1
from tests.contract.factories import LEASE, Store, ending, new_job
from tests.contract.test_redrive import buried, redrive_of
from tests.support.running import Stack
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.job import Checkpoint, LeasedJob, Progress
from uketsuke.domain.lifecycle import JobState

pytestmark = pytest.mark.anyio
BUDGET = json.loads((Path(__file__).parents[2] / "bench" / "budget.json").read_text())


@dataclass
class Spent:
    """What D1 counted since the last look."""

    database: Any

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._start = (self.database.calls, self.database.rows_read, self.database.rows_written)

    @property
    def calls(self) -> int:
        return int(self.database.calls - self._start[0])

    @property
    def read(self) -> int:
        return int(self.database.rows_read - self._start[1])

    @property
    def written(self) -> int:
        return int(self.database.rows_written - self._start[2])


@pytest.fixture
async def d1_store(d1_store: Store) -> Store:
    """A store whose tenant has its sums of the day already."""
    await worked(d1_store)
    return d1_store


async def worked(store: Store) -> None:
    await store.jobs.settle([ending(await store.leased())])


async def test_the_first_attempt_of_a_tenants_day_costs_one_row_more(stack: Stack) -> None:
    store = Store(RemoteD1(stack), f"t-{secrets.token_hex(6)}")
    spent = Spent(store.database)
    await worked(store)
    first = spent.written
    spent.reset()
    await worked(store)

    assert first - spent.written == BUDGET["first_of_a_day"]["rows_written"]


async def test_a_failure_costs_one_row_for_its_sum_and_those_of_its_letter(
    d1_store: Store,
) -> None:
    leased = await d1_store.leased()
    spent = Spent(d1_store.database)

    await d1_store.jobs.settle([ending(leased, JobState.FAILED)])

    assert spent.written == BUDGET["failure"]["rows_written"]


async def test_a_queue_jobs_whole_life_stays_within_its_budget(d1_store: Store) -> None:
    spent = Spent(d1_store.database)

    key = await d1_store.accepted(request_key="key:k", fingerprint={"kind": "x"})
    accept = (spent.calls, spent.written)
    leased = await d1_store.leased(key)
    await d1_store.jobs.settle([ending(leased)])

    assert accept == (BUDGET["accept"]["calls"], BUDGET["accept"]["rows_written"])
    assert spent.written == BUDGET["life"]["rows_written"]


async def test_a_run_key_costs_one_row_more(d1_store: Store) -> None:
    spent = Spent(d1_store.database)

    leased = await d1_store.leased(await d1_store.accepted(run_key="nightly"))
    await d1_store.jobs.settle([ending(leased)])

    assert spent.written == BUDGET["life"]["rows_written"] + BUDGET["run_key"]["rows_written"]


@pytest.mark.parametrize("steps", [1, 5])
async def test_a_run_costs_two_rows_a_step_and_little_else(d1_store: Store, steps: int) -> None:
    """A beat before each step shows the progress; its checkpoint is what it brought."""
    spent = Spent(d1_store.database)

    leased = await d1_store.started()
    key = leased.job.key
    for number in range(steps):
        progress = {key: Progress(done=number, total=steps)}
        await d1_store.jobs.renew({key: leased.token}, duration=LEASE, progress=progress)
        await d1_store.runs.keep(key, kept(f"s-{number}"))
    await d1_store.runs.keep(key, kept("result"))
    await d1_store.jobs.settle([ending(leased)])

    run = BUDGET["run"]
    assert spent.written == run["rows_written"] + steps * run["rows_written_a_step"]


def kept(step: str) -> Checkpoint:
    return Checkpoint(step=step, digest="d", attempt=1, content="{}")


async def test_a_renewal_and_a_retry_cost_what_the_budget_says(d1_store: Store) -> None:
    leased = await d1_store.leased()
    key = leased.job.key
    spent = Spent(d1_store.database)

    await d1_store.jobs.renew(
        {key: leased.token}, duration=LEASE, progress={key: Progress(done=1, total=2)}
    )
    renewal = spent.written
    spent.reset()
    await d1_store.jobs.settle([ending(leased, JobState.RETRYING)])

    assert renewal == BUDGET["renew"]["rows_written"]
    assert spent.written == BUDGET["retry"]["rows_written"]


async def test_a_replay_and_a_refusal_write_nothing(d1_store: Store) -> None:
    await d1_store.accepted(request_key="key:k", run_key="nightly", fingerprint={})
    spent = Spent(d1_store.database)

    await d1_store.jobs.accept(new_job(d1_store.tenant, request_key="key:k", fingerprint={}))
    await d1_store.jobs.accept(new_job(d1_store.tenant, run_key="nightly"))

    assert spent.written == 0


async def test_a_redrive_costs_an_acceptance_and_what_resolves_its_letter(d1_store: Store) -> None:
    letter = await buried(d1_store)
    spent = Spent(d1_store.database)

    await d1_store.jobs.accept(redrive_of(letter))
    first = (spent.calls, spent.written)
    spent.reset()
    await d1_store.jobs.accept(redrive_of(letter))

    assert first == (BUDGET["redrive"]["calls"], BUDGET["redrive"]["rows_written"])
    assert spent.written == 0


async def test_a_hundred_jobs_are_leased_and_settled_in_as_many_calls_as_one(
    d1_store: Store,
) -> None:
    keys = [await d1_store.accepted() for _ in range(100)]
    spent = Spent(d1_store.database)

    found = await d1_store.jobs.lease(keys, token="t", duration=LEASE, alone=False)
    endings = [ending(leased) for leased in found.values() if isinstance(leased, LeasedJob)]
    settled = await d1_store.jobs.settle(endings)

    assert len(settled) == 100
    assert spent.calls == 2
    assert spent.written == 400
    assert spent.read <= 100 * BUDGET["batch"]["rows_read_a_job"]


async def fill(store: Store, jobs: int) -> None:
    """Write many finished jobs with their attempts, in few statements."""
    columns = "tenant_id, id, request_key, kind, engine, origin, state, params, metadata, input"
    rest = "max_attempts, attempts, attempt_no, created_at, due_at, deadline_at, finished_at"
    job = f"""
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
    INSERT INTO jobs ({columns}, {rest}, expires_at, result)
    SELECT ?1, 'job_' || printf('%026d', ?3 + i), 'job_' || printf('%026d', ?3 + i), 'embed',
           'queue', 'api', 'succeeded', '{{}}', '{{}}', '{{"form": "text", "bytes": 1}}',
           5, 1, 1, 1, 1, 1, 1, 9000000000000,
           '{{"bytes": 2, "content_type": "application/json", "attempt": 1}}'
      FROM n
    """  # noqa: S608
    for start in range(0, jobs, 10_000):
        await store.database.batch([Statement(job, (store.tenant, min(jobs, 10_000), start))])


async def test_nothing_grows_with_the_number_of_finished_jobs(d1_store: Store) -> None:
    async def one_life() -> list[tuple[int, int]]:
        spent = Spent(d1_store.database)
        seen: list[tuple[int, int]] = []
        key = await d1_store.accepted(request_key=f"key:{len(seen)}", fingerprint={})
        seen.append((spent.read, spent.written))
        leased = await d1_store.leased(key)
        seen.append((spent.read, spent.written))
        spent.reset()
        await d1_store.jobs.find(key.job_id, tenant_id=d1_store.tenant)
        assert spent.read <= BUDGET["status"]["rows_read"]
        await d1_store.jobs.renew({key: leased.token}, duration=LEASE, progress={})
        await d1_store.jobs.settle([ending(leased)])
        seen.append((spent.read, spent.written))
        await d1_store.database.batch(
            [Statement("DELETE FROM submissions WHERE tenant_id = ?1", (d1_store.tenant,))]
        )
        return seen

    before = await one_life()
    await fill(d1_store, 100_000)
    after = await one_life()
    await d1_store.database.batch(
        [Statement("DELETE FROM jobs WHERE tenant_id = ?1", (d1_store.tenant,))]
    )

    assert after == before


def test_the_budget_is_what_the_product_promises() -> None:
    assert BUDGET["accept"]["calls"] == 1
    assert BUDGET["life"]["rows_written"] <= 8
    assert BUDGET["run_key"]["rows_written"] <= 1
    assert BUDGET["renew"]["rows_written"] <= 2
    assert BUDGET["redrive"]["calls"] == 1
    assert BUDGET["status"]["rows_read"] <= 2
    assert timedelta(seconds=60) == LEASE
