"""Conditions on both drivers: what is counted for them, and since when each holds.

The counts are of all tenants, and on D1 of all tests: what a test adds is what it looks at.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import Store, ending
from tests.contract.letters import put_letter
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.domain.condition import Condition, LetterFigures, Measure
from uketsuke.domain.job import JobKey
from uketsuke.domain.lifecycle import JobState

pytestmark = pytest.mark.anyio
HOUR = 3_600_000
DAY = 24 * HOUR


def conditions_of(store: Store) -> SqlConditions:
    ages = Ages.of(
        keep_inputs=timedelta(days=30),
        keep_results=timedelta(days=30),
        expiring_within=timedelta(hours=72),
    )
    return SqlConditions(store.database, ages)


async def added(store: Store, before: LetterFigures) -> tuple[int, ...]:
    """What was added to open, past_triage, expiring, last_hour, hour_before."""
    now = await conditions_of(store).figures()
    names = LetterFigures.__dataclass_fields__
    return tuple(getattr(now, name) - getattr(before, name) for name in names)


async def test_letters_are_counted_by_what_is_urgent_about_them(store: Store) -> None:
    before, now = await conditions_of(store).figures(), await store.now()

    await put_letter(store, last_failed_at=now - HOUR // 2, triage_due_at=now + HOUR)
    await put_letter(store, last_failed_at=now - 3 * HOUR // 2, triage_due_at=now - 1)
    await put_letter(store, last_failed_at=now - 3 * HOUR, triage_due_at=now - 1, status="redriven")
    await put_letter(store, last_failed_at=now - HOUR // 2, status="discarded")

    assert await added(store, before) == (2, 1, 0, 2, 1)


async def failed(store: Store, *, days_ago: int) -> JobKey:
    """A job that failed so long ago, with its letter."""
    leased = await store.leased()
    await store.jobs.settle([ending(leased, JobState.FAILED)])
    key, ago = leased.job.key, timedelta(days=-days_ago)
    await store.shift(key, "expires_at", ago)
    sql = "UPDATE dead_letters SET last_failed_at = last_failed_at + ?2 WHERE job_id = ?1"
    await store.database.batch([Statement(sql, (key.job_id, ago // timedelta(milliseconds=1)))])
    return key


@pytest.mark.parametrize(
    ("days_ago", "expiring"), [(0, 0), (26, 0), (28, 1), (29, 1), (30, 0), (31, 0)]
)
async def test_an_input_expires_in_its_last_three_days(
    store: Store, days_ago: int, expiring: int
) -> None:
    before = await conditions_of(store).figures()

    await failed(store, days_ago=days_ago)

    assert (await added(store, before))[2] == expiring


async def test_of_a_resolved_letter_and_of_an_erased_job_nothing_expires(store: Store) -> None:
    before = await conditions_of(store).figures()
    resolved, erased = await failed(store, days_ago=28), await failed(store, days_ago=28)
    assert (await added(store, before))[2] == 2

    discard = "UPDATE dead_letters SET status = 'discarded' WHERE job_id = ?1"
    erase = "UPDATE jobs SET erased_at = 1 WHERE tenant_id = ?1 AND id = ?2"
    await store.database.batch(
        [Statement(discard, (resolved.job_id,)), Statement(erase, tuple(erased))]
    )

    assert (await added(store, before))[2] == 0


async def test_a_condition_holds_since_it_began_and_begins_anew(store: Store) -> None:
    # A name of its own: the sweep of the stack keeps the others.
    name: Any = f"of_{store.tenant}"

    async def keep(value: int | None, *, bound: int = 2) -> tuple[int, Condition]:
        conditions = conditions_of(store)
        began = await conditions.keep([Measure(name=name, value=value, bound=bound, compared_to=1)])
        (found,) = [each for each in await conditions.kept() if each.name == name]
        at = await store.now()
        while await store.now() == at:
            pass  # the next look is another millisecond's
        return began, found

    looks = [await keep(value) for value in (2, 3, 4, None, 5, 1)]
    higher = await keep(1, bound=0)
    await store.database.batch([Statement("DELETE FROM conditions WHERE name = ?1", (name,))])

    assert [began for began, _ in (*looks, higher)] == [0, 1, 0, 0, 1, 0, 1]
    below, above, more, untold, again, over = [found for _, found in looks]
    assert (below.holds, below.since, below.value, below.bound) == (False, None, 2, 2)
    assert above.since == more.since == above.computed_at < more.computed_at
    assert (untold.holds, untold.value, untold.compared_to) == (False, None, 1)
    assert again.since == again.computed_at > more.computed_at
    assert not over.holds
