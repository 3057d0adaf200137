"""Schedules on the running stack, as any HTTP client sees them; zones and cron in the Worker's own
Python.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from tests.support.running import Stack

SOUND: dict[str, Any] = {
    "cron": "30 7 * * *",
    "timezone": "Asia/Tokyo",
    "kind": "summarize",
    "input": {"text": "A long text. It says much. " * 10},
    "params": {"max_words": 50},
}


def next_of(shown: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(shown["next_at"])


def put(api: httpx.Client, name: str = "nightly", **members: Any) -> httpx.Response:
    return api.put(f"/v1/schedules/{name}", json={**SOUND, **members})


def test_a_schedule_is_put_read_back_replaced_and_deleted(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        made = put(api)
        read = api.get("/v1/schedules/nightly")
        replaced = put(api, cron="0 * * * *", timezone="UTC", overlap="allow")
        read_again = api.get("/v1/schedules/nightly")
        deleted = api.delete("/v1/schedules/nightly")
        gone = api.get("/v1/schedules/nightly")
        deleted_again = api.delete("/v1/schedules/nightly")

    assert (made.status_code, made.headers["location"]) == (201, "/v1/schedules/nightly")
    assert read.json() == made.json()
    assert {name: read.json()[name] for name in SOUND} == SOUND
    assert (replaced.status_code, replaced.json()) == (200, read_again.json())
    assert replaced.json()["run_key"] is None
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (gone.status_code, deleted_again.status_code) == (404, 404)
    assert gone.json()["code"] == "not_found"


@pytest.mark.parametrize(
    "zone",
    [
        "UTC",
        "Asia/Tokyo",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
    ],
)
def test_the_next_time_is_one_of_the_zones_own(stack: Stack, zone: str) -> None:
    with stack.api(stack.tenant()) as api:
        shown = put(api, cron="15 7 * * *", timezone=zone).json()

    local = next_of(shown).astimezone(ZoneInfo(zone))
    assert (local.hour, local.minute) == (7, 15)
    ahead = next_of(shown) - datetime.fromisoformat(shown["created_at"])
    assert timedelta() < ahead < timedelta(hours=25)


def test_every_fault_is_told_at_once_and_nothing_is_kept(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        answer = put(
            api, cron="61 * * * *", timezone="Mars/Base", kind="embed", name_="x", overlap="maybe"
        )
        kept = api.get("/v1/schedules").json()["items"]

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    told = {(error["pointer"], error["code"]) for error in answer.json()["errors"]}
    assert told == {
        ("/cron", "bad_value"),
        ("/timezone", "bad_value"),
        ("/overlap", "bad_value"),
        ("/name_", "unknown_member"),
        ("/params/max_words", "unknown_member"),
        ("/input/text", "bad_value"),
    }
    assert kept == []


def test_a_cron_that_never_comes_true_is_refused(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        answer = put(api, cron="* * */20 * 1L")

    assert answer.status_code == 400
    assert "No day fits" in answer.json()["errors"][0]["detail"]


def test_a_list_is_whole_over_its_pages(stack: Stack) -> None:
    with stack.api(stack.tenant()) as api:
        for name in ("c", "a", "e", "b", "d"):
            put(api, name)
        found, path = [], "/v1/schedules?limit=2"
        while path:
            page = api.get(path).json()
            found.append([schedule["name"] for schedule in page["items"]])
            path = page["next"]

    assert found == [["a", "b"], ["c", "d"], ["e"]]


def test_large_inputs_come_back_over_short_pages(stack: Stack) -> None:
    large = {"text": "x" * 500_000}
    with stack.api(stack.tenant()) as api:
        for number in range(6):
            assert put(api, f"large-{number}", input=large, enabled=False).status_code == 201
        first = api.get("/v1/schedules").json()
        rest = api.get(first["next"]).json()

    shown = [*first["items"], *rest["items"]]
    assert [schedule["name"] for schedule in shown] == [f"large-{n}" for n in range(6)]
    assert all(schedule["input"] == large for schedule in shown)


def test_another_tenants_schedule_is_not_there(stack: Stack) -> None:
    with stack.api(stack.tenant()) as ours, stack.api(stack.tenant()) as theirs:
        made = put(ours).json()

        assert theirs.get("/v1/schedules/nightly").status_code == 404
        assert theirs.delete("/v1/schedules/nightly").status_code == 404
        assert theirs.get("/v1/schedules").json()["items"] == []
        assert put(theirs, cron="1 1 1 1 *").status_code == 201
        assert ours.get("/v1/schedules/nightly").json() == made


def test_an_operator_sees_no_content_and_changes_nothing(stack: Stack) -> None:
    key = stack.tenant()
    tenant = stack.tenant_of(key)
    with stack.api(key) as api, stack.api("operator_key") as operator:
        made = put(api).json()
        listed = operator.get("/v1/schedules", params={"tenant": tenant})
        seen = operator.get("/v1/schedules/nightly", params={"tenant": tenant})
        unsaid = operator.get("/v1/schedules/nightly")
        refused = operator.delete("/v1/schedules/nightly")

    assert seen.json() == {**made, "input": None, "params": None}
    assert listed.json()["items"] == [seen.json()]
    assert "It says much" not in listed.text + seen.text
    assert (unsaid.status_code, refused.status_code) == (400, 403)


def test_an_upload_is_kept_for_as_long_as_a_schedule_names_it(stack: Stack) -> None:
    def days_kept() -> float:
        (row,) = stack.d1("SELECT expires_at FROM inputs WHERE id = ?1", ref)
        kept = datetime.fromtimestamp(row["expires_at"] / 1000, tz=UTC) - datetime.now(UTC)
        return kept / timedelta(days=1)

    with stack.api(stack.tenant()) as api:
        ref = api.put("/v1/inputs", content=b"Some words.").json()["ref"]
        put(api, input={"ref": ref}, enabled=False)
        while_named = days_kept()
        api.delete("/v1/schedules/nightly")
        after = days_kept()
        gone = put(api, input={"ref": "in_" + "0" * 26})

    assert while_named > 1_000_000
    assert 30 < after < 40
    assert [error["pointer"] for error in gone.json()["errors"]] == ["/input/ref"]


def test_a_schedule_of_a_kind_that_is_not_known_any_more_is_shown(stack: Stack) -> None:
    key = stack.tenant()
    with stack.api(key) as api:
        put(api, enabled=False)
        stack.d1("UPDATE schedules SET kind = 'retired' WHERE tenant_id = ?1", stack.tenant_of(key))

        shown = api.get("/v1/schedules/nightly").json()
        listed = api.get("/v1/schedules").json()["items"]

    assert (shown["kind"], listed) == ("retired", [shown])
