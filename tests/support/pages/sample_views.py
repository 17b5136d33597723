"""Made-up days for the pages. Each day has some difficulty for them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from math import sin

import numpy as np

from tests.support.api.api_server import HOUR, hours_view
from tests.support.markets.runs import run_with
from tunnihind.api.served_data import Percentiles, ServedData, ServedSeries
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, consumer_price, day_end, day_start, delivery_day
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.decisions import PLAN_HOURS, DecisionScores, PlanScores
from tunnihind.forecast.scoring.live_scores import MonthScores, ScoresByMonth, WindowScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.forecast.scoring.weather_scores import LeadAgreement, VariableScores
from tunnihind.price_series import PriceSeries
from tunnihind.web.notices import SourceState
from tunnihind.web.summary import PageContext
from tunnihind.web.weather import RegionWeather


def price(ts: int) -> float:
    """Return a price of an ordinary winter's day, EUR/MWh: two peaks, a cheap night, all hours different."""
    hour = ts // HOUR_S
    return round(90 + 45 * sin(hour / 24 * 6.2832 - 1.8) + 25 * sin(hour / 12 * 6.2832) + hour % 7, 2)


def percentiles(ts: int) -> Percentiles:
    """Return the earlier forecast of an hour."""
    return Percentiles(round(price(ts) - 34, 2), round(price(ts) + 6.5, 2), round(price(ts) + 71, 2))


def run(now: int, hours: int = 150) -> Run:
    """Return a forecast made at the top of the current hour."""
    start = now // HOUR_S * HOUR_S + HOUR_S
    rows = np.array([percentiles(start + i * HOUR_S) for i in range(hours)])
    return run_with(rows.T, made_at=start - HOUR_S, tier="weather")


def scores(days: int, mae: float, coverage: float) -> Scores:
    return Scores(
        n=24 * days,
        mae=mae,
        baseline_mae=52.3,
        skill=1 - mae / 52.3,
        coverage80=coverage,
        below10=0.1,
        above90=0.9 - coverage,
        pinball=mae / 3,
        winkler80=5 * mae,
        width=3 * mae,
    )


def window(days: int, month: int = 3) -> WindowScores:
    """Return the scores of forecasts over some days: worse with more days ahead, and worse in winter than in summer."""
    harder = 1 + 0.3 * sin(month / 12 * 6.2832 + 1.5708)
    plans = {
        lead: {
            hours: PlanScores(days, 46.0 - 3 * hours - lead, 39.0 - 3 * hours, 41.5 - 3 * hours, 55.0 - 3 * hours)
            for hours in PLAN_HOURS
        }
        for lead in range(1, 8)
    }
    return WindowScores(
        days=days,
        by_days_ahead={lead: scores(days, (24 + 2 * lead) * harder, 0.82 - lead / 100) for lead in range(1, 8)},
        overall=scores(7 * days, 31, 0.79),
        seven_day_mean_mae={lead: (38.0 + lead) * harder for lead in range(1, 8)},
        decisions=DecisionScores(plans, PlanScores(days - 6, 63.6, 44.6, 58.1, 77.3)),
    )


def before_the_first_scores(now: int = HOUR + 612) -> ServedData:
    """Return an ordinary view of a server that has not scored any of its own forecasts yet."""
    months = tuple(MonthScores(f"2025-{month:02}", window(30, month)) for month in range(9, 13))
    return replace(ordinary(now), recent_scores=(), monthly_scores=ScoresByMonth(backtest=months))


def settled(first: int, last: int) -> PriceSeries:
    """Return settled prices from one hour to another, both included."""
    return PriceSeries.of("ee", HOUR_S, {ts: price(ts) for ts in range(first, last + 1, HOUR_S)})


def shaped(ts: int, hour: float) -> float:
    """Return the price of a quarter, which rises through its hour, from the hour's mean price."""
    return round(hour + (-9.0, -2.5, 3.5, 8.0)[ts % HOUR_S // QUARTER_S], 2)


def in_quarters(view: ServedData) -> ServedData:
    """Return a view of hours with quarters for all of its prices and forecasts."""
    of_hours = view.hours.settled
    settled_quarters = {ts: shaped(ts, of_hours[hour]) for hour in of_hours for ts in quarters_of(hour)}
    issued = {
        ts: Percentiles(*(shaped(ts, value) for value in said))
        for hour, said in view.hours.issued.items()
        for ts in quarters_of(hour)
    }
    of_quarters = ServedSeries(
        PriceSeries.of("ee", QUARTER_S, settled_quarters),
        issued=issued,
        run=view.hours.run and run_in_quarters(view.hours.run),
    )
    return replace(view, series={**view.series, QUARTER_S: of_quarters})


def quarters_of(hour: int) -> range:
    return range(hour, hour + HOUR_S, QUARTER_S)


def run_in_quarters(of_hours: Run) -> Run:
    """Return the run of quarters that belongs to a run of hours."""
    rows = [
        [shaped(ts, value) for value in said]
        for hour, *said in zip(of_hours.starts(), of_hours.p10, of_hours.p50, of_hours.p90, strict=True)
        for ts in quarters_of(hour)
    ]
    return Run.of(
        made_at=of_hours.made_at,
        tier=of_hours.tier,
        zone=of_hours.zone,
        step_s=QUARTER_S,
        start_ts=of_hours.start_ts,
        percentiles=np.array(rows).T,
        inputs={},
    )


def weather(hour: int) -> RegionWeather:
    """Return a forecast from a day before an hour on, for ten days: changing wind, and sun at noon."""
    hours = np.arange(-24, 216)
    noon = np.cos((hours + hour // HOUR_S % 24 - 12) / 12 * np.pi)
    return RegionWeather(hour - DAY_S, 8.0 + 5.0 * np.sin(hours / 17), np.maximum(0.0, 420.0 * noon))


def weather_scores() -> tuple[VariableScores, ...]:
    """Return a month's scores of wind and temperature, which fall with the days ahead.

    Wind has no score for the seventh day.
    """
    return tuple(
        VariableScores(variable, unit, tuple(LeadAgreement(lead, 30, 1 - lead * loss, lead * 0.3) for lead in leads))
        for variable, unit, loss, leads in (
            ("wind_speed_100m", "m/s", 0.07, range(1, 7)),
            ("temperature_2m", "°C", 0.01, range(1, 8)),
        )
    )


def ordinary(now: int = HOUR + 612, prices: Mapping[int, float] | None = None) -> ServedData:
    """Return a fortnight of prices and past forecasts, tomorrow settled, and a forecast after that."""
    hour = now // HOUR_S * HOUR_S
    known = settled(hour - 14 * DAY_S, day_end(delivery_day(now + DAY_S)) - HOUR_S)
    return in_quarters(
        hours_view(
            "ordinary",
            PriceSeries.of("ee", HOUR_S, {**known, **(prices or {})}),
            issued={ts: percentiles(ts) for ts in range(hour - 10 * DAY_S, hour + HOUR_S, HOUR_S)},
            run=run(now),
            last_refresh=hour,
            recent_scores=tuple(window(days) for days in (7, 30, 90)),
            monthly_scores=ScoresByMonth(
                issued=tuple(MonthScores(f"2025-{month:02}", window(30, month)) for month in range(1, 13))
            ),
        )
    )


def page_context(now: int = HOUR + 612) -> PageContext:
    """Return weather to the end of the ordinary view's forecast, and three sources."""
    hour = now // HOUR_S * HOUR_S
    sources = (
        SourceState("elering", hour, None, None),
        SourceState("entsoe", hour - DAY_S, "token", 401),
        SourceState("open-meteo", None, "unreachable", None),
    )
    return PageContext(weather(hour), sources, weather_scores())


def negative(now: int = HOUR + 612) -> ServedData:
    """Return an ordinary view with a windy noon below zero, and one hour that is almost zero."""
    noon = now // HOUR_S * HOUR_S + 2 * HOUR_S
    prices = {noon + i * HOUR_S: -12.34 - i for i in range(4)}
    return ordinary(now, {**prices, noon + 4 * HOUR_S: -0.004})


def noon_of(day: date) -> int:
    """Return the instant of noon UTC on a day."""
    return day_start(day) + 12 * HOUR_S


def without_forecast(now: int = HOUR + 612) -> ServedData:
    """Return a view of settled prices only."""
    hour = now // HOUR_S * HOUR_S
    return in_quarters(hours_view("no forecast", settled(hour - 3 * DAY_S, hour + 10 * HOUR_S), last_refresh=hour))


def until_this_hour(now: int = HOUR + 612) -> ServedData:
    """Return a view whose settled prices end with the present hour, and a forecast after that."""
    hour = now // HOUR_S * HOUR_S
    known, issued = settled(hour - 3 * DAY_S, hour), {hour + HOUR_S: percentiles(hour + HOUR_S)}
    return in_quarters(hours_view("this hour", known, issued=issued, run=run(now), last_refresh=hour))


def without_this_hour(now: int = HOUR + 612) -> ServedData:
    """Return a view of settled prices in which the present hour is missing."""
    hour = now // HOUR_S * HOUR_S
    known = {**settled(hour - 3 * DAY_S, hour - HOUR_S), **settled(hour + HOUR_S, hour + 10 * HOUR_S)}
    return in_quarters(hours_view("gap", PriceSeries.of("ee", HOUR_S, known), last_refresh=hour))


def stale(now: int = HOUR + 612) -> ServedData:
    """Return a view without new data for nine hours. It lacks the current hour's price."""
    hour = now // HOUR_S * HOUR_S
    then = now - 9 * HOUR_S
    return in_quarters(hours_view("stale", settled(hour - 3 * DAY_S, hour - HOUR_S), run=run(then), last_refresh=then))


def forgotten(now: int = HOUR + 612) -> ServedData:
    """Return a view whose newest price is two days old."""
    hour = now // HOUR_S * HOUR_S
    return in_quarters(
        hours_view("forgotten", settled(hour - 5 * DAY_S, hour - 2 * DAY_S), last_refresh=now - 2 * DAY_S)
    )


LAST = HOUR + 72 * HOUR_S
"""The last hour of the ordinary view's public forecast, which ends 72 h after its now."""

END = LAST + 3 * HOUR_S
"""The end of the shown chart: three hours after the start of the last hour."""


LAWFUL_VAT_RATE = 0.24
"""The legal rate on the ordinary view's day."""


def consumer(ts: int) -> float:
    """Return an hour's price in EUR/kWh with the legal VAT of the ordinary view's day."""
    return consumer_price(price(ts), LAWFUL_VAT_RATE)
