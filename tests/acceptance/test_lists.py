"""Jobs as a page looks at them: found by their times, counted, and not sent twice."""

from __future__ import annotations

from tests.acceptance.runs import Desk
from tests.support.running import Stack, until

WORK = {"kind": "summarize", "input": {"text": "Trains stop here. Nothing is lost."}}


def test_a_page_finds_counts_and_does_not_fetch_again(stack: Stack, desk: Desk) -> None:
    jobs = [desk.api.post("/v1/jobs", json=WORK).json()["id"] for _ in range(2)]
    until(lambda: all(desk.shown(job)["terminal"] for job in jobs))
    first, second = (desk.shown(job) for job in jobs)

    span = {"created_after": second["created_at"], "finished_after": second["created_at"]}
    found = desk.api.get("/v1/jobs", params=span)
    older = desk.api.get("/v1/jobs", params={"created_before": second["created_at"]})
    counted = desk.api.get("/v1/jobs/counts").json()["items"]
    again = desk.api.get("/v1/jobs", params=span, headers={"if-none-match": found.headers["etag"]})
    with stack.api("operator_key") as operator:
        key = operator.get("/v1/key").json()

    assert [job["id"] for job in found.json()["items"]] == [second["id"]]
    assert [job["id"] for job in older.json()["items"]] == [first["id"]]
    assert {"state": "succeeded", "count": 2, "capped": False} in counted
    assert len(counted) == 6
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == found.headers["etag"]
    assert (key["tenant_id"], key["scopes"]) == (None, ["operate"])
