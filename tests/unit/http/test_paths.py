"""Paths and methods: what is not in the table is not there, and HEAD answers as GET."""

from __future__ import annotations

import pytest

from tests.unit.http.factories import a_job, an_id
from tests.unit.http.world import World, assert_problem
from uketsuke.domain.job import ResultPlace
from uketsuke.domain.lifecycle import JobState

JOB_PATH = f"/v1/jobs/{an_id('job', 1)}"


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "/v1", "/v1/", "/v1/job", "/v1/jobs/", f"{JOB_PATH}/", f"{JOB_PATH}/nothing",
        "/V1/jobs", "//v1/jobs", "/v1/jobs%2f", "/healthz/", "/v1/schedule", "/v1/jobs/a/b/c",
        "/v1/dead-letter", "/" + "x" * 5000, "/{job_id}", "/\ud83d", "/受付",
    ],
)  # fmt: skip
def test_an_unknown_path_is_not_found_without_asking_for_a_key(world: World, path: str) -> None:
    answer = world.send("GET", path)

    assert_problem(answer, 404, "not_found")
    assert len(answer.document["instance"]) <= 200


def test_head_answers_as_get_without_a_body(world: World, tenant_key: str) -> None:
    job = a_job()
    world.jobs.jobs[job.id] = job

    got = world.send("GET", JOB_PATH, key=tenant_key)
    head = world.send("HEAD", JOB_PATH, key=tenant_key)

    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))
    assert head.headers["etag"] == got.headers["etag"]


def test_head_of_an_error_has_no_body_either(world: World) -> None:
    head = world.send("HEAD", JOB_PATH)

    assert (head.status, head.body) == (401, b"")


def test_head_of_an_unchanged_job_claims_no_length(world: World, tenant_key: str) -> None:
    world.jobs.jobs[a_job().id] = a_job()

    head = world.send("HEAD", JOB_PATH, key=tenant_key, headers={"if-none-match": "*"})

    assert head.status == 304
    assert "content-length" not in head.headers


def test_head_of_a_streamed_result_tells_its_length(world: World, tenant_key: str) -> None:
    place = ResultPlace(bytes=9, content_type="application/json", attempt=1, object_key="o")
    world.jobs.jobs[a_job().id] = a_job(state=JobState.SUCCEEDED, result=place)
    world.blobs.streams["o"] = object()

    head = world.send("HEAD", f"{JOB_PATH}/result", key=tenant_key)

    assert (head.status, head.headers["content-length"], head.raw.body) == (200, "9", b"")
