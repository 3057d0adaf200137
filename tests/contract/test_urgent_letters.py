"""Lists behind numbers, on both drivers: letters past their time, or whose input goes, or redriven.

What ``Conditions`` counts is what such a list shows: of all tenants, and on D1 of all tests.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import Store, ending
from tests.contract.letters import LATE_MS, put_letter, put_letters
from tests.contract.test_triage import ages, listed, pages, triage_of
from uketsuke.adapters.sql import triage as module
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.dead_letter import LetterStatus
from uketsuke.domain.job import JobKey
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import LetterFilter

pytestmark = pytest.mark.anyio
HOUR = 3_600_000
OPEN = LetterStatus.OPEN


async def failed(store: Store, *, days_ago: int) -> tuple[JobKey, str]:
    """A job that failed so long ago, with its letter's id."""
    leased = await store.leased()
    await store.jobs.settle([ending(leased, JobState.FAILED)])
    key, ago = leased.job.key, timedelta(days=-days_ago)
    await store.shift(key, "expires_at", ago)
    sql = """UPDATE dead_letters
                SET last_failed_at = last_failed_at + ?2, triage_due_at = triage_due_at + ?2
              WHERE job_id = ?1 RETURNING id"""
    moved = Statement(sql, (key.job_id, ago // timedelta(milliseconds=1)))
    ((letter,),) = await store.database.batch([moved])
    return key, letter["id"]


async def all_of(store: Store, **wanted: Any) -> list[str]:
    """Follow a list of every tenant's letters to its end."""
    triage, cursor, found = triage_of(store), None, []
    while True:
        page = await triage.page(LetterFilter(status=OPEN, **wanted), before=cursor, limit=200)
        found += [letter.id for letter in page.letters]
        cursor = page.cursor
        if cursor is None:
            return found


async def test_a_list_of_what_is_urgent_has_as_many_as_the_figures_count(store: Store) -> None:
    now = await store.now()
    late = await put_letter(store, last_failed_at=now - HOUR, triage_due_at=now - 1)
    await put_letter(store, last_failed_at=now - HOUR, triage_due_at=now + HOUR)
    _, soon = await failed(store, days_ago=28)
    await failed(store, days_ago=26)

    figures = await SqlConditions(store.database, ages()).figures()
    past_triage = await all_of(store, past_triage=True)
    expiring = await all_of(store, expiring=True)

    assert len(past_triage) == figures.past_triage
    assert len(expiring) == figures.expiring
    assert {late, soon} <= set(past_triage)
    assert soon in expiring
    assert late not in expiring


@pytest.mark.parametrize(
    ("days_ago", "listed_"), [(0, False), (26, False), (28, True), (29, True), (31, False)]
)
async def test_an_input_goes_soon_in_its_last_three_days(
    store: Store, days_ago: int, listed_: bool
) -> None:
    _, letter = await failed(store, days_ago=days_ago)

    assert await listed(store, status=OPEN, expiring=True) == [letter] * listed_


async def test_nothing_goes_of_a_resolved_letter_or_an_erased_job(store: Store) -> None:
    resolved, _ = await failed(store, days_ago=28)
    erased, _ = await failed(store, days_ago=28)
    discard = "UPDATE dead_letters SET status = 'discarded' WHERE job_id = ?1"
    erase = "UPDATE jobs SET erased_at = 1 WHERE tenant_id = ?1 AND id = ?2"
    await store.database.batch(
        [Statement(discard, (resolved.job_id,)), Statement(erase, tuple(erased))]
    )

    assert await listed(store, status=OPEN, expiring=True) == []


async def test_what_is_urgent_is_narrowed_by_the_other_filters_and_by_each_other(
    store: Store,
) -> None:
    _, both = await failed(store, days_ago=28)
    _, expiring = await failed(store, days_ago=28)
    later = "UPDATE dead_letters SET triage_due_at = ?1 WHERE id = ?2"
    await store.database.batch([Statement(later, (LATE_MS, expiring))])
    past = await put_letter(store, last_failed_at=1, triage_due_at=2, kind="embed")

    assert await listed(store, status=OPEN, past_triage=True, expiring=True) == [both]
    assert await listed(store, status=OPEN, expiring=True) == [expiring, both]
    assert await listed(store, past_triage=True) == [both, past]
    assert await listed(store, past_triage=True, kind="embed") == [past]
    assert await listed(store, expiring=True, kind="embed") == []


async def test_what_goes_soon_is_whole_over_its_pages_and_its_stretches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [(await failed(store, days_ago=28))[1] for _ in range(5)]
    # Of that age too, and nothing of them goes: there is no job.
    now = await store.now()
    await put_letters(store, 7, last_failed_at=now - 28 * 24 * HOUR)

    for stretch in (3, 1000):
        monkeypatch.setattr(module, "_STRETCH", stretch)
        found = await pages(store, limit=2, status=OPEN, expiring=True)
        assert [id_ for page in found for id_ in page] == ids[::-1]


async def redriven(store: Store, redrive: str, count: int, **columns: Any) -> list[str]:
    """Letters that a bulk redrive has redriven, one after another."""
    return [
        await put_letter(
            store,
            status="redriven",
            redrive_id=redrive,
            redriven_to=f"job_{number:026d}",
            **columns,
        )
        for number in range(count)
    ]


async def of_redrive(store: Store, redrive: str, *, limit: int, **wanted: Any) -> list[list[str]]:
    triage, cursor, found = triage_of(store), None, []
    while True:
        page = await triage.redriven_by(redrive, LetterFilter(**wanted), before=cursor, limit=limit)
        found.append([letter.id for letter in page.letters])
        cursor = page.cursor
        if cursor is None:
            return found


async def test_what_a_bulk_redrive_has_redriven_is_listed_the_last_first(store: Store) -> None:
    mine, other = f"rd_{store.tenant}", f"rd_{store.tenant}-other"
    ids = await redriven(store, mine, 5)
    await redriven(store, other, 2)
    await put_letter(store, status="redriven")

    found = await of_redrive(store, mine, limit=2)

    assert [id_ for page in found for id_ in page] == ids[::-1]
    assert [len(page) for page in found] == [2, 2, 1]
    assert await of_redrive(store, mine, limit=50, kind="embed") == [[]]
    assert await of_redrive(store, "rd_none", limit=50) == [[]]


async def test_a_rare_one_of_a_bulk_redrive_is_found_over_short_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STRETCH", 3)
    redrive = f"rd_{store.tenant}"
    (rare,) = await redriven(store, redrive, 1, kind="embed")
    sql = "UPDATE dead_letters SET redriven_to = 'job_!' WHERE id = ?1"  # before all others
    await store.database.batch([Statement(sql, (rare,))])
    await redriven(store, redrive, 7)

    found = await of_redrive(store, redrive, limit=50, kind="embed")

    assert [id_ for page in found for id_ in page] == [rare]
    assert len(found) == 3


async def test_such_a_page_reads_what_it_shows_or_a_stretch(
    d1_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STRETCH", 20)
    monkeypatch.setattr(module, "_OPEN_STRETCH", 20)
    now, redrive = await d1_store.now(), f"rd_{d1_store.tenant}"
    await put_letters(d1_store, 60, last_failed_at=now - 28 * 24 * HOUR)
    await redriven(d1_store, redrive, 60)
    triage, database = triage_of(d1_store), d1_store.database

    async def rows_read(**wanted: Any) -> int:
        before = database.rows_read
        await triage.page(LetterFilter(status=OPEN, **wanted), before=None, limit=10)
        return int(database.rows_read - before)

    assert await rows_read(past_triage=True, kind="none") <= 3 * 20 + 3
    assert await rows_read(expiring=True, kind="none") <= 3 * 20 + 3
    # Each is asked for its letter, its job and that job's input.
    assert await rows_read(expiring=True) <= 8 * 20
    before = database.rows_read
    await triage.redriven_by(redrive, LetterFilter(kind="none"), before=None, limit=10)
    assert database.rows_read - before <= 4 * 20
