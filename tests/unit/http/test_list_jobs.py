"""Lists of jobs: what may be asked, and where the next page is."""

from __future__ import annotations

import pytest

from tests.unit.http.factories import an_id
from tests.unit.http.world import World, assert_problem
from tests.unit.values import a_job
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import JobFilter, JobPage

CURSOR = an_id("job", 7)


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
    ["state=done", "limit=0", "limit=201", "limit=x", "limit=²", "limit=", "kind=a&kind=b", "q=1"],
)
def test_a_query_that_makes_no_sense_is_refused(world: World, tenant_key: str, query: str) -> None:
    answer = world.send("GET", f"/v1/jobs?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    assert world.listing.asked == []


def test_a_tenant_may_not_name_another(world: World, tenant_key: str) -> None:
    answer = world.send("GET", "/v1/jobs?tenant=other", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")


@pytest.mark.parametrize("cursor", ["", "x", "job_", "job_1%27--"])
def test_a_cursor_that_is_not_ours_is_refused(world: World, tenant_key: str, cursor: str) -> None:
    answer = world.send("GET", f"/v1/jobs?cursor={cursor}", key=tenant_key)

    assert_problem(answer, 400, "invalid_cursor")
