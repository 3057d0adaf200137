"""What a deployment says of prices: ``PRICES``, apart because it has a form of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Final

from uketsuke.domain.lane import Lane, parse_lane
from uketsuke.domain.money import parse_usd
from uketsuke.domain.price import Price
from uketsuke.domain.price_table import PRICE_TABLE

_HIGHEST_PRICE: Final = parse_usd("1000000")


def parse_prices(text: str) -> Mapping[Lane, Price]:
    """Read JSON of prices by model, on top of the built-in table.

    Raises what ``settings.read_settings`` takes for a mistake.
    """
    set_here = {parse_lane(lane): _price(**members) for lane, members in json.loads(text).items()}
    return {**PRICE_TABLE, **set_here}


def _price(
    *,
    as_of: str,
    input_per_million: str | None = None,
    output_per_million: str | None = None,
    audio_per_minute: str | None = None,
) -> Price:
    """Read one entry of ``PRICES``. It replaces the table's whole entry."""
    told = (input_per_million, output_per_million, audio_per_minute)
    put_in, out, minute = (None if usd is None else parse_usd(usd) for usd in told)
    if told == (None, None, None):
        raise ValueError("a price says what something costs")
    if max(put_in or 0, out or 0, minute or 0) > _HIGHEST_PRICE:
        raise ValueError("no model is as dear, and sums of such prices would fit no column")
    return Price(
        as_of=date.fromisoformat(as_of),
        source="PRICES",
        input_per_million=put_in,
        output_per_million=out,
        audio_per_minute=minute,
    )
