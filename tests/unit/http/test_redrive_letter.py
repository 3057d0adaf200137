"""Redriving and discarding over HTTP: answers and refusals, and that no content is told."""

from __future__ import annotations

import pytest

from tests.unit.http.factories import an_id
from tests.unit.http.office import SECRET, Office, job, letter_now, run, secret
from tests.unit.http.world import assert_problem
from tests.unit.services.letters import (
    OUTAGE,
    content_of,
    fail,
)


def test_a_redrive_is_answered_with_the_new_job_without_content(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE, run_key="nightly")

        answer = await office.redrive(letter)

        assert answer.status == 202
        shown = answer.document
        assert (shown["state"], shown["origin"]) == ("accepted", "redrive")
        assert (shown["redriven_from"], shown["run_key"]) == (letter.job_id, "nightly")
        assert answer.headers["location"] == f"/v1/jobs/{shown['id']}"
        assert answer.headers["retry-after"] == "1"
        assert shown["metadata"] == {"order": None}
        assert SECRET not in answer.body.decode()

    run(office, main)


def test_a_second_redrive_is_told_the_first_ones_job(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        first = await office.redrive(letter)

        second = await office.redrive(letter, patch={"params": {"max_words": 50}})

        assert_problem(second, 409, "already_redriven")
        assert second.document["id"] == first.document["id"]
        assert second.headers["location"] == first.headers["location"]

    run(office, main)


def test_an_idempotency_key_is_neither_needed_nor_in_the_way(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        path, headers = f"/v1/dead-letters/{letter.id}/redrive", {"idempotency-key": "mine"}

        answer = await office.send("POST", path, {"reason": "r"}, headers=headers)
        again = await office.send("POST", path, {"reason": "r"}, headers=headers)

        assert answer.status == 202
        assert_problem(again, 409, "already_redriven")

    run(office, main)


def test_a_discard_is_answered_with_the_letter(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office)

        answer = await office.discard(letter, reason="a test of ours")

        assert answer.status == 200
        shown = answer.document
        assert (shown["id"], shown["status"]) == (letter.id, "discarded")
        assert (shown["resolved_by"], shown["reason"]) == ("operator0000", "a test of ours")
        assert SECRET not in answer.body.decode()

    run(office, main)


def test_what_is_resolved_is_not_resolved_again(office: Office) -> None:
    async def main() -> None:
        discarded, redriven = await secret(office), await secret(office, error=OUTAGE)
        await office.discard(discarded)
        new = (await office.redrive(redriven)).document["id"]

        assert_problem(await office.redrive(discarded), 409, "already_resolved")
        again, late = await office.discard(discarded), await office.discard(redriven)

        assert_problem(again, 409, "already_resolved")
        assert "id" not in again.document
        assert_problem(late, 409, "already_resolved")
        assert late.document["id"] == new

    run(office, main)


@pytest.mark.parametrize("act", ["redrive", "discard"])
@pytest.mark.parametrize(
    "name", [an_id("dl", 7), "dl_1", "job_1", "x" * 500, "dl_%00", "dl_" + "A" * 26, "'--"]
)
def test_a_letter_that_there_is_not_is_not_found(office: Office, act: str, name: str) -> None:
    async def main() -> None:
        answer = await office.send("POST", f"/v1/dead-letters/{name}/{act}", {"reason": "r"})

        assert_problem(answer, 404, "not_found")

    run(office, main)


@pytest.mark.parametrize("act", ["redrive", "discard"])
def test_tenants_resolve_nothing_and_administrators_may(office: Office, act: str) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        path = f"/v1/dead-letters/{letter.id}/{act}"

        for_tenant = await office.send("POST", path, {"reason": "r"}, who="acme")
        assert_problem(for_tenant, 403, "forbidden")
        assert (await office.send("POST", path, {"reason": "r"}, who="admin")).status in (200, 202)

    run(office, main)


@pytest.mark.parametrize("act", ["redrive", "discard"])
@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({}, ("/reason", "missing")),
        ({"reason": ""}, ("/reason", "empty")),
        ({"reason": " \u3000"}, ("/reason", "empty")),
        ({"reason": "\u200b\ufeff"}, ("/reason", "empty")),
        ({"reason": "x" * 501}, ("/reason", "too_long")),
        ({"reason": 7}, ("/reason", "wrong_type")),
        ({"reason": "a\nb"}, ("/reason", "bad_value")),
        ({"reason": "a\x00b"}, ("/reason", "bad_value")),
        ({"reason": "a\ud800b"}, ("/reason", "bad_value")),
        ({"reason": "a\x85b"}, ("/reason", "bad_value")),
        ({"reason": "a\u202eb"}, ("/reason", "bad_value")),
        ({"reason": "a\u2067b"}, ("/reason", "bad_value")),
        ({"reason": "r", "surprise": 1}, ("/surprise", "unknown_member")),
        ([], ("", "wrong_type")),
    ],
)
def test_a_reason_is_one_readable_line(
    office: Office, act: str, document: object, fault: tuple[str, str]
) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)

        answer = await office.send("POST", f"/v1/dead-letters/{letter.id}/{act}", document)

        assert_problem(answer, 400, "invalid_request")
        assert answer.faults == [fault]
        assert await letter_now(office, letter) == letter

    run(office, main)


def test_a_reason_of_five_hundred_characters_of_any_script_is_taken(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office)

        assert (await office.discard(letter, reason="受" * 500)).status == 200

    run(office, main)


def test_a_gone_input_is_told_and_a_patch_brings_another(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        office.world.connection.execute("UPDATE jobs SET expires_at = 1")

        for patch in ({}, {"params": {"max_words": 50}}):
            refused = await office.redrive(letter, patch=patch)
            assert_problem(refused, 422, "input_gone")
            assert "deleted" in refused.document["detail"]
        answer = await office.redrive(letter, patch={"input": {"text": "another"}})

        assert await content_of(office.world, await job(office, answer.document["id"])) == "another"

    run(office, main)


def test_a_run_key_that_is_held_is_told_with_its_holder_and_without_its_name(
    office: Office,
) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE, run_key=SECRET)
        live = await office.world.submitted(run_key=SECRET)

        for patch in ({}, {"params": {"max_words": 50}}):
            answer = await office.redrive(letter, patch=patch)
            assert_problem(answer, 409, "run_in_progress")
            assert answer.document["id"] == live.id
            assert answer.headers["location"] == f"/v1/jobs/{live.id}"
            assert SECRET not in answer.body.decode()
        assert await letter_now(office, letter) == letter

    run(office, main)


def test_a_fourth_redrive_of_a_line_must_be_forced(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        for _ in range(3):
            answer = await office.redrive(letter)
            letter = await fail(office.world, await job(office, answer.document["id"]))

        for patch in ({}, {"params": {"max_words": 50}}):
            refused = await office.redrive(letter, patch=patch)
            assert_problem(refused, 422, "not_replayable")
            assert '"force": true' in refused.document["detail"]
            assert refused.document["needs_force"] is True
        assert (await office.redrive(letter, force=True)).status == 202

    run(office, main)


def test_no_line_of_the_log_has_content(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        letter = await secret(office, content=SECRET * 500, params={"style": "bullets"})
        await office.redrive(letter)
        await office.redrive(letter, patch={"params": {"style": SECRET}})
        office.world.database.failing = [("INSERT INTO jobs", "before")]
        for _ in range(2):
            await office.redrive(letter, patch={"params": {"style": None}})

    run(office, main)
    assert SECRET not in capsys.readouterr().out


def test_a_database_that_is_away_is_told_and_the_repeat_is_safe(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        office.world.database.failing = [("INSERT INTO jobs", "after")]

        first, second = await office.redrive(letter), await office.redrive(letter)

        assert_problem(first, 503, "unavailable")
        assert_problem(second, 409, "already_redriven")
        assert (await job(office, second.document["id"])).redriven_from == letter.job_id

    run(office, main)
