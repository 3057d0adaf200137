"""POST /v1/jobs: what is answered, what is stored, and what becomes of a repeat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.http.factories import KINDS, TENANT, a_job, an_id, an_upload
from tests.unit.http.fakes import NOW, out_of_reach
from tests.unit.http.world import Answer, World
from uketsuke.domain.job import InputForm
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.trace import read_traceparent
from uketsuke.kinds.expected import expect_by_size
from uketsuke.services.ports import KnownKey

A_SUMMARY: dict[str, Any] = {"kind": "summarize", "input": {"text": "Some words."}}
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def submit(world: World, key: str, document: object = A_SUMMARY, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.send("POST", "/v1/jobs", key=key, document=document, headers=named)


def test_an_accepted_job_is_answered_with_202_and_where_to_follow_it(
    world: World, tenant_key: str
) -> None:
    answer = submit(world, tenant_key, {**A_SUMMARY, "metadata": {"ticket": "42"}})

    job = answer.document
    assert answer.status == 202
    assert answer.headers["location"] == f"/v1/jobs/{job['id']}" == job["links"]["self"]
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["content-type"] == "application/json"
    assert "idempotency-replayed" not in answer.headers
    assert (job["state"], job["tenant_id"], job["metadata"]) == (
        "accepted", TENANT, {"ticket": "42"},
    )  # fmt: skip
    assert [message["job"] for message in world.queue.sent] == [job["id"]]


def test_the_job_is_stored_as_it_was_asked_for(world: World, tenant_key: str) -> None:
    document = {
        **A_SUMMARY, "params": {"max_words": 50}, "run_key": "nightly", "max_attempts": 2,
        "deadline_seconds": 90,
    }  # fmt: skip

    submit(world, tenant_key, document, traceparent=TRACEPARENT, idempotency_key='"k-1"')

    (new,) = world.jobs.accepted
    assert (new.key.tenant_id, new.kind, new.params) == (TENANT, "summarize", {"max_words": 50})
    assert (new.run_key, new.max_attempts, new.deadline.total_seconds()) == ("nightly", 2, 90)
    assert (new.input.form, new.inline_input) == (InputForm.TEXT, '"Some words."')
    own, above = read_traceparent(new.traceparent), read_traceparent(TRACEPARENT)
    assert own
    assert above
    assert (own.trace_id, own.flags) == (above.trace_id, above.flags)
    assert own.span_id != above.span_id  # what follows is within the request, and it in the caller


def test_what_a_job_may_cost_and_what_its_kind_expects_are_stored(
    world: World, tenant_key: str
) -> None:
    submit(world, tenant_key, {**A_SUMMARY, "max_cost_usd": "0.5"})
    submit(world, tenant_key, {**A_SUMMARY, "max_cost_usd": None})

    bound, free = world.jobs.accepted
    assert (bound.max_cost_micros, free.max_cost_micros) == (500_000, None)
    assert bound.expected == expect_by_size(InputForm.TEXT, len("Some words."), None)


def test_without_a_trace_one_is_begun_and_follows_the_job(world: World, tenant_key: str) -> None:
    answer = submit(world, tenant_key, traceparent="garbage")

    (new,) = world.jobs.accepted
    begun = read_traceparent(new.traceparent)
    assert begun
    assert answer.document["trace_id"] == begun.trace_id


def test_the_same_key_and_request_give_the_original_job(world: World, tenant_key: str) -> None:
    first = submit(world, tenant_key, idempotency_key='"k-1"')
    reordered = dict(reversed(A_SUMMARY.items()))
    again = submit(world, tenant_key, reordered, idempotency_key="k-1")

    assert again.status == 202
    assert again.document["id"] == first.document["id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert len(world.jobs.accepted) == 1


def test_a_replay_of_an_ended_job_says_that_nothing_is_left_to_wait_for(
    world: World, tenant_key: str
) -> None:
    job = submit(world, tenant_key, idempotency_key="k-1").document
    known = world.jobs.by_request[TENANT, "key:k-1"]
    ended = replace(known.job, state=JobState.SUCCEEDED, finished_at=NOW)
    world.jobs.by_request[TENANT, "key:k-1"] = replace(known, job=ended)

    again = submit(world, tenant_key, idempotency_key="k-1")

    assert (again.document["id"], again.document["state"]) == (job["id"], "succeeded")
    assert again.headers["retry-after"] == "0"


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({**A_SUMMARY, "input": {"text": "Other words."}}, "/input"),
        ({**A_SUMMARY, "params": {"max_words": 10}}, "/params"),
        ({**A_SUMMARY, "max_attempts": 5}, "/max_attempts"),  # the default, but not as sent
    ],
)
def test_the_same_key_for_another_request_is_a_mismatch_with_a_pointer(
    world: World, tenant_key: str, document: object, pointer: str
) -> None:
    submit(world, tenant_key, idempotency_key="k-1")

    answer = submit(world, tenant_key, document, idempotency_key="k-1")

    assert (answer.status, answer.code) == (422, "idempotency_mismatch")
    assert answer.document["pointer"] == pointer
    assert answer.faults == [(pointer, "bad_value")]
    assert len(world.jobs.accepted) == 1


def test_a_key_belongs_to_its_tenant(world: World, tenant_key: str, other_tenant_key: str) -> None:
    first = submit(world, tenant_key, idempotency_key="k-1")
    theirs = submit(world, other_tenant_key, idempotency_key="k-1")

    assert theirs.document["id"] != first.document["id"]
    assert "idempotency-replayed" not in theirs.headers


def test_a_replay_is_honored_after_its_upload_is_gone(world: World, tenant_key: str) -> None:
    upload = an_upload()
    world.inputs.uploads[upload.ref] = upload
    document = {"kind": "summarize", "input": {"ref": upload.ref}}
    first = submit(world, tenant_key, document, idempotency_key="k-1")
    world.inputs.uploads.clear()

    again = submit(world, tenant_key, document, idempotency_key="k-1")
    other = submit(world, tenant_key, document, idempotency_key="k-2")

    assert (again.status, again.document["id"]) == (202, first.document["id"])
    assert again.headers["idempotency-replayed"] == "true"
    assert other.faults == [("/input/ref", "input_not_found")]


def test_a_refused_request_under_a_known_key_tells_its_own_faults(
    world: World, tenant_key: str
) -> None:
    submit(world, tenant_key, idempotency_key="k-1")

    bad = submit(world, tenant_key, {**A_SUMMARY, "max_attempts": 0}, idempotency_key="k-1")
    odd = submit(world, tenant_key, [], idempotency_key="k-1")

    assert bad.faults == [("/max_attempts", "out_of_range")]
    assert odd.faults == [("", "wrong_type")]


def test_a_refused_request_stores_nothing(world: World, tenant_key: str) -> None:
    submit(world, tenant_key, {**A_SUMMARY, "max_attempts": 0}, idempotency_key="k-1")

    assert world.jobs.accepted == []
    assert world.blobs.stored == []
    assert submit(world, tenant_key, idempotency_key="k-1").status == 202


def test_faults_of_header_and_body_come_together(world: World, tenant_key: str) -> None:
    answer = submit(world, tenant_key, {"kind": "nope"}, idempotency_key='"')

    assert answer.status == 400
    assert answer.code == "invalid_request"
    assert answer.faults == [
        ("", "bad_value"), ("/input", "missing"), ("/kind", "unknown_kind"),
    ]  # fmt: skip


def test_a_hundred_faults_are_told_and_no_more(world: World, tenant_key: str) -> None:
    answer = submit(world, tenant_key, {"kind": "embed", "input": {"texts": [1] * 2000}})

    assert len(answer.faults) == 100
    assert "first 100" in answer.document["detail"]


def test_a_live_run_key_is_a_conflict_that_names_the_live_job(
    world: World, tenant_key: str
) -> None:
    document = {**A_SUMMARY, "run_key": "nightly"}
    live = submit(world, tenant_key, document).document

    answer = submit(world, tenant_key, document)

    assert (answer.status, answer.code) == (409, "run_in_progress")
    assert answer.document["id"] == live["id"]
    assert answer.headers["location"] == live["links"]["self"]


def test_on_conflict_return_answers_with_the_live_job(world: World, tenant_key: str) -> None:
    live = submit(world, tenant_key, {**A_SUMMARY, "run_key": "nightly"}).document

    answer = submit(world, tenant_key, {**A_SUMMARY, "run_key": "nightly", "on_conflict": "return"})

    assert (answer.status, answer.document["id"]) == (202, live["id"])
    assert "idempotency-replayed" not in answer.headers
    assert len(world.jobs.accepted) == 1


def test_another_tenants_upload_is_not_found(
    world: World, tenant_key: str, other_tenant_key: str
) -> None:
    upload = an_upload()
    world.inputs.uploads[upload.ref] = upload
    document = {"kind": "summarize", "input": {"ref": upload.ref}}

    assert submit(world, tenant_key, document).status == 202
    assert submit(world, other_tenant_key, document).faults == [("/input/ref", "input_not_found")]


def test_all_refs_are_looked_up_in_one_call(world: World, tenant_key: str) -> None:
    uploads = [an_upload(number) for number in range(3)]
    world.inputs.uploads.update({upload.ref: upload for upload in uploads})
    refs = [upload.ref for upload in uploads]

    answer = submit(world, tenant_key, {"kind": "report", "input": {"refs": refs}})

    assert answer.status == 202
    assert world.inputs.asked == [tuple(refs)]


@pytest.mark.parametrize(("form", "kind"), [("ref", "summarize"), ("refs", "report")])
def test_an_upload_that_goes_in_between_is_not_found(
    world: World, tenant_key: str, form: str, kind: str
) -> None:
    upload = an_upload()
    world.inputs.uploads[upload.ref] = upload
    world.jobs.uploads_vanish = True
    given: object = upload.ref if form == "ref" else [upload.ref]

    answer = submit(world, tenant_key, {"kind": kind, "input": {form: given}})

    assert answer.faults == [(f"/input/{form}", "input_not_found")]


def test_a_large_text_goes_to_storage(world: World, tenant_key: str) -> None:
    answer = submit(world, tenant_key, {**A_SUMMARY, "input": {"text": "word " * 10_000}})

    assert answer.status == 202
    ((object_key, _),) = world.blobs.stored
    assert object_key.startswith(f"{TENANT}/{answer.document['id']}/")


def test_when_the_database_is_away_nothing_is_promised(world: World, tenant_key: str) -> None:
    world.jobs.broken = out_of_reach()

    answer = submit(world, tenant_key)

    assert (answer.status, answer.code) == (503, "unavailable")
    assert answer.headers["retry-after"] == "5"


def test_a_known_key_of_a_kind_that_is_gone_is_still_honored(tenant_key: str, world: World) -> None:
    first = submit(world, tenant_key, idempotency_key="k-1").document
    smaller = World(
        kinds={"embed": KINDS["embed"]}, jobs=world.jobs, keys=world.keys, dice=world.dice
    )

    assert submit(smaller, tenant_key, idempotency_key="k-1").document["id"] == first["id"]
    assert submit(smaller, tenant_key).faults == [("/kind", "unknown_kind")]


def test_a_row_without_a_fingerprint_of_a_member_differs_there(
    world: World, tenant_key: str
) -> None:
    job = a_job(id=an_id("job", 7))
    world.jobs.by_request[TENANT, "key:k-1"] = KnownKey(job=job, fingerprint={})

    answer = submit(world, tenant_key, idempotency_key="k-1")

    assert answer.document["pointer"] == "/input"
