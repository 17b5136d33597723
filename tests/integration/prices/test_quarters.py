"""Quarters of an hour beside hours: the length of a period is a value, and nothing else changes with it."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given

from custom_components.tunnihind.client.answers import Band, MarketPrices
from custom_components.tunnihind.client.known import merged_answers
from custom_components.tunnihind.core.levels import Level
from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.core.tariff import Tariff
from custom_components.tunnihind.household.prices_now import PricesNow, timeline_of
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.days import Day, day_of
from tests.support.markets.price_strategies import answers

TARIFF = Tariff()
DAYS = [
    pytest.param(date(2026, 3, 29), 92, id="spring"),
    pytest.param(date(2026, 1, 14), 96, id="winter"),
    pytest.param(date(2026, 10, 25), 100, id="autumn"),
]


def answer(day: Day, step_s: int) -> MarketPrices:
    """Return a day whose price rises by 1 EUR/MWh with every hour, and by 0.1 with every quarter in it."""
    settled = {
        start: (start - day.start) // HOUR_S + (start - day.start) % HOUR_S // QUARTER_S / 10
        for start in range(day.start, day.end, step_s)
    }
    forecast = {start: Band(1.0, 2.0, 3.0) for start in range(day.end, day.end + 6 * HOUR_S, step_s)}
    return MarketPrices(day.start, None, None, None, settled, forecast, step_s)


def seen_at(now: int, known: MarketPrices) -> PricesNow:
    line = timeline_of(known, TARIFF)
    return PricesNow(now, known, line, line, cheap_hours=6, outcomes={})


@pytest.mark.parametrize(("date_", "quarters"), DAYS)
def test_a_day_of_quarters_is_whole_with_all_of_them(date_: date, quarters: int) -> None:
    day = day_of(ESTONIA, date_)
    known = answer(day, QUARTER_S)
    view = seen_at(day.start, known)
    assert len(view.settled_periods_on(view.today)) == quarters
    assert view.today_summary is not None
    assert view.today_summary.lowest.start == day.start
    assert view.today_summary.highest.end == day.end
    del known.settled[day.start + QUARTER_S]
    assert seen_at(day.start, known).today_summary is None


@pytest.mark.parametrize(("date_", "quarters"), DAYS)
def test_current_and_next_price_change_with_each_quarter(date_: date, quarters: int) -> None:
    day = day_of(ESTONIA, date_)
    view = seen_at(day.start + HOUR_S + QUARTER_S + 60, answer(day, QUARTER_S))
    assert view.current_period is not None
    assert view.next_period is not None
    assert (view.current_period.start, view.current_period.end) == (
        day.start + 5 * QUARTER_S,
        day.start + 6 * QUARTER_S,
    )
    assert view.next_period.start == view.current_period.end
    assert view.rank == 6
    assert view.level is Level.VERY_LOW
    assert view.predicted_bands[0]["start"] < view.predicted_bands[1]["start"]
    assert len(view.predicted_bands) == 6 * HOUR_S // QUARTER_S


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
def test_six_cheap_hours_last_six_hours_in_any_periods(step_s: int) -> None:
    day = day_of(ESTONIA, date(2026, 1, 14))
    known = answer(day, step_s)
    cheap = [start for start in known.settled if seen_at(start, known).is_cheap]
    assert cheap == list(range(day.start, day.start + 6 * HOUR_S, step_s))


def test_a_plan_runs_in_the_cheapest_quarters() -> None:
    day = day_of(ESTONIA, date(2026, 1, 14))
    known = answer(day, QUARTER_S)
    dip = day.start + 10 * HOUR_S + 2 * QUARTER_S
    known.settled.update({dip: -5.0, dip + QUARTER_S: -5.0})
    plan = PlanSettings.from_mapping({"duration": 30})
    window = next_outcome(plan, timeline_of(known, TARIFF), day.start)
    assert isinstance(window, Window)
    assert window.pieces == ((dip, dip + 2 * QUARTER_S),)


def test_hours_known_from_before_do_not_mix_with_quarters() -> None:
    day = day_of(ESTONIA, date(2026, 1, 14))
    hours, quarters = answer(day, HOUR_S), answer(day, QUARTER_S)
    assert merged_answers(hours, quarters, day.start) == quarters


def test_quarters_known_from_before_count_as_hours_where_only_hours_come() -> None:
    day = day_of(ESTONIA, date(2026, 1, 14))
    hours, quarters = answer(day, HOUR_S), answer(day, QUARTER_S)
    later = replace(hours, settled={start: 9.0 for start in hours.settled if start >= day.start + 5 * HOUR_S})
    known = merged_answers(quarters, later, day.start)
    assert known.settled == {**{day.start + hour * HOUR_S: hour + 0.15 for hour in range(5)}, **later.settled}


def test_an_hour_is_the_mean_of_its_quarters_to_the_hundredth_as_the_server_rounds() -> None:
    quarters = {0: 84.37, 900: 84.38, 1800: 84.37, 2700: 84.38, 3600: 1.0}
    forecast = {4500 + place * 900: Band(place, 10 + place, 20 + place) for place in range(6)}
    hours = MarketPrices(0, None, None, None, quarters, forecast, QUARTER_S).with_hourly_prices()
    assert hours.step_s == HOUR_S
    assert hours.settled == {0: 84.38}
    # In the second hour, one quarter is settled. In the third hour, the last quarter is not known.
    assert hours.forecast == {3600: Band(1.0, 8.5, 16.0)}


@given(answers(step_s=QUARTER_S))
def test_an_hour_is_known_if_all_four_quarters_are(quarters: MarketPrices) -> None:
    hours = quarters.with_hourly_prices()
    for hour in {start - start % HOUR_S for start in (*quarters.settled, *quarters.forecast)}:
        instants = range(hour, hour + HOUR_S, QUARTER_S)
        assert (hours.market_price(hour) is not None) is all(
            quarters.market_price(start) is not None for start in instants
        )
        assert (hour in hours.settled) is all(start in quarters.settled for start in instants)
    assert hours.with_hourly_prices() is hours
