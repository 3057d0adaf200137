"""A job's result in the form that is asked for, and what its headers say of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.unit.http.factories import a_job
from tests.unit.http.world import Answer, World, assert_problem
from uketsuke.domain.job import Job, ResultPlace
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.vectors import VECTORS_TYPE, keep, pack
from uketsuke.http.message import Pieces, Stream
from uketsuke.services.ports import Unavailable

JSON, FLOATS = "application/json", "application/octet-stream"
KEY = "t_alpha/job/result-1"
ROWS = [[0.5, -0.25, 1e-30], [3.0, 0.1, 1e30]]


def done(world: World, place: ResultPlace) -> Job:
    job = a_job(kind="embed", state=JobState.SUCCEEDED, result=place)
    world.jobs.jobs[job.id] = job
    return job


def embedded(world: World, rows: list[list[float]] | None = None, *, model: str = "m") -> Job:
    content = keep([pack(rows or ROWS)], model=model)
    world.blobs.objects[KEY] = content
    place = ResultPlace(bytes=len(content), content_type=VECTORS_TYPE, attempt=1, object_key=KEY)
    return done(world, place)


def ask(world: World, key: str, job: Job, method: str = "GET", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.send(method, f"/v1/jobs/{job.id}/result", key=key, headers=named)


def sent(answer: Answer) -> bytes:
    """Return all the pieces of a body that is made while it is sent."""

    async def drain() -> bytes:
        assert isinstance(answer.raw.body, Pieces)
        return b"".join([piece async for piece in answer.raw.body.content])

    return asyncio.run(drain())


def test_vectors_are_json_unless_something_else_is_asked_for(world: World, tenant_key: str) -> None:
    answer = ask(world, tenant_key, embedded(world))

    assert (answer.status, answer.headers["content-type"]) == (200, JSON)
    document = json.loads(sent(answer))
    assert document["model"], document["dimensions"] == ("m", 3)
    assert pack(document["vectors"]) == pack(ROWS)
    assert list(document) == ["model", "dimensions", "vectors"]


def test_vectors_are_bare_floats_for_who_would_rather_have_them(
    world: World, tenant_key: str
) -> None:
    answer = ask(world, tenant_key, embedded(world), accept=f"{JSON};q=0.1, {FLOATS}")

    assert (answer.status, answer.headers["content-type"]) == (200, FLOATS)
    assert answer.raw.body == Stream(content=pack(ROWS).packed, bytes=24)
    assert (answer.headers["x-model"], answer.headers["x-dimensions"]) == ("m", "3")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("@cf/baai/bge-m3", "@cf/baai/bge-m3"),
        ("ruri 日本", "ruri %E6%97%A5%E6%9C%AC"),
        ("50%\n", "50%25%0A"),
        ("half \ud800", "half ?"),
    ],
)
def test_a_models_name_fits_a_header(world: World, tenant_key: str, model: str, told: str) -> None:
    answer = ask(world, tenant_key, embedded(world, model=model), accept=FLOATS)

    assert answer.headers["x-model"] == told


def test_the_forms_have_tags_of_their_own_and_vary_by_accept(world: World, tenant_key: str) -> None:
    job = embedded(world)

    forms = [ask(world, tenant_key, job, accept=form) for form in (JSON, FLOATS)]

    assert len({form.headers["etag"] for form in forms}) == 2
    assert {form.headers["vary"] for form in forms} == {"Authorization, Accept"}
    for form, other in (forms, forms[::-1]):
        has = {"accept": form.headers["content-type"], "if_none_match": form.headers["etag"]}
        same = ask(world, tenant_key, job, **has)
        assert (same.status, same.body, same.headers["etag"]) == (304, b"", form.headers["etag"])
        assert same.headers["vary"] == "Authorization, Accept"
        has["accept"] = other.headers["content-type"]
        assert ask(world, tenant_key, job, **has).status == 200


def test_head_tells_what_get_would_as_far_as_it_is_known(world: World, tenant_key: str) -> None:
    job = embedded(world)

    for form in (JSON, FLOATS):
        get, head = (ask(world, tenant_key, job, method, accept=form) for method in ("GET", "HEAD"))
        length = head.headers.pop("content-length", None)
        for answer in (get, head):
            del answer.headers["x-request-id"]
        assert (head.status, head.body, head.headers) == (200, b"", get.headers)
        assert length == (None if form == JSON else "24")


def test_large_vectors_are_read_as_they_are_sent(world: World, tenant_key: str) -> None:
    rows = [[float(n)] * 1000 for n in range(200)]
    job = embedded(world, rows)

    answer = ask(world, tenant_key, job)
    before = len(world.blobs.read)
    document = json.loads(sent(answer))

    assert document["vectors"] == rows
    assert before == 1  # of the head alone
    assert len(world.blobs.read) > 3
    assert max(length for _, length in world.blobs.read) <= 262_144


def test_vectors_that_go_while_they_are_sent_end_in_no_whole_document(
    world: World, tenant_key: str
) -> None:
    answer = ask(world, tenant_key, embedded(world))
    world.blobs.objects.clear()

    with pytest.raises(Unavailable):
        sent(answer)


@pytest.mark.parametrize("form", [JSON, FLOATS])
def test_vectors_that_are_not_kept_any_more_are_gone(
    world: World, tenant_key: str, form: str
) -> None:
    job = embedded(world)
    world.blobs.objects.clear()

    assert_problem(ask(world, tenant_key, job, accept=form, if_none_match="*"), 410, "expired")


@pytest.mark.parametrize(
    ("place", "accept", "named"),
    [
        ("object", "text/csv", [JSON, FLOATS]),
        ("object", f"{JSON};q=0, {FLOATS};q=0", [JSON, FLOATS]),
        ("row", FLOATS, [JSON]),
    ],
)
def test_a_form_that_cannot_be_had_is_refused_with_those_that_can(
    world: World, tenant_key: str, place: str, accept: str, named: list[str]
) -> None:
    job = embedded(world) if place == "object" else summarized(world)

    answer = ask(world, tenant_key, job, accept=accept)

    assert_problem(answer, 406, "not_acceptable")
    assert [form for form in (JSON, FLOATS) if form in answer.document["detail"]] == named
    assert answer.headers["vary"] == "Authorization, Accept"


def summarized(world: World, **changes: Any) -> Job:
    place = ResultPlace(bytes=13, content_type=JSON, attempt=1)
    job = done(world, place)
    world.jobs.results[job.key, 1] = '{"summary":1}'
    return job


def test_another_result_has_its_tag_too(world: World, tenant_key: str) -> None:
    job = summarized(world)

    answer = ask(world, tenant_key, job, accept="application/*")
    same = ask(world, tenant_key, job, if_none_match=f"W/{answer.headers['etag']}")

    assert (answer.status, answer.document) == (200, {"summary": 1})
    assert (same.status, same.body) == (304, b"")
