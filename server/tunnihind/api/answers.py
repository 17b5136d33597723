"""What the API answers: pure functions of a view, an instant and the settings, by the specification's rules."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from tunnihind.api.models import (
    Backtest,
    DayAheadHour,
    ForecastHour,
    ForecastResponse,
    SeriesActual,
    SeriesForecastPoint,
    SeriesResponse,
)
from tunnihind.api.view import Percentiles, View
from tunnihind.forecast.run import Run
from tunnihind.market import (
    CURRENCY,
    DAY_S,
    HOUR_S,
    ZONE,
    consumer_price,
    floor_hour,
    free_until,
    iso_utc,
    market_price,
)
from tunnihind.settings import Settings

DEFAULT_DAYS: Final = 14
MIN_DAYS: Final = 2
MAX_DAYS: Final = 14


def history_days(days: int) -> int:
    """Clamp a requested history window into the range that is served, in days."""
    return min(max(days, MIN_DAYS), MAX_DAYS)


def forecast_response(view: View, now: int, settings: Settings) -> ForecastResponse:
    """Answer `GET /api/v1/forecast` as of `now`, unix seconds."""
    limit = free_until(view.newest_settled, now)
    vat = settings.vat_rate
    return ForecastResponse(
        zone=ZONE,
        currency=CURRENCY,
        now=now,
        made_at=view.run.made_at if view.run else None,
        last_refresh=view.last_refresh,
        free_until=limit,
        gated=_is_gated(view.run, limit),
        backtest=_backtest(view),
        docs=f"{settings.base_url}/docs",
        day_ahead=[_day_ahead_hour(ts, price, vat) for ts, price in _settled_from(view, floor_hour(now))],
        forecast=[_forecast_hour(ts, hour, vat) for ts, hour in _public_hours(view.run, now, limit)],
    )


def series_response(view: View, now: int, settings: Settings, days: int = DEFAULT_DAYS) -> SeriesResponse:
    """Answer `GET /api/series` as of `now`, unix seconds, with `days` of history (clamped)."""
    limit = free_until(view.newest_settled, now)
    current_hour = floor_hour(now)
    start = current_hour - history_days(days) * DAY_S
    vat = settings.vat_rate
    actuals = [_series_actual(ts, price, vat) for ts, price in _settled_from(view, start)]
    past = [_series_point(ts, hour, vat) for ts, hour in _past_hours(view, start, current_hour)]
    future = [_series_point(ts, hour, vat) for ts, hour in _public_hours(view.run, now, limit)]
    ahead = [actual for actual in actuals if actual.ts >= current_hour]
    newest = view.newest_settled
    unsettled = [point for point in future if newest is None or point.ts > newest]
    by_price, by_median = attrgetter("eur_mwh"), attrgetter("p50")
    return SeriesResponse(
        now=now,
        last_refresh=view.last_refresh,
        made_at=view.run.made_at if view.run else None,
        actuals=actuals,
        forecast=past + future,
        backtest=_backtest(view),
        free_until=limit,
        gated=_is_gated(view.run, limit),
        current=next((actual for actual in ahead if actual.ts == current_hour), None),
        cheapest=min(ahead, key=by_price, default=None),
        priciest=max(ahead, key=by_price, default=None),
        cheapest_forecast=min(unsettled, key=by_median, default=None),
        priciest_forecast=max(unsettled, key=by_median, default=None),
    )


def _is_gated(run: Run | None, limit: int) -> bool:
    return run is not None and run.end_ts - HOUR_S > limit


def _settled_from(view: View, start: int) -> Iterator[tuple[int, float]]:
    return ((ts, price) for ts, price in sorted(view.settled.items()) if ts >= start)


def _hours_of(run: Run) -> Iterator[tuple[int, Percentiles]]:
    rows = zip(run.hours(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)
    return ((ts, Percentiles(p10, p50, p90)) for ts, p10, p50, p90 in rows)


def _public_hours(run: Run | None, now: int, limit: int) -> Iterator[tuple[int, Percentiles]]:
    """Yield the strictly future hours of the newest run that are served publicly."""
    if run is not None:
        yield from ((ts, hour) for ts, hour in _hours_of(run) if now < ts <= limit)


def _past_hours(view: View, start: int, current_hour: int) -> list[tuple[int, Percentiles]]:
    """Return for each hour from `start` to the current one the freshest forecast made before it."""
    return sorted((ts, hour) for ts, hour in view.issued.items() if start <= ts <= current_hour)


def _backtest(view: View) -> Backtest | None:
    score = view.backtest
    if score is None or market_price(score.baseline_mae) == 0:
        return None
    mae, baseline_mae = market_price(score.mae), market_price(score.baseline_mae)
    # Of the served errors, so that whoever checks the sum finds it right.
    skill = round(1 - mae / baseline_mae, 4)
    return Backtest(mae=mae, baseline_mae=baseline_mae, skill=skill, horizon_h=score.horizon_h)


def _day_ahead_hour(ts: int, eur_mwh: float, vat: float) -> DayAheadHour:
    price = market_price(eur_mwh)
    return DayAheadHour(ts=ts, starts_at=iso_utc(ts), eur_mwh=price, eur_kwh=consumer_price(price, vat))


def _series_actual(ts: int, eur_mwh: float, vat: float) -> SeriesActual:
    price = market_price(eur_mwh)
    return SeriesActual(ts=ts, eur_mwh=price, eur_kwh=consumer_price(price, vat))


def _forecast_hour(ts: int, hour: Percentiles, vat: float) -> ForecastHour:
    return ForecastHour(ts=ts, starts_at=iso_utc(ts), **_in_both_units(hour, vat))


def _series_point(ts: int, hour: Percentiles, vat: float) -> SeriesForecastPoint:
    return SeriesForecastPoint(ts=ts, **_in_both_units(hour, vat))


def _in_both_units(hour: Percentiles, vat: float) -> dict[str, float]:
    """Return the percentiles' fields in EUR/MWh without and in EUR/kWh with VAT."""
    market = {name: market_price(price) for name, price in hour._asdict().items()}
    return market | {f"{name}_kwh": consumer_price(price, vat) for name, price in market.items()}
