"""An hour among the other hours of its day."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.levels import Level, levels
from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.prices.timeline import Period, is_cheap, rank
from tests.support.markets.price_strategies import eur_kwh


def _day(prices: Sequence[float]) -> list[Period]:
    return [
        Period(place * HOUR_S, (place + 1) * HOUR_S, price, price, price, settled=True)
        for place, price in enumerate(prices)
    ]


def levels_of(day: Sequence[Period]) -> list[Level]:
    return levels([hour.price for hour in day])


days = st.lists(eur_kwh, min_size=23, max_size=25).map(_day)
even_days = st.lists(eur_kwh, min_size=23, max_size=25, unique=True).map(_day)
_ORDER = list(Level)


@given(days)
def test_the_cheapest_hour_is_first_and_equal_prices_share_the_better_place(day: list[Period]) -> None:
    ranks = {hour.price: rank(hour, day) for hour in day}
    assert ranks[min(ranks)] == 1
    for price, place in ranks.items():
        assert place == 1 + len([hour for hour in day if hour.price < price])


@given(even_days)
def test_different_prices_take_every_place_once(day: list[Period]) -> None:
    assert sorted(rank(hour, day) for hour in day) == list(range(1, len(day) + 1))


@given(days)
def test_a_more_expensive_hour_never_has_a_lower_level(day: list[Period]) -> None:
    found = [_ORDER.index(level) for level in levels(sorted(hour.price for hour in day))]
    assert found == sorted(found)


@given(even_days)
def test_levels_are_fifths(day: list[Period]) -> None:
    counts = [levels_of(day).count(each) for each in Level]
    assert max(counts) - min(counts) <= 1


@given(days)
def test_a_day_and_its_mirror_have_mirrored_levels(day: list[Period]) -> None:
    mirror = _day([-hour.price for hour in day])
    for hour, level, mirrored in zip(day, levels_of(day), levels_of(mirror), strict=True):
        exact = (rank(hour, day) - 1 + sum(other.price == hour.price for other in day) / 2) * 5 / len(day)
        if exact % 1:  # right on a border the upper one is meant, in the mirror too
            assert _ORDER.index(level) == 4 - _ORDER.index(mirrored)


@given(days, st.integers(1, 24))
def test_exactly_the_chosen_hours_are_cheap_and_the_earliest_of_equal_ones(day: list[Period], cheap: int) -> None:
    cheap_ones = [hour for hour in day if is_cheap(hour, day, cheap_hours=cheap)]
    assert len(cheap_ones) == min(cheap, len(day))
    for other in (hour for hour in day if hour not in cheap_ones):
        assert all((one.price, one.start) < (other.price, other.start) for one in cheap_ones)


@pytest.mark.parametrize("hours", [23, 24, 25])
def test_every_hour_of_a_flat_day_is_normal_and_first_but_only_six_are_cheap(hours: int) -> None:
    day = _day([0.05] * hours)
    assert set(levels_of(day)) == {Level.NORMAL}
    assert {rank(hour, day) for hour in day} == {1}
    assert [hour for hour in day if is_cheap(hour, day, cheap_hours=6)] == day[:6]
