"""Texts written for this project: what the demo and the benchmarks work on.

Two articles of several pages, one English and one Japanese, short passages in both languages with
questions whose nearest passage a person sees at once, and a recorded announcement.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

ENGLISH_ARTICLE = "harbour.en.txt"
JAPANESE_ARTICLE = "lost_property.ja.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    id: str
    text: str
    nearest: frozenset[str]
    """The ids of the passages of which one must be the nearest."""


def article(name: str) -> str:
    """Return an article's whole text: a title, then headings and paragraphs."""
    return (files(__name__) / name).read_text(encoding="utf-8")


def title_of(text: str) -> str:
    return text.partition("\n")[0]


def recording() -> bytes:
    """Return an announcement of 20 s in English, spoken by espeak-ng: Ogg Vorbis."""
    return (files(__name__) / "radio.en.ogg").read_bytes()


def transcript() -> str:
    """Return what ``recording`` says."""
    return article("radio.en.txt").strip()


def passages() -> list[Passage]:
    return [Passage(id=raw["id"], text=raw["text"]) for raw in _searchable()["passages"]]


def questions() -> list[Question]:
    return [
        Question(id=raw["id"], text=raw["text"], nearest=frozenset(raw["nearest"]))
        for raw in _searchable()["questions"]
    ]


@cache
def _searchable() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(article("passages.json"))
    return found
