"""Resolving letters on both drivers: the guards, the links and the audit, in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.factories import RETENTION, Store, ending, new_job
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter, LetterStatus
from uketsuke.domain.ids import time_sorted_id
from uketsuke.domain.job import NewJob, Redriving
from uketsuke.domain.lifecycle import JobState, Origin
from uketsuke.services.ports import AcceptedNew, InputVanished, RunInProgress

pytestmark = pytest.mark.anyio


def letters(store: Store) -> SqlDeadLetters:
    return SqlDeadLetters(store.database, triage_within=RETENTION.triage_within)


def an_act() -> Act:
    name = time_sorted_id("au", now_ms=1, entropy=secrets.token_bytes(10))
    return Act(id=name, actor="k", reason="because", request_id="r")


async def buried(store: Store, **changes: Any) -> DeadLetter:
    leased = await store.leased(await store.accepted(**changes))
    await store.jobs.settle([ending(leased, JobState.FAILED)])
    return await now(store, f"dl_{leased.job.id.removeprefix('job_')}")


async def now(store: Store, letter_id: str) -> DeadLetter:
    letter = await letters(store).find(letter_id)
    assert letter
    return letter


def redrive_of(letter: DeadLetter, **changes: Any) -> NewJob:
    assert letter.tenant_id
    assert letter.job_id
    origin = Redriving(
        letter_id=letter.id, job_id=letter.job_id, redrives=letter.redrives + 1, act=an_act()
    )
    new = new_job(letter.tenant_id, origin=Origin.REDRIVE, redriving=origin)
    return replace(new, **changes)


async def audited(store: Store, letter: DeadLetter) -> Sequence[str]:
    sql = "SELECT action FROM audit WHERE target = ?1"
    (found,) = await store.database.batch([Statement(sql, (letter.id,))])
    return [row["action"] for row in found]


async def test_a_redrive_resolves_its_letter_links_both_jobs_and_is_audited(store: Store) -> None:
    letter = await buried(store)
    new = redrive_of(letter)

    assert isinstance(await store.jobs.accept(new), AcceptedNew)

    resolved = await now(store, letter.id)
    old = await store.jobs.find(letter.job_id or "", tenant_id=store.tenant)
    job = await store.jobs.find(new.key.job_id, tenant_id=store.tenant)
    assert old
    assert job
    assert (resolved.status, resolved.redriven_to) == (LetterStatus.REDRIVEN, job.id)
    assert (old.redriven_to, job.redriven_from, job.redrives) == (job.id, old.id, 1)
    assert await audited(store, letter) == ["dead_letter.redriven"]


async def test_the_same_redrive_twice_is_one_and_its_own(store: Store) -> None:
    """As after a lost answer, by whoever repeats a batch."""
    letter = await buried(store)
    new = redrive_of(letter)
    first = await store.jobs.accept(new)

    again = await store.jobs.accept(new)

    assert isinstance(again, AcceptedNew)
    assert isinstance(first, AcceptedNew)
    assert again.job.id == first.job.id
    assert await audited(store, letter) == ["dead_letter.redriven"]


async def test_a_second_redrive_writes_nothing(store: Store) -> None:
    letter = await buried(store, run_key="nightly")
    first, second = redrive_of(letter), redrive_of(letter, run_key="nightly")
    await store.jobs.accept(first)
    before = await now(store, letter.id)

    assert isinstance(await store.jobs.accept(second), InputVanished)

    assert await store.jobs.find(second.key.job_id, tenant_id=store.tenant) is None
    assert await now(store, letter.id) == before
    assert await audited(store, letter) == ["dead_letter.redriven"]


async def test_a_held_run_key_leaves_the_letter_open(store: Store) -> None:
    letter = await buried(store, run_key="nightly")
    live = await store.accepted(run_key="nightly")

    refused = await store.jobs.accept(redrive_of(letter, run_key="nightly"))

    assert isinstance(refused, RunInProgress)
    assert refused.job.key == live
    assert await now(store, letter.id) == letter
    assert await audited(store, letter) == []


async def test_another_tenants_job_resolves_nothing(store: Store) -> None:
    letter = await buried(store)
    new = redrive_of(letter)

    await store.jobs.accept(replace(new, key=new.key._replace(tenant_id=f"{store.tenant}-other")))

    assert await now(store, letter.id) == letter
    assert await audited(store, letter) == []


async def test_a_letter_is_discarded_once_with_its_row(store: Store) -> None:
    letter = await buried(store)

    assert await letters(store).discard(letter.id, act=an_act())
    assert not await letters(store).discard(letter.id, act=an_act())

    resolved = await now(store, letter.id)
    assert (resolved.status, resolved.resolved_by) == (LetterStatus.DISCARDED, "k")
    assert await audited(store, letter) == ["dead_letter.discarded"]
    assert isinstance(await store.jobs.accept(redrive_of(letter)), InputVanished)
    assert not await letters(store).discard("dl_" + "0" * 26, act=an_act())
