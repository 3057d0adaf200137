"""Names of things: time-sorted, unguessable, safe in a URL.

An id is a prefix and 26 characters of Crockford's base 32: 48 bits of milliseconds, then
80 random bits (the layout of a ULID). Sorting ids sorts by age, which gives lists and purges
their order for nothing.
"""

from __future__ import annotations

import re
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_BODY: Final = f"[{_ALPHABET}]{{26}}"
RANDOM_BYTES: Final = 10

JOB_ID: Final = re.compile(rf"job_{_BODY}")
INPUT_ID: Final = re.compile(rf"in_{_BODY}")


def letter_id(job_id: str) -> str:
    """Name the dead letter of a job: a job has one at most."""
    return f"dl_{job_id.removeprefix('job_')}"


def time_sorted_id(prefix: str, *, now_ms: int, entropy: bytes) -> str:
    """Return ``{prefix}_{26 characters}`` from the time and ``RANDOM_BYTES`` random bytes."""
    if len(entropy) != RANDOM_BYTES:
        raise ValueError(f"an id takes {RANDOM_BYTES} random bytes")
    number = (now_ms & ((1 << 48) - 1)) << 80 | int.from_bytes(entropy)
    return f"{prefix}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
