"""What an hour cost, and what is said of those that have no price."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.past.hours import HourPrice, LeftOut, hour_price, hours_between, left_out_spans
from tunnihind.market import HOUR_S, QUARTER_S

HOUR = 1_768_374_000
QUARTERS = [HOUR + i * QUARTER_S for i in range(4)]


def in_cents(eur_mwh: float, start: int) -> float:
    """A household that pays a cent on top of the market's price, and four between :15 and :30."""
    return eur_mwh / 1000 + (0.04 if start == QUARTERS[1] else 0.01)


def test_billed_by_the_hour_all_its_quarters_cost_the_same() -> None:
    price = hour_price(HOUR, {HOUR: 100.0}, HOUR_S, in_cents)
    assert price == HourPrice((0.11, 0.11, 0.11, 0.11))


def test_billed_by_the_quarter_the_hours_price_is_their_mean() -> None:
    market = dict(zip(QUARTERS, (100.0, 0.0, -20.0, 60.0), strict=True))
    price = hour_price(HOUR, market, QUARTER_S, in_cents)
    assert isinstance(price, HourPrice)
    assert price.quarters == pytest.approx((0.11, 0.04, -0.01, 0.07))
    assert price.mean == 0.0525


@pytest.mark.parametrize("known", [[], QUARTERS[:3], QUARTERS[1:]])
def test_an_hour_of_which_a_price_is_missing_has_none(known: list[int]) -> None:
    assert hour_price(HOUR, dict.fromkeys(known, 50.0), QUARTER_S, in_cents) is LeftOut.NO_PRICE


def test_an_hour_without_a_rate_is_not_guessed() -> None:
    assert hour_price(HOUR, {HOUR: 50.0}, HOUR_S, lambda *_: None) is LeftOut.NO_RATE


@given(st.dictionaries(st.integers(0, 60).map(lambda i: HOUR + i * HOUR_S), st.sampled_from(LeftOut)))
def test_the_spans_are_exactly_the_hours_that_were_left_out(reasons: dict[int, LeftOut]) -> None:
    spans = left_out_spans(reasons)
    assert {hour: span.reason for span in spans for hour in range(span.start, span.end, HOUR_S)} == reasons
    for before, after in pairwise(spans):
        assert before.end < after.start or (before.end == after.start and before.reason is not after.reason)


@given(st.integers(0, 10**9), st.integers(0, 10**5))
def test_only_whole_hours_are_between_two_instants(start: int, length: int) -> None:
    hours = list(hours_between(start, start + length))
    assert all(hour % HOUR_S == 0 and start <= hour and hour + HOUR_S <= start + length for hour in hours)
    assert len(hours) >= (length - HOUR_S + 1) // HOUR_S
