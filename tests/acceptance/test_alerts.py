"""Alerts on the real stack: a webhook is told once that one fires, and once that it is over."""

from __future__ import annotations

from typing import Any

import httpx

from tests.acceptance.runs import Desk
from tests.support.receiver import SECRET, Receiver
from tests.support.running import Stack, until

NAME = "dead_letters_past_triage"
END_OF_TIME = 253_402_300_799_000  # the end of the year 9999, in ms
CANARY = "告げられない秘密の依頼。"


def shown(operator: httpx.Client) -> dict[str, Any]:
    items = operator.get("/v1/alerts").json()["items"]
    return next((item for item in items if item["name"] == NAME), {})


def swept_until(stack: Stack, operator: httpx.Client, *, state: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        stack.sweep()  # or the cron's own is at it
        alert = shown(operator)
        return alert if alert.get("state") == state else None

    return until(look)


def test_a_webhook_is_told_that_an_alert_fires_and_that_it_is_over(
    stack: Stack, desk: Desk, receiver: Receiver
) -> None:
    with stack.api("operator_key") as operator:
        # What other tests have left is not past its time.
        stack.d1("UPDATE dead_letters SET triage_due_at = ?1 WHERE triage_due_at < ?1", END_OF_TIME)
        swept_until(stack, operator, state="ok")
        before = len(receiver.items(NAME))
        job = desk.post({"body": "refusal"}, text=CANARY).json()["id"]
        until(lambda: desk.shown(job)["terminal"])

        receiver.answers[NAME] = [302]
        stack.d1("UPDATE dead_letters SET triage_due_at = 1 WHERE job_id = ?1", job)
        fires = swept_until(stack, operator, state="firing")
        failed = until(lambda: _delivery(operator, pending=True, error_class="redirected"))
        stack.d1("UPDATE alerts SET try_at = 0 WHERE name = ?1", NAME)
        told = until(lambda: _swept_delivery(stack, operator))
        stack.sweep()
        stack.d1(
            "UPDATE dead_letters SET status = 'discarded', resolved_at = 1 WHERE job_id = ?1", job
        )
        swept_until(stack, operator, state="ok")
        until(lambda: len(receiver.items(NAME)) >= before + 3)
        over = shown(operator)

    assert (fires["value"], fires["limit"]) == (1, 0)
    assert failed["tries"] == 1
    assert (told["tries"], told["last_at"] > fires["fired_at"]) == (0, True)
    first, again, end = receiver.items(NAME)[before:]
    assert first["id"] == again["id"] != end["id"]
    assert [each["state"] for each in (first, again, end)] == ["firing", "firing", "resolved"]
    assert end["since"] == first["since"] == fires["since"]
    assert over["resolved_at"] == end["resolved_at"]
    assert {path for path, _ in receiver.heard} == {f"/{SECRET}"}
    assert all(message["text"].startswith("Uketsuke: ") for _, message in receiver.heard)
    assert CANARY not in str(receiver.heard)
    assert SECRET not in stack.log
    for line in ("alert_fired", "alerts_not_told", "alert_resolved"):
        assert f'"{line}"' in stack.log


def _delivery(operator: httpx.Client, **members: object) -> dict[str, Any] | None:
    delivery: dict[str, Any] = shown(operator)["delivery"]
    return delivery if members.items() <= delivery.items() else None


def _swept_delivery(stack: Stack, operator: httpx.Client) -> dict[str, Any] | None:
    stack.sweep()
    return _delivery(operator, pending=False, error_class=None)


def test_every_objective_that_needs_no_setting_is_reckoned(stack: Stack) -> None:
    stack.sweep()

    with stack.api("admin_key") as admin:
        items = admin.get("/v1/alerts").json()["items"]
        ready = admin.get("/readyz").json()

    assert [item["name"] for item in items] == sorted(item["name"] for item in items)
    assert len(items) == 10
    assert "spend_today_cents" not in {item["name"] for item in items}
    assert 0 <= ready["sweep_silent_seconds"] < 120
