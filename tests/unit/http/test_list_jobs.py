"""Lists of jobs: what may be asked, and where the next page is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.http.factories import an_id
from tests.unit.http.world import World, assert_problem
from tests.unit.values import a_job
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import JobFilter, JobPage

CURSOR = an_id("job", 7)
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def test_a_page_is_the_callers_own_and_names_the_next_one(world: World, tenant_key: str) -> None:
    world.listing.answer = JobPage(jobs=[a_job(state=JobState.ACCEPTED)], cursor=CURSOR)

    answer = world.send("GET", "/v1/jobs?kind=embed&limit=1", key=tenant_key)

    assert answer.status == 200
    assert [item["state"] for item in answer.document["items"]] == ["accepted"]
    assert answer.document["next"] == f"/v1/jobs?kind=embed&limit=1&cursor={CURSOR}"
    ((wanted, tenant, before, limit),) = world.listing.asked
    assert (wanted, before, limit) == (JobFilter(kind="embed"), None, 1)
    assert tenant is not None


def test_the_last_page_has_no_next(world: World, tenant_key: str) -> None:
    answer = world.send("GET", f"/v1/jobs?cursor={CURSOR}&state=failed", key=tenant_key)

    assert answer.document == {"items": [], "next": None}
    ((wanted, _, before, limit),) = world.listing.asked
    assert (wanted, before, limit) == (JobFilter(state="failed"), CURSOR, 50)


def test_an_operator_lists_all_tenants_or_one(world: World, operator_key: str) -> None:
    world.send("GET", "/v1/jobs", key=operator_key)
    world.send("GET", "/v1/jobs?tenant=acme", key=operator_key)

    assert [tenant for _, tenant, _, _ in world.listing.asked] == [None, "acme"]


@pytest.mark.parametrize(
    "query",
    [
        "state=done",
        "limit=0",
        "limit=201",
        "limit=x",
        "limit=²",
        "limit=",
        "kind=a&kind=b",
        "q=1",
        "created_after=2026-11-29T12:00:00Z&created_after=2026-11-29T12:00:00Z",
    ],
)
def test_a_query_that_makes_no_sense_is_refused(world: World, tenant_key: str, query: str) -> None:
    answer = world.send("GET", f"/v1/jobs?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    assert world.listing.asked == []


@pytest.mark.parametrize("state", ["", "&state=accepted", "&state=retrying"])
def test_jobs_that_wait_are_asked_for_by_whether_they_are_due(
    world: World, tenant_key: str, state: str
) -> None:
    for due in ("true", "false"):
        assert world.send("GET", f"/v1/jobs?due={due}{state}", key=tenant_key).status == 200

    assert [wanted.due for wanted, *_ in world.listing.asked] == [True, False]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("due=maybe", "due is true or false"),
        ("due=", "due is true or false"),
        *(
            (f"due=true&state={state}", "leave out state, or say accepted or retrying")
            for state in ("running", "succeeded", "failed", "canceled")
        ),
    ],
)
def test_what_cannot_be_due_is_told(world: World, tenant_key: str, query: str, told: str) -> None:
    answer = world.send("GET", f"/v1/jobs?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    (fault,) = answer.document["errors"]
    assert told in fault["detail"]


def test_times_are_read_with_their_offsets_and_kept_in_next(world: World, tenant_key: str) -> None:
    world.listing.answer = JobPage(jobs=(), cursor=CURSOR)
    query = (
        "created_after=2026-11-29T21:00:00%2B09:00&created_before=2026-11-29T13:00:00.5Z"
        "&finished_after=2026-11-29t12:00:00z&finished_before=2026-11-29T06:00:00-07:00"
    )

    answer = world.send("GET", f"/v1/jobs?{query}", key=tenant_key)
    again = world.send("GET", answer.document["next"], key=tenant_key)

    assert (answer.status, again.status) == (200, 200)
    (first, *_), (second, _, before, _) = world.listing.asked
    assert before == CURSOR
    assert first == second
    assert first == JobFilter(
        created_after=NOON,
        created_before=NOON + timedelta(hours=1, milliseconds=500),
        finished_after=NOON,
        finished_before=NOON + timedelta(hours=1),
    )


@pytest.mark.parametrize(
    "time",
    [
        "",
        "yesterday",
        "2026-11-29",
        "2026-11-29T12:00:00",
        "2026-11-29T12:00:00+09:00",  # the plus is a space, so
        "2026-02-30T12:00:00Z",
        "20261129T120000Z",
        "1796040000",
        "0001-01-01T00:00:00%2B09:00",
        "2026-11-29T12:00:00Z%00",
        "٢٠٢٦-11-29T12:00:00Z",
    ],
)
def test_what_is_no_time_is_refused_by_name(world: World, tenant_key: str, time: str) -> None:
    query = f"created_after={time}&finished_before={time}"

    answer = world.send("GET", f"/v1/jobs?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    details = [fault["detail"] for fault in answer.document["errors"]]
    assert [detail.split(" is ")[0] for detail in details] == [
        "The query parameter created_after",
        "The query parameter finished_before",
    ]
    assert "2026-11-29T12:00:00Z" in details[0]
    assert world.listing.asked == []


def test_a_page_that_is_the_same_is_not_sent_again(world: World, tenant_key: str) -> None:
    first = world.send("GET", "/v1/jobs", key=tenant_key)

    again = world.send(
        "GET", "/v1/jobs", key=tenant_key, headers={"if-none-match": first.headers["etag"]}
    )

    assert (again.status, again.body) == (304, b"")


def test_a_tenant_may_not_name_another(world: World, tenant_key: str) -> None:
    answer = world.send("GET", "/v1/jobs?tenant=other", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")


@pytest.mark.parametrize("cursor", ["", "x", "job_", "job_1%27--"])
def test_a_cursor_that_is_not_ours_is_refused(world: World, tenant_key: str, cursor: str) -> None:
    answer = world.send("GET", f"/v1/jobs?cursor={cursor}", key=tenant_key)

    assert_problem(answer, 400, "invalid_cursor")
