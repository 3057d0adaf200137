"""``GET /v1/cron``: the next times of an expression, told as a schedule would have them."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.unit.http.world import Answer, World, assert_problem


def preview(world: World, key: str | None, **asked: str) -> Answer:
    return world.send("GET", f"/v1/cron?{urlencode(asked)}", key=key)


# The clock of these tests stands on Sunday, 2026-11-29, at noon in UTC.
def test_the_next_times_are_told_by_the_clock_of_the_zone(world: World, tenant_key: str) -> None:
    answer = preview(world, tenant_key, cron="30 7 * * 1-5", timezone="Asia/Tokyo")

    assert answer.status == 200
    assert answer.document == {
        "cron": "30 7 * * 1-5",
        "timezone": "Asia/Tokyo",
        "next": [
            "2026-11-29T22:30:00.000Z",
            "2026-11-30T22:30:00.000Z",
            "2026-12-01T22:30:00.000Z",
        ],
    }


def test_a_schedule_of_it_has_the_first_of_them(world: World, tenant_key: str) -> None:
    members = {"cron": "*/7 3 * * *", "timezone": "Europe/Berlin"}
    work = {"kind": "summarize", "input": {"text": "Some words."}}

    told = preview(world, tenant_key, **members).document
    made = world.send("PUT", "/v1/schedules/x", key=tenant_key, document={**members, **work})

    assert made.document["next_at"] == told["next"][0]


def test_the_zone_is_utc_unless_another_is_named(world: World, operator_key: str) -> None:
    answer = preview(world, operator_key, cron="0 0 1 1 *")

    assert answer.document["timezone"] == "UTC"
    assert answer.document["next"][0] == "2027-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        ("", [""]),
        ("cron=61+*+*+*+*&timezone=Mars/Base", ["/cron", "/timezone"]),
        ("cron=0+0+30+2+*", ["/cron"]),  # it never comes true
        ("cron=0+0+1+1+*&cron=0+0+1+1+*", [""]),
        (f"cron={'1' * 201}", [""]),
        (f"cron=0+0+1+1+*&timezone={'x' * 201}", [""]),
    ],
)
def test_all_that_is_wrong_is_told(
    world: World, tenant_key: str, query: str, pointers: list[str]
) -> None:
    answer = world.send("GET", f"/v1/cron?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    assert [fault["pointer"] for fault in answer.document["errors"]] == pointers
