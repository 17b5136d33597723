"""The known prices after many answers, and the household's prices made from them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.client.answers import Band, MarketPrices
from custom_components.tunnihind.client.known import (
    KEPT_PRICES_S,
    MAX_SETTLED_AHEAD_S,
    merged_answers,
    with_settled_prices,
)
from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.core.tariff import Tariff
from custom_components.tunnihind.household.prices_now import timeline_of
from tests.support.household.home import DAY_S
from tests.support.markets.price_strategies import HOURS, answers, eur_mwh

NOW = HOURS.start + DAY_S
AHEAD_S = st.sampled_from([0, 0, 60, -3 * HOUR_S, 10 * DAY_S, -10 * DAY_S])
"""The lead of the server's clock over the household's."""
HISTORY = st.dictionaries(st.integers(-60, 60).map(lambda hours: NOW + hours * HOUR_S), eur_mwh, max_size=8)


def answer(**fields: object) -> MarketPrices:
    nothing = MarketPrices(
        now=NOW, made_at=None, last_refresh=None, backtest=None, settled={}, forecast={}, step_s=HOUR_S
    )
    return replace(nothing, **fields)  # type: ignore[arg-type]


@given(answers(), answers(), AHEAD_S)
def test_the_newest_answer_replaces_known_prices(older: MarketPrices, newer: MarketPrices, ahead_s: int) -> None:
    now = newer.now - ahead_s
    known = merged_answers(older, newer, now)
    assert known.settled.items() >= {item for item in newer.settled.items() if item[0] >= now - KEPT_PRICES_S}
    assert known.forecast.items() >= {item for item in newer.forecast.items() if item[0] >= now - KEPT_PRICES_S}
    assert (known.now, known.made_at, known.last_refresh) == (newer.now, newer.made_at, newer.last_refresh)


@given(answers(), answers(), HISTORY, AHEAD_S)
def test_settled_prices_stay_for_two_days_of_the_households_clock(
    older: MarketPrices, newer: MarketPrices, history: dict[int, float], ahead_s: int
) -> None:
    now = newer.now - ahead_s
    known = with_settled_prices(merged_answers(older, newer, now), history, now)
    facts = {start for start in older.settled if start < max(now, newer.now) + MAX_SETTLED_AHEAD_S}
    told = facts | history.keys() | newer.settled.keys()
    assert known.settled.keys() == {start for start in told if start >= now - KEPT_PRICES_S}


@given(answers(), answers(), AHEAD_S)
def test_older_forecasts_stay_only_for_hours_that_have_begun(
    older: MarketPrices, newer: MarketPrices, ahead_s: int
) -> None:
    now = newer.now - ahead_s
    left = merged_answers(older, newer, now).forecast.keys() - newer.forecast.keys()
    begun = {start for start in older.forecast if start <= max(now, newer.now) or newer.now < now - HOUR_S}
    assert left == {start for start in begun - newer.forecast.keys() if start >= now - KEPT_PRICES_S}


@given(answers())
def test_an_answer_that_comes_again_changes_nothing(newer: MarketPrices) -> None:
    once = merged_answers(None, newer, newer.now)
    assert merged_answers(once, newer, newer.now) == once


@given(answers(), HISTORY)
def test_hours_are_stored_in_the_order_of_time(newer: MarketPrices, history: dict[int, float]) -> None:
    settled = list(with_settled_prices(merged_answers(None, newer, NOW), history, NOW).settled)
    assert settled == sorted(settled)


@pytest.mark.parametrize(("home_ahead_s", "stays"), [(0, False), (-10 * DAY_S, False), (10 * DAY_S, True)])
def test_a_price_that_neither_clock_allows_yet_is_dropped(home_ahead_s: int, stays: bool) -> None:
    later = NOW + 10 * DAY_S
    before = answer(now=later, settled={later: 50.0})
    known = merged_answers(before, answer(settled={NOW: 60.0}), NOW + home_ahead_s)
    assert (later in known.settled) is stays


def test_an_answer_of_a_server_that_lost_its_data_leaves_settled_prices_known() -> None:
    before = answer(settled={NOW: 50.0, NOW + HOUR_S: 60.0}, forecast={NOW + 2 * HOUR_S: Band(1, 2, 3)})
    known = merged_answers(before, answer(now=NOW + 60), NOW + 60)
    assert known.settled == before.settled


def test_the_forecast_of_an_hour_that_began_unpublished_stays_known() -> None:
    before = answer(forecast={NOW + HOUR_S: Band(1, 2, 3), NOW + 2 * HOUR_S: Band(4, 5, 6)})
    newer = answer(now=NOW + HOUR_S, forecast={NOW + 2 * HOUR_S: Band(7, 8, 9)})
    known = merged_answers(before, newer, newer.now)
    assert known.forecast == {NOW + HOUR_S: Band(1, 2, 3), NOW + 2 * HOUR_S: Band(7, 8, 9)}


def test_a_corrected_settled_price_replaces_the_known_one() -> None:
    known = merged_answers(answer(settled={NOW: 50.0}), answer(settled={NOW: 51.0}), NOW)
    assert known.settled == {NOW: 51.0}
    assert with_settled_prices(known, {NOW: 52.0}, NOW).settled == {NOW: 52.0}


@given(answers())
def test_every_known_hour_is_in_the_timeline_once_and_settled_if_settled(known: MarketPrices) -> None:
    hours = timeline_of(known, Tariff()).periods
    assert [hour.start for hour in hours] == sorted(known.settled.keys() | known.forecast.keys())
    assert {hour.start for hour in hours if hour.settled} == known.settled.keys()


@given(answers())
def test_all_percentiles_bear_the_tariff_and_stay_in_order(known: MarketPrices) -> None:
    tariff = Tariff()
    for hour in timeline_of(known, tariff).periods:
        assert hour.low <= hour.price <= hour.high
        assert hour.end - hour.start == HOUR_S
        if hour.settled:
            assert hour.low == hour.price == hour.high == tariff.price(known.settled[hour.start], hour.start)
        else:
            band = known.forecast[hour.start]
            expected = tuple(tariff.price(price, hour.start) for price in (band.p10, band.p50, band.p90))
            assert (hour.low, hour.price, hour.high) == expected


@given(answers(), st.integers(-HOUR_S, 70 * HOUR_S))
def test_an_answer_covers_the_instants_of_its_hours_settled_or_not(known: MarketPrices, place: int) -> None:
    moment = known.now + place
    hours = timeline_of(known, Tariff())
    assert (known.market_price(moment) is not None) is (hours.period_at(moment) is not None)
