"""Costs on both drivers: what a wave reserves, what each road to an end counts, what is listed."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.contract.factories import LEASE, RETENTION, Store, ending
from tests.contract.test_lanes import Lane
from uketsuke.adapters.sql.costs import SqlCosts
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.repository import SqlJobs
from uketsuke.adapters.sql.runs import SqlRuns
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Checkpoint, Funds, JobKey, LeasedJob, SeenJob, Usage
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.domain.price import Expected, Rates, Tariff
from uketsuke.services.ports.costs import UsageFilter

pytestmark = pytest.mark.anyio
TARIFF = Tariff(rates={"summarize": Rates(10**6, 10**6, 0)})
COST = 100
# The rest of the row is what figures over time are made of.
DAY = (
    "tenant_id, day, kind, provider, model, attempts, failed_attempts, input_tokens, output_tokens,"
    " audio_ms, cost_micros, failed_cost_micros, charged_micros, unknown"
)
EXPECTED = Expected(input_tokens=COST - 1, calls=1)
USED = Usage(
    provider="openai_compatible", model="m-1", asked_model="m", input_tokens=7, output_tokens=2,
    audio_ms=500, cost_micros=60, charged_micros=60,
)  # fmt: skip


@pytest.fixture
def store(store: Store) -> Store:
    """The same, where prices are known."""
    store.jobs = SqlJobs(store.database, RETENTION, TARIFF)
    store.runs = SqlRuns(store.database, RETENTION, TARIFF)
    return store


def costs_of(store: Store) -> SqlCosts:
    return SqlCosts(store.database, RETENTION, TARIFF)


async def budget(store: Store, micros: int) -> None:
    """As docs/costs.md says that an operator does it, for a tenant that has no row yet."""
    sql = "INSERT INTO tenants (id, created_at, daily_budget_micros) VALUES (?1, 0, ?2)"
    await store.database.batch([Statement(sql, (store.tenant, micros))])


async def accepted(store: Store, **changes: Any) -> JobKey:
    return await store.accepted(**{"expected": EXPECTED, **changes})


async def claim(store: Store, keys: list[JobKey], **changes: Any) -> dict[JobKey, Any]:
    token = changes.pop("token", secrets.token_hex(8))
    return dict(
        await store.jobs.lease(keys, token=token, duration=LEASE, **{"alone": False, **changes})
    )


def leases(found: dict[JobKey, Any]) -> list[LeasedJob]:
    return [one for one in found.values() if isinstance(one, LeasedJob)]


async def days(store: Store) -> list[dict[str, Any]]:
    sql = f"SELECT {DAY} FROM usage_days WHERE tenant_id = ?1 ORDER BY day, kind, provider, model"  # noqa: S608 - ours
    (found,) = await store.database.batch([Statement(sql, (store.tenant,))])
    return [dict(row) for row in found]


async def test_the_jobs_of_a_wave_see_each_others_reservations(store: Store) -> None:
    await budget(store, 3 * COST + COST // 2)
    keys = [await accepted(store) for _ in range(5)]

    found = await claim(store, keys)

    assert [lease.job.key for lease in leases(found)] == keys[:3]
    assert [lease.reserved_micros for lease in leases(found)] == [COST] * 3
    seen = [one for one in found.values() if isinstance(one, SeenJob)]
    assert [one.funds for one in seen] == [Funds.RESERVED] * 2


async def test_waves_that_come_at_once_see_each_others_reservations(store: Store) -> None:
    await budget(store, 7 * COST)
    waves = [[await accepted(store) for _ in range(3)] for _ in range(5)]

    answers = await asyncio.gather(*(claim(store, wave) for wave in waves))

    assert sum(len(leases(found)) for found in answers) == 7


async def test_a_claim_whose_answer_was_lost_reserves_once(store: Store) -> None:
    await budget(store, COST)
    key = await accepted(store)

    for _ in range(2):
        (lease,) = leases(await claim(store, [key], token="t"))

        assert lease.reserved_micros == COST


async def test_a_jobs_own_maximum_binds_without_a_tenants(store: Store) -> None:
    fits = await accepted(store, max_cost_micros=COST)
    dear = await accepted(store, max_cost_micros=COST - 1)
    free = await accepted(store)

    found = await claim(store, [fits, dear, free])

    assert {lease.job.key: lease.reserved_micros for lease in leases(found)} == {
        fits: COST,
        free: None,
    }
    assert found[dear].funds is Funds.EXCEEDED


async def test_an_unknown_price_is_told(store: Store) -> None:
    key = await accepted(store, kind="a-kind-of-theirs", max_cost_micros=COST)

    found = await claim(store, [key])

    assert found[key].funds is Funds.PRICE_UNKNOWN


async def test_an_absurd_price_stops_no_other_job_of_the_wave(store: Store) -> None:
    dear = Tariff(rates={**TARIFF.rates, "report": Rates(999_999_876_543, 0, 0)})
    store.jobs = SqlJobs(store.database, RETENTION, dear)
    await budget(store, 999_999_999_999_999)
    most = Expected(input_tokens=400_000_007)
    keys = [await accepted(store, kind="report", expected=most), await accepted(store)]

    found = await claim(store, keys)

    assert [lease.job.key for lease in leases(found)] == keys


async def test_runs_that_crashed_are_held_to_the_budget_in_a_wave_of_several(store: Store) -> None:
    await budget(store, 2 * COST)
    keys = [(await run_of(store)).job.key for _ in range(2)]
    silent = [await store.silent(key) for key in keys]
    await store.runs.end_silent(silent, error_class=ErrorClass.CRASHED)
    # Both have spent what they had reserved: there is enough left for one more of them.
    raised = "UPDATE tenants SET daily_budget_micros = ?1 WHERE id = ?2"
    await store.database.batch([Statement(raised, (3 * COST, store.tenant))])

    found = await claim(store, keys)

    assert [lease.job.key for lease in leases(found)] == keys[:1]


async def test_what_costs_nothing_goes_on_where_more_was_spent_than_there_was(
    store: Store,
) -> None:
    await budget(store, COST)
    (lease,) = leases(await claim(store, [await accepted(store)]))
    dear = Usage(cost_micros=2 * COST, charged_micros=2 * COST)
    await store.jobs.settle([ending(lease, usage=dear)])
    costs, free = await accepted(store), await accepted(store, expected=Expected())

    found = await claim(store, [costs, free])

    assert [lease.job.key for lease in leases(found)] == [free]
    assert found[costs].funds is Funds.EXCEEDED
    assert await costs_of(store).fail_over_budget(free) is None


async def test_only_what_its_budget_can_never_allow_is_failed(store: Store) -> None:
    dear = await accepted(store, max_cost_micros=COST - 1)
    fits = await accepted(store, max_cost_micros=COST)
    costs = costs_of(store)

    failed = await costs.fail_over_budget(dear)

    assert failed is not None
    assert (failed.state, failed.error_class) == (JobState.FAILED, ErrorClass.BUDGET)
    (letter,) = await store.dead_letters(dear)
    assert (letter["road"], letter["code"]) == ("budget", "budget_exceeded")
    assert await costs.fail_over_budget(dear) is None
    assert await costs.fail_over_budget(fits) is None


async def test_waiting_for_others_moves_the_due_time_and_nothing_else(store: Store) -> None:
    key = await accepted(store)
    before = await store.row(key)

    await costs_of(store).await_budget(key, wait=timedelta(seconds=30))

    after = await store.row(key)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"due_at", "wake_at"}
    assert (await claim(store, [key]))[key].due_in > timedelta(seconds=20)


async def test_a_settle_counts_once_in_its_day_however_often_it_comes(store: Store) -> None:
    await budget(store, COST)
    (lease,) = leases(await claim(store, [await accepted(store)]))
    done = ending(lease, usage=USED)

    for _ in range(3):
        await store.jobs.settle([done])

    (day,) = await days(store)
    assert day == {
        "tenant_id": store.tenant, "day": day["day"], "kind": "summarize",
        "provider": "openai_compatible", "model": "m", "attempts": 1, "failed_attempts": 0,
        "input_tokens": 7, "output_tokens": 2, "audio_ms": 500, "cost_micros": 60,
        "failed_cost_micros": 0, "charged_micros": 60, "unknown": 0,
    }  # fmt: skip
    at = datetime.fromtimestamp(await store.now() / 1000, UTC)
    assert day["day"] in (at.date().isoformat(), (at - timedelta(minutes=5)).date().isoformat())
    row = await store.row(lease.job.key)
    assert (row["reserved_micros"], row["charged_micros"], row["unknown_costs"]) == (None, 60, 0)


async def test_failures_and_unknown_costs_are_told_apart(store: Store) -> None:
    half = Usage(cost_micros=5, charged_micros=COST, unknown_calls=1)
    for usage in (USED, half, None):
        lease = await store.leased()
        await store.jobs.settle([ending(lease, JobState.FAILED, usage=usage)])

    found = {(day["provider"], day["model"]): day for day in await days(store)}

    priced = found["openai_compatible", "m"]
    assert (priced["failed_attempts"], priced["failed_cost_micros"], priced["unknown"]) == (
        1,
        60,
        0,
    )
    others = found["", ""]
    # The attempt that has called nobody costs nothing, and that is known.
    assert (others["attempts"], others["unknown"], others["cost_micros"]) == (2, 1, 5)
    assert others["charged_micros"] == COST


async def test_a_crash_is_charged_what_it_had_reserved_and_its_cost_is_unknown(
    store: Store,
) -> None:
    await budget(store, COST)
    (lease,) = leases(await claim(store, [await accepted(store)]))
    await store.expire_lease(lease.job.key)

    for _ in range(2):
        await store.jobs.take_back([lease.job.key])

    (day,) = await days(store)
    assert (day["failed_attempts"], day["unknown"], day["charged_micros"]) == (1, 1, COST)
    row = await store.row(lease.job.key)
    assert (row["reserved_micros"], row["charged_micros"], row["unknown_costs"]) == (None, COST, 1)


async def test_an_expired_lease_is_not_taken_over_where_a_budget_binds(store: Store) -> None:
    await budget(store, 10 * COST)
    (lease,) = leases(await claim(store, [await accepted(store)]))
    await store.expire_lease(lease.job.key)

    found = await claim(store, [lease.job.key], alone=True)

    assert leases(found) == []
    assert await store.attempts(lease.job.key) == []


async def run_of(store: Store, **changes: Any) -> LeasedJob:
    return await store.started(expected=EXPECTED, **changes)


async def test_a_run_reserves_when_it_is_resumed_and_only_once(store: Store) -> None:
    await budget(store, COST)
    first = await run_of(store)
    second = await run_of(store)

    again = await store.runs.resume(first.job.key, token=first.token.partition(".")[0], lease=LEASE)

    assert (first.reserved_micros, first.funds) == (COST, None)
    assert (second.reserved_micros, second.funds) == (None, Funds.RESERVED)
    assert again is not None
    assert (again.reserved_micros, again.funds) == (COST, None)


@pytest.mark.parametrize("paid", [10, 3 * COST])
async def test_a_silent_run_is_charged_what_it_had_reserved_or_had_paid(
    store: Store, paid: int
) -> None:
    await budget(store, COST)
    lease = await run_of(store)
    key = lease.job.key
    usage = Usage(
        provider="openai_compatible", asked_model="m", cost_micros=paid, charged_micros=paid
    )
    kept = Checkpoint(step="s", digest="d", attempt=1, content="{}", usage=usage)
    await store.runs.keep(key, kept)

    silent = await store.silent(key)
    for _ in range(2):
        await store.runs.end_silent([silent], error_class=ErrorClass.CRASHED)

    (day,) = await days(store)
    charged = max(COST, paid)
    assert (day["cost_micros"], day["unknown"], day["charged_micros"]) == (paid, 1, charged)
    assert (await store.row(key))["charged_micros"] == charged


async def test_what_is_outlived_is_charged_too(store: Store) -> None:
    await budget(store, 10 * COST)
    first = await run_of(store, run_key="nightly")
    await store.pass_deadline(first.job.key)
    await store.expire_lease(first.job.key)

    await store.accepted(engine=Engine.QUEUE, run_key="nightly")

    (day,) = await days(store)
    assert (day["attempts"], day["charged_micros"]) == (1, COST)
    row = await store.row(first.job.key)
    assert (row["state"], row["reserved_micros"], row["charged_micros"]) == ("failed", None, COST)


async def used_on(store: Store, day: str, *, kind: str = "summarize", model: str = "m") -> None:
    """Write a day's sum as the trigger does: tests cannot wait for tomorrow."""
    sql = (
        "INSERT INTO usage_days (tenant_id, day, kind, provider, model, attempts,"
        " failed_attempts, input_tokens, output_tokens, audio_ms, cost_micros,"
        " failed_cost_micros, charged_micros, unknown) VALUES (?1, ?2, ?3, 'openai_compatible', ?4,"
        " 2, 1, 30, 4, 500, 60, 20, 70, 0)"
    )
    await store.database.batch([Statement(sql, (store.tenant, day, kind, model))])


async def test_usage_is_paged_newest_day_first_and_its_totals_are_of_all_pages(
    store: Store,
) -> None:
    for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
        for model in ("a", "b"):
            await used_on(store, day, model=model)
    await used_on(store, "2026-01-02", kind="embed")
    await used_on(store, "2025-12-31")
    asked = UsageFilter(
        start=date(2026, 1, 1), end=date(2026, 1, 2), kind="summarize", tenant_id=store.tenant
    )

    found, after = [], None
    while True:
        page = await costs_of(store).usage(asked, after=after, limit=3)
        found += [(item.key.day, item.key.model) for item in page.items]
        assert (page.totals.attempts, page.totals.cost_micros) == (8, 240)
        after = page.cursor
        if after is None:
            break

    assert found == [
        ("2026-01-02", "b"),
        ("2026-01-02", "a"),
        ("2026-01-01", "b"),
        ("2026-01-01", "a"),
    ]


async def test_an_operator_pages_through_all_tenants_each_newest_first(store: Store) -> None:
    other = Store(store.database, f"{store.tenant}-other")
    for one in (store, other):
        for day in ("2026-02-01", "2026-02-02"):
            await used_on(one, day)
    asked = UsageFilter(start=date(2026, 2, 1), end=date(2026, 2, 2))

    found, after = [], None
    while True:
        page = await costs_of(store).usage(asked, after=after, limit=1)
        found += [(item.key.tenant_id, item.key.day) for item in page.items]
        after = page.cursor
        if after is None:
            break

    mine = [(tenant, day) for tenant, day in found if tenant.startswith(store.tenant)]
    assert mine == [
        (store.tenant, "2026-02-02"),
        (store.tenant, "2026-02-01"),
        (other.tenant, "2026-02-02"),
        (other.tenant, "2026-02-01"),
    ]
    assert page.budget is None


async def test_a_days_budget_tells_what_is_spent_and_what_is_reserved(store: Store) -> None:
    await budget(store, 10 * COST)
    keys = [await accepted(store) for _ in range(3)]
    done, *_ = leases(await claim(store, keys))
    await store.jobs.settle([ending(done, usage=USED)])
    today = UsageFilter(start=date(2026, 1, 1), end=date(2026, 1, 1), tenant_id=store.tenant)

    page = await costs_of(store).usage(today, after=None, limit=1)

    assert page.budget is not None
    assert page.budget.daily_micros == 10 * COST
    assert page.budget.spent_micros == 60
    assert page.budget.reserved_micros == 2 * COST


async def test_no_job_probes_a_lane_that_its_budget_does_not_allow_to_ask(store: Store) -> None:
    """Else the lane would wait for a probe that never comes."""
    lane = Lane(store)
    await lane.park(await store.leased())
    await lane.over()
    dear = await accepted(store, max_cost_micros=1)
    fits = await accepted(store, max_cost_micros=COST)

    refused, probing = await lane.lease(dear, fits)

    assert isinstance(refused, SeenJob)
    assert refused.funds is Funds.EXCEEDED
    assert isinstance(probing, LeasedJob)
    assert (probing.probes, probing.reserved_micros) == (frozenset({lane.name}), COST)
