"""What a kind of job is expected to use, told from what is known at intake. On the safe side."""

from __future__ import annotations

from typing import Any, Final

from uketsuke.domain.job import InputForm
from uketsuke.domain.price import Expected, tokens_in

# Speech is seldom sent at less than 16 kbit/s: two bytes a millisecond.
_BYTES_A_MS: Final = 2
_BYTES_A_CALL: Final = 4_096


def expect_recording(_form: InputForm, size: int, _params: Any) -> Expected:
    """Reckon with one call that hears a recording."""
    return Expected(audio_ms=size // _BYTES_A_MS)


def expect_by_size(_form: InputForm, size: int, _params: Any) -> Expected:
    """Reckon with a kind that reads its input once, whatever it is, and writes as much again."""
    return Expected(
        input_tokens=tokens_in(size),
        output_tokens=tokens_in(size),
        audio_ms=size // _BYTES_A_MS,
        calls=1 + size // _BYTES_A_CALL,
    )
