"""transcribe: a recording to what is said in it, with the times at which it is said.

One call, of minutes at most: what the limit on a recording's size lets in, a provider hears within
an attempt of the queue.
"""

from __future__ import annotations

from typing import Final

import msgspec

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import InputForm
from uketsuke.domain.lane import Capability
from uketsuke.domain.language import guess_language
from uketsuke.kinds.expected import expect_recording
from uketsuke.kinds.kind import Kind, LanguageTag, Work, always_queue


class TranscribeParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``language`` is a BCP 47 tag; without it, the model finds out."""

    language: LanguageTag | None = None


async def run(work: Work, params: TranscribeParams) -> dict[str, object]:
    """Return ``{"text", "language", "segments": [{"start", "end", "text"}], "duration_seconds"}``.

    Raises ``AttemptFailed`` for a recording in which nothing is said.
    """
    await work.progress(0, 1)
    heard = await work.transcribe("transcribe", _iso_639(params.language))
    text = heard["text"]
    if not text.strip():
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "no_speech")
    await work.progress(1, 1)
    return {
        "text": text,
        "language": heard["language"] or params.language or guess_language(text),
        "segments": heard["segments"],
        "duration_seconds": heard["duration_seconds"],
    }


def _iso_639(tag: str | None) -> str | None:
    """Return a tag's language, which is all that models of speech know of it."""
    return tag.partition("-")[0].lower() if tag else None


KIND: Final = Kind(
    name="transcribe",
    params=TranscribeParams,
    forms=frozenset({InputForm.REF}),
    max_input_bytes=100_000_000,
    engine=always_queue,
    calls=frozenset({Capability.TRANSCRIBE}),
    expects=expect_recording,
    run=run,
    gives="text",
)
