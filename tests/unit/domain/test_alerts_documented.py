"""The page about alerts says what the code says: objectives, limits, states, errors."""

from __future__ import annotations

import re
from pathlib import Path

from uketsuke.domain.alert import AlertState, DeliveryFault
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, hold_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "alerts.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return [row.replace("`", "").split(" | ") for row in found[1:]]


def test_every_objective_is_told_with_its_limit_and_how_long_it_must_hold() -> None:
    told = {name: (limit, hold) for name, limit, hold in rows("Objectives")}

    assert told == {
        name.value: (
            "off" if bound is None else str(bound),
            f"{hold_of(name).total_seconds():.0f} s",
        )
        for name, bound in DEFAULT_OBJECTIVES.items()
    }


def test_every_alert_has_a_section_that_its_message_links_to() -> None:
    assert re.findall(r"^### (.*)$", PAGE, re.MULTILINE) == [
        name.value for name in DEFAULT_OBJECTIVES
    ]


def test_every_state_and_every_error_class_is_told() -> None:
    assert [state for state, _ in rows("When an alert begins and ends")] == list(AlertState)
    assert [fault for fault, _ in rows("Delivery")] == list(DeliveryFault)


def test_every_link_leads_to_a_heading_that_is_there() -> None:
    for page, anchor in re.findall(r"\]\(([a-z-]+\.md)(?:#([^)]+))?\)", PAGE):
        headings = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(), re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
        assert not anchor or anchor in anchors, (page, anchor)
