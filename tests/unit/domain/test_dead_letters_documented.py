"""The page about dead letters says what the code says: members, verdicts, conditions."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from uketsuke.domain.condition import ConditionName, LetterFigures, measures_of
from uketsuke.domain.dead_letter import Verdict, verdict_of
from uketsuke.domain.failure import MESSAGES, ErrorClass, Road
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, bounds_of
from uketsuke.http.openapi_letter_shapes import DeadLetter

PAGE = (Path(__file__).parents[3] / "docs" / "dead-letters.md").read_text()


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return [row.split(" | ") for row in rows[1:] if not row.startswith("---")]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_member_of_the_record_is_told() -> None:
    told = [word for first, _ in table("The record") for word in words(first)]

    assert sorted(told) == sorted(field.encode_name for field in msgspec.structs.fields(DeadLetter))


def test_every_road_is_told() -> None:
    roads = next(what for first, what in table("The record") if first == "`road`")

    assert set(words(roads)) == set(Road)


def test_every_class_stands_beside_its_verdict() -> None:
    told = {
        ErrorClass(name): Verdict(verdict.strip("`"))
        for verdict, _, classes in table("Groups and verdicts")
        for name in words(classes)
    }

    assert told == {each: verdict_of(each, "no code of its own") for each in ErrorClass}


def test_the_codes_that_say_more_than_their_class_are_told() -> None:
    (sentence,) = re.findall(r"Some codes say more than their class: (.*?)\.\s", PAGE, re.DOTALL)
    told: dict[str, Verdict] = {}
    for part in sentence.split(";"):
        *codes, verdict = words(part)
        told |= dict.fromkeys(codes, Verdict(verdict))

    own = {code for code in MESSAGES if len({verdict_of(each, code) for each in ErrorClass}) == 1}
    assert told == {code: verdict_of(ErrorClass.UNKNOWN, code) for code in own}


def test_every_condition_is_told_with_its_limit() -> None:
    figures = LetterFigures(open=0, past_triage=0, expiring=0, last_hour=0, hour_before=0)
    measures = measures_of(figures, dlq_oldest=None, bounds=bounds_of(DEFAULT_OBJECTIVES))
    bounds = {each.name: each.bound for each in measures}

    rows = {words(name)[0]: limit for name, _, limit in table("What is worth an alert")}

    assert list(rows) == list(bounds)
    for name, limit in rows.items():
        assert re.findall(r"\d+", limit) == [str(bounds[ConditionName(name)])]
