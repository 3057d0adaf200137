"""Dead letters on both drivers: lists and groups, from a bounded stretch; what goes, and when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import Store, ending
from tests.contract.letters import LATE_MS, put_letter, put_letters
from tests.contract.test_cost import BUDGET
from uketsuke.adapters.sql import triage as module
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.purging import SqlPurging
from uketsuke.adapters.sql.terms import NOW
from uketsuke.adapters.sql.triage import SqlTriage
from uketsuke.domain.condition import measures_of
from uketsuke.domain.dead_letter import LetterStatus, Verdict, replay_of
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.letter_group import LetterGroup
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, bounds_of
from uketsuke.services.ports import LetterFilter

pytestmark = pytest.mark.anyio
DAY_MS = 86_400_000


def ages(*, expiring_within: timedelta = timedelta(days=3)) -> Ages:
    month = timedelta(days=30)
    return Ages.of(keep_inputs=month, keep_results=month, expiring_within=expiring_within)


def triage_of(store: Store) -> SqlTriage:
    return SqlTriage(store.database, ages())


async def pages(store: Store, *, limit: int, **wanted: Any) -> list[list[str]]:
    """Follow a list of the tenant's letters to its end and return the ids of each page."""
    chosen = LetterFilter(tenant_id=store.tenant, **wanted)
    triage, cursor, found = triage_of(store), None, []
    while True:
        page = await triage.page(chosen, before=cursor, limit=limit)
        found.append([letter.id for letter in page.letters])
        cursor = page.cursor
        if cursor is None:
            return found


async def listed(store: Store, **wanted: Any) -> list[str]:
    return [id_ for page in await pages(store, limit=50, **wanted) for id_ in page]


async def group(store: Store, **wanted: Any) -> list[LetterGroup]:
    chosen = LetterFilter(tenant_id=store.tenant, **{"status": LetterStatus.OPEN, **wanted})
    return list(await triage_of(store).groups(chosen, limit=50))


@pytest.mark.parametrize("status", [None, LetterStatus.OPEN])
async def test_a_list_is_whole_over_its_pages_though_all_failed_at_once(
    store: Store, status: LetterStatus | None
) -> None:
    older = await put_letters(store, 5)
    newer = await put_letters(store, 2, last_failed_at=LATE_MS + 1)

    found = [page for page in await pages(store, limit=3, status=status) if page]

    assert [id_ for page in found for id_ in page] == newer[::-1] + older[::-1]
    assert [len(page) for page in found] == [3, 3, 1]


async def test_a_list_without_filters_begins_with_the_last_to_fail(store: Store) -> None:
    sql = "SELECT coalesce(max(last_failed_at), 0) AS last FROM dead_letters"
    ((found,),) = await store.database.batch([Statement(sql)])
    ids = [await put_letter(store, last_failed_at=found["last"] + n) for n in (1, 2, 3)]

    for status in (None, LetterStatus.OPEN):
        triage, wanted = triage_of(store), LetterFilter(status=status)
        first = await triage.page(wanted, before=None, limit=2)
        second = await triage.page(wanted, before=first.cursor, limit=1)

        assert [letter.id for letter in (*first.letters, *second.letters)] == ids[::-1]


async def test_each_filter_leaves_out_what_does_not_fit(store: Store) -> None:
    plain = await put_letter(store)
    done = await put_letter(store, status="redriven")
    lost = await put_letter(store, **{"class": "crashed", "code": "worker_crashed"})
    other = await put_letter(store, kind="embed", model="timeout:x")
    message = await put_letter(store, kind=None, model=None, code="body_undecodable")

    assert await listed(store, status=LetterStatus.REDRIVEN) == [done]
    assert await listed(store, status=LetterStatus.DISCARDED) == []
    for status, resolved in ((None, [done]), (LetterStatus.OPEN, [])):
        timeout = {"error_class": ErrorClass.TIMEOUT, "status": status}
        assert await listed(store, **timeout) == [message, other, *resolved, plain]
        assert await listed(store, kind="embed", status=status) == [other]
        assert await listed(store, kind="embe", status=status) == []
        assert await listed(store, error_class=ErrorClass.CRASHED, status=status) == [lost]
        of_other = "embed:timeout:provider_timed_out:timeout:x"
        assert await listed(store, fingerprint=of_other, status=status) == [other]
        of_message = ":timeout:body_undecodable:"
        assert await listed(store, fingerprint=of_message, status=status) == [message]


async def test_a_rare_letter_is_found_over_short_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STRETCH", 4)
    monkeypatch.setattr(module, "_OPEN_STRETCH", 4)
    rare = await put_letter(store, kind="embed")
    await put_letters(store, 9)

    for status in (None, LetterStatus.OPEN):
        chosen = LetterFilter(tenant_id=store.tenant, kind="embed", status=status)
        triage, cursor = triage_of(store), None
        sizes: list[int] = []
        while not sizes or not sizes[-1]:
            page = await triage.page(chosen, before=cursor, limit=50)
            sizes.append(len(page.letters))
            cursor = page.cursor

        assert [letter.id for letter in page.letters] == [rare]
        assert len(sizes) >= 3


async def test_a_listed_letter_says_until_when_it_may_be_redriven(store: Store) -> None:
    leased = await store.leased()
    await store.jobs.settle([ending(leased, JobState.FAILED)])
    row = await store.row(leased.job.key)

    page = await triage_of(store).page(LetterFilter(tenant_id=store.tenant), before=None, limit=5)

    (letter,) = page.letters
    assert letter == await SqlDeadLetters(store.database, triage_within=timedelta()).find(letter.id)
    assert letter.replayable_until is not None
    assert letter.replayable_until.timestamp() * 1000 == pytest.approx(row["expires_at"])
    assert replay_of(letter).replayable


async def test_groups_tell_what_they_have_in_common_and_how_far_it_reaches(store: Store) -> None:
    await put_letter(store, first_failed_at=LATE_MS - 7)
    await put_letter(store, last_failed_at=LATE_MS + 5)
    await put_letter(store, status="discarded")
    await put_letter(store, kind=None, model=None, code="body_undecodable", tenant_id=store.tenant)

    largest, other = await group(store)

    assert largest.fingerprint == "summarize:timeout:provider_timed_out:m"
    assert (largest.kind, largest.error_class, largest.code, largest.model) == (
        "summarize", ErrorClass.TIMEOUT, "provider_timed_out", "m"
    )  # fmt: skip
    assert (largest.count, largest.tenants, largest.verdict) == (2, 1, Verdict.REDRIVE)
    assert largest.first_failed_at.timestamp() * 1000 == pytest.approx(LATE_MS - 7)
    assert largest.last_failed_at.timestamp() * 1000 == pytest.approx(LATE_MS + 5)
    assert (other.fingerprint, other.kind, other.model) == (
        ":timeout:body_undecodable:",
        None,
        None,
    )
    assert [g.count for g in await group(store, status=LetterStatus.DISCARDED)] == [1]
    assert await group(store, error_class=ErrorClass.CRASHED) == []
    assert await group(store, kind="embed") == []


async def test_a_group_counts_each_tenant_once(store: Store) -> None:
    code = f"code_{store.tenant}"
    for tenant in ("a", "a", "b"):
        await put_letter(store, tenant_id=f"{store.tenant}-{tenant}", code=code)
    # A message that nobody's job sent affects nobody that is known.
    await put_letter(store, tenant_id=None, code=code)

    wanted = LetterFilter(fingerprint=f"summarize:timeout:{code}:m", status=LetterStatus.OPEN)
    (found,) = await triage_of(store).groups(wanted, limit=1)

    assert (found.count, found.tenants) == (4, 2)


async def test_the_fingerprint_of_a_group_is_that_of_its_letters(store: Store) -> None:
    for columns in ({}, {"kind": None}, {"model": None}, {"model": "a:b"}):
        await put_letter(store, **columns)

    for found in await group(store):
        assert len(await listed(store, fingerprint=found.fingerprint)) == found.count == 1


async def test_a_group_whose_models_lane_is_parked_should_wait(store: Store) -> None:
    model = f"llama:{store.tenant}"
    await put_letter(store, model=model)
    await put_letter(store, model=model, **{"class": "denied", "code": "provider_denied"})
    lane = f"""
    INSERT INTO lanes VALUES ('workers_ai/' || ?1, {NOW}, {NOW} + ?2, {NOW} + 90000, 'throttled',
                              'x', 1, 1, 't', 't', 'j', 't')
    """  # noqa: S608 - our own

    before = {g.error_class: g.verdict for g in await group(store)}
    await store.database.batch([Statement(lane, (model, 60_000))])
    parked = {g.error_class: g.verdict for g in await group(store)}
    end = "UPDATE lanes SET parked_until = parked_at WHERE lane = 'workers_ai/' || ?1"
    await store.database.batch([Statement(end, (model,))])
    over = {g.error_class: g.verdict for g in await group(store)}
    forget = "DELETE FROM lanes WHERE lane = 'workers_ai/' || ?1"
    await store.database.batch([Statement(forget, (model,))])

    mend = {ErrorClass.DENIED: Verdict.FIX_CONFIGURATION}
    assert before == over == {ErrorClass.TIMEOUT: Verdict.REDRIVE, **mend}
    assert parked == {ErrorClass.TIMEOUT: Verdict.WAIT, **mend}


async def test_only_letters_resolved_long_ago_are_deleted(store: Store) -> None:
    now, hour = await store.now(), 3_600_000
    left = [
        await put_letter(store, last_failed_at=1),
        await put_letter(store, last_failed_at=2, status="redriven", resolved_at=now),
    ]
    for status in ("redriven", "discarded"):
        await put_letter(store, last_failed_at=1, status=status, resolved_at=now - 2 * hour)

    deleted = await SqlPurging(store.database).delete_letters(keep=timedelta(hours=1), limit=100)

    assert deleted >= 2  # of those that other tests have left on D1, too
    assert await listed(store) == left[::-1]


async def test_a_page_reads_what_it_shows_or_a_stretch_however_many_letters_there_are(
    d1_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_STRETCH", "_OPEN_STRETCH"):
        monkeypatch.setattr(module, name, 20)
    await put_letters(d1_store, 60)
    triage, database = triage_of(d1_store), d1_store.database

    async def rows_read(limit: int, **wanted: Any) -> int:
        before = database.rows_read
        await triage.page(LetterFilter(**wanted), before=None, limit=limit)
        return int(database.rows_read - before)

    a_letter = BUDGET["letters"]["rows_read_a_letter"]
    for status in (None, LetterStatus.OPEN):
        assert await rows_read(10, status=status) <= 10 * a_letter
        assert await rows_read(10, status=status, kind="none") <= 3 * 20 + 3


async def test_what_the_sweep_keeps_costs_what_the_budget_says(d1_store: Store) -> None:
    conditions = SqlConditions(d1_store.database, ages(expiring_within=timedelta(days=30)))
    measures = measures_of(
        await conditions.figures(), dlq_oldest=None, bounds=bounds_of(DEFAULT_OBJECTIVES)
    )
    before = d1_store.database.rows_written

    await conditions.keep(measures)

    written = d1_store.database.rows_written - before
    assert written == len(measures) == BUDGET["letters"]["rows_written_a_sweep"]
