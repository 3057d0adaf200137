"""``GET /v1/alerts``: how the objectives stand as the sweep left them, for operators."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tests.unit.http.world import World, assert_problem
from uketsuke.domain.alert import Alert, AlertState, DeliveryFault
from uketsuke.domain.condition import ConditionName, Measure

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NAMES = (ConditionName.PAST_TRIAGE, ConditionName.DLQ_OLDEST, ConditionName.OPEN)


def stand(world: World, alerts: Sequence[Alert]) -> None:
    measures = [Measure(name=name, value=2, bound=1, subject="acme") for name in NAMES]
    asyncio.run(world.conditions.keep(measures))
    asyncio.run(world.alerts.keep(alerts, forget=()))


def fires(name: str, **changes: object) -> Alert:
    values = {"since": AT, "fired_at": AT + MINUTE, "step": 1, "step_at": AT, **changes}
    return Alert(name=name, state=AlertState.FIRING, looked_at=AT, **values)  # type: ignore[arg-type] # by name


def test_before_any_sweep_there_is_none(world: World, operator_key: str) -> None:
    answer = world.send("GET", "/v1/alerts", key=operator_key)

    assert answer.status == 200
    assert (answer.document["items"], answer.document["next"]) == ([], None)
    assert "private" in answer.headers["cache-control"]


def test_an_alert_is_shown_with_its_figures_and_what_became_of_its_message(
    world: World, admin_key: str
) -> None:
    fails = fires("dead_letters_past_triage")
    told = fires("dlq_oldest_seconds")
    stand(world, [fails, told])
    asyncio.run(world.alerts.trying([fails, told], first_wait=MINUTE, longest_wait=MINUTE))
    asyncio.run(world.alerts.told([told]))
    asyncio.run(world.alerts.not_told([fails], DeliveryFault.TIMEOUT))

    first, second = world.send("GET", "/v1/alerts", key=admin_key).document["items"]

    assert (first["name"], first["state"]) == ("dead_letters_past_triage", "firing")
    assert (first["value"], first["limit"], first["subject"]) == (2, 1, "acme")
    assert (first["since"], first["fired_at"]) == (
        "2026-11-29T12:00:00.000Z",
        "2026-11-29T12:01:00.000Z",
    )
    assert first["resolved_at"] is None
    assert first["delivery"] == {
        "pending": True,
        "last_at": None,
        "tries": 1,
        "error_class": "timeout",
    }
    assert second["delivery"].pop("last_at") > first["fired_at"]
    assert second["delivery"] == {"pending": False, "tries": 0, "error_class": None}


def test_it_is_as_of_the_databases_time_and_never_the_same(world: World, operator_key: str) -> None:
    stand(world, [fires("dlq_oldest_seconds")])
    clock = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    (before,) = world.database.connection.execute(clock).fetchone()

    answer = world.send("GET", "/v1/alerts", key=operator_key)

    (after,) = world.database.connection.execute(clock).fetchone()
    at = datetime.fromisoformat(answer.document["at"]).timestamp() * 1000
    assert before - 1 <= at <= after + 1
    assert answer.document["items"][0]["computed_at"] <= answer.document["at"]
    assert "etag" not in answer.headers


def test_what_is_pending_is_shown_since_its_condition_holds(
    world: World, operator_key: str
) -> None:
    pending = Alert(name="dlq_oldest_seconds", state=AlertState.PENDING, looked_at=AT)
    stand(world, [pending])

    (item,) = world.send("GET", "/v1/alerts", key=operator_key).document["items"]

    assert (item["state"], item["since"]) == ("pending", item["computed_at"])


def test_tenants_see_none_and_nothing_is_to_be_asked(
    world: World, tenant_key: str, operator_key: str
) -> None:
    assert_problem(world.send("GET", "/v1/alerts", key=tenant_key), 403, "forbidden")
    refused = world.send("GET", "/v1/alerts?state=firing", key=operator_key)
    assert refused.status == 400
