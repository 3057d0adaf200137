"""``/v1/redrives``: what may be asked, what is shown, and who may ask."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.http.world import World, assert_problem

ORDER: dict[str, Any] = {"filter": {}, "reason": "the outage is over"}
PATH = "/v1/redrives"


def letters(world: World, count: int, *, tenant: str = "acme", kind: str = "summarize") -> None:
    """Put in open letters whose jobs are gone."""
    for number in range(count):
        world.database.connection.execute(
            "INSERT INTO dead_letters (id, tenant_id, job_id, kind, road, class, code,"
            " first_failed_at, last_failed_at, triage_due_at, schema_version)"
            " VALUES (?, ?, 'job_1', ?, 'exhausted', 'unavailable', 'provider_unavailable',"
            " 1, 1, 1, 1)",
            (f"dl_{tenant}_{kind}_{number}", tenant, kind),
        )


def acts(world: World) -> list[tuple[Any, ...]]:
    sql = "SELECT action, target, tenant_id, actor, reason FROM audit ORDER BY id"
    return [tuple(row) for row in world.database.connection.execute(sql)]


def test_a_dry_run_tells_what_fits_and_writes_nothing(world: World, operator_key: str) -> None:
    letters(world, 2)
    order = {"filter": {"kind": "summarize"}, "dry_run": True}

    answer = world.send("POST", PATH, key=operator_key, document=order)

    assert answer.status == 200
    assert answer.document == {
        "count": 2, "replayable": 0, "estimated_cost_usd": "0.000000", "unpriced": 0,
    }  # fmt: skip
    assert acts(world) == []
    assert world.send("GET", PATH, key=operator_key).document == {"items": [], "next": None}


def test_a_start_is_written_down_with_its_act_and_shown(world: World, operator_key: str) -> None:
    letters(world, 2)
    wanted = {
        "class": "unavailable",
        "kind": "summarize",
        "fingerprint": "summarize:unavailable:provider_unavailable:",
        "tenant": "acme",
        "before": "2026-11-29T21:00:00.5+09:00",
    }

    answer = world.send("POST", PATH, key=operator_key, document={**ORDER, "filter": wanted})

    shown = answer.document
    path = f"{PATH}/{shown['id']}"
    assert answer.status == 202
    assert answer.headers["location"] == path
    assert shown.pop("created_at").endswith("Z")
    assert shown == {
        "id": shown["id"],
        "state": "canary",
        "filter": {**wanted, "before": "2026-11-29T12:00:00.500Z"},
        "reason": "the outage is over",
        "rate_per_minute": 60,
        "canary": 3,
        "total": 2,
        "started": 0,
        "succeeded": 0,
        "failed": 0,
        "canceled": 0,
        "skipped": 0,
        "skipped_because": {},
        "stopped_because": None,
        "stopped_detail": None,
        "stopped_by": None,
        "created_by": f"{3:012d}",
        "finished_at": None,
        "links": {"self": path, "stop": f"{path}/stop"},
    }
    told = world.send("GET", path, key=operator_key).document
    assert told.pop("created_at")
    assert told == shown
    assert acts(world) == [
        ("redrive.started", shown["id"], "acme", f"{3:012d}", "the outage is over")
    ]


def under(world: World, key: str, name: str, **changes: Any) -> Any:
    headers = {"idempotency-key": name}
    return world.send("POST", PATH, key=key, headers=headers, document={**ORDER, **changes})


def test_a_repeat_under_its_idempotency_key_gives_the_first_one(
    world: World, operator_key: str, admin_key: str
) -> None:
    letters(world, 2)
    wanted = {"tenant": "acme", "before": "2026-11-29T21:00:00.123456+09:00"}
    first = under(world, operator_key, "k-1", filter=wanted)

    again = under(world, operator_key, '"k-1"', filter=wanted, canary=3)
    anothers = under(world, admin_key, "k-1", filter=wanted)

    assert "idempotency-replayed" not in first.headers
    assert (again.status, again.document) == (202, first.document)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotency-replayed"] == "true"
    assert (anothers.status, anothers.document["id"] == first.document["id"]) == (202, False)
    assert len(acts(world)) == 2


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"filter": {"kind": "embed"}}, "/filter"),
        ({"reason": "another reason"}, "/reason"),
        ({"rate_per_minute": 59}, "/rate_per_minute"),
        ({"canary": 0}, "/canary"),
    ],
)
def test_another_request_under_that_key_is_a_mismatch_with_a_pointer(
    world: World, operator_key: str, changes: dict[str, Any], pointer: str
) -> None:
    letters(world, 1)
    under(world, operator_key, "k-1")

    answer = under(world, operator_key, "k-1", **changes)

    assert_problem(answer, 422, "idempotency_mismatch")
    assert answer.document["pointer"] == pointer
    assert answer.faults == [(pointer, "bad_value")]
    assert len(acts(world)) == 1


def test_a_key_that_is_none_is_told_with_all_other_faults(world: World, operator_key: str) -> None:
    answer = under(world, operator_key, "a, a", canary=101)

    assert_problem(answer, 400, "invalid_request")
    assert sorted(answer.faults) == [("", "bad_value"), ("/canary", "out_of_range")]


def test_a_dry_run_takes_no_key_up(world: World, operator_key: str) -> None:
    for _ in range(2):
        assert under(world, operator_key, "k-1", dry_run=True).status == 200

    assert under(world, operator_key, "k-1").headers.get("idempotency-replayed") is None


def test_without_canaries_it_runs_at_once(world: World, operator_key: str) -> None:
    letters(world, 1)
    answer = world.send("POST", PATH, key=operator_key, document={**ORDER, "canary": 0})

    assert answer.document["state"] == "running"


def test_where_nothing_fits_it_is_done(world: World, admin_key: str) -> None:
    answer = world.send("POST", PATH, key=admin_key, document=ORDER)

    assert (answer.status, answer.document["state"]) == (202, "done")
    assert answer.document["finished_at"]


def test_every_fault_is_told_at_once(world: World, operator_key: str) -> None:
    order = {
        "filter": {"class": "oops", "kind": 1, "tenant": "", "before": "yesterday", "age": 3},
        "rate_per_minute": 0,
        "canary": 101,
        "force": True,
        "dry_run": "no",
    }

    answer = world.send("POST", PATH, key=operator_key, document=order)

    assert_problem(answer, 400, "invalid_request")
    assert sorted(answer.faults) == [
        ("/canary", "out_of_range"),
        ("/dry_run", "wrong_type"),
        ("/filter/age", "unknown_member"),
        ("/filter/before", "bad_value"),
        ("/filter/class", "bad_value"),
        ("/filter/kind", "wrong_type"),
        ("/filter/tenant", "empty"),
        ("/force", "unknown_member"),
        ("/rate_per_minute", "out_of_range"),
    ]


@pytest.mark.parametrize(
    ("order", "faults"),
    [
        ({}, [("/filter", "missing"), ("/reason", "missing")]),
        ({"filter": {}, "dry_run": False}, [("/reason", "missing")]),
        ({"filter": {}, "reason": ""}, [("/reason", "empty")]),
        ({"filter": {}, "reason": "x" * 501}, [("/reason", "too_long")]),
        ({"filter": {}, "reason": "a\nb", "dry_run": True}, [("/reason", "bad_value")]),
        ({**ORDER, "rate_per_minute": 601}, [("/rate_per_minute", "out_of_range")]),
        ({**ORDER, "filter": []}, [("/filter", "wrong_type")]),
        ({**ORDER, "filter": {"kind": "a\0"}}, [("/filter/kind", "bad_value")]),
        ({**ORDER, "filter": {"before": "2026-11-29"}}, [("/filter/before", "bad_value")]),
        (
            {**ORDER, "filter": {"before": "2026-02-30T00:00:00Z"}},
            [("/filter/before", "bad_value")],
        ),
        (
            {**ORDER, "filter": {"before": "0001-01-01T00:00:00+09:00"}},
            [("/filter/before", "bad_value")],
        ),
        ([], [("", "wrong_type")]),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(
    world: World, operator_key: str, order: Any, faults: list[tuple[str, str]]
) -> None:
    answer = world.send("POST", PATH, key=operator_key, document=order)

    assert_problem(answer, 400, "invalid_request")
    assert sorted(answer.faults) == faults
    assert acts(world) == []


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", PATH), ("GET", PATH), ("GET", f"{PATH}/rd_1"), ("POST", f"{PATH}/rd_1/stop")],
)
def test_tenants_redrive_nothing_in_bulk(
    world: World, tenant_key: str, method: str, path: str
) -> None:
    assert_problem(world.send(method, path, key=tenant_key, document=ORDER), 403, "forbidden")


def test_one_is_stopped_once_with_or_without_a_reason(world: World, operator_key: str) -> None:
    letters(world, 1)
    first = world.send("POST", PATH, key=operator_key, document=ORDER).document["id"]
    second = world.send("POST", PATH, key=operator_key, document=ORDER).document["id"]

    told = world.send(
        "POST", f"{PATH}/{first}/stop", key=operator_key, document={"reason": "enough"}
    )
    silent = world.send("POST", f"{PATH}/{second}/stop", key=operator_key)
    again = world.send("POST", f"{PATH}/{first}/stop", key=operator_key, content=b"")

    assert (told.status, told.document["state"]) == (200, "stopped")
    assert told.document["stopped_because"] == "asked"
    assert (told.document["stopped_detail"], told.document["stopped_by"]) == ("enough", f"{3:012d}")
    assert (silent.status, silent.document["stopped_detail"]) == (200, None)
    assert again.document == told.document
    assert [act[0] for act in acts(world)] == ["redrive.started"] * 2 + ["redrive.stopped"] * 2


def test_one_that_is_done_is_not_stopped(world: World, operator_key: str) -> None:
    name = world.send("POST", PATH, key=operator_key, document=ORDER).document["id"]

    answer = world.send("POST", f"{PATH}/{name}/stop", key=operator_key)

    assert_problem(answer, 409, "already_finished")
    assert (answer.document["id"], answer.document["state"]) == (name, "done")


@pytest.mark.parametrize(
    ("document", "faults"),
    [({"why": "x"}, [("/why", "unknown_member")]), ({"reason": " "}, [("/reason", "empty")])],
)
def test_a_stop_says_why_or_nothing(
    world: World, operator_key: str, document: Any, faults: list[tuple[str, str]]
) -> None:
    answer = world.send("POST", f"{PATH}/rd_1/stop", key=operator_key, document=document)

    assert_problem(answer, 400, "invalid_request")
    assert answer.faults == faults


def test_a_stop_with_a_body_that_is_no_json_is_refused(world: World, operator_key: str) -> None:
    path = f"{PATH}/rd_1/stop"

    untyped = world.send("POST", path, key=operator_key, content=b"{}")

    assert_problem(untyped, 415, "unsupported_media_type")


@pytest.mark.parametrize("name", ["rd_" + "0" * 26, "rd_1", "dl_" + "0" * 26])
def test_one_that_does_not_exist_is_not_found(world: World, operator_key: str, name: str) -> None:
    assert_problem(world.send("GET", f"{PATH}/{name}", key=operator_key), 404, "not_found")
    assert_problem(world.send("POST", f"{PATH}/{name}/stop", key=operator_key), 404, "not_found")


def test_they_are_listed_newest_first_page_by_page(world: World, operator_key: str) -> None:
    names = []
    for _ in range(5):
        world.clock.seconds += 1
        names.append(world.send("POST", PATH, key=operator_key, document=ORDER).document["id"])
    found, path = [], f"{PATH}?limit=2"
    while path:
        page = world.send("GET", path, key=operator_key).document
        found += [item["id"] for item in page["items"]]
        path = page["next"]

    assert found == names[::-1]


def test_a_cursor_that_is_not_ours_is_refused(world: World, operator_key: str) -> None:
    answer = world.send("GET", f"{PATH}?cursor=rd_1", key=operator_key)

    assert_problem(answer, 400, "invalid_cursor")
