"""Money: whole micro-dollars inside, a decimal string outside, never a float."""

from __future__ import annotations

import re
from typing import Final

MICROS: Final = 1_000_000  # of a dollar
# What the API takes where money is asked for: up to six decimals, above zero.
USD_PATTERN: Final = r"^(?=[0-9.]*[1-9])(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$"
_USD: Final = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,6}))?", re.ASCII)


def parse_usd(text: str) -> int:
    """Read decimal dollars, zero or more, as micro-dollars. Raises ``ValueError``."""
    found = _USD.fullmatch(text)
    if found is None:
        raise ValueError("dollars are decimal, with up to 9 digits and 6 decimals")
    return int(found[1]) * MICROS + int((found[2] or "").ljust(6, "0"))


def show_usd(micros: int) -> str:
    """Write micro-dollars, zero or more, as decimal dollars with six decimals."""
    return f"{micros // MICROS}.{micros % MICROS:06d}"
