"""When an alert begins and ends, what is said of it, and what a deployment may want of itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.domain.alert import Alert, AlertState, Patience, Standing, advance, to_tell
from uketsuke.domain.alert_message import PHRASES, message_of
from uketsuke.domain.condition import Condition, ConditionName
from uketsuke.domain.objective import (
    DEFAULT_OBJECTIVES,
    bounds_of,
    hold_of,
    parse_objectives,
    parse_receiver,
)
from uketsuke.domain.outlook import Denied, Ended, Outlook, Spending, outlook_measures

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PATIENCE = Patience(hold=2 * MINUTE, clear=5 * MINUTE, remind_every=60 * MINUTE)


def looks(held: Sequence[bool], patience: Patience = PATIENCE) -> list[Alert]:
    """How an alert stands after a look each minute at a condition that held, or did not."""
    alert: Alert | None = None
    since: datetime | None = None
    stood = []
    for minute, holds in enumerate(held):
        now = START + minute * MINUTE
        since = (since or now) if holds else None
        alert = advance(alert, condition(value=int(holds), since=since, at=now), patience)
        stood.append(alert)
    return stood


def condition(
    *,
    name: str = "lanes_denied",
    value: int | None = 1,
    since: datetime | None = START,
    at: datetime = START,
    subject: str | None = None,
) -> Condition:
    return Condition(
        name=name,
        value=value,
        bound=0,
        compared_to=None,
        subject=subject,
        since=since,
        computed_at=at,
    )


def states(alerts: Sequence[Alert]) -> str:
    return "".join(alert.state.value[0] for alert in alerts)


def test_an_alert_fires_when_it_has_held_long_enough_and_is_over_when_it_has_not() -> None:
    stood = looks([False, *[True] * 4, *[False] * 7])

    assert states(stood) == "oppfffffffoo"[: len(stood)]
    fired, over = stood[3], stood[-1]
    assert (fired.since, fired.fired_at, fired.step) == (START + MINUTE, START + 3 * MINUTE, 1)
    assert (over.cleared_at, over.resolved_at) == (START + 5 * MINUTE, START + 10 * MINUTE)
    assert (over.since, over.step) == (fired.since, 2)


def test_a_condition_that_holds_for_a_moment_says_nothing() -> None:
    stood = looks([True, True, False, True, True, False])

    assert states(stood) == "ppoppo"
    assert stood[-1].step == 0


def test_a_value_that_dances_about_its_bound_is_one_alert() -> None:
    stood = looks([*[True] * 3, *[False, False, True] * 10])

    assert states(stood[2:]) == "f" * 31
    assert {alert.step for alert in stood[2:]} == {1}
    assert {alert.id for alert in stood[2:]} == {stood[2].id}


def test_what_lasts_is_said_again_and_what_comes_back_is_another() -> None:
    stood = looks([*[True] * 125, *[False] * 6, *[True] * 3])

    assert [stood[minute].step for minute in (1, 2, 61, 62, 121, 122)] == [0, 1, 1, 2, 2, 3]
    ids = list(dict.fromkeys(alert.id for alert in stood if alert.step))
    assert [each.rpartition(":")[2] for each in ids] == ["1", "2", "3", "4", "5"]
    assert ids[0].rpartition(":")[0] == ids[3].rpartition(":")[0] != ids[4].rpartition(":")[0]


@given(st.lists(st.booleans(), max_size=90))
def test_whatever_a_condition_does_its_alert_is_said_in_order(held: list[bool]) -> None:
    patience = Patience(hold=MINUTE, clear=2 * MINUTE, remind_every=5 * MINUTE)

    for before, after in pairwise(looks(held, patience)):
        assert after.step - before.step in (0, 1)
        if after.fires != before.fires:
            assert after.step == before.step + 1
        if after.step == before.step:
            assert after.id == before.id
        assert (after.resolved_at is None) or not after.fires


def standing(**changes: object) -> Standing:
    values: dict[str, object] = {
        "name": "lanes_denied",
        "state": AlertState.FIRING,
        "looked_at": START,
        "since": START,
        "fired_at": START,
        "step": 1,
        "try_at": START,
        **changes,
    }
    return Standing(condition=condition(name=str(values["name"])), alert=Alert(**values))  # type: ignore[arg-type] # by name


def test_one_message_says_all_that_is_untold_once_any_part_of_it_is_due() -> None:
    waits = standing(name="failed_per_mille", try_at=START + MINUTE, tries=3)
    told = standing(name="dlq_oldest_seconds", told_step=1)
    due = standing()

    assert to_tell([waits, told], now=START) == []
    assert to_tell([waits, told, due], now=START) == [waits, due]
    assert to_tell([waits, told], now=START + MINUTE) == [waits]


def test_the_end_of_what_nobody_was_told_of_is_not_told() -> None:
    over = {"state": AlertState.OK, "resolved_at": START + MINUTE, "step": 2}

    assert to_tell([standing(**over)], now=START) == []
    for heard_of in (
        {"told_step": 1, "told_at": START},
        {"fault": "timeout"},
    ):
        assert len(to_tell([standing(**over, **heard_of)], now=START)) == 1
    before = {"told_step": 1, "told_at": START - MINUTE}
    assert to_tell([standing(**over, **before)], now=START) == []


def test_a_message_has_words_for_people_and_members_for_programs() -> None:
    late = condition(name="oldest_due_seconds", value=5000)
    spender = condition(name="budget_used_percent", value=85, subject="a<b>&c")
    fires = standing(name="oldest_due_seconds").alert
    lasts = standing(name="budget_used_percent", step=2, told_step=1, told_at=START).alert
    over = standing(
        state=AlertState.OK, cleared_at=START + MINUTE, resolved_at=START + 9 * MINUTE, step=3
    )

    message = message_of(
        [Standing(condition=late, alert=fires), Standing(condition=spender, alert=lasts), over]
    )

    head, *lines = str(message["text"]).split("\n")
    assert head == "Uketsuke: 2 firing, 1 resolved"
    assert lines[0] == (
        "- FIRING oldest_due_seconds: time for which a job is due and nobody takes it: 83 min, "
        "limit 0 s; since 2026-11-29 12:00 UTC"
    )
    assert "STILL FIRING budget_used_percent" in lines[1]
    assert "85 %, limit 0 % (a&lt;b&gt;&amp;c)" in lines[1]
    assert lines[2].endswith("from 2026-11-29 12:00 UTC to 2026-11-29 12:01 UTC")
    first, second, third = json.loads(json.dumps(message["alerts"]))
    assert (first["state"], first["reminder"], second["reminder"]) == ("firing", False, True)
    assert (second["subject"], third["state"]) == ("a<b>&c", "resolved")
    assert first["since"] == "2026-11-29T12:00:00.000Z"


def test_the_same_things_said_again_have_the_same_id_and_others_another() -> None:
    once, again, more = (
        message_of([standing()]),
        message_of([standing(tries=4)]),
        message_of([standing(step=2)]),
    )

    assert once["id"] == again["id"] != more["id"]


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("failed_per_mille", 125, "12.5 %"),
        ("spend_today_cents", 1234, "$12.34"),
        ("sweep_lag_seconds", 119, "119 s"),
        ("sweep_lag_seconds", 7380, "2 h 3 min"),
        ("dead_letters_growth", 31, "31"),
        ("of_another_version", 3, "3"),
        ("dlq_oldest_seconds", None, "unknown"),
    ],
)
def test_a_figure_is_written_in_its_unit(name: str, value: int | None, written: str) -> None:
    said = Standing(condition=condition(name=name, value=value), alert=standing(name=name).alert)

    assert f": {written}, limit" in str(message_of([said])["text"])


def test_every_objective_has_its_words_and_its_bound() -> None:
    assert PHRASES.keys() == DEFAULT_OBJECTIVES.keys() == set(ConditionName) - {ConditionName.OPEN}
    assert bounds_of(DEFAULT_OBJECTIVES).keys() == PHRASES.keys() - {ConditionName.SPEND}
    assert hold_of("of_another_version") == timedelta()


def test_an_objective_is_moved_or_switched_off_and_the_others_stay() -> None:
    wanted = parse_objectives('{"failed_per_mille": 5, "dlq_oldest_seconds": null}')

    assert wanted[ConditionName.FAILED] == 5
    assert wanted[ConditionName.DLQ_OLDEST] is None
    assert wanted[ConditionName.DUE] == DEFAULT_OBJECTIVES[ConditionName.DUE]
    # It is reckoned all the same.
    assert bounds_of(wanted)[ConditionName.DLQ_OLDEST] == 7200


@pytest.mark.parametrize(
    "mistaken",
    [
        '{"no_such_thing": 1}',
        '{"dead_letters_open": 1}',
        '{"failed_per_mille": -1}',
        '{"failed_per_mille": 1.5}',
        '{"failed_per_mille": true}',
        '{"failed_per_mille": "5"}',
        '{"failed_per_mille": 10000000000000}',
    ],
)
def test_an_objective_that_makes_no_sense_is_refused(mistaken: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- the settings tell what they expect
        parse_objectives(mistaken)


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("", True),
        ("https://hooks.example.com/services/T0/B0/secret", True),
        ("https://hooks.example.com", True),
        ("http://127.0.0.1:8080/hook", True),
        ("http://localhost/hook", True),
        ("http://hooks.example.com/services", False),
        ("http://127.0.0.1.example.com/", False),
        ("http://localhost:8080@example.com/", False),
        ("https://user:pass@example.com/", False),
        ("https://", False),
        ("ftp://example.com/", False),
        ("https://example.com/a b", False),
    ],
)
def test_the_receiver_is_https_or_this_machine(url: str, *, taken: bool) -> None:
    if taken:
        assert parse_receiver(url) == url
    else:
        with pytest.raises(ValueError, match="https"):
            parse_receiver(url)


def outlook(**changes: object) -> Outlook:
    values: dict[str, object] = {
        "spending": Spending(today_micros=12_349_999, used_percent=91, tenant_id="acme"),
        "denied": Denied(count=1, lane="openai_compatible/large"),
        "ended": Ended(succeeded=95, failed=5),
        "oldest_waiting": timedelta(seconds=61.9),
        "oldest_due": None,
        "sweep_lag": None,
        **changes,
    }
    return Outlook(**values)  # type: ignore[arg-type] # by name


def test_the_outlook_amounts_to_whole_figures_with_their_subjects() -> None:
    bounds = {**bounds_of(DEFAULT_OBJECTIVES), ConditionName.SPEND: 1000}

    measures = {
        each.name.value: (each.value, each.bound, each.subject)
        for each in outlook_measures(outlook(), bounds=bounds, least_ended=20)
    }

    assert measures == {
        "oldest_waiting_seconds": (61, 3600, None),
        "oldest_due_seconds": (0, 900, None),
        "failed_per_mille": (50, 100, None),
        "budget_used_percent": (91, 80, "acme"),
        "spend_today_cents": (1234, 1000, None),
        "sweep_lag_seconds": (None, 300, None),
        "lanes_denied": (1, 0, "openai_compatible/large"),
    }


def test_too_few_jobs_are_no_success_rate_and_none_is_none() -> None:
    assert Ended(succeeded=0, failed=19).failed_per_mille(least=20) is None
    assert Ended(succeeded=0, failed=20).failed_per_mille(least=20) == 1000
    assert Ended(succeeded=0, failed=0).failed_per_mille(least=0) is None


def test_what_today_costs_is_not_reckoned_without_a_bound() -> None:
    measures = outlook_measures(outlook(), bounds=bounds_of(DEFAULT_OBJECTIVES), least_ended=20)

    assert ConditionName.SPEND not in {each.name for each in measures}
