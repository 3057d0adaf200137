"""``GET /v1/doctor`` and its repairs over HTTP: who may, what is told, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.full_store import filling
from tests.unit.http.world import World, assert_problem
from uketsuke.adapters.sql.doctor import CHECKS
from uketsuke.domain.audit import LONGEST_REASON
from uketsuke.services.ports import Unavailable

PATH, REPAIR = "/v1/doctor", "/v1/doctor/repair"
LEFT = "INSERT INTO submissions (tenant_id, request_key, job_id) VALUES ('acme', 'key:k', 'job_x')"
UNMENDED = "usage_day_disagrees"


def order(check: str = "submission_without_job", reason: object = "left by hand") -> dict[str, Any]:
    return {"check": check, "reason": reason}


def test_each_check_is_told_in_full(world: World, operator_key: str) -> None:
    answer = world.send("GET", PATH, key=operator_key)

    document = answer.document
    assert (answer.status, document["ok"]) == (200, True)
    assert [item["check"] for item in document["items"]] == list(CHECKS)
    for item in document["items"]:
        assert (item["ok"], item["count"], item["rows"]) == (True, 0, [])
        assert item["description"] == CHECKS[item["check"]].holds
        assert item["repair"] or item["by_hand"]


def test_offenders_are_named_and_mended_for_a_reason(world: World, admin_key: str) -> None:
    world.database.connection.execute(LEFT)

    found = world.send("GET", f"{PATH}?check=submission_without_job", key=admin_key).document
    done = world.send("POST", REPAIR, key=admin_key, document=order())
    again = world.send("POST", REPAIR, key=admin_key, document=order())

    (item,) = found["items"]
    assert (found["ok"], item["ok"], item["count"], item["rows"]) == (False, False, 1, ["job_x"])
    report = {"check": "submission_without_job", "count": 1, "rows": ["job_x"], "left": 0}
    assert (done.status, done.document) == (200, report)
    assert again.document == {**report, "count": 0, "rows": []}


def test_a_repair_is_in_the_audit_and_a_repair_of_nothing_is_not(
    world: World, operator_key: str
) -> None:
    world.database.connection.execute(LEFT)
    for _ in range(2):
        done = world.send("POST", REPAIR, key=operator_key, document=order())
        assert done.status == 200

    listed = world.send("GET", "/v1/audit?action=doctor.repaired", key=operator_key).document

    (row,) = listed["items"]
    assert (row["target"], row["reason"]) == ("submission_without_job", "left by hand")
    assert (row["tenant_id"], row["detail"]) == (None, {"rows": ["job_x"]})
    assert row["actor"]


def test_what_no_machine_may_mend_is_refused_with_what_a_person_does(
    world: World, operator_key: str
) -> None:
    answer = world.send("POST", REPAIR, key=operator_key, document=order(UNMENDED))

    assert_problem(answer, 409, "not_repairable")
    assert answer.document["detail"] == CHECKS[UNMENDED].by_hand
    assert answer.document["check"] == UNMENDED


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (order("no_such_check"), ("/check", "bad_value")),
        (order(reason=""), ("/reason", "empty")),
        (order(reason=" "), ("/reason", "empty")),
        (order(reason="x" * (LONGEST_REASON + 1)), ("/reason", "too_long")),
        (order(reason=5), ("/reason", "wrong_type")),
        ({"check": "submission_without_job"}, ("/reason", "missing")),
        ({"reason": "why"}, ("/check", "missing")),
        ({**order(), "force": True}, ("/force", "unknown_member")),
    ],
)
def test_a_wrong_order_is_refused_and_nothing_is_mended(
    world: World, operator_key: str, document: dict[str, Any], fault: tuple[str, str]
) -> None:
    world.database.connection.execute(LEFT)

    answer = world.send("POST", REPAIR, key=operator_key, document=document)

    assert_problem(answer, 400, "invalid_request")
    assert answer.faults == [fault]
    assert world.database.connection.execute("SELECT count(*) FROM submissions").fetchone()[0] == 1


@pytest.mark.parametrize("query", ["check=no_such_check", "check=", "check=wake_overdue&check=x"])
def test_a_check_that_there_is_not_is_refused(world: World, operator_key: str, query: str) -> None:
    answer = world.send("GET", f"{PATH}?{query}", key=operator_key)

    assert_problem(answer, 400, "invalid_request")


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", REPAIR)])
def test_a_tenant_is_no_doctor(world: World, tenant_key: str, method: str, path: str) -> None:
    document = order() if method == "POST" else None

    assert_problem(world.send(method, path, key=tenant_key, document=document), 403, "forbidden")


def test_no_content_and_no_key_of_a_caller_is_shown(world: World, operator_key: str) -> None:
    """Ids are ours, but a submission's own key is the caller's: its job is named instead."""
    world.database.connection.execute(LEFT.replace("key:k", "key:canary-1"))
    for statement in filling("acme", 20):
        world.database.run([statement])

    answer = world.send("GET", PATH, key=operator_key)

    assert not answer.document["ok"]
    assert b"canary" not in answer.body


def test_a_storage_that_does_not_answer_is_said(
    world: World, operator_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise Unavailable

    for statement in filling("acme", 20):
        world.database.run([statement])
    place = """'{"attempt": 1, "bytes": 9, "object_key": "acme/x", "content_type": "a/b"}'"""
    world.database.connection.execute(
        f"UPDATE jobs SET result = {place} WHERE result IS NOT NULL"  # noqa: S608 - ours
    )
    monkeypatch.setattr(world.blobs, "part", away)

    answer = world.send("GET", f"{PATH}?check=result_object_missing", key=operator_key)

    (item,) = answer.document["items"]
    assert (answer.status, item["ok"], item["count"]) == (200, False, 0)
    assert item["looked_at"].startswith("nothing")
