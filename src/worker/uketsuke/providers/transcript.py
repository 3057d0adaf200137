"""What a model heard, checked: lenient with what is absent, strict with what is wrong.

Whisper servers tell different parts of it; what they tell must hold together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from uketsuke.domain.failure import AttemptFailed
from uketsuke.providers.meaning import Fault, fault
from uketsuke.providers.storable import storable
from uketsuke.providers.told import told_language

# Eleven days: no recording that is taken is as long.
_LONGEST_SECONDS: Final = 1_000_000


def transcript_of(
    *, text: object, language: object, segments: object, duration: object
) -> dict[str, Any]:
    """Return the value of ``Provider.transcribe``'s answer. Raises ``AttemptFailed``."""
    if not isinstance(text, str):
        raise _unusable()
    heard = _segments(segments)
    seconds = _seconds(duration)
    if seconds is None and heard:
        seconds = heard[-1]["end"]
    return {
        "text": _storable(text),
        "language": told_language(language),
        "segments": heard,
        "duration_seconds": seconds,
    }


def audio_ms_of(transcript: Mapping[str, Any]) -> int | None:
    seconds = transcript["duration_seconds"]
    return None if seconds is None else round(seconds * 1000)


def _segments(listed: object) -> list[dict[str, Any]]:
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise _unusable()
    segments = [_segment(entry) for entry in listed]
    starts = [segment["start"] for segment in segments]
    if starts != sorted(starts):
        raise _unusable()
    return segments


def _segment(entry: object) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
        raise _unusable()
    start, end = _seconds(entry.get("start")), _seconds(entry.get("end"))
    if start is None or end is None or end < start:
        raise _unusable()
    return {"start": start, "end": end, "text": _storable(entry["text"])}


def _seconds(value: object) -> float | None:
    """Read a time; OpenAI's own duration has been a string at times."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _unusable()
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        raise _unusable() from None
    if not 0 <= seconds <= _LONGEST_SECONDS:  # nor what is no number
        raise _unusable()
    return seconds


def _storable(text: str) -> str:
    return storable(text, otherwise=Fault.TRANSCRIPT_UNFIT)


def _unusable() -> AttemptFailed:
    return fault(Fault.TRANSCRIPT_UNFIT)
