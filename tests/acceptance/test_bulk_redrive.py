"""A bulk redrive through the real consumer, with a power cut in the middle of a tick."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from tests.support.jobs import TEXT
from tests.support.letters import letters_of
from tests.support.running import Stack, until
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.terms import NOW

COUNT = 60
# Their time is over before they begin, each time anew.
STILL_FAILING = {"class": "deadline", "code": "deadline_passed", "given_ms": 1}


def test_a_power_cut_in_a_bulk_redrive_loses_no_letter_and_redrives_none_twice(
    tmp_path: Path,
) -> None:
    """Sixty letters of which one in ten fails again; the unit world has five hundred."""
    own = Stack(state=tmp_path).start()
    try:
        tenant = own.tenant_of(own.tenant())
        for _ in range(COUNT // 10):
            put_in(own, letters_of(tenant, 9, text=TEXT))
            put_in(own, letters_of(tenant, 1, text=TEXT, **STILL_FAILING))
        name = ask(own, tenant)
        with own.api("operator_key") as operator:
            until(lambda: sweep_until(own, operator, name, "running"), within=60, every=0.5)
        pace(own, name, seconds=60)
        cut_in_a_tick(own)
        own.start()
        assert 3 < counted(own, tenant)["letters"] < COUNT
        pace(own, name, seconds=60)
        # Its lease of five minutes is over.
        own.d1("UPDATE duties SET leased_until = 0 WHERE name = 'redrives'")
        with own.api("operator_key") as operator:
            until(lambda: sweep_until(own, operator, name, "done"), within=120, every=0.5)
            shown = operator.get(f"/v1/redrives/{name}").json()

        figures = {key: shown[key] for key in ("total", "started", "succeeded", "failed")}
        assert figures == {"total": COUNT, "started": COUNT, "succeeded": 54, "failed": 6}
        assert shown["skipped"] == shown["canceled"] == 0
        assert counted(own, tenant) == {
            "letters": COUNT, "jobs": COUNT, "acts": COUNT, "still_open": COUNT // 10,
        }  # fmt: skip
    finally:
        own.stop()


def ask(stack: Stack, tenant: str) -> str:
    order = {"filter": {"tenant": tenant}, "reason": "it is over"}
    with stack.api("operator_key") as operator:
        dry = operator.post("/v1/redrives", json={**order, "dry_run": True})
        assert (dry.status_code, dry.json()["replayable"]) == (200, COUNT)
        answer = operator.post("/v1/redrives", json=order)
    assert answer.status_code == 202, answer.text
    assert (answer.json()["state"], answer.json()["total"]) == ("canary", COUNT)
    return str(answer.json()["id"])


def put_in(stack: Stack, statements: Sequence[Statement]) -> None:
    batch = [{"sql": each.sql, "params": list(each.params)} for each in statements]
    stack.post("/d1", {"batch": batch})


def sweep_until(stack: Stack, operator: httpx.Client, name: str, state: str) -> bool:
    if state == "running":  # and has started nothing beyond its canaries yet
        pace(stack, name, seconds=0)
    stack.sweep()
    found = operator.get(f"/v1/redrives/{name}").json()["state"]
    assert found != "stopped"
    return bool(found == state)


def pace(stack: Stack, name: str, *, seconds: float) -> None:
    """Let so much of a minute's letters be due at the next tick."""
    sql = f"UPDATE redrives SET paced_at = {NOW} - ?2 WHERE id = ?1"  # noqa: S608
    stack.d1(sql, name, int(seconds * 1000))


def cut_in_a_tick(stack: Stack) -> None:
    """Kill everything once a tick has redriven some of its letters.

    Its log tells: while one is at work, the stack answers nobody else.
    """
    before = redriven_in(stack.log)
    ticking = threading.Thread(target=_tick, args=(stack,))
    ticking.start()
    until(lambda: redriven_in(stack.log) > before, every=0.005)
    stack.kill()
    ticking.join(timeout=30)


def redriven_in(log: str) -> int:
    return log.count('"job_redriven"')


def _tick(stack: Stack) -> None:
    with suppress(httpx.HTTPError):  # it is killed on the way
        stack.sweep()


def counted(stack: Stack, tenant: str) -> dict[str, Any]:
    sql = """
    SELECT (SELECT count(DISTINCT redriven_to) FROM dead_letters
             WHERE tenant_id = ?1 AND status = 'redriven') AS letters,
           (SELECT count(*) FROM jobs WHERE tenant_id = ?1 AND origin = 'redrive') AS jobs,
           (SELECT count(*) FROM audit
             WHERE tenant_id = ?1 AND action = 'dead_letter.redriven') AS acts,
           (SELECT count(*) FROM dead_letters
             WHERE tenant_id = ?1 AND status = 'open') AS still_open
    """
    (row,) = stack.d1(sql, tenant)
    return dict(row)
