"""Counts of jobs by state over HTTP: whose are counted, what may be asked, what is answered."""

from __future__ import annotations

import pytest

from tests.unit.http.factories import OTHER_TENANT, TENANT
from tests.unit.http.world import World, assert_problem
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import JobFilter, StateCount


def test_each_count_says_whether_there_may_be_more(world: World, tenant_key: str) -> None:
    world.listing.counted = [
        StateCount(state=JobState.RUNNING, count=3, capped=False),
        StateCount(state=JobState.FAILED, count=12, capped=True),
    ]

    answer = world.send("GET", "/v1/jobs/counts", key=tenant_key)

    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-cache")
    assert answer.document == {
        "items": [
            {"state": "running", "count": 3, "capped": False},
            {"state": "failed", "count": 12, "capped": True},
        ]
    }


def test_a_tenants_key_counts_its_own_and_an_operators_all_or_one_tenants(
    world: World, tenant_key: str, operator_key: str
) -> None:
    world.send("GET", "/v1/jobs/counts?kind=embed&run_key=nightly", key=tenant_key)
    world.send("GET", "/v1/jobs/counts", key=operator_key)
    world.send("GET", f"/v1/jobs/counts?tenant={OTHER_TENANT}", key=operator_key)

    assert world.listing.asked_to_count == [
        (JobFilter(kind="embed", run_key="nightly"), TENANT),
        (JobFilter(), None),
        (JobFilter(), OTHER_TENANT),
    ]


@pytest.mark.parametrize("query", ["kind=a&kind=b", "tenant=t_beta", "state=failed", "limit=5"])
def test_a_query_that_makes_no_sense_is_refused(world: World, tenant_key: str, query: str) -> None:
    answer = world.send("GET", f"/v1/jobs/counts?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    assert world.listing.asked_to_count == []


def test_the_same_counts_are_not_sent_again(world: World, tenant_key: str) -> None:
    first = world.send("GET", "/v1/jobs/counts", key=tenant_key)
    named = {"if-none-match": first.headers["etag"]}

    again = world.send("GET", "/v1/jobs/counts", key=tenant_key, headers=named)
    world.listing.counted = [StateCount(state=JobState.RUNNING, count=1, capped=False)]
    other = world.send("GET", "/v1/jobs/counts", key=tenant_key, headers=named)

    assert (again.status, other.status) == (304, 200)
