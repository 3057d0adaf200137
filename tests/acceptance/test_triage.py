"""What operators find of a job that failed, on the real stack, and what the sweep makes of it."""

from __future__ import annotations

from typing import Any

from tests.acceptance.runs import Desk
from tests.support.running import Stack, until

SECRET = "断られる秘密の依頼。"


def test_a_job_that_failed_is_found_in_every_view_and_none_tells_its_content(
    stack: Stack, desk: Desk
) -> None:
    job = desk.post({"body": "refusal"}, text=SECRET).json()["id"]
    until(lambda: desk.shown(job)["terminal"])
    of_tenant = f"status=open&class=refused&kind=summarize&tenant={stack.tenant_of(desk.key)}"

    with stack.api("operator_key") as operator:
        groups = operator.get(f"/v1/dead-letters/groups?{of_tenant}")
        (group,) = groups.json()["items"]
        listed = operator.get(group["links"]["letters"])
        (letter,) = listed.json()["items"]
        shown = operator.get(letter["links"]["self"])

    whole = shown.json()
    assert (group["count"], group["tenants"], group["verdict"]) == (1, 1, "fix_input")
    assert (letter["job_id"], letter["status"], letter["road"]) == (job, "open", "permanent")
    assert letter["fingerprint"] == group["fingerprint"]
    assert whole == {**letter, "attempts_history": whole["attempts_history"]}
    assert [each["class"] for each in whole["attempts_history"]] == ["refused"]
    for answer in (groups, listed, shown):
        assert SECRET not in answer.text


def test_the_sweep_tells_that_dead_letters_are_open_and_that_their_queue_is_worked(
    stack: Stack, desk: Desk
) -> None:
    job = desk.post({"body": "refusal"}, text=SECRET).json()["id"]
    until(lambda: desk.shown(job)["terminal"])

    with stack.api("operator_key") as operator:

        def told() -> dict[str, Any] | None:
            stack.sweep()  # or the cron's own is at it
            metrics: dict[str, Any] = operator.get("/v1/metrics").json()
            held = {each["name"] for each in metrics["conditions"] if each["holds"]}
            return metrics if "dead_letters_open" in held and metrics["rolled_at"] else None

        metrics = until(told)
    conditions = {each["name"]: each for each in metrics["conditions"]}
    assert metrics["dead_letters"]["open"] >= 1
    assert conditions["dead_letters_open"]["value"] >= 1
    queue = conditions["dlq_oldest_seconds"]
    assert isinstance(queue["value"], int)
    assert not queue["holds"]
    dead = metrics["queues"]["uketsuke-jobs-dlq"]
    assert isinstance(dead["backlog"], int)
    assert isinstance(dead["oldest_seconds"], int)
