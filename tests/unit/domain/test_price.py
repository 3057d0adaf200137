"""Money and prices: exact, rounded up, never below what is true, and unknown rather than 0."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uketsuke.adapters.sql.cost_statements import estimate_of
from uketsuke.adapters.sql.rows import from_expected, from_tariff
from uketsuke.domain.lane import Capability, Lane
from uketsuke.domain.money import parse_usd, show_usd
from uketsuke.domain.price import (
    Expected,
    Price,
    Rates,
    Tariff,
    cost_of,
    estimate,
    highest,
    rates_for,
    tokens_in,
)
from uketsuke.domain.price_table import PRICE_TABLE

_RATES = st.builds(Rates, *[st.integers(0, 200_000_000)] * 3)
_AMOUNTS = st.integers(0, 20_000_000)
_CALL = st.tuples(_AMOUNTS, _AMOUNTS, _AMOUNTS)


@given(st.integers(0, 10**15 - 1))
def test_money_comes_back_as_it_was_written(micros: int) -> None:
    assert parse_usd(show_usd(micros)) == micros


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "1e3", ".5", "1.", "01", "0.0000001", "1,0", " 1", "1\n", "NaN", "１"]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="dollars"):
        parse_usd(text)


def exact(rates: Rates, call: tuple[int, int, int]) -> Fraction:
    tokens = Fraction(call[0] * rates.input + call[1] * rates.output, 1_000_000)
    return tokens + Fraction(call[2] * rates.audio, 60_000)


@given(_RATES, _CALL)
def test_a_call_costs_what_it_does_rounded_up_to_a_micro_dollar(
    rates: Rates, call: tuple[int, int, int]
) -> None:
    cost = cost_of(rates, input_tokens=call[0], output_tokens=call[1], audio_ms=call[2])

    assert cost == math.ceil(exact(rates, call))


@given(_RATES, st.lists(_CALL, min_size=1, max_size=8))
def test_an_estimate_is_never_below_the_calls_that_it_was_made_for(
    rates: Rates, calls: list[tuple[int, int, int]]
) -> None:
    costs = [
        cost_of(rates, input_tokens=call[0], output_tokens=call[1], audio_ms=call[2])
        for call in calls
    ]
    totals = [sum(part) for part in zip(*calls, strict=True)]
    expected = Expected(
        input_tokens=totals[0], output_tokens=totals[1], audio_ms=totals[2], calls=len(calls)
    )

    whole = estimate(rates, expected)

    assert whole is not None
    assert sum(cost or 0 for cost in costs) <= whole
    assert whole <= sum(exact(rates, call) for call in calls) + len(calls)


@given(st.builds(Expected, input_tokens=_AMOUNTS, output_tokens=_AMOUNTS))
def test_what_is_free_costs_nothing_and_need_not_be_known(used: Expected) -> None:
    free = Rates(0, 0, 0)

    assert estimate(free, used) == 0
    assert cost_of(free, input_tokens=None, output_tokens=None, audio_ms=None) == 0


@pytest.mark.parametrize(
    ("rates", "figures"),
    [
        (None, (1, 1, 1)),
        (Rates(1, 0, 0), (None, 1, 1)),
        (Rates(0, 1, 0), (1, None, 1)),
        (Rates(0, 0, 1), (1, 1, None)),
    ],
)
def test_an_unknown_price_or_figure_makes_the_cost_unknown(
    rates: Rates | None, figures: tuple[int | None, int | None, int | None]
) -> None:
    told = dict(zip(("input_tokens", "output_tokens", "audio_ms"), figures, strict=True))

    assert cost_of(rates, **told) is None


def test_a_price_says_only_what_the_model_is_sold_by() -> None:
    embedding = Price(as_of=date(2026, 11, 29), source="", input_per_million=20_000)
    hearing = Price(as_of=date(2026, 11, 29), source="", audio_per_minute=6_000)

    assert rates_for(embedding, Capability.EMBED) == Rates(20_000, 0, 0)
    assert rates_for(embedding, Capability.CHAT) is None
    assert rates_for(hearing, Capability.TRANSCRIBE) == Rates(0, 0, 6_000)
    assert rates_for(hearing, Capability.EMBED) is None
    assert rates_for(None, Capability.CHAT) is None


def test_several_sorts_of_call_are_reckoned_by_the_dearest_of_each() -> None:
    assert highest([Rates(1, 5, 0), Rates(3, 0, 7)]) == Rates(3, 5, 7)
    assert highest([Rates(1, 5, 0), None]) is None
    assert highest([]) == Rates(0, 0, 0)


@given(
    st.none() | _RATES,
    st.builds(
        Expected,
        input_tokens=_AMOUNTS,
        output_tokens=_AMOUNTS,
        audio_ms=_AMOUNTS,
        calls=st.integers(1, 3000),
    ),
)
def test_the_claiming_statement_reckons_as_we_do(rates: Rates | None, expected: Expected) -> None:
    document, _ = from_tariff(Tariff(rates={"a-kind": rates} if rates else {}))
    row = "(SELECT 'a-kind' AS kind, ?2 AS expected) AS j"

    with closing(sqlite3.connect(":memory:")) as connection:
        ((found,),) = connection.execute(
            f"SELECT {estimate_of('j', rates='?1')} FROM {row}",  # noqa: S608 - our own text
            {"1": document, "2": from_expected(expected)},
        )

    assert found == estimate(rates, expected)


@pytest.mark.parametrize("lane", PRICE_TABLE, ids=str)
def test_each_price_of_the_table_says_where_it_is_from_and_is_plausible(lane: Lane) -> None:
    price = PRICE_TABLE[lane]
    told = [price.input_per_million, price.output_per_million, price.audio_per_minute]
    known = [figure for figure in told if figure is not None]

    assert price.source.startswith("https://")
    assert date(2025, 1, 1) <= price.as_of <= date(2026, 11, 29)
    assert known
    assert all(0 < figure < 100_000_000 for figure in known)


def test_tokens_are_reckoned_on_the_safe_side() -> None:
    english = "The quick brown fox jumps over the lazy dog."  # ten tokens, in most vocabularies
    japanese = "吾輩は猫である。名前はまだ無い。"  # about as many as characters

    assert tokens_in(len(english.encode())) >= 10
    assert tokens_in(len(japanese.encode())) >= len(japanese)
    assert tokens_in(0) == 0
