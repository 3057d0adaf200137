"""Alerts on both drivers: how they are kept, what was said of them, and what today costs.

On D1 the stack's own sweep keeps the alerts of real conditions: these have names of their own.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.contract.factories import RETENTION, Store
from tests.support.sqlite import SqliteDatabase, connect
from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.alerts import SqlAlerts
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.money_and_lanes import SqlMoneyAndLanes
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.alert import Alert, AlertState, DeliveryFault
from uketsuke.domain.condition import Measure

pytestmark = pytest.mark.anyio
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def name_of(store: Store) -> Any:
    return f"alert_{store.tenant}"


async def alerts_with_a_condition(store: Store) -> SqlAlerts:
    month = timedelta(days=30)
    ages = Ages.of(keep_inputs=month, keep_results=month, expiring_within=month)
    conditions = SqlConditions(store.database, ages)
    await conditions.keep([Measure(name=name_of(store), value=3, bound=1, subject="acme")])
    return SqlAlerts(store.database)


async def forget(store: Store) -> None:
    for table in ("alerts", "conditions"):
        sql = f"DELETE FROM {table} WHERE name = ?1"  # noqa: S608
        await store.database.batch([Statement(sql, (name_of(store),))])


async def stood(alerts: SqlAlerts, store: Store) -> Alert | None:
    (found,) = [each for each in await alerts.standing() if each.condition.name == name_of(store)]
    assert found.condition.subject == "acme"
    return found.alert


async def firing(store: Store) -> Alert:
    now = rows.to_time(await store.now())
    return Alert(
        name=name_of(store),
        state=AlertState.FIRING,
        looked_at=now,
        since=now - MINUTE,
        fired_at=now,
        step=1,
        step_at=now,
    )


async def test_an_alert_is_kept_as_it_stands_and_an_older_look_changes_nothing(
    store: Store,
) -> None:
    alerts, alert = await alerts_with_a_condition(store), await firing(store)
    assert await stood(alerts, store) is None

    kept = await alerts.keep([alert], forget=())
    first = await stood(alerts, store)
    over = replace(
        alert,
        state=AlertState.OK,
        looked_at=alert.looked_at + SECOND,
        cleared_at=alert.looked_at,
        resolved_at=alert.looked_at + SECOND,
        step=2,
        step_at=alert.looked_at + SECOND,
    )
    late = [await alerts.keep([each], forget=()) for each in (over, alert)]
    last = await stood(alerts, store)
    await alerts.keep([], forget=[name_of(store)])
    gone = await stood(alerts, store)
    await forget(store)

    assert first == alert
    assert last == replace(over, try_at=over.step_at)
    assert gone is None
    assert (set(kept), [set(each) for each in late]) == (
        {alert.name},
        [{alert.name}, set()],
    )


async def test_a_try_is_noted_before_and_after_and_waits_ever_longer(store: Store) -> None:
    alerts, alert = await alerts_with_a_condition(store), await firing(store)
    await alerts.keep([alert], forget=())

    waits = []
    for _ in range(4):
        await alerts.trying([alert], first_wait=MINUTE, longest_wait=3 * MINUTE)
        await alerts.not_told([alert], DeliveryFault.TIMEOUT)
        waits.append(await wait_of(store))
    failed = await stood(alerts, store)
    await alerts.told([alert])
    told = await stood(alerts, store)
    await alerts.not_told([alert], DeliveryFault.BROKEN)
    late = await stood(alerts, store)
    await forget(store)

    assert waits == [1, 2, 3, 3]
    assert failed
    assert told
    assert (failed.tries, failed.fault, failed.untold) == (4, DeliveryFault.TIMEOUT, True)
    assert (told.told_step, told.fault, told.untold) == (1, None, False)
    assert told.told_that_it_fires
    assert late == told


async def wait_of(store: Store) -> int:
    sql = f"SELECT round((try_at - {NOW}) / 60000.0) AS minutes FROM alerts WHERE name = ?1"  # noqa: S608
    ((found,),) = await store.database.batch([Statement(sql, (name_of(store),))])
    return int(found["minutes"])


async def test_a_new_step_is_due_at_once_and_a_late_record_of_the_old_one_does_not_hide_it(
    store: Store,
) -> None:
    alerts, alert = await alerts_with_a_condition(store), await firing(store)
    later = replace(alert, step=2, step_at=alert.looked_at + SECOND)
    await alerts.keep([alert], forget=())
    await alerts.trying([alert], first_wait=MINUTE, longest_wait=MINUTE)

    await alerts.keep([later], forget=())
    await alerts.told([alert])
    await alerts.trying([alert], first_wait=MINUTE, longest_wait=MINUTE)
    found = await stood(alerts, store)
    await forget(store)

    assert found
    assert (found.step, found.told_step, found.untold) == (2, 1, True)
    assert (found.tries, found.try_at) == (0, later.step_at)


async def spend(store: Store, tenant: str, *, charged: int, budget: int | None) -> None:
    today = rows.to_time(await store.now()).date().isoformat()
    sql = (
        "INSERT INTO usage_days (tenant_id, day, kind, provider, model, attempts,"
        " failed_attempts, input_tokens, output_tokens, audio_ms, cost_micros,"
        " failed_cost_micros, charged_micros, unknown)"
        " VALUES (?1, ?2, 'embed', 'p', ?3, 1, 0, 0, 0, 0, ?4, 0, ?4, 0)"
    )
    known = "INSERT INTO tenants (id, created_at, daily_budget_micros) VALUES (?1, 1, ?2)"
    await store.database.batch(
        [
            Statement(sql, (tenant, today, "m", charged - 1)),
            Statement(sql, (tenant, today, "n", 1)),
            Statement(known, (tenant, budget)),
        ]
    )


async def test_who_has_used_most_of_its_budget_is_the_one_that_is_named() -> None:
    """On SQLite alone: sums that are made up would stay in the stack's figures."""
    store = Store(SqliteDatabase(connect()), "t")
    (none, _) = await SqlMoneyAndLanes(store.database, daily_budget_micros=5).now()
    await spend(store, "acme", charged=4_000_000, budget=1_000)
    await spend(store, "beta", charged=50_000, budget=10)
    await spend(store, "other", charged=9_000_000_000, budget=None)
    await spend(store, "nothing", charged=5, budget=0)

    (own, _) = await SqlMoneyAndLanes(store.database, daily_budget_micros=None).now()
    (all_, _) = await SqlMoneyAndLanes(store.database, daily_budget_micros=1).now()

    assert (none.today_micros, none.used_percent, none.tenant_id) == (0, 0, None)
    assert (own.used_percent, own.tenant_id) == (500_000, "beta")
    assert own.today_micros == 9_004_050_005
    assert (all_.used_percent, all_.tenant_id) == (900_000_000_000, "other")


async def test_lanes_that_only_a_person_mends_are_counted(store: Store) -> None:
    money = SqlMoneyAndLanes(store.database, daily_budget_micros=None)
    now = await store.now()
    (_, before) = await money.now()
    lanes = {
        "denied": ("!a/denied", now + 60_000),
        "not_found": ("!b/unknown", now + 60_000),
        "throttled": ("!c/throttled", now + 60_000),
        "denied long ago": ("!d/forgotten", now - 1),
    }
    await store.database.batch(
        [
            Statement(
                "INSERT INTO lanes VALUES (?1, 1, 2, ?2, ?3, 'x', 1, 1, '', '', '', '')",
                (lane, forget_at, why.split()[0]),
            )
            for why, (lane, forget_at) in lanes.items()
        ]
    )

    (_, after) = await money.now()
    for lane, _ in lanes.values():
        await store.database.batch([Statement("DELETE FROM lanes WHERE lane = ?1", (lane,))])

    assert after.count - before.count == 2
    assert after.lane == "!a/denied"


async def test_a_duty_that_failed_is_not_done(store: Store) -> None:
    sweeping, name = SqlSweeping(store.database, RETENTION), f"duty-{store.tenant}"

    async def done_at() -> Any:
        ((row,),) = await store.database.batch(
            [Statement("SELECT done_at FROM duties WHERE name = ?1", (name,))]
        )
        return row["done_at"]

    looks = []
    for done in (False, True, False):
        await sweeping.claim_duty(name, token="t", lease=MINUTE)
        await sweeping.finish_duty(name, token="t", done=done)
        looks.append(await done_at())
    silent = await sweeping.silent_for()

    assert looks[0] is None
    assert looks[1] == looks[2] is not None
    assert silent is not None
    assert timedelta() <= silent < MINUTE
