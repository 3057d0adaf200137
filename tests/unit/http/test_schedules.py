"""``/v1/schedules``: documents are checked whole, shown as they were put, and one's own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.http.factories import KINDS, OTHER_TENANT, TENANT, a_kind, an_id, an_upload
from tests.unit.http.world import Answer, World, assert_problem
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.inputs import SqlInputs
from uketsuke.domain.job import InputForm, Upload

PATH = "/v1/schedules/nightly"
SOUND = {"cron": "30 7 * * 1-5", "kind": "summarize", "input": {"text": "Some words."}}
# The clock of these tests stands on Sunday, 2026-11-29, at noon in UTC.


def put(world: World, key: str, path: str = PATH, **members: object) -> Answer:
    return world.send("PUT", path, key=key, document={**SOUND, **members})


def keep(world: World, upload: Upload) -> str:
    """Let an upload be there for the check and for the store."""
    world.inputs.uploads[upload.ref] = upload
    inputs = SqlInputs(world.database)
    asyncio.run(inputs.record(upload, keep=timedelta(days=1)))
    return upload.ref


def test_a_new_schedule_is_made_with_its_defaults(world: World, tenant_key: str) -> None:
    answer = put(world, tenant_key)

    assert answer.status == 201
    assert answer.headers["location"] == PATH
    shown = answer.document
    times = [shown.pop(name) for name in ("created_at", "updated_at")]
    assert all(time.endswith("Z") for time in times)
    assert shown == {
        "name": "nightly",
        "tenant_id": TENANT,
        **SOUND,
        "timezone": "UTC",
        "params": {},
        "run_key": "schedule:nightly",
        "overlap": "skip",
        "enabled": True,
        "next_at": "2026-11-30T07:30:00.000Z",
        "last": None,
    }


def test_what_was_put_is_shown(world: World, tenant_key: str) -> None:
    made = put(world, tenant_key).document

    answer = world.send("GET", PATH, key=tenant_key)

    assert (answer.status, answer.document) == (200, made)
    assert answer.headers["cache-control"] == "private, no-cache"


def test_a_replacement_is_whole_what_is_left_out_is_the_default_again(
    world: World, tenant_key: str
) -> None:
    first = put(world, tenant_key, timezone="Asia/Tokyo", run_key="mine", params={"max_words": 50})

    answer = put(world, tenant_key, name="nightly")

    assert (first.status, answer.status) == (201, 200)
    assert "location" not in answer.headers
    assert first.document["next_at"] == "2026-11-29T22:30:00.000Z"
    shown = [answer.document[name] for name in ("timezone", "run_key", "params", "next_at")]
    assert shown == ["UTC", "schedule:nightly", {}, "2026-11-30T07:30:00.000Z"]


def test_a_disabled_schedule_has_no_next_time_and_an_enabled_one_has_it_again(
    world: World, tenant_key: str
) -> None:
    put(world, tenant_key)

    off = put(world, tenant_key, enabled=False).document
    on = put(world, tenant_key).document

    assert (off["enabled"], off["next_at"]) == (False, None)
    assert on["next_at"] == "2026-11-30T07:30:00.000Z"


@pytest.mark.parametrize("run_key", [{}, {"run_key": None}])
def test_jobs_that_may_overlap_have_no_run_key(
    world: World, tenant_key: str, run_key: dict[str, object]
) -> None:
    answer = put(world, tenant_key, PATH, overlap="allow", **run_key)

    assert (answer.status, answer.document["run_key"]) == (201, None)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("embed", {"texts": ["one", "two"]}),
        ("summarize", {"ref": an_id("in", 1)}),
        ("report", {"refs": [an_id("in", 1), an_id("in", 2)]}),
        ("summarize", {"text": '\N{GRINNING FACE} "quoted" \\ \u2028' + "x" * 500_000}),
    ],
    ids=["texts", "ref", "refs", "a large text"],
)
def test_each_form_of_input_is_shown_as_it_was_given(
    world: World, tenant_key: str, kind: str, given: dict[str, Any]
) -> None:
    for number in (1, 2):
        keep(world, an_upload(number))

    answer = put(world, tenant_key, kind=kind, input=given)

    assert answer.status == 201
    assert world.send("GET", PATH, key=tenant_key).document["input"] == given


FAULTS: list[tuple[dict[str, object], list[tuple[str, str]]]] = [
    ({"cron": "61 * * * *"}, [("/cron", "bad_value")]),
    ({"cron": ""}, [("/cron", "bad_value")]),
    ({"cron": "0 0 7 * * *"}, [("/cron", "bad_value")]),
    ({"cron": "* * 31 2 *"}, [("/cron", "bad_value")]),
    ({"cron": "0," * 200 + "0 * * * *"}, [("/cron", "too_long")]),
    ({"cron": 5}, [("/cron", "wrong_type")]),
    ({"timezone": "Mars/Base"}, [("/timezone", "bad_value")]),
    ({"timezone": ""}, [("/timezone", "bad_value")]),
    ({"timezone": "../" * 100}, [("/timezone", "too_long")]),
    ({"timezone": None}, [("/timezone", "wrong_type")]),
    ({"name": "other"}, [("/name", "bad_value")]),
    ({"name": 5}, [("/name", "wrong_type")]),
    ({"overlap": "queue"}, [("/overlap", "bad_value")]),
    ({"overlap": "allow", "run_key": "mine"}, [("/run_key", "bad_value")]),
    ({"run_key": ""}, [("/run_key", "empty")]),
    ({"enabled": 1}, [("/enabled", "wrong_type")]),
    ({"kind": "unheard"}, [("/kind", "unknown_kind")]),
    ({"params": {"max_words": 1}}, [("/params/max_words", "out_of_range")]),
    ({"input": {"text": " "}}, [("/input/text", "empty")]),
    ({"input": {"ref": an_id("in", 9)}}, [("/input/ref", "input_not_found")]),
    ({"input": {"text": "a\x00"}}, [("/input/text", "bad_value")]),
    ({"next_at": None}, [("/next_at", "unknown_member")]),
    ({"last": None}, [("/last", "unknown_member")]),
    ({"tenant_id": TENANT}, [("/tenant_id", "unknown_member")]),
    ({"metadata": {}}, [("/metadata", "unknown_member")]),
    ({"max_attempts": 3}, [("/max_attempts", "unknown_member")]),
]


@pytest.mark.parametrize(("members", "faults"), FAULTS, ids=str)
def test_a_fault_is_pointed_at_and_nothing_is_stored(
    world: World, tenant_key: str, members: dict[str, object], faults: list[tuple[str, str]]
) -> None:
    answer = put(world, tenant_key, PATH, **members)

    assert_problem(answer, 400, "invalid_request")
    assert answer.faults == faults
    assert world.send("GET", PATH, key=tenant_key).status == 404


def test_every_fault_is_told_at_once(world: World, tenant_key: str) -> None:
    document = {"cron": "never", "timezone": "Nowhere", "kind": "embed", "input": {"text": "a"}}

    answer = world.send(
        "PUT", "/v1/schedules/-x", key=tenant_key, document={**document, "next_at": 1, "name": "y"}
    )

    assert sorted(answer.faults) == [
        ("", "bad_value"),
        ("/cron", "bad_value"),
        ("/input/text", "bad_value"),
        ("/name", "bad_value"),
        ("/next_at", "unknown_member"),
        ("/timezone", "bad_value"),
    ]


def test_what_is_missing_is_named(world: World, tenant_key: str) -> None:
    answer = world.send("PUT", PATH, key=tenant_key, document={})

    assert answer.faults == [(f"/{name}", "missing") for name in ("cron", "kind", "input")]


def test_a_document_that_is_no_object_is_refused(world: World, tenant_key: str) -> None:
    answer = world.send("PUT", PATH, key=tenant_key, document=[SOUND])

    assert answer.faults == [("", "wrong_type")]


@pytest.mark.parametrize("name", ["-x", ".x", "x" * 101, "a%20b", "\N{SNOWMAN}", "a b"])
def test_a_name_that_no_schedule_can_have_is_a_fault_to_put_and_not_found_else(
    world: World, tenant_key: str, name: str
) -> None:
    path = f"/v1/schedules/{name}"

    assert put(world, tenant_key, path).faults == [("", "bad_value")]
    for method in ("GET", "DELETE"):
        assert_problem(world.send(method, path, key=tenant_key), 404, "not_found")


@pytest.mark.parametrize("name", ["x" * 100, "0", "A._-b"])
def test_a_name_may_have_letters_digits_and_some_signs(
    world: World, tenant_key: str, name: str
) -> None:
    assert put(world, tenant_key, f"/v1/schedules/{name}").status == 201


def test_an_upload_that_goes_before_the_schedule_is_written_is_pointed_at(
    world: World, tenant_key: str
) -> None:
    upload = an_upload()
    world.inputs.uploads[upload.ref] = upload  # and not in the store any more

    answer = put(world, tenant_key, input={"ref": upload.ref})

    assert answer.faults == [("/input/ref", "input_not_found")]


def test_a_deleted_schedule_is_not_found(world: World, tenant_key: str) -> None:
    put(world, tenant_key)

    answer = world.send("DELETE", PATH, key=tenant_key)

    assert (answer.status, answer.body) == (204, b"")
    for method in ("GET", "DELETE"):
        assert_problem(world.send(method, PATH, key=tenant_key), 404, "not_found")


def test_a_delete_that_says_something_deletes_nothing(world: World, tenant_key: str) -> None:
    put(world, tenant_key)

    answer = world.send("DELETE", PATH, key=tenant_key, document={"reason": "old"})

    assert_problem(answer, 400, "invalid_json")
    assert world.send("GET", PATH, key=tenant_key).status == 200


def test_another_tenants_schedule_is_not_there(
    world: World, tenant_key: str, other_tenant_key: str
) -> None:
    put(world, tenant_key)

    for method in ("GET", "DELETE"):
        assert_problem(world.send(method, PATH, key=other_tenant_key), 404, "not_found")
    assert world.send("GET", "/v1/schedules", key=other_tenant_key).document["items"] == []
    assert put(world, other_tenant_key).status == 201


def test_an_operator_says_whose_and_sees_no_content(
    world: World, tenant_key: str, operator_key: str
) -> None:
    made = put(world, tenant_key, params={"max_words": 50}).document

    answer = world.send("GET", f"{PATH}?tenant={TENANT}", key=operator_key)
    listed = world.send("GET", "/v1/schedules", key=operator_key).document["items"]

    assert answer.document == {**made, "input": None, "params": None}
    assert listed == [answer.document]
    assert b"Some words" not in answer.body


@pytest.mark.parametrize("query", ["", f"?tenant={TENANT}&tenant=b"])
def test_an_operator_who_does_not_say_whose_is_asked(
    world: World, operator_key: str, query: str
) -> None:
    assert_problem(world.send("GET", PATH + query, key=operator_key), 400, "invalid_request")


@pytest.mark.parametrize("path", [PATH, "/v1/schedules"])
def test_a_tenant_cannot_ask_for_another(world: World, tenant_key: str, path: str) -> None:
    answer = world.send("GET", f"{path}?tenant={OTHER_TENANT}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    assert "operators" in answer.document["errors"][0]["detail"]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_operators_change_nothing(world: World, operator_key: str, method: str) -> None:
    document = SOUND if method == "PUT" else None

    answer = world.send(method, PATH, key=operator_key, document=document)

    assert_problem(answer, 403, "forbidden")


def test_a_reader_changes_nothing(world: World) -> None:
    key = world.add_key(9, tenant_id=TENANT, scopes="jobs:read")

    assert_problem(put(world, key), 403, "forbidden")
    assert world.send("GET", "/v1/schedules", key=key).status == 200


def names_on_pages(world: World, key: str, first: str) -> list[list[str]]:
    """Follow a list to its end."""
    pages, path = [], first
    while path:
        document = world.send("GET", path, key=key).document
        pages.append([item["name"] for item in document["items"]])
        path = document["next"]
    return pages


def test_a_list_is_by_name_and_whole_over_its_pages(world: World, tenant_key: str) -> None:
    for name in ("c", "a", "b", "B", "d"):
        put(world, tenant_key, f"/v1/schedules/{name}")

    pages = names_on_pages(world, tenant_key, "/v1/schedules?limit=2")

    assert pages == [["B", "a"], ["b", "c"], ["d"]]


def test_an_operators_list_goes_over_all_tenants_or_one(
    world: World, tenant_key: str, other_tenant_key: str, operator_key: str
) -> None:
    for key in (other_tenant_key, tenant_key):
        for name in ("y", "x", "z"):
            put(world, key, f"/v1/schedules/{name}")

    whole = names_on_pages(world, operator_key, "/v1/schedules?limit=2")
    one = names_on_pages(world, operator_key, f"/v1/schedules?limit=2&tenant={OTHER_TENANT}")

    assert whole[:3] == [["x", "y"], ["z", "x"], ["y", "z"]]
    assert one == [["x", "y"], ["z"]]


@pytest.mark.parametrize("cursor", ["", "-", "t_alpha/a", "a/", "%00"])
def test_a_cursor_that_is_not_ours_is_refused(world: World, tenant_key: str, cursor: str) -> None:
    answer = world.send("GET", f"/v1/schedules?cursor={cursor}", key=tenant_key)

    assert_problem(answer, 400, "invalid_cursor")


def test_a_tenants_cursor_is_none_of_a_list_of_all(world: World, operator_key: str) -> None:
    answer = world.send("GET", "/v1/schedules?cursor=a", key=operator_key)

    assert_problem(answer, 400, "invalid_cursor")


@pytest.mark.parametrize("limit", ["0", "201", "x", ""])
def test_a_page_has_from_1_to_200(world: World, tenant_key: str, limit: str) -> None:
    answer = world.send("GET", f"/v1/schedules?limit={limit}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")


def test_a_schedule_outlives_its_kind_in_the_deployment(world: World, tenant_key: str) -> None:
    world.app = replace(world.app, kinds={**KINDS, "gone": a_kind("gone", InputForm.TEXT)})
    made = put(world, tenant_key, kind="gone").document
    world.app = replace(world.app, kinds=KINDS)

    assert world.send("GET", PATH, key=tenant_key).document == made
    assert world.send("GET", "/v1/schedules", key=tenant_key).document["items"] == [made]
    assert put(world, tenant_key, kind="gone").faults == [("/kind", "unknown_kind")]


def test_the_last_occurrence_is_shown(world: World, tenant_key: str) -> None:
    put(world, tenant_key)
    sql = "UPDATE schedules SET last_at = 1795000000000, last_outcome = 'skipped'"
    asyncio.run(world.database.batch([Statement(sql)]))

    shown = world.send("GET", PATH, key=tenant_key).document["last"]

    assert shown == {"at": "2026-11-18T11:06:40.000Z", "job_id": None, "outcome": "skipped"}


def trigger(world: World, key: str, path: str = PATH, **headers: str) -> Answer:
    return world.send("POST", f"{path}/trigger", key=key, headers=headers)


def test_a_trigger_starts_the_job_that_the_schedule_stands_for(
    world: World, tenant_key: str
) -> None:
    put(world, tenant_key, params={"max_words": 50}, enabled=False)

    answer = trigger(world, tenant_key)

    assert answer.status == 202
    assert answer.headers["location"] == f"/v1/jobs/{answer.document['id']}"
    (new,) = world.jobs.accepted
    assert (new.kind, new.run_key, new.params) == (
        "summarize",
        "schedule:nightly",
        {"max_words": 50},
    )
    assert (new.inline_input, answer.document["origin"]) == ('"Some words."', "api")


def test_a_trigger_is_refused_while_the_run_key_is_held(world: World, tenant_key: str) -> None:
    put(world, tenant_key)
    live = trigger(world, tenant_key).document["id"]

    answer = trigger(world, tenant_key)

    assert_problem(answer, 409, "run_in_progress")
    assert answer.document["id"] == live
    put(world, tenant_key, overlap="allow")
    assert trigger(world, tenant_key).status == 202


def test_a_trigger_that_is_repeated_under_its_key_starts_nothing(
    world: World, tenant_key: str
) -> None:
    put(world, tenant_key)
    key = {"idempotency-key": '"once"'}

    first, again = (trigger(world, tenant_key, **key) for _ in range(2))

    assert (first.status, again.status) == (202, 202)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.document["id"] == first.document["id"]


def test_what_cannot_be_triggered_says_why(
    world: World, tenant_key: str, other_tenant_key: str, operator_key: str
) -> None:
    put(world, tenant_key)
    upload = keep(world, an_upload(bytes=10))
    put(world, tenant_key, "/v1/schedules/of-an-upload", input={"ref": upload})
    world.jobs.uploads_vanish = True

    assert_problem(trigger(world, other_tenant_key), 404, "not_found")
    assert_problem(trigger(world, tenant_key, "/v1/schedules/absent"), 404, "not_found")
    assert_problem(trigger(world, operator_key), 403, "forbidden")
    gone = trigger(world, tenant_key, "/v1/schedules/of-an-upload")
    assert gone.faults == [("/input/ref", "input_not_found")]
    broken = trigger(world, tenant_key, **{"idempotency-key": "no good"})
    assert broken.status == 400
