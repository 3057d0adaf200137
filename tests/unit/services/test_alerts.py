"""Alerts under a controlled clock: they fire, remind and resolve, each said once to a receiver that
fails, hangs up, or is there only later.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.services.world import World, working
from uketsuke.domain.alert import Alert, DeliveryFault
from uketsuke.domain.condition import ConditionName
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, Objectives
from uketsuke.services.alerts import look_after_alerts
from uketsuke.services.conditions import reckon_conditions
from uketsuke.services.sweep import duty_names, sweep

URL = "https://hooks.example.com/secret"
CANARY = "zanzibar-canary-4711"
REFUSAL = AttemptFailed(ErrorClass.REFUSED, "provider_refused")
PAST_TRIAGE, DENIED = "dead_letters_past_triage", "lanes_denied"
# Tests that leap are no sweep that was away.
LEAPING: Objectives = {**DEFAULT_OBJECTIVES, ConditionName.SWEEP_LAG: None}


@pytest.fixture
def make() -> Iterator[Callable[..., World]]:
    """Make a world with a receiver, and close it afterwards."""
    worlds = []

    def one(**settings: Any) -> World:
        worlds.append(World(**{"alert_webhook_url": URL, "objectives": LEAPING, **settings}))
        return worlds[-1]

    yield one
    for world in worlds:
        world.close()


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    return make()


async def minutes(world: World, count: int, *, every: int = 1) -> None:
    """Sweep now and then for so long; the last sweep is at the end."""
    for _ in range(0, count, every):
        await asyncio.sleep(60 * every)
        await sweep(world.ports)


async def fail(world: World, count: int = 1) -> None:
    for _ in range(count):
        await world.consumed([await world.submitted(content=CANARY)], working(result=REFUSAL))


def past_triage(world: World) -> None:
    world.connection.execute("UPDATE dead_letters SET triage_due_at = 1")


def mend(world: World) -> None:
    world.connection.execute("UPDATE dead_letters SET status = 'discarded', resolved_at = 1")


def deny(world: World, lane: str = "openai_compatible/large") -> None:
    world.connection.execute(
        "INSERT INTO lanes"
        " VALUES (?1, 1, 2, ?2, 'denied', 'provider_denied', 1, 1, '', '', '', '')",
        (lane, 2**52),
    )


def said(world: World) -> list[str]:
    """What each message said: the states and names in it."""
    return [
        " ".join(
            f"{'still ' if each['reminder'] else ''}{each['state']} {each['name']}"
            for each in message["alerts"]
        )
        for message in world.receiver.heard
    ]


async def standing(world: World, name: str) -> Alert:
    (found,) = [
        each.alert
        for each in await world.ports.alerts.standing()
        if each.condition.name == name and each.alert
    ]
    return found


def test_an_alert_is_said_once_again_after_hours_and_when_it_is_over(world: World) -> None:
    async def main() -> None:
        await fail(world)
        await minutes(world, 5)
        assert said(world) == []
        past_triage(world)
        await minutes(world, 230, every=10)
        assert said(world) == [f"firing {PAST_TRIAGE}"]
        await minutes(world, 20, every=10)
        assert said(world)[1:] == [f"still firing {PAST_TRIAGE}"]
        mend(world)
        await minutes(world, 10)
        assert len(said(world)) == 2
        await minutes(world, 5)
        assert said(world)[2:] == [f"resolved {PAST_TRIAGE}"]
        await minutes(world, 600, every=10)
        assert len(said(world)) == 3

    world.run(main())
    first, reminder, over = (message["alerts"][0] for message in world.receiver.heard)
    assert first["since"] == reminder["since"] == over["since"]
    assert len({message["id"] for message in world.receiver.heard}) == 3
    assert over["resolved_at"] > over["fired_at"]
    assert CANARY not in json.dumps(world.receiver.heard)


def test_who_is_woken_is_woken_once_by_all_that_is_wrong(world: World) -> None:
    async def main() -> None:
        await fail(world, 11)
        past_triage(world)
        await minutes(world, 1)

    world.run(main())
    assert said(world) == [f"firing dead_letters_growth firing {PAST_TRIAGE}"]


def test_a_key_that_was_refused_once_wakes_nobody_and_one_that_is_gone_does(world: World) -> None:
    async def main() -> None:
        deny(world)
        await minutes(world, 2)
        world.connection.execute("DELETE FROM lanes")
        await minutes(world, 5)
        assert said(world) == []
        deny(world)
        await minutes(world, 3)

    world.run(main())
    assert said(world) == [f"firing {DENIED}"]
    assert world.receiver.heard[0]["alerts"][0]["subject"] == "openai_compatible/large"


def test_a_condition_that_dances_about_its_bound_is_one_alert(world: World) -> None:
    async def main() -> None:
        for _ in range(10):
            deny(world)
            await minutes(world, 4)
            world.connection.execute("DELETE FROM lanes")
            await minutes(world, 4)
        assert said(world) == [f"firing {DENIED}"]
        await minutes(world, 12)

    world.run(main())
    assert said(world) == [f"firing {DENIED}", f"resolved {DENIED}"]


def test_a_receiver_that_is_down_is_tried_ever_more_seldom_and_told_in_the_end(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        world.receiver.faults = [DeliveryFault.UNREACHABLE] * 100
        await minutes(world, 60)
        assert 4 <= 100 - len(world.receiver.faults) <= 8
        stands = await standing(world, PAST_TRIAGE)
        assert (stands.untold, stands.fault) == (True, DeliveryFault.UNREACHABLE)
        tried = len(world.receiver.faults)
        await minutes(world, 175, every=5)
        assert 1 <= tried - len(world.receiver.faults) <= 4
        world.receiver.faults.clear()
        await minutes(world, 70, every=5)
        stands = await standing(world, PAST_TRIAGE)
        assert (stands.untold, stands.fault, stands.told_step) == (False, None, stands.step)

    world.run(main())
    assert said(world) == [f"firing {PAST_TRIAGE}"]
    log = capsys.readouterr().out
    assert '"alerts_not_told"' in log
    assert "hooks.example.com" not in log


def test_what_is_new_is_said_at_once_however_long_the_receiver_was_down(world: World) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        world.receiver.faults = [DeliveryFault.TIMEOUT] * 100
        await minutes(world, 90)
        world.receiver.faults.clear()
        deny(world)
        await minutes(world, 3)

    world.run(main())
    assert said(world) == [f"firing {PAST_TRIAGE} firing {DENIED}"]


def test_what_began_and_ended_while_the_receiver_was_down_is_told_as_over(world: World) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        world.receiver.faults = [DeliveryFault.BROKEN] * 3
        await minutes(world, 3)
        mend(world)
        await minutes(world, 15)

    world.run(main())
    assert said(world)[-1:] == [f"resolved {PAST_TRIAGE}"]


@pytest.mark.parametrize("death", ["of the isolate", "of the database"])
def test_who_dies_between_the_word_and_its_record_says_it_again_by_the_same_id(
    world: World, death: str
) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        if death == "of the isolate":
            world.receiver.faults = [RuntimeError("gone")]
        else:
            world.database.failing = [("SET told_step", "before")]
        await minutes(world, 30)

    world.run(main())
    assert said(world) == [f"firing {PAST_TRIAGE}"] * 2
    first, again = world.receiver.heard
    assert first["id"] == again["id"]
    assert first["alerts"][0]["id"] == again["alerts"][0]["id"]


def test_what_another_look_has_overtaken_is_not_told(world: World) -> None:
    async def main() -> None:
        await fail(world)
        await minutes(world, 1)
        past_triage(world)
        await reckon_conditions(world.ports, duties=duty_names())
        looking = asyncio.create_task(look_after_alerts(world.ports))
        await asyncio.sleep(0.0015)  # it has read, and keeps nothing yet
        world.connection.execute(
            "UPDATE alerts SET looked_at = 1 + (SELECT max(computed_at) FROM conditions)"
        )
        await looking
        assert said(world) == []
        await minutes(world, 1)

    world.run(main())
    assert said(world) == [f"firing {PAST_TRIAGE}"]


@pytest.mark.parametrize("hours", [1, 48])
def test_a_clock_that_was_ahead_for_a_while_makes_no_alert_silent_and_none_a_storm(
    world: World, hours: int
) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        await minutes(world, 1)
        world.ahead = timedelta(hours=hours)
        world.connection.execute("UPDATE dead_letters SET triage_due_at = 1 << 52")
        deny(world)
        await minutes(world, 12)
        world.ahead = timedelta()
        past_triage(world)
        await minutes(world, 20)

    world.run(main())
    assert said(world)[:3] == [
        f"firing {PAST_TRIAGE}",
        f"firing {DENIED}",
        f"resolved {PAST_TRIAGE}",
    ]
    # Whether the second is a reminder, nobody can tell by such a clock.
    assert [len(message["alerts"]) for message in world.receiver.heard[3:]] == [1]
    assert world.receiver.heard[3]["alerts"][0]["name"] == PAST_TRIAGE
    assert world.receiver.heard[3]["alerts"][0]["since"] < "2026-11-29T13"


@pytest.mark.parametrize("lost", ["INSERT INTO alerts", "UPDATE alerts\n   SET tries"])
def test_who_dies_before_the_word_says_it_at_the_next_tick(world: World, lost: str) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        world.database.failing = [(lost, "before")]
        await minutes(world, 1)
        assert said(world) == []
        await minutes(world, 5)

    world.run(main())
    assert said(world) == [f"firing {PAST_TRIAGE}"]


def test_a_broken_receiver_stops_no_other_duty(world: World) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        world.receiver.faults = [RuntimeError("a fault of ours")] * 5
        await minutes(world, 5)

    world.run(main())
    done = {row["name"]: row["done_at"] for row in world.rows("SELECT * FROM duties")}
    assert len({done[name] // 60_000 for name in ("wake", "conditions", "roll_up")}) == 1


def test_without_a_receiver_alerts_stand_and_one_that_comes_hears_of_what_still_fires(
    make: Callable[..., World],
) -> None:
    world = make(alert_webhook_url="")

    async def main() -> None:
        await fail(world)
        past_triage(world)
        await minutes(world, 5)
        mend(world)
        await minutes(world, 12)
        deny(world)
        await minutes(world, 5)
        assert (await standing(world, PAST_TRIAGE)).resolved_at
        assert (await standing(world, DENIED)).fires
        world.ports = replace(world.ports, receiver=world.receiver)
        await minutes(world, 1)

    world.run(main())
    assert said(world) == [f"firing {DENIED}"]


def test_that_an_alert_begins_and_ends_is_one_line_each(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        await fail(world)
        past_triage(world)
        await minutes(world, 5)
        mend(world)
        await minutes(world, 15)

    world.run(main())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = [line for line in lines if line["event"] in ("alert_fired", "alert_resolved")]
    assert [(line["event"], line["condition"], line["value"]) for line in told] == [
        ("alert_fired", PAST_TRIAGE, 1),
        ("alert_resolved", PAST_TRIAGE, 0),
    ]


def test_an_objective_that_is_switched_on_again_says_something_new(world: World) -> None:
    off = {**LEAPING, ConditionName.PAST_TRIAGE: None}

    async def main() -> None:
        await fail(world)
        past_triage(world)
        await minutes(world, 2)
        on = world.settings
        for settings in (replace(on, objectives=off), on):
            world.ports = replace(world.ports, settings=settings)
            await minutes(world, 2)

    world.run(main())
    first, again = (message["alerts"][0] for message in world.receiver.heard)
    assert first["since"] == again["since"]
    assert first["id"] != again["id"]


def test_an_objective_that_is_switched_off_is_forgotten_and_its_condition_stays(
    world: World,
) -> None:
    off = {**LEAPING, ConditionName.PAST_TRIAGE: None}

    async def main() -> None:
        await fail(world)
        past_triage(world)
        await minutes(world, 2)
        world.ports = replace(world.ports, settings=replace(world.settings, objectives=off))
        await minutes(world, 20)
        found = {each.condition.name: each for each in await world.ports.alerts.standing()}
        assert found[PAST_TRIAGE].condition.holds
        assert found[PAST_TRIAGE].alert is None

    world.run(main())
    assert said(world) == [f"firing {PAST_TRIAGE}"]


async def value(world: World, name: str) -> tuple[int | None, str | None]:
    (found,) = [each for each in await world.ports.conditions.kept() if each.name == name]
    return found.value, found.subject


def test_the_success_rate_is_of_the_last_hour_and_of_enough_jobs(
    make: Callable[..., World],
) -> None:
    world = make(alert_least_ended=10)

    async def main() -> None:
        await fail(world, 4)
        await world.consumed([await world.submitted() for _ in range(5)], working())
        await minutes(world, 1)
        assert await value(world, "failed_per_mille") == (None, None)
        await world.consumed([await world.submitted()], working())
        await minutes(world, 1)
        assert await value(world, "failed_per_mille") == (400, None)
        await minutes(world, 5)
        assert "firing failed_per_mille" in said(world)
        await minutes(world, 60, every=10)
        assert await value(world, "failed_per_mille") == (None, None)
        await minutes(world, 20, every=10)
        assert "resolved failed_per_mille" in said(world)

    world.run(main())


def test_a_job_that_nobody_takes_is_told_and_so_is_one_that_waits_for_long(world: World) -> None:
    async def main() -> None:
        await world.submitted(deadline=timedelta(hours=6))
        await minutes(world, 15)
        assert said(world) == []
        await minutes(world, 3)
        assert said(world) == ["firing oldest_due_seconds"]
        world.connection.execute("UPDATE jobs SET due_at = deadline_at - 1000")
        await minutes(world, 40, every=4)
        assert said(world)[1:] == ["resolved oldest_due_seconds"]
        await minutes(world, 5)
        assert said(world)[2:] == ["firing oldest_waiting_seconds"]

    world.run(main())


def test_the_tenant_that_has_used_most_of_its_budget_is_named(make: Callable[..., World]) -> None:
    objectives = {**LEAPING, ConditionName.SPEND: 2}
    world = make(daily_budget_micros=100_000, objectives=objectives)

    async def main() -> None:
        spend = (
            "INSERT INTO usage_days (tenant_id, day, kind, provider, model, attempts,"
            " failed_attempts, input_tokens, output_tokens, audio_ms, cost_micros,"
            " failed_cost_micros, charged_micros, unknown)"
            " VALUES (?1, ?2, 'embed', 'p', 'm', 1, 0, 0, 0, 0, ?3, 0, ?3, 0)"
        )
        today = "2026-11-29"
        for tenant, day, micros in (
            ("acme", today, 81_999),
            ("beta", today, 9),
            ("c", "2026-11-28", 9),
        ):
            world.connection.execute(spend, (tenant, day, micros))
        world.connection.execute("INSERT INTO tenants VALUES ('beta', 1, 10), ('c', 1, 1)")
        await minutes(world, 1)
        assert await value(world, "budget_used_percent") == (90, "beta")
        assert await value(world, "spend_today_cents") == (8, None)

    world.run(main())
    assert said(world) == ["firing budget_used_percent firing spend_today_cents"]


def test_a_bound_that_is_taken_away_takes_its_condition_and_alert_with_it(
    make: Callable[..., World],
) -> None:
    world = make(objectives={**LEAPING, ConditionName.SPEND: 0})

    async def main() -> None:
        await minutes(world, 1)
        assert await value(world, "spend_today_cents") == (0, None)
        world.ports = replace(world.ports, settings=replace(world.settings, objectives=LEAPING))
        await minutes(world, 1)
        kept = {each.name for each in await world.ports.conditions.kept()}
        assert "spend_today_cents" not in kept

    world.run(main())
    assert not world.rows("SELECT * FROM alerts WHERE name = 'spend_today_cents'")


def test_a_sweep_that_was_away_is_told_when_it_is_back(make: Callable[..., World]) -> None:
    world = make(objectives=DEFAULT_OBJECTIVES)

    async def main() -> None:
        await minutes(world, 5)
        assert said(world) == []
        await minutes(world, 20, every=20)
        assert said(world) == ["firing sweep_lag_seconds"]
        await minutes(world, 15)

    world.run(main())
    assert said(world)[1:] == ["resolved sweep_lag_seconds"]


def test_a_duty_that_always_fails_is_a_sweep_that_lags(make: Callable[..., World]) -> None:
    world = make(objectives=DEFAULT_OBJECTIVES)

    async def main() -> None:
        await minutes(world, 2)
        world.database.failing = [("AND wake_at <=", "before")] * 100
        await minutes(world, 10)

    world.run(main())
    assert said(world) == ["firing sweep_lag_seconds"]


def test_what_a_message_holds_is_a_plain_json_object(world: World) -> None:
    async def main() -> None:
        deny(world)
        await minutes(world, 4)

    world.run(main())
    (message,) = world.receiver.heard
    assert isinstance(json.loads(json.dumps(message)), Mapping)
    assert message.keys() == {"text", "id", "alerts"}
