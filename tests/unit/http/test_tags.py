"""Whoever has an answer already is not sent it again: on every route that says so, and rightly."""

from __future__ import annotations

from collections.abc import Mapping

from tests.unit.http.office import Office, run
from tests.unit.http.world import Answer
from tests.unit.services.letters import buried
from uketsuke.http.openapi_operations import OPERATIONS
from uketsuke.http.routes import ROUTES

TAGGED = {route.template for route in ROUTES if OPERATIONS[route.endpoint.__name__].tagged}
# They have entity tags of their own making, and tests too.
ELSEWHERE = {"/openapi.json", "/v1/jobs/{job_id}/result"}
SCHEDULE = {"cron": "0 7 1 1 *", "kind": "summarize", "input": {"text": "Some words."}}


async def furnished(office: Office) -> Mapping[str, str]:
    """Let there be one of everything, and return the path of each route by its template."""
    letter = await buried(office.world)
    order = {"filter": {"tenant": "acme"}, "reason": "because"}
    redrive = (await office.send("POST", "/v1/redrives", order)).headers["location"]
    made = await office.send("PUT", "/v1/schedules/nightly", SCHEDULE, who="acme")
    assert made.status == 201
    named = {
        "/v1/cron": "/v1/cron?cron=0+7+*+*+*",
        "/v1/schedules/{name}": "/v1/schedules/nightly?tenant=acme",
        "/v1/jobs/{job_id}": f"/v1/jobs/{letter.job_id}",
        "/v1/jobs/{job_id}/events": f"/v1/jobs/{letter.job_id}/events",
        "/v1/dead-letters/{letter_id}": f"/v1/dead-letters/{letter.id}",
        "/v1/redrives/{redrive_id}": redrive,
    }
    return {path: named.get(path, path) for path in TAGGED - ELSEWHERE}


def headers_of(answer: Answer) -> dict[str, str]:
    kept = ("cache-control", "vary", "etag", "retry-after")
    return {name: value for name, value in answer.headers.items() if name in kept}


def test_the_same_answer_is_304_with_the_headers_of_the_first(office: Office) -> None:
    async def main() -> None:
        for template, path in (await furnished(office)).items():
            first = await office.send("GET", path)
            named = {"if-none-match": first.headers["etag"]}

            again = await office.send("GET", path, headers=named)

            assert (first.status, again.status, again.body) == (200, 304, b""), template
            assert headers_of(again) == headers_of(first), template
            assert again.headers["cache-control"] == "private, no-cache", template
            assert "Authorization" in again.headers["vary"], template
            assert "content-type" not in again.headers, template

    run(office, main)


def test_what_has_changed_is_sent_under_another_tag(office: Office) -> None:
    async def main() -> None:
        letter = await buried(office.world)
        one = f"/v1/dead-letters/{letter.id}"
        paths = (one, "/v1/dead-letters", "/v1/dead-letters/groups", "/v1/audit")
        before = {path: await office.send("GET", path) for path in paths}
        await office.discard(letter)

        for path, first in before.items():
            named = {"if-none-match": first.headers["etag"]}
            after = await office.send("GET", path, headers=named)
            assert after.status == 200, path
            assert after.headers["etag"] != first.headers["etag"], path

    run(office, main)


def test_a_tag_says_nothing_to_another_caller_who_sees_other_things(office: Office) -> None:
    async def main() -> None:
        letter = await buried(office.world)
        path = f"/v1/jobs/{letter.job_id}"
        mine = await office.send("GET", "/v1/jobs", who="acme")
        named = {"if-none-match": mine.headers["etag"]}

        others = await office.send("GET", "/v1/jobs", who="other", headers=named)
        hidden = await office.send("GET", path, who="other", headers={"if-none-match": "*"})

        assert (others.status, others.document["items"]) == (200, [])
        assert hidden.status == 404

    run(office, main)
