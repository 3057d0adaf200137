"""The doctor on the real stack: sound after mixed jobs, and a broken row is found and mended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.runs import Desk
from tests.support.jobs import ended, submit
from tests.support.running import Stack
from uketsuke_client.command import main


def doctor(stack: Stack, capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    """Run ``uketsuke doctor`` as the operator, and return its exit code and document."""
    capsys.readouterr()
    where = ("--url", stack.ready["url"], "--key", stack.ready["operator_key"], "--json")
    code = main(["doctor", *argv, *where])
    return code, json.loads(capsys.readouterr().out)


def test_mixed_jobs_leave_a_sound_store_and_a_broken_row_is_found_and_mended(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = desk.stack
    succeeded = ended(desk.api, submit(desk.api, run_key="one"))["id"]
    failed = desk.start({"status": 422})
    desk.end(failed)
    wished = submit(desk.api)
    desk.api.post(f"/v1/jobs/{wished['id']}/cancel")
    canceled = ended(desk.api, wished)["id"]
    mine = {succeeded, failed, canceled, f"dl_{failed[4:]}"}

    _, found = doctor(stack, capsys)
    stack.d1("DELETE FROM dead_letters WHERE job_id = ?1", failed)
    code, broken = doctor(stack, capsys, "--check", "failed_without_letter")
    argv = ("--repair", "failed_without_letter", "--reason", "deleted by hand in a test")
    mended_code, mended = doctor(stack, capsys, *argv)
    code_after, after = doctor(stack, capsys, "--check", "failed_without_letter")

    # Other tests share the stack, and some break what is theirs.
    assert {item["check"]: mine.intersection(item["rows"]) for item in found["items"]} == {
        item["check"]: set() for item in found["items"]
    }
    assert (code, failed in broken["items"][0]["rows"]) == (1, True)
    assert (mended_code, failed in mended["rows"], mended["left"]) == (0, True, 0)
    assert (code_after, after["ok"]) == (0, True)
    with stack.api("operator_key") as operator:
        audit = operator.get("/v1/audit?action=doctor.repaired&target=failed_without_letter").json()
    assert failed in audit["items"][0]["detail"]["rows"]
    assert stack.d1("SELECT status FROM dead_letters WHERE job_id = ?1", failed) == [
        {"status": "open"}
    ]
