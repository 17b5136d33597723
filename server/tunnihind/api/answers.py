"""Makes the answers of `/api/v1/forecast`, `/api/v1/quarters` and `/api/series`."""

from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from tunnihind.api.models.price_answers import (
    Backtest,
    DayAheadHour,
    DayAheadQuarter,
    ForecastHour,
    ForecastQuarter,
    ForecastResponse,
    QuartersResponse,
    SeriesActual,
    SeriesForecastPoint,
    SeriesResponse,
)
from tunnihind.api.periods import periods_of_run, served_periods
from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.core.market import (
    DAY_S,
    QUARTER_S,
    consumer_price,
    floor_hour,
    free_until,
    iso_utc,
    rounded_market_price,
    vat_rate_at,
)
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.settings import Settings

DEFAULT_HISTORY_DAYS: Final = 14
"""The days of history in `/api/series` if the request has no parameter `days`."""
MIN_HISTORY_DAYS: Final = 2
"""The fewest days of history in `/api/series`."""
MAX_HISTORY_DAYS: Final = 14
"""The most days of history in `/api/series` and `/api/v1/quarters`."""

_CACHED_QUARTERS: Final = 4096
"""The largest number of quarters in each cache. The longest answer contains fewer quarters."""


def clamped_history_days(days: int, least: int = MIN_HISTORY_DAYS) -> int:
    """Limit a requested number of days of history to the range from `least` to `MAX_HISTORY_DAYS`."""
    return min(max(days, least), MAX_HISTORY_DAYS)


def forecast_response(data: ServedData, now: int, settings: Settings) -> ForecastResponse:
    """Return the answer to `GET /api/v1/forecast` as of `now` (unix seconds)."""
    limit = free_until(data.newest_settled_ts, now)
    vat = settings.api_vat_rates
    return ForecastResponse(
        **common_fields(data, now, settings),
        backtest=_rounded_backtest(data.hours.backtest),
        day_ahead=settled_hours(data, now, settings),
        forecast=[
            _forecast_hour(ts, hour, vat_rate_at(vat, ts)) for ts, hour in _public_forecast(data.hours.run, now, limit)
        ],
    )


def series_response(data: ServedData, now: int, settings: Settings, days: int = DEFAULT_HISTORY_DAYS) -> SeriesResponse:
    """Return the answer to `GET /api/series` as of `now` (unix seconds), with `days` days of history.

    `days` is limited to the range 2 to 14.
    """
    limit = free_until(data.newest_settled_ts, now)
    current_hour = floor_hour(now)
    start = current_hour - clamped_history_days(days) * DAY_S
    vat = settings.api_vat_rates
    actuals = [_series_actual(ts, price, vat_rate_at(vat, ts)) for ts, price in _settled_prices_from(data, start)]
    past = [
        _series_forecast_point(ts, hour, vat_rate_at(vat, ts)) for ts, hour in _past_forecast(data, start, current_hour)
    ]
    future = [
        _series_forecast_point(ts, hour, vat_rate_at(vat, ts))
        for ts, hour in _public_forecast(data.hours.run, now, limit)
    ]
    ahead = [actual for actual in actuals if actual.ts >= current_hour]
    newest = data.newest_settled_ts
    unsettled = [point for point in future if newest is None or point.ts > newest]
    by_price, by_median = attrgetter("eur_mwh"), attrgetter("p50")
    return SeriesResponse(
        now=now,
        last_refresh=data.last_refresh,
        made_at=data.made_at,
        actuals=actuals,
        forecast=past + future,
        backtest=_rounded_backtest(data.hours.backtest),
        free_until=limit,
        gated=_is_gated(data.hours.run, limit),
        current=next((actual for actual in ahead if actual.ts == current_hour), None),
        cheapest=min(ahead, key=by_price, default=None),
        priciest=max(ahead, key=by_price, default=None),
        cheapest_forecast=min(unsettled, key=by_median, default=None),
        priciest_forecast=max(unsettled, key=by_median, default=None),
    )


def quarters_response(data: ServedData, now: int, settings: Settings, days: int = 0) -> QuartersResponse:
    """Return the answer to `GET /api/v1/quarters` as of `now` (unix seconds), with `days` days of history.

    `days` is limited to the range 0 to 14.
    """
    history = clamped_history_days(days, least=0)
    since = now - now % QUARTER_S - history * DAY_S
    served = served_periods(data, now, settings, step_s=QUARTER_S, since=since)
    vat, quarters = settings.api_vat_rates, data.at_step(QUARTER_S)
    return QuartersResponse(
        **common_fields(data, now, settings),
        backtest=_rounded_backtest(quarters.backtest),
        day_ahead=[
            _day_ahead_quarter(ts, price, vat_rate_at(vat, ts), hourly=ts in quarters.priced_by_hour)
            for ts, price in served.settled.items()
        ],
        # An answer with past forecasts also has the current quarter's forecast, so that no quarter is missing.
        forecast=[
            _forecast_quarter(ts, quarter, vat_rate_at(vat, ts))
            for ts, quarter in served.forecast.items()
            if history or ts > now
        ],
    )


def common_fields(data: ServedData, now: int, settings: Settings) -> dict[str, Any]:
    """Return the common fields of the answers to `/api/v1/forecast`, `/api/v1/quarters` and `/api/v1/scenarios`."""
    limit = free_until(data.newest_settled_ts, now)
    return {
        "zone": data.market.code,
        "currency": data.market.currency,
        "now": now,
        "made_at": data.made_at,
        "last_refresh": data.last_refresh,
        "free_until": limit,
        "gated": _is_gated(data.hours.run, limit),
        "docs": f"{settings.base_url}/docs",
    }


def settled_hours(data: ServedData, now: int, settings: Settings) -> list[DayAheadHour]:
    """Return the settled hourly prices from the current hour on."""
    vat = settings.api_vat_rates
    return [
        _day_ahead_hour(ts, price, vat_rate_at(vat, ts)) for ts, price in _settled_prices_from(data, floor_hour(now))
    ]


def _is_gated(run: Run | None, limit: int) -> bool:
    return run is not None and run.end_ts - run.step_s > limit


def _settled_prices_from(data: ServedData, start: int) -> Iterator[tuple[int, float]]:
    settled = data.hours.settled
    return iter(settled.between(start, settled.end_ts).items())


def _public_forecast(run: Run | None, now: int, limit: int) -> Iterator[tuple[int, Percentiles]]:
    if run is not None:
        yield from ((ts, hour) for ts, hour in periods_of_run(run) if now < ts <= limit)


def _past_forecast(data: ServedData, start: int, current_hour: int) -> list[tuple[int, Percentiles]]:
    """For each hour from `start` to `current_hour`, both included, return its start and its issued forecast, if any."""
    return sorted((ts, hour) for ts, hour in data.hours.issued.items() if start <= ts <= current_hour)


def _rounded_backtest(score: BacktestScore | None) -> Backtest | None:
    if score is None or rounded_market_price(score.baseline_mae) == 0:
        return None
    mae, baseline_mae = rounded_market_price(score.mae), rounded_market_price(score.baseline_mae)
    # The skill is computed from the rounded errors, so that clients can compute the same skill from the answer.
    skill = round(1 - mae / baseline_mae, 4)
    return Backtest(mae=mae, baseline_mae=baseline_mae, skill=skill, horizon_h=score.horizon_h)


def _day_ahead_hour(ts: int, eur_mwh: float, vat_rate: float) -> DayAheadHour:
    price = rounded_market_price(eur_mwh)
    return DayAheadHour(ts=ts, starts_at=iso_utc(ts), eur_mwh=price, eur_kwh=consumer_price(price, vat_rate))


# With the caches of the next two functions, making an answer with quarters of 14 past days takes 5 ms instead of 28 ms
# (`tests/benchmarks/bench_requests.py`).
@lru_cache(maxsize=_CACHED_QUARTERS)
def _day_ahead_quarter(ts: int, eur_mwh: float, vat_rate: float, *, hourly: bool) -> DayAheadQuarter:
    price = rounded_market_price(eur_mwh)
    return DayAheadQuarter(
        ts=ts, starts_at=iso_utc(ts), eur_mwh=price, eur_kwh=consumer_price(price, vat_rate), hourly=hourly
    )


@lru_cache(maxsize=_CACHED_QUARTERS)
def _forecast_quarter(ts: int, quarter: Percentiles, vat_rate: float) -> ForecastQuarter:
    return ForecastQuarter(ts=ts, starts_at=iso_utc(ts), **_percentile_fields(quarter, vat_rate))


def _series_actual(ts: int, eur_mwh: float, vat_rate: float) -> SeriesActual:
    price = rounded_market_price(eur_mwh)
    return SeriesActual(ts=ts, eur_mwh=price, eur_kwh=consumer_price(price, vat_rate))


def _forecast_hour(ts: int, hour: Percentiles, vat_rate: float) -> ForecastHour:
    return ForecastHour(ts=ts, starts_at=iso_utc(ts), **_percentile_fields(hour, vat_rate))


def _series_forecast_point(ts: int, hour: Percentiles, vat_rate: float) -> SeriesForecastPoint:
    return SeriesForecastPoint(ts=ts, **_percentile_fields(hour, vat_rate))


def _percentile_fields(percentiles: Percentiles, vat_rate: float) -> dict[str, float]:
    """Return the percentiles as fields of an answer, in EUR/MWh without VAT and in EUR/kWh with VAT."""
    market = {name: rounded_market_price(price) for name, price in percentiles._asdict().items()}
    return market | {f"{name}_kwh": consumer_price(price, vat_rate) for name, price in market.items()}
