"""The dead-letter queue's consumer: the row decides, and nothing that it meets makes it raise."""

from __future__ import annotations

import asyncio
import itertools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.audit import Act
from uketsuke.domain.job import Job
from uketsuke.domain.lifecycle import Engine, JobState
from uketsuke.domain.redact import digest_of
from uketsuke.services.knock import LAST_DELIVERY, Done, KnockAgain, Verdict
from uketsuke.services.messages import message_for
from uketsuke.services.ports import Delivery, JobQueue, Ports
from uketsuke.services.revive import PATIENCE, revive, revive_all
from uketsuke.settings import BadSettings

_ROOT = Path(__file__).parents[3]
_HOURLY = KnockAgain(after=timedelta(hours=1))
_NOBODYS = {"v": 1, "job": "job_" + "0" * 26, "tenant": "acme", "kind": "summarize"}
_ACT = Act(id="aud_1", actor="key_1", reason="not ours", request_id="req_1")
_ids = itertools.count(1)


def delivery_of(body: object, *, number: int = 1) -> Delivery:
    return Delivery(id=f"dead-{next(_ids)}", queue="jobs-dlq", number=number, body=body)


async def revived(world: World, about: Job | object, *, number: int = 1) -> Verdict:
    body = message_for(about) if isinstance(about, Job) else about
    return await revive(delivery_of(body, number=number), ports=world.ports)


async def lost(world: World, **changes: Any) -> Job:
    """A job whose worker vanished without a word."""
    job = await world.submitted(**changes)
    await world.ports.jobs.lease([job.key], token="gone", duration=timedelta(seconds=1), alone=True)
    await asyncio.sleep(2)
    world.queue.sent.clear()
    return job


def counters(world: World) -> dict[str, int]:
    return {row["name"]: row["value"] for row in world.rows("SELECT * FROM counters")}


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("kind", ["summarize", "translate"])
def test_a_waiting_job_is_sent_again_and_counted_whatever_kind_its_message_claims(
    world: World, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.queue.sent.clear()

        assert await revived(world, {**message_for(job), "kind": kind}) == Done()

        assert world.queue.sent == [message_for(job)]

    world.run(main())
    assert counters(world) == {"dlq_revived": 1}
    assert "job_sent_again" in [line["event"] for line in told(capsys)]


def test_a_job_of_a_kind_that_nobody_knows_is_sent_again_for_the_consumer_to_judge(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted(kind="translate")
        world.queue.sent.clear()

        assert await revived(world, job) == Done()

        assert (await world.now(job)).state is JobState.ACCEPTED
        assert world.queue.sent == [message_for(job)]

    world.run(main())


def test_a_message_of_an_ended_job_is_a_duplicate_and_only_counted(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        job = await world.submitted()
        await world.consumed([job], working())
        world.queue.sent.clear()
        before = world.rows("SELECT * FROM jobs")

        assert [await revived(world, job) for _ in range(2)] == [Done()] * 2

        assert world.rows("SELECT * FROM jobs") == before

    world.run(main())
    assert world.queue.sent == []
    assert world.rows("SELECT * FROM dead_letters") == []
    assert counters(world) == {"dlq_duplicates": 2}
    assert "dead_message_outlived" in [line["event"] for line in told(capsys)]


def test_a_job_that_is_worked_is_looked_at_again_when_what_is_left_of_its_lease_is_over(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()
        await world.ports.jobs.lease(
            [job.key], token="held", duration=timedelta(seconds=40), alone=True
        )
        await asyncio.sleep(30)

        verdict = await revived(world, job)

        assert isinstance(verdict, KnockAgain)
        assert timedelta(seconds=10) < verdict.after <= timedelta(seconds=11)
        await asyncio.sleep(verdict.after.total_seconds())
        assert await revived(world, job) == Done()
        assert [body["job"] for body in world.queue.sent] == [job.id, job.id]

    world.run(main())
    assert counters(world) == {"dlq_revived": 1}


def test_a_run_is_looked_at_again_after_its_lease_and_once_silent_is_the_sweeps(
    world: World,
) -> None:
    async def main() -> None:
        world.workflows.full = True
        job = await world.submitted(engine=Engine.WORKFLOW)
        before = world.rows("SELECT * FROM jobs")
        await asyncio.sleep(20)

        verdict = await revived(world, job)

        assert isinstance(verdict, KnockAgain)
        assert timedelta(seconds=40) < verdict.after <= timedelta(seconds=41)
        await asyncio.sleep(verdict.after.total_seconds())
        assert await revived(world, job) == Done()
        assert world.rows("SELECT * FROM jobs") == before

    world.run(main())
    assert world.queue.sent == []
    assert counters(world) == {}


def test_a_crashed_job_with_attempts_left_is_taken_back_and_sent_again(world: World) -> None:
    async def main() -> None:
        job = await lost(world)

        assert await revived(world, job) == Done()

        after = await world.now(job)
        assert (after.state, after.error_code) == (JobState.RETRYING, "worker_crashed")
        assert world.queue.sent == [message_for(job)]

    world.run(main())
    assert counters(world) == {"dlq_revived": 1}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"max_attempts": 1}, ("crashed", "worker_crashed")),
        ({"deadline": timedelta(seconds=1)}, ("deadline", "deadline_passed")),
    ],
    ids=["spent", "overdue"],
)
def test_a_job_without_attempts_or_time_is_buried_with_the_message_that_brought_it(
    world: World,
    changes: Mapping[str, Any],
    error: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def main() -> Delivery:
        job = await lost(world, **changes)
        delivery = delivery_of(message_for(job), number=3)

        assert await revive(delivery, ports=world.ports) == Done()

        assert (await world.now(job)).state is JobState.FAILED
        return delivery

    delivery = world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["road"], letter["class"], letter["code"]) == ("queue_dlq", *error)
    assert (letter["queue"], letter["message_id"]) == ("jobs-dlq", delivery.id)
    assert world.queue.sent == []
    assert counters(world) == {}
    assert "job_failed" in [line["event"] for line in told(capsys)]


@pytest.mark.parametrize(
    ("body", "error", "version"),
    [
        ("garbage", ("invalid_input", "body_undecodable"), None),
        ({"v": 3}, ("invalid_input", "schema_newer"), 3),
        (_NOBODYS, ("not_found", "job_unknown"), 1),
    ],
    ids=["garbage", "newer", "nobody's"],
)
def test_what_leads_to_no_job_has_one_record_that_follows_its_latest_delivery(
    world: World, body: object, error: tuple[str, str], version: int | None
) -> None:
    async def main() -> Delivery:
        assert await revived(world, body) == Done()
        await asyncio.sleep(60)
        latest = delivery_of(body, number=5)
        assert await revive(latest, ports=world.ports) == Done()
        return latest

    latest = world.run(main())
    (letter,) = world.rows("SELECT * FROM dead_letters")
    assert (letter["road"], letter["status"]) == ("undecodable", "open")
    assert (letter["class"], letter["code"]) == error
    assert (letter["attempts"], letter["message_id"]) == (5, latest.id)
    assert (letter["schema_version"], letter["queue"]) == (version, "jobs-dlq")
    assert letter["body_sha256"] == digest_of(body)
    assert (letter["kind"], letter["model"]) == (None, None)
    seconds = (letter["last_failed_at"] - letter["first_failed_at"]) / 1000
    assert 60 <= seconds < 61
    assert letter["triage_due_at"] == letter["first_failed_at"] + 72 * 3_600_000


def test_a_message_that_was_discarded_stays_so_when_it_comes_again(world: World) -> None:
    async def main() -> tuple[Any, Any]:
        await revived(world, "garbage")
        (letter,) = world.rows("SELECT * FROM dead_letters")
        assert await world.ports.dead_letters.discard(letter["id"], act=_ACT)
        (before,) = world.rows("SELECT * FROM dead_letters")
        await asyncio.sleep(60)
        assert await revived(world, "garbage", number=2) == Done()
        (after,) = world.rows("SELECT * FROM dead_letters")
        return before, after

    before, after = world.run(main())
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"last_failed_at", "attempts", "message_id"}
    assert after["status"] == "discarded"
    assert after["last_failed_at"] > before["last_failed_at"]
    assert counters(world) == {"discarded_again": 1}


@pytest.mark.parametrize("statement", ["UPDATE jobs", "json_each(?1) AS wave"])
def test_when_the_database_is_away_the_message_waits_an_hour(world: World, statement: str) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.queue.sent.clear()
        world.database.failing = [(statement, "before")]

        assert await revived(world, job) == _HOURLY
        assert world.queue.sent == []
        assert await revived(world, job, number=2) == Done()

        assert world.queue.sent == [message_for(job)]

    world.run(main())


def test_when_the_queue_takes_nothing_the_message_waits_and_nothing_is_counted(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.queue.away = True

        assert await revived(world, job) == _HOURLY

    world.run(main())
    assert counters(world) == {}


def test_a_job_that_was_sent_is_not_sent_twice_because_it_could_not_be_counted(
    world: World,
) -> None:
    async def main() -> None:
        job = await world.submitted()
        world.queue.sent.clear()
        world.database.failing = [("INSERT INTO counters", "before")]

        assert await revived(world, job) == Done()

        assert world.queue.sent == [message_for(job)]

    world.run(main())


def test_a_fault_of_ours_spoils_no_neighbour(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        """A queue whose client has a fault."""

        async def send(self, body: object, *, delay: timedelta = timedelta()) -> None:
            raise RuntimeError("zanzibar")

    queue: Any = Broken()
    broken: JobQueue = queue

    async def main() -> Mapping[str, Verdict]:
        done = await world.submitted(deadline=timedelta(seconds=1))
        waiting = await world.submitted()
        await asyncio.sleep(2)
        bodies = ["garbage", message_for(waiting), {"v": 2}, message_for(done)]
        batch = [delivery_of(body, number=4) for body in bodies]
        ports = replace(world.ports, queue=broken)
        verdicts = await revive_all(batch, open_ports=lambda: ports)
        return {str(place): verdicts[each.id] for place, each in enumerate(batch)}

    assert world.run(main()) == {"0": Done(), "1": _HOURLY, "2": Done(), "3": Done()}
    faults = [line for line in told(capsys) if line["event"] == "unexpected_error"]
    (fault,) = faults
    assert (fault["error.type"], fault["delivery"]) == ("RuntimeError", 4)
    assert fault["error_at"].startswith("services/revive.py:")
    assert "zanzibar" not in json.dumps(faults)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (BadSettings("LEASE_SECONDS: no"), "bad_settings"),
        (AttributeError("DB"), "unexpected_error"),
    ],
)
def test_when_the_deployment_is_set_up_wrongly_every_message_waits_an_hour(
    world: World, error: Exception, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> Ports:
        raise error

    batch = [delivery_of(body) for body in ("garbage", _NOBODYS)]

    verdicts = world.run(revive_all(batch, open_ports=fail))

    assert verdicts == {each.id: _HOURLY for each in batch}
    (line,) = told(capsys)
    assert (line["event"], line["level"]) == (name, "error")


def test_the_deployment_is_as_patient_as_the_code_supposes() -> None:
    deployment = tomllib.loads((_ROOT / "wrangler.consumer.toml").read_text())
    jobs, dead = deployment["queues"]["consumers"]

    assert (dead["retry_delay"], dead["max_retries"]) == (PATIENCE.total_seconds(), 100)
    assert "dead_letter_queue" not in dead
    assert jobs["dead_letter_queue"] == dead["queue"]
    assert (
        f'DEAD_LETTER_QUEUE = "{dead["queue"]}"' in (_ROOT / "src/worker/consumer.py").read_text()
    )
    # Whoever lets a message go in time sends none of these there.
    assert jobs["max_retries"] > LAST_DELIVERY
