"""Redrives with a patch: checked as at intake, told where it is wrong, and blind to content."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.unit.http.office import SECRET, Office, job, letter_now, run, secret
from tests.unit.http.world import assert_problem
from tests.unit.services.letters import (
    LARGE,
    OUTAGE,
    content_of,
    uploaded,
)
from tests.unit.services.world import working
from uketsuke.domain.dead_letter import DeadLetter
from uketsuke.domain.job import InputForm
from uketsuke.domain.lifecycle import Engine, JobState


@pytest.mark.parametrize(
    ("patch", "fault"),
    [
        ({"kind": "embed"}, ("/patch/kind", "unknown_member")),
        ({"run_key": "x"}, ("/patch/run_key", "unknown_member")),
        ({"metadata": {}}, ("/patch/metadata", "unknown_member")),
        ({"max_attempts": 0}, ("/patch/max_attempts", "out_of_range")),
        ({"max_attempts": "5"}, ("/patch/max_attempts", "wrong_type")),
        ({"deadline_seconds": 604_801}, ("/patch/deadline_seconds", "out_of_range")),
        ({"max_cost_usd": "0"}, ("/patch/max_cost_usd", "bad_value")),
        ({"input": "text"}, ("/patch/input", "wrong_type")),
        ({"input": None}, ("/patch/input", "missing")),
        ({"input": {"text": None}}, ("/patch/input", "missing")),
        ({"input": {"text": " "}}, ("/patch/input/text", "empty")),
        ({"input": {"text": "a\x00"}}, ("/patch/input/text", "bad_value")),
        ({"input": {"text": "x" * 524_289}}, ("/patch/input/text", "too_long")),
        ({"input": {"texts": ["a"]}}, ("/patch/input", "bad_value")),
        ({"input": {"text": None, "texts": ["a"]}}, ("/patch/input/texts", "bad_value")),
        ({"input": {"text": None, "ref": "in_1"}}, ("/patch/input/ref", "input_not_found")),
        ({"input": {"surprise": 1}}, ("/patch/input/surprise", "unknown_member")),
        ({"params": []}, ("/patch/params", "wrong_type")),
        ({"params": {"max_words": 1}}, ("/patch/params/max_words", "out_of_range")),
        ({"params": {"no/such~one": 1}}, ("/patch/params/no~1such~0one", "unknown_member")),
        ([], ("/patch", "wrong_type")),
        (None, ("/patch", "wrong_type")),
    ],
)
def test_a_fault_of_a_patch_is_pointed_at(
    office: Office, patch: object, fault: tuple[str, str]
) -> None:
    async def main() -> None:
        letter = await secret(office)

        answer = await office.redrive(letter, patch=patch)

        assert_problem(answer, 400, "invalid_request")
        assert answer.faults == [fault]
        assert SECRET not in answer.body.decode()
        assert await letter_now(office, letter) == letter

    run(office, main)


def test_every_fault_of_a_patch_is_told_at_once(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office)

        answer = await office.redrive(
            letter, patch={"params": {"max_words": 1, "extra": 1}, "input": {"text": ""}}
        )

        assert set(answer.faults) == {
            ("/patch/params/max_words", "out_of_range"),
            ("/patch/params/extra", "unknown_member"),
            ("/patch/input/text", "empty"),
        }

    run(office, main)


def test_a_patch_changes_what_it_names_and_keeps_the_rest(office: Office) -> None:
    async def main() -> None:
        letter = await secret(
            office,
            params={"max_words": 50, "style": "bullets"},
            run_key="nightly",
            deadline=timedelta(seconds=1234),
            max_cost_micros=7_000_000,
        )

        answer = await office.redrive(
            letter, patch={"params": {"style": None, "language": "ja"}, "max_attempts": 7}
        )

        assert answer.status == 202, answer.document
        new = await job(office, answer.document["id"])
        assert new.params == {"max_words": 50, "language": "ja"}
        assert await content_of(office.world, new) == SECRET
        assert (new.max_attempts, new.max_cost_micros, new.run_key) == (7, 7_000_000, "nightly")
        assert new.deadline_at - new.created_at == timedelta(seconds=1234)
        assert new.metadata == {"order": SECRET}
        assert new.redriven_from == letter.job_id
        assert SECRET not in answer.body.decode()

    run(office, main)


def test_a_null_of_a_patch_gives_what_a_submission_without_the_member_has(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, params={"max_words": 50}, max_cost_micros=7_000_000)
        nulls = ("params", "max_attempts", "deadline_seconds", "max_cost_usd")

        answer = await office.redrive(letter, patch=dict.fromkeys(nulls))

        new = await job(office, answer.document["id"])
        assert (new.params, new.max_attempts, new.max_cost_micros) == ({}, 5, None)
        assert new.deadline_at - new.created_at == timedelta(hours=24)

    run(office, main)


def test_a_patch_may_bring_another_input_in_another_form(office: Office) -> None:
    async def main() -> None:
        letter, ref = await secret(office, content=LARGE), await uploaded(office.world)

        answer = await office.redrive(letter, patch={"input": {"text": None, "ref": ref}})

        new = await job(office, answer.document["id"])
        assert (new.input.form, new.input.refs) == (InputForm.REF, (ref,))
        assert len(office.world.blobs.kept) == 2  # the old job's, and the upload

    run(office, main)


def test_whoever_does_not_know_the_form_of_the_input_is_told_how_to_replace_it(
    office: Office,
) -> None:
    async def main() -> None:
        ref = await uploaded(office.world)
        letter = await secret(office, form=InputForm.REF, content=None, refs=(ref,))

        beside = await office.redrive(letter, patch={"input": {"text": "another"}})
        (fault,) = beside.document["errors"]
        others = dict.fromkeys(("texts", "ref", "refs"))
        instead = await office.redrive(letter, patch={"input": {"text": "another", **others}})

        assert (fault["pointer"], fault["code"]) == ("/patch/input", "bad_value")
        assert "null for each of the others" in fault["detail"]
        new = await job(office, instead.document["id"])
        assert await content_of(office.world, new) == "another"

    run(office, main)


def test_an_input_that_a_patch_makes_long_runs_on_a_workflow(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office)

        answer = await office.redrive(letter, patch={"input": {"text": "word " * 20_000}})

        new = await job(office, answer.document["id"])
        assert (new.engine, new.state) == (Engine.WORKFLOW, JobState.RUNNING)

    run(office, main)


def test_a_patch_names_the_uploads_of_the_jobs_tenant_alone(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, tenant_id="other")
        ref = await uploaded(office.world)  # of acme

        answer = await office.redrive(letter, patch={"input": {"text": None, "ref": ref}})

        assert answer.faults == [("/patch/input/ref", "input_not_found")]

    run(office, main)


@pytest.mark.parametrize("patch", [{}, {"params": {}}, {"input": {}, "params": {}}])
def test_a_patch_that_names_nothing_is_none(office: Office, patch: object) -> None:
    async def main() -> None:
        letter = await secret(office)

        answer = await office.redrive(letter, patch=patch)

        assert_problem(answer, 422, "not_replayable")
        assert answer.document["needs_force"] is False
        assert await letter_now(office, letter) == letter

    run(office, main)


def test_a_patch_that_changes_nothing_is_in_nobodys_way(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)

        assert (await office.redrive(letter, patch={"input": {"text": SECRET}})).status == 202

    run(office, main)


@pytest.mark.parametrize("words", [76, 77])
@pytest.mark.parametrize("text", ["a wrong guess", SECRET])
def test_a_patch_is_answered_alike_whether_or_not_it_guesses_what_was_asked(
    office: Office, words: int, text: str
) -> None:
    async def main() -> None:
        letter = await secret(office, params={"max_words": 77}, run_key="nightly")
        await office.world.submitted(run_key="nightly")  # so that a guess costs nothing
        guess = {"input": {"text": text}, "params": {"max_words": words}}

        answer = await office.redrive(letter, patch=guess)

        assert_problem(answer, 409, "run_in_progress")
        assert await letter_now(office, letter) == letter

    run(office, main)


def test_an_upload_stays_the_input_of_a_patched_job(office: Office) -> None:
    async def main() -> None:
        ref = await uploaded(office.world)
        letter = await secret(office, form=InputForm.REF, content=None, refs=(ref,))

        answer = await office.redrive(letter, patch={"params": {"max_words": 50}})

        assert (await job(office, answer.document["id"])).input.refs == (ref,)

    run(office, main)


def test_a_patch_that_names_what_was_there_redrives_what_a_bad_deployment_ended(
    office: Office,
) -> None:
    async def main() -> None:
        letter = await secret(office)

        answer = await office.redrive(letter, patch={"max_attempts": 1})

        assert answer.status == 202
        assert (await job(office, answer.document["id"])).max_attempts == 1

    run(office, main)


def test_the_audit_names_what_was_patched_and_never_to_what(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office)
        patch = {"input": {"text": SECRET * 2}, "params": {"max_words": 50}}

        answer = await office.redrive(letter, patch=patch, force=True)

        (row,) = office.world.rows("SELECT * FROM audit")
        assert json.loads(row["detail"]) == {
            "patched": ["input", "params"], "forced": True, "job": answer.document["id"]
        }  # fmt: skip
        assert (row["actor"], row["request_id"]) == (
            "operator0000", answer.headers["x-request-id"]
        )  # fmt: skip

    run(office, main)


def test_an_upload_that_is_gone_is_replaced_without_naming_the_old_form(office: Office) -> None:
    async def main() -> None:
        ref = await uploaded(office.world)
        letter = await secret(office, form=InputForm.REF, content=None, refs=(ref,))
        office.world.connection.execute("UPDATE inputs SET expires_at = 1")

        assert_problem(await office.redrive(letter), 422, "input_gone")
        answer = await office.redrive(letter, patch={"input": {"text": "another"}})

        assert answer.status == 202

    run(office, main)


@pytest.mark.parametrize("when", ["before the look", "after it"])
def test_a_job_that_is_gone_cannot_be_patched(office: Office, when: str) -> None:
    async def main() -> None:
        letter = await secret(office)
        if when == "after it":
            changing(office, "DELETE FROM jobs")
        else:
            office.world.connection.execute("DELETE FROM jobs")

        answer = await office.redrive(letter, patch={"input": {"text": "another"}})

        assert_problem(answer, 422, "input_gone")

    run(office, main)


def changing(office: Office, sql: str) -> None:
    """Let something happen just after a letter was looked at."""
    found = office.ports.dead_letters.find

    async def stale(letter_id: str) -> DeadLetter | None:
        seen = await found(letter_id)
        office.world.connection.execute(sql)
        return seen

    office.ports.dead_letters.find = stale  # type: ignore[method-assign]


def test_a_source_that_went_is_told_as_a_gone_input_though_the_patch_is_sound(
    office: Office,
) -> None:
    async def main() -> None:
        source = await office.world.submitted()
        await office.world.consumed([source], working())
        refs = (await uploaded(office.world), source.id)
        letter = await secret(
            office, kind="report", form=InputForm.REFS, content=None, refs=refs, error=OUTAGE
        )
        changing(office, "UPDATE inputs SET expires_at = 1")

        answer = await office.redrive(letter, patch={"max_attempts": 9})

        assert_problem(answer, 422, "input_gone")

    run(office, main)
