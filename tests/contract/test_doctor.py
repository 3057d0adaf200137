"""The doctor's SQL on both drivers: it runs, it is bounded, and its repairs are what they say."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from tests.contract.factories import RETENTION, Store, ending
from tests.contract.full_store import filling
from tests.support.sqlite import SqliteDatabase, connect
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.doctor import CHECKS, SqlDoctor
from uketsuke.adapters.sql.doctor_check import Patience, find, find_targets
from uketsuke.adapters.sql.doctor_content import SELECT_STORED_RESULTS
from uketsuke.adapters.sql.doctor_guards import GUARDS
from uketsuke.domain.audit import Act
from uketsuke.domain.job import JobKey
from uketsuke.domain.lifecycle import JobState

pytestmark = pytest.mark.anyio
PATIENCE = Patience(
    retention=RETENTION,
    sweep_every=timedelta(seconds=60),
    released=timedelta(days=37),
    letters=timedelta(days=90),
)
_STRETCH = re.compile(r"LIMIT (10000|2000)\b")


def doctor_of(store: Store) -> SqlDoctor:
    return SqlDoctor(store.database, PATIENCE)


def an_act() -> Act:
    return Act(id=f"au_{secrets.token_hex(13)}", actor="key-1", reason="why", request_id="r-1")


async def rewrite(store: Store, key: JobKey, changes: str) -> None:
    text = f"UPDATE jobs SET {changes} WHERE tenant_id = ?1 AND id = ?2"  # noqa: S608 - ours
    await store.database.batch([Statement(text, tuple(key))])


async def mended(store: Store, name: str, *, until: str) -> bool:
    """Repeat a repair until it has mended ``until``: others' offenders may come first."""
    doctor = doctor_of(store)
    for _ in range(20):
        offenders = await doctor.repairable(name)
        if not offenders:
            return False
        if until in (await doctor.repair(name, offenders, act=an_act())).rows:
            return True
    return False


async def test_every_question_can_be_asked(store: Store) -> None:
    doctor = doctor_of(store)

    findings = await doctor.ask(list(CHECKS))

    assert [found.question.name for found in findings] == list(CHECKS)
    for name, check in CHECKS.items():
        if check.repair:
            await doctor.repairable(name)
    await doctor.stored_results()


@pytest.mark.parametrize("name", [name for name, check in CHECKS.items() if check.repair])
async def test_every_repair_runs_and_leaves_what_is_sound_alone(store: Store, name: str) -> None:
    """Told to mend a job that is no offender, as after a race, it changes nothing."""
    leased = await store.leased(await store.accepted(run_key="nightly"))
    key, before = leased.job.key, await store.row(leased.job.key)
    repair = CHECKS[name].repair
    assert repair is not None

    await store.database.batch(repair.fix([[*key, leased.token]], PATIENCE))

    assert await store.row(key) == before


async def test_no_table_index_or_trigger_of_the_migrations_goes_unseen(store: Store) -> None:
    text = "SELECT name FROM sqlite_master WHERE name NOT LIKE '%sqlite%' AND name NOT LIKE '\\_%'"
    escaped = Statement(f"{text} ESCAPE '\\' AND name <> 'd1_migrations'")
    (made,) = await store.database.batch([escaped])

    assert {row["name"] for row in made} == set(GUARDS)


async def test_a_missing_letter_is_written_as_its_job_tells(store: Store) -> None:
    key, _ = await store.in_state(JobState.FAILED)
    letter = f"dl_{key.job_id[4:]}"
    ((before,),) = (await store.dead_letters(key),)
    delete = Statement("DELETE FROM dead_letters WHERE id = ?1", (letter,))
    await store.database.batch([delete])

    assert await mended(store, "failed_without_letter", until=key.job_id)

    (after,) = await store.dead_letters(key)
    for column in ("id", "tenant_id", "job_id", "status", "class", "code", "attempts"):
        assert after[column] == before[column]


async def test_an_overdue_job_is_failed_with_its_letter(store: Store) -> None:
    key = await store.accepted(run_key="nightly")
    await store.pass_deadline(key)
    await rewrite(store, key, "wake_at = 1")  # before whatever other tests have left behind

    assert await mended(store, "job_past_its_end", until=key.job_id)

    row = await store.row(key)
    assert (row["state"], row["error_class"], row["live_run_key"]) == ("failed", "deadline", None)
    (letter,) = await store.dead_letters(key)
    assert letter["road"] == "deadline"


async def test_a_lease_that_was_left_is_taken_back(store: Store) -> None:
    leased = await store.leased()
    key = leased.job.key
    await rewrite(store, key, "leased_until = 1, wake_at = 1")

    assert await mended(store, "lease_over_for_long", until=key.job_id)

    assert (await store.row(key))["state"] == "retrying"
    (attempt,) = await store.attempts(key)
    assert (attempt["outcome"], attempt["error_class"]) == ("failed", "crashed")


async def test_a_late_holder_settles_nothing_after_a_repair(store: Store) -> None:
    leased = await store.leased()
    await rewrite(store, leased.job.key, "leased_until = 1, wake_at = 1")
    assert await mended(store, "lease_over_for_long", until=leased.job.id)

    settled = await store.jobs.settle([ending(leased)])

    assert settled == {}
    assert (await store.row(leased.job.key))["state"] == "retrying"


async def test_a_repair_and_its_audit_row_are_one_transaction(store: Store) -> None:
    key = await store.accepted()
    await store.pass_deadline(key)
    await rewrite(store, key, "wake_at = 1")
    doctor, act = doctor_of(store), an_act()
    offenders = await doctor.repairable("job_past_its_end")
    await doctor.repair("job_past_its_end", [], act=act)

    with pytest.raises(Exception, match="append-only"):  # the act's id is taken
        await doctor.repair("job_past_its_end", offenders, act=act)

    assert (await store.row(key))["state"] == "accepted"


@pytest.fixture(scope="module")
def sizes() -> Iterator[tuple[SqliteDatabase, SqliteDatabase]]:
    """Two stores, one four times as full as the other."""
    small, large = (SqliteDatabase(connect()) for _ in range(2))
    for database, jobs in ((small, 600), (large, 2400)):
        for statement in filling("acme", jobs):
            database.run([statement])
    yield small, large
    small.connection.close()
    large.connection.close()


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_reads_no_more_of_a_larger_store(
    sizes: tuple[SqliteDatabase, SqliteDatabase], name: str
) -> None:
    check = CHECKS[name]
    texts = [find(check), find_targets(check)]
    if name == "result_object_missing":
        texts = [SELECT_STORED_RESULTS]

    small, large = (_steps(database, texts) for database in sizes)

    assert large <= 1.25 * small + 1500


def _steps(database: SqliteDatabase, texts: Sequence[str]) -> int:
    """Count SQLite's steps where a stretch has fifty rows."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 10
        return 0

    database.connection.set_progress_handler(count, 10)
    for text in texts:
        database.run([Statement(_STRETCH.sub("LIMIT 50", text), (PATIENCE.told,))])
    database.connection.set_progress_handler(None, 0)
    return steps


async def test_a_full_store_is_sound() -> None:
    store = Store(SqliteDatabase(connect()), "acme")
    for statement in filling(store.tenant, 300):
        await store.database.batch([statement])

    findings = await doctor_of(store).ask(list(CHECKS))

    assert [found.question.name for found in findings if not found.ok] == []


async def test_the_jobs_of_a_full_store_can_be_shown() -> None:
    """What is measured on them must be an answer, and not its failing."""
    store = Store(SqliteDatabase(connect()), "acme")
    for statement in filling(store.tenant, 20):
        await store.database.batch([statement])

    found = [await store.jobs.find(f"job_{n:026d}", tenant_id="acme") for n in range(1, 21)]

    assert {job and job.state for job in found} == {
        JobState.ACCEPTED,
        JobState.SUCCEEDED,
        JobState.FAILED,
    }


def test_every_check_is_bounded_by_a_limit() -> None:
    unbounded = {name for name, check in CHECKS.items() if "LIMIT" not in check.offenders}

    # There is a row a duty; and the storage is asked, not a table.
    assert unbounded == {"duty_lease_stuck", "result_object_missing"}
