"""The audit over HTTP: whose acts a caller sees, newest first, and what may be asked."""

from __future__ import annotations

import pytest

from tests.unit.http.factories import an_id
from tests.unit.http.office import Office
from tests.unit.http.world import Answer, assert_problem
from tests.unit.services.letters import buried


async def two_acts(office: Office) -> tuple[str, str]:
    """A redrive for acme, then a discard for another tenant; return the letters."""
    mine, others = await buried(office.world), await buried(office.world, tenant_id="other")
    assert (await office.redrive(mine, reason="the outage is over")).status == 202
    assert (await office.discard(others)).status == 200
    return mine.id, others.id


def targets(answer: Answer) -> list[str]:
    return [item["target"] for item in answer.document["items"]]


def test_an_act_is_shown_whole(office: Office) -> None:
    async def main() -> None:
        mine, _ = await two_acts(office)

        answer = await office.send("GET", f"/v1/audit?target={mine}")

        (item,) = answer.document["items"]
        (new,) = office.world.rows("SELECT id FROM jobs WHERE redriven_from IS NOT NULL")
        assert (item["actor"], item["action"]) == ("operator0000", "dead_letter.redriven")
        assert (item["tenant_id"], item["reason"]) == ("acme", "the outage is over")
        assert item["detail"] == {"job": new["id"]}
        assert item["id"].startswith("au_")
        assert item["at"].startswith("2026-11-29T12:00:00")
        assert item["request_id"].startswith("req_")
        assert answer.headers["cache-control"] == "private, no-cache"

    office.world.run(main())


def test_operators_see_all_and_tenants_what_was_done_about_their_own(office: Office) -> None:
    async def main() -> None:
        mine, others = await two_acts(office)

        for who, query, seen in [
            ("operator", "", [others, mine]),
            ("admin", "", [others, mine]),
            ("operator", "?tenant=acme", [mine]),
            ("acme", "", [mine]),
            ("other", "", [others]),
            ("acme", f"?target={others}", []),
            ("operator", "?action=dead_letter.discarded", [others]),
            ("operator", "?actor=operator0000", [others, mine]),
            ("operator", "?actor=nobody", []),
        ]:
            answer = await office.send("GET", f"/v1/audit{query}", who=who)
            assert targets(answer) == seen, (who, query)
            assert answer.document["next"] is None

    office.world.run(main())


def test_a_page_names_the_next_one(office: Office) -> None:
    async def main() -> None:
        mine, others = await two_acts(office)

        first = await office.send("GET", "/v1/audit?limit=1")
        second = await office.send("GET", first.document["next"])

        assert targets(first) == [others]
        assert targets(second) == [mine]

    office.world.run(main())


@pytest.mark.parametrize(
    ("who", "query", "code"),
    [
        ("operator", "action=job.read", "invalid_request"),
        ("operator", "limit=0", "invalid_request"),
        ("operator", "target=a&target=b", "invalid_request"),
        ("operator", "since=1", "invalid_request"),
        ("acme", "tenant=other", "invalid_request"),
        ("operator", "cursor=au_1", "invalid_cursor"),
        ("operator", f"cursor={an_id('job', 1)}", "invalid_cursor"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(
    office: Office, who: str, query: str, code: str
) -> None:
    async def main() -> None:
        assert_problem(await office.send("GET", f"/v1/audit?{query}", who=who), 400, code)

    office.world.run(main())


def test_to_read_leaves_no_row(office: Office) -> None:
    async def main() -> None:
        letter = await buried(office.world)

        for path in ("/v1/jobs", f"/v1/jobs/{letter.job_id}", "/v1/audit", "/v1/usage"):
            assert (await office.send("GET", path)).status == 200

        assert office.world.rows("SELECT * FROM audit") == []

    office.world.run(main())
