"""Bulk redrives on both drivers: what they would touch, what they may, and what that costs to read.

The database is shared with other tests: each redrive here means its own tenant's letters alone.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import Store, new_job
from tests.support.letters import letters_of
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.adapters.sql.redrives import SqlRedrives
from uketsuke.domain.audit import Act
from uketsuke.domain.bulk_redrive import (
    Figures,
    LetterFilter,
    NewRedrive,
    RedriveState,
    SkipReason,
    StoppedBecause,
    Stopping,
    Stretch,
    Turn,
    obstacle,
)
from uketsuke.domain.failure import MESSAGES, ErrorClass
from uketsuke.domain.ids import time_sorted_id
from uketsuke.domain.job import Redriving
from uketsuke.domain.lifecycle import Origin
from uketsuke.domain.price import NO_TARIFF, Rates, Tariff
from uketsuke.services.ports import (
    AcceptedNew,
    BulkPlace,
    Candidates,
    Decided,
    InputVanished,
    ShownRedrive,
)

pytestmark = pytest.mark.anyio
TARIFF = Tariff(rates={"summarize": Rates(10**6, 10**6, 0), "embed": Rates(0, 0, 0)})
_numbers = itertools.count(1_900_000_000_000)


def redrives_of(store: Store, tariff: Tariff = NO_TARIFF) -> SqlRedrives:
    return SqlRedrives(store.database, tariff)


def an_act(**changes: Any) -> Act:
    name = time_sorted_id("au", now_ms=next(_numbers), entropy=secrets.token_bytes(10))
    return Act(**{"id": name, "actor": "k", "reason": "why", "request_id": "r", **changes})


async def run(store: Store, sql: str, *params: Any) -> Any:
    (found,) = await store.database.batch([Statement(sql, params)])
    return found


async def letters(store: Store, count: int, **columns: Any) -> None:
    await store.database.batch(letters_of(store.tenant, count, **columns))


async def started(store: Store, **changes: Any) -> str:
    redrives = redrives_of(store)
    name = time_sorted_id("rd", now_ms=next(_numbers), entropy=secrets.token_bytes(10))
    wanted = LetterFilter(tenant_id=store.tenant, **changes.pop("wanted", {}))
    values: dict[str, Any] = {"id": name, "wanted": wanted, "rate_per_minute": 60, "canary": 3}
    await redrives.start(NewRedrive(**{**values, **changes}), act=an_act())
    return name


async def turn_of(store: Store, name: str) -> Turn:
    turn = await redrives_of(store).take_turn(name, token=secrets.token_hex(8))
    assert turn
    return turn


async def come(store: Store, turn: Turn, *, limit: int = 50) -> Candidates:
    page = await redrives_of(store).candidates(turn, limit=limit)
    assert page
    return page


async def redriven(store: Store, name: str, number: int = 0) -> object:
    """Redrive one of the letters that come next, as the duty does."""
    letter = (await come(store, await turn_of(store, name))).letters[number]
    assert letter.job_id
    origin = Redriving(
        letter_id=letter.id, job_id=letter.job_id, redrives=1, act=an_act(), redrive_id=name
    )
    return await store.jobs.accept(new_job(store.tenant, origin=Origin.REDRIVE, redriving=origin))


async def named(store: Store, key: str, *, canary: int = 3, actor: str = "key-1") -> ShownRedrive:
    """Ask for one under an idempotency key of the store's own."""
    new = NewRedrive(
        id=time_sorted_id("rd", now_ms=next(_numbers), entropy=secrets.token_bytes(10)),
        wanted=LetterFilter(tenant_id=store.tenant),
        rate_per_minute=60,
        canary=canary,
        idempotency_key=f"{store.tenant}-{key}",
    )
    return await redrives_of(store).start(new, act=an_act(actor=actor))


async def test_under_one_idempotency_key_one_is_started_with_one_row_in_the_audit(
    store: Store,
) -> None:
    await letters(store, 2)

    first = await named(store, "a")
    again = [await named(store, "a", canary=canary) for canary in (3, 0)]
    others = [await named(store, "b"), await named(store, "a", actor="key-2")]

    assert [shown.redrive for shown in again] == [first.redrive] * 2
    assert len({shown.redrive.id for shown in (first, *others)}) == 3
    acts = await run(store, "SELECT target FROM audit WHERE tenant_id = ?1", store.tenant)
    assert sorted(row["target"] for row in acts) == sorted(
        shown.redrive.id for shown in (first, *others)
    )


async def test_of_two_under_one_key_at_the_same_time_one_is_started(store: Store) -> None:
    both = await asyncio.gather(named(store, "a"), named(store, "a"))

    assert both[0].redrive.id == both[1].redrive.id
    found = await run(store, "SELECT id FROM redrives WHERE filter_tenant = ?1", store.tenant)
    assert len(found) == 1


async def test_what_may_be_redriven_is_the_same_to_the_statement_and_to_the_domain(
    store: Store,
) -> None:
    changes: list[dict[str, Any]] = [
        *({"class": error_class} for error_class in ErrorClass),
        *({"code": code} for code in MESSAGES),
        *({"class": "invalid_input", "code": code} for code in MESSAGES),
        {"redrives": 3},
        {"schema_version": 2},
        {"schema_version": None},
        {},
        {},
        {},
    ]
    each = [letters_of(store.tenant, 1, **columns) for columns in changes]
    await store.database.batch([statement for statements in each for statement in statements])
    gone = "SELECT min(id) FROM (SELECT id FROM jobs WHERE tenant_id = ?1 ORDER BY id DESC LIMIT 3)"
    await run(store, f"UPDATE jobs SET expires_at = 1 WHERE id = ({gone})", store.tenant)  # noqa: S608
    named = "SELECT max(id) FROM jobs WHERE tenant_id = ?1"
    ref = '{"form":"ref","bytes":4,"refs":["in_gone"]}'
    sql = f"UPDATE jobs SET input = ?2 WHERE tenant_id = ?1 AND id = ({named})"  # noqa: S608
    await run(store, sql, store.tenant, ref)
    name = await started(store)

    estimate = await redrives_of(store).estimate(LetterFilter(tenant_id=store.tenant))

    page = await come(store, await turn_of(store, name), limit=400)
    free = [letter for letter in page.letters if obstacle(letter) is None]
    assert page.end is None
    assert (estimate.count, estimate.replayable) == (len(page.letters), len(free))
    assert 0 < len(free) < len(page.letters)
    found = {reason for letter in page.letters if (reason := obstacle(letter))}
    assert found == {SkipReason.NOT_REPLAYABLE, SkipReason.INPUT_GONE, SkipReason.NEEDS_FORCE}


async def test_an_estimate_sums_up_what_is_known_and_counts_what_is_not(store: Store) -> None:
    redrives, mine = redrives_of(store, TARIFF), LetterFilter(tenant_id=store.tenant)
    await letters(store, 2, kind="theirs", expected={"i": 9, "n": 1})
    unknown = await redrives.estimate(mine)
    await letters(store, 2, expected={"i": 99, "n": 1})
    await letters(store, 1)
    await letters(store, 1, kind="embed")
    await letters(store, 1, **{"class": "refused"}, expected={"i": 99, "n": 1})

    known = await redrives.estimate(mine)

    assert (unknown.cost_micros, unknown.unpriced) == (None, 2)
    assert (known.count, known.replayable) == (7, 6)
    assert (known.cost_micros, known.unpriced) == (200, 3)


async def test_nothing_to_redrive_costs_nothing(store: Store) -> None:
    estimate = await redrives_of(store).estimate(LetterFilter(tenant_id=store.tenant))

    assert (estimate.count, estimate.replayable, estimate.cost_micros) == (0, 0, 0)


async def test_a_letter_is_redriven_only_while_its_bulk_redrive_goes_on(store: Store) -> None:
    await letters(store, 3)
    name = await started(store)
    first = await redriven(store, name)
    letter = (await come(store, await turn_of(store, name))).letters[0]
    assert letter.job_id
    await redrives_of(store).stop(name, act=an_act())
    origin = Redriving(
        letter_id=letter.id, job_id=letter.job_id, redrives=1, act=an_act(), redrive_id=name
    )

    refused = await store.jobs.accept(new_job(store.tenant, redriving=origin))

    assert isinstance(first, AcceptedNew)
    assert refused == InputVanished()
    shown = await redrives_of(store).find(name)
    assert shown
    assert (shown.redrive.state, shown.figures) == (RedriveState.STOPPED, Figures(started=1))
    dead = SqlDeadLetters(store.database, triage_within=timedelta(1))
    assert await dead.find(letter.id) == letter


async def test_a_turn_that_another_has_taken_changes_nothing_any_more(store: Store) -> None:
    await letters(store, 2)
    redrives, name = redrives_of(store), await started(store)
    old = await turn_of(store, name)
    await turn_of(store, name)
    before = await redrives.find(name)
    done = Decided(
        place=BulkPlace(at=old.now, letter_id="dl_x"),
        skipped={"dl_x": SkipReason.NOT_TAKEN},
        all_seen=True,
    )
    why = Stopping(because=StoppedBecause.CANARIES_FAILED, detail="x")

    assert await redrives.candidates(old, limit=9) is None
    assert not await redrives.claim(old, paced_at=old.now)
    assert not await redrives.decided(old, done)
    assert not await redrives.run(old)
    assert not await redrives.stop_itself(old, why)
    assert not await redrives.finish(old)
    assert not await redrives.close(old)
    assert await redrives.find(name) == before


async def test_what_was_decided_on_does_not_come_again(store: Store) -> None:
    await letters(store, 5)
    redrives, name = redrives_of(store), await started(store)
    turn = await turn_of(store, name)
    page = await come(store, turn, limit=2)
    assert page.end
    skipped = {page.letters[1].id: SkipReason.RUN_IN_PROGRESS}
    for _ in range(2):  # as if the first answer had been lost
        assert await redrives.decided(
            turn, Decided(place=page.end, skipped=skipped, all_seen=False)
        )

    rest = await come(store, turn, limit=4)

    shown = await redrives.find(name)
    assert shown
    assert shown.figures.skipped == {"run_in_progress": 1}
    assert (len(rest.letters), rest.end) == (3, None)
    assert not {letter.id for letter in rest.letters} & {letter.id for letter in page.letters}


# The stack's own sweep keeps away. ?1 tenant, ?2 redrive, ?3 one after another: (s)ucceeded,
# (c)anceled, (f)ailed as before, failed in (a)nother way, or still under (w)ay
_OUTCOMES = [
    "UPDATE redrives SET looked_at = 9e15 WHERE id = ?2 AND ?1 = ?1 AND ?3 = ?3",
    """
    UPDATE dead_letters AS d
       SET status = 'redriven', redrive_id = ?2, redriven_to = made.id
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM jobs WHERE tenant_id = ?1) AS made,
           (SELECT id, row_number() OVER (ORDER BY id) AS n FROM dead_letters
             WHERE tenant_id = ?1) AS old
     WHERE d.id = old.id AND old.n <= length(?3) AND made.n = old.n + length(?3)
    """,
    """
    UPDATE dead_letters AS d
       SET class = iif(substr(?3, made.n - length(?3), 1) = 'f', class, 'deadline')
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM dead_letters
             WHERE tenant_id = ?1 AND ?2 = ?2) AS made
     WHERE d.id = made.id AND made.n > length(?3)
    """,
    """
    UPDATE jobs AS j
       SET state = told.state,
           result = iif(told.state = 'succeeded', '{}', NULL),
           finished_at = iif(told.state = 'accepted', NULL, j.finished_at),
           expires_at = iif(told.state = 'accepted', NULL, j.expires_at),
           wake_at = iif(told.state = 'accepted', 9e15, NULL)
      FROM (SELECT id, CASE substr(?3, n - length(?3), 1)
                         WHEN 's' THEN 'succeeded' WHEN 'c' THEN 'canceled' WHEN 'w' THEN 'accepted'
                         ELSE 'failed' END AS state
              FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM jobs
                     WHERE tenant_id = ?1 AND ?2 = ?2)
             WHERE n > length(?3)) AS told
     WHERE j.tenant_id = ?1 AND j.id = told.id
    """,
]


async def outcomes(store: Store, states: str, *, canary: int = 0) -> str:
    """Return a redrive whose jobs, the first started first, ended so."""
    await letters(store, len(states))
    name = await started(store, canary=canary)
    await store.database.batch(
        [
            *letters_of(store.tenant, len(states)),  # of the new jobs
            *(Statement(sql, (store.tenant, name, states)) for sql in _OUTCOMES),
        ]
    )
    return name


async def test_canaries_tell_whether_they_failed_as_before_unless_they_were_canceled(
    store: Store,
) -> None:
    turn = await turn_of(store, await outcomes(store, "facsw", canary=3))

    assert (turn.started, turn.under_way) == (4, True)
    assert list(turn.failed_again) == [False, False, True]
    assert turn.latest is None


@pytest.mark.parametrize(
    ("states", "latest"),
    [
        ("f" * 10, None),
        ("f" * 11, Stretch(again=11, started=11)),
        ("f" * 11 + "c" * 30, Stretch(again=11, started=11)),
        ("f" * 8 + "a" * 3, Stretch(again=8, started=11)),
        ("f" * 11 + "s" * 20, Stretch(again=0, started=11)),
        ("s" * 20 + "wwwf" * 8, Stretch(again=3, started=20)),
        ("s" * 20 + "f" * 11 + "w" * 9, Stretch(again=11, started=20)),
    ],
)
async def test_the_latest_stretch_tells_of_which_most_have_ended(
    store: Store, states: str, latest: Stretch | None
) -> None:
    turn = await turn_of(store, await outcomes(store, states))

    assert turn.latest == latest


@pytest.mark.parametrize(
    ("before", "now", "again"), [(None, "m", True), ("m", "m", True), ("m", "n", False)]
)
async def test_a_letter_that_knows_no_model_fails_again_whichever_that_was(
    store: Store, before: str | None, now: str, again: bool
) -> None:
    """As all of before migration 0008 do: their canaries must stop a bulk redrive, too."""
    name = await outcomes(store, "fff", canary=3)
    model = "UPDATE dead_letters SET model = iif(redrive_id = ?2, ?3, ?4) WHERE tenant_id = ?1"
    await run(store, model, store.tenant, name, before, now)

    turn = await turn_of(store, name)

    assert list(turn.failed_again) == [again] * 3


async def test_a_page_of_few_among_many_reads_a_bounded_stretch(d1_store: Store) -> None:
    many = Store(d1_store.database, d1_store.tenant + "-many")
    await letters(many, 2000)
    await letters(d1_store, 5)
    redrives, name = redrives_of(d1_store), await started(d1_store)
    turn = await turn_of(d1_store, name)
    reads, found = [], 0
    while True:
        before = d1_store.database.rows_read
        page = await come(d1_store, turn)
        reads.append(d1_store.database.rows_read - before)
        found += len(page.letters)
        if page.end is None:
            break
        assert await redrives.decided(turn, Decided(place=page.end, skipped={}, all_seen=False))

    assert found == 5
    assert len(reads) >= 4
    assert max(reads) < 4_000
    await run(
        d1_store, "UPDATE dead_letters SET status = 'discarded' WHERE tenant_id = ?1", many.tenant
    )


async def test_a_tick_reads_no_more_for_a_redrive_that_has_started_much(d1_store: Store) -> None:
    """While it goes on: only its end, and whoever looks at it, reads all of what it has started."""
    await letters(d1_store, 600)
    name = await started(d1_store, canary=0)
    link = """
    UPDATE dead_letters SET status = 'redriven', redrive_id = ?2, redriven_to = job_id
     WHERE tenant_id = ?1 AND id <> (SELECT max(id) FROM dead_letters WHERE tenant_id = ?1)
    """
    await run(d1_store, link, d1_store.tenant, name)
    before = d1_store.database.rows_read

    turn = await turn_of(d1_store, name)

    assert turn.latest == Stretch(again=11, started=11)
    assert d1_store.database.rows_read - before < 100
    shown = await redrives_of(d1_store).find(name)
    assert shown
    assert shown.figures == Figures(started=599, failed=599)
