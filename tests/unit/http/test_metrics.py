"""``GET /v1/metrics``: figures of now, conditions as they were kept, no guess beyond."""

from __future__ import annotations

import asyncio

from tests.unit.http.test_triage import put
from tests.unit.http.world import World, assert_problem
from uketsuke.domain.condition import LetterFigures, measures_of


def test_before_any_sweep_there_are_figures_and_no_conditions(
    world: World, operator_key: str
) -> None:
    put(world, 1)
    put(world, 2, triage_due_at=1)

    answer = world.send("GET", "/v1/metrics", key=operator_key)

    assert answer.document["at"] == "2026-11-29T12:00:00.000Z"
    letters = answer.document["dead_letters"]
    assert (letters["open"], letters["past_triage"], letters["expiring"]) == (2, 1, 0)
    assert answer.document["conditions"] == []
    assert answer.document["queues"] == {"uketsuke-jobs-dlq": {"oldest_seconds": None}}


def test_conditions_are_shown_as_the_sweep_left_them(world: World, admin_key: str) -> None:
    figures = LetterFigures(open=3, past_triage=0, expiring=0, last_hour=30, hour_before=16)
    measures = measures_of(figures, dlq_oldest=None)
    asyncio.run(world.conditions.keep(measures))

    document = world.send("GET", "/v1/metrics", key=admin_key).document

    shown = {each.pop("name"): each for each in document["conditions"]}
    held = shown["dead_letters_open"]
    assert held["holds"]
    assert held["since"] == held["computed_at"]
    assert (held["value"], held["limit"], held["compared_to"]) == (3, 0, None)
    growth = shown["dead_letters_growth"]
    assert (growth["value"], growth["limit"], growth["compared_to"]) == (30, 32, 16)
    assert (growth["holds"], growth["since"]) == (False, None)
    assert shown["dlq_oldest_seconds"]["value"] is None
    assert not shown["dlq_oldest_seconds"]["holds"]
    assert document["dead_letters"]["open"] == 0
    assert len(shown) == 5


def test_the_age_of_the_dead_letter_queue_is_what_its_sweep_was_told(
    world: World, operator_key: str, tenant_key: str
) -> None:
    sql = "INSERT INTO conditions VALUES ('dlq_oldest_seconds', 8000, 7200, NULL, 1, 2)"
    world.database.connection.execute(sql)

    document = world.send("GET", "/v1/metrics", key=operator_key).document

    assert document["queues"] == {"uketsuke-jobs-dlq": {"oldest_seconds": 8000}}
    assert_problem(world.send("GET", "/v1/metrics", key=tenant_key), 403, "forbidden")
