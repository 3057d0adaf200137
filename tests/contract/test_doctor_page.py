"""The page about the doctor says of each check what the check says of itself."""

from __future__ import annotations

import re
from pathlib import Path

from uketsuke.adapters.sql.doctor import CHECKS

PAGE = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text()


def told() -> dict[str, str]:
    """Return each check's part of the page, in single spaces."""
    parts = re.split(r"^### `(\w+)`$", PAGE, flags=re.MULTILINE)
    return {
        name: " ".join(part.split("\n## ")[0].split())
        for name, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_the_page_tells_each_check_in_the_checks_words() -> None:
    expected = {}
    for name, check in CHECKS.items():
        question = check.question
        lines = [question.holds, f"- Looked at: {question.looked_at}."]
        lines += [f"- Repair: {question.repair}"] if question.repair else []
        lines += [f"- By hand: {question.by_hand}"] if question.by_hand else []
        expected[name] = " ".join(" ".join(lines).split())

    assert told() == expected
    assert list(told()) == list(CHECKS)
