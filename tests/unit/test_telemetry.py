"""The log's names and fields are closed lists, and docs/logs.md has the same ones."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from uketsuke.domain.lifecycle import JobEvent
from uketsuke.telemetry import EVENTS, EventName, Fields, Level, event, raised

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "worker" / "uketsuke"
PAGE = (ROOT / "docs" / "logs.md").read_text()
# What has no line of its own, by the page's own words.
SILENT = {JobEvent.RENEWED, JobEvent.POSTPONED, JobEvent.NUDGED}


def names_in_source() -> Iterator[str]:
    """Give each text that stands by itself in the product."""
    for path in SOURCE.rglob("*.py"):
        if path.name == "telemetry.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_name_has_its_row_and_every_row_its_name() -> None:
    assert set(EVENTS) == set(get_args(EventName))
    assert {told.level for told in EVENTS.values()} <= set(get_args(Level))


def test_no_name_is_left_that_nothing_tells() -> None:
    assert set(EVENTS) <= set(names_in_source())


def test_the_page_has_every_event_with_its_level_and_meaning() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", section("A job's life"), re.MULTILINE)

    assert rows == [(name, told.level, told.meaning) for name, told in EVENTS.items()]


def test_the_page_has_every_field_and_no_other() -> None:
    listed = re.findall(r"^\| (`.+?`) \|", section("Fields"), re.MULTILINE)
    names = [name for names in listed for name in re.findall(r"`([^`]+)`", names)]

    assert sorted(names) == sorted([*Fields.__annotations__, "event", "level"])


def test_the_page_has_a_line_for_every_transition_that_is_told() -> None:
    rows = re.findall(r"^\| ([a-z_, ]+) \| `\w+`", section("A job's life"), re.MULTILINE)
    listed = [JobEvent(name) for row in rows for name in row.split(", ")]

    assert sorted(listed) == sorted(set(JobEvent) - SILENT)


def test_a_line_is_one_json_object_with_its_event_and_level(
    capsys: pytest.CaptureFixture[str],
) -> None:
    named: Fields = {"job_id": "job_1", "gen_ai.usage.input_tokens": 7}
    event("provider_called", **named)

    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"event": "provider_called", "level": "info", **named}


def test_of_an_error_a_line_has_the_type_and_place_and_none_of_its_text() -> None:
    try:
        int("canary")
    except ValueError as error:
        told = raised(error)

    assert told["error.type"] == "ValueError"
    assert "canary" not in repr(told)
