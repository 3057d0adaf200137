"""The page about the lifecycle says what the table says."""

from __future__ import annotations

import re
from pathlib import Path

from uketsuke.domain.lifecycle import TRANSITIONS, JobEvent, JobState

PAGE = Path(__file__).parents[3] / "docs" / "lifecycle.md"


def test_the_page_lists_every_transition_and_no_other() -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+) \| (\w+) \|", PAGE.read_text(), re.MULTILINE)

    listed = {
        (JobState(before), JobEvent(event)): JobState(after)
        for before, event, after in rows
        if before != "from"
    }
    assert listed == dict(TRANSITIONS)
