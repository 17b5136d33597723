"""Levels, colours, average bands, late prices and stale forecasts: the integration."""

from itertools import pairwise

import pytest

from custom_components.tunnihind.card.columns import household_columns
from custom_components.tunnihind.client.answers import Band, MarketPrices
from custom_components.tunnihind.client.polling import Problem, ServerStatus
from custom_components.tunnihind.core.levels import levels
from custom_components.tunnihind.core.market import ESTONIA
from custom_components.tunnihind.core.tariff import Tariff
from custom_components.tunnihind.household.prices_now import PricesNow, timeline_of
from custom_components.tunnihind.household.problems import problems
from custom_components.tunnihind.plans.saving import average_percentiles
from custom_components.tunnihind.prices.days import day_at
from custom_components.tunnihind.prices.timeline import Period
from tests.support.household.home import instant
from tests.support.shared_rules import (
    AVERAGE_BAND,
    HOUR_S,
    LEVELS,
    SCALE,
    TINTS,
)
from tests.support.shared_rules import Band as Percentiles

MORNING = instant("2026-01-14T10:00:00+02:00")


def problems_at(now: int, *, settled_until: int, forecast_age_s: int = 0) -> list[Problem]:
    hour = now - now % HOUR_S
    settled = dict.fromkeys(range(hour - 24 * HOUR_S, settled_until, HOUR_S), 50.0)
    forecast = {start: Band(40.0, 50.0, 60.0) for start in range(hour + HOUR_S, hour + 48 * HOUR_S, HOUR_S)}
    answer = MarketPrices(now, now - forecast_age_s, now, None, settled, forecast, HOUR_S)
    line = timeline_of(answer, Tariff())
    view = PricesNow(now, answer, line, line, cheap_hours=6, outcomes={})
    server_status = ServerStatus(
        answered_at=now,
        answer_made_at=now,
        clock_ahead_s=0,
        is_history_missing=False,
        are_quarters_missing=False,
        wrong_server=None,
    )
    return problems(view, server_status)


@pytest.mark.parametrize(("prices", "expected"), LEVELS.values(), ids=LEVELS)
def test_the_hours_of_a_day_are_sorted_into_fifths(prices: list[float], expected: list[str]) -> None:
    assert levels(prices) == expected


def test_the_card_gets_the_places_of_the_same_colours() -> None:
    settled = {MORNING + place * HOUR_S: price for place, price in enumerate(TINTS)}
    answer = MarketPrices(MORNING, MORNING, MORNING, None, settled, {}, HOUR_S)
    line = timeline_of(answer, tariff := Tariff(chosen_vat_rate=0))
    view = PricesNow(MORNING, answer, line, line, cheap_hours=6, outcomes={}, price_scale=tuple(SCALE))
    columns = household_columns(view, tariff, MORNING, max(settled) + HOUR_S)
    assert columns is not None
    names = ["t0", "t1", "t2", "t3", "t4", "negative"]
    assert [names[place] for place in columns["tint"] if place is not None] == list(TINTS.values())


@pytest.mark.parametrize(("age_s", "is_stale"), [(0, False), (3 * HOUR_S, False), (3 * HOUR_S + 1, True)])
def test_data_problem_calls_the_same_forecast_stale(age_s: int, *, is_stale: bool) -> None:
    found = problems_at(MORNING, settled_until=day_at(ESTONIA, MORNING).end + HOUR_S, forecast_age_s=age_s)
    assert (Problem.FORECAST_STALE in found) is is_stale


@pytest.mark.parametrize(("at", "is_late"), [("2026-01-14T15:29:59+02:00", False), ("2026-01-14T15:30:00+02:00", True)])
def test_data_problem_calls_the_prices_of_tomorrow_late(at: str, *, is_late: bool) -> None:
    now = instant(at)
    assert (Problem.PRICES_LATE in problems_at(now, settled_until=day_at(ESTONIA, now).end + HOUR_S)) is is_late


@pytest.mark.parametrize(("prices", "band"), AVERAGE_BAND.values(), ids=AVERAGE_BAND)
def test_the_band_of_an_average(prices: dict[int, float | Percentiles], band: Percentiles) -> None:
    step_s = min((later - earlier for earlier, later in pairwise(prices)), default=HOUR_S)
    periods = [
        Period(start, start + min(step_s, HOUR_S), price, price, price, settled=True)
        if isinstance(price, float)
        else Period(start, start + min(step_s, HOUR_S), price[1], price[0], price[2], settled=False)
        for start, price in prices.items()
    ]
    assert average_percentiles(periods) == pytest.approx(band, abs=1e-4)
