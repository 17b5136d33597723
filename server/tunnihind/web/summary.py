"""What the summary page shows, worked out from a view: pure, in Estonian local time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

from tunnihind.api.answers import series_response
from tunnihind.api.models import SeriesActual, SeriesForecastPoint, SeriesResponse
from tunnihind.api.openapi import vat_text
from tunnihind.api.view import View
from tunnihind.market import HOUR_S, LOCAL_TZ, floor_hour
from tunnihind.settings import Settings

_SAID_IN_MINUTES_S: Final = 2 * HOUR_S

type Level = Literal["low", "middle", "high"]


@dataclass(frozen=True, slots=True)
class HourRow:
    """One hour of a day: `eur_kwh` and the forecast's band with VAT, `eur_mwh` without."""

    clock_time: str
    eur_kwh: float
    eur_mwh: float
    band: tuple[float, float] | None
    level: Level
    is_now: bool


@dataclass(frozen=True, slots=True)
class DayTable:
    """One Estonian calendar day."""

    title: str
    rows: tuple[HourRow, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything on the page."""

    current: SeriesActual | None
    days: tuple[DayTable, ...]
    ages: tuple[str, ...]
    vat: str
    attribution: str


def summarise(view: View, now: int, settings: Settings) -> Summary:
    """Work out the page as of `now`, unix seconds."""
    series = series_response(view, now, settings, days=2)
    today = datetime.fromtimestamp(now, LOCAL_TZ).date()
    days = (("Today", today), ("Tomorrow", today + timedelta(days=1)))
    return Summary(
        current=series.current,
        days=tuple(_day_table(name, day, series) for name, day in days),
        ages=tuple(_ages(series)),
        vat=vat_text(settings.vat_rate),
        attribution=settings.attribution_text,
    )


def _day_table(name: str, day: date, series: SeriesResponse) -> DayTable:
    """Tabulate a day's known hours; a settled price stands before a forecast of the same hour."""
    hours: dict[int, SeriesActual | SeriesForecastPoint] = {point.ts: point for point in series.forecast}
    hours |= {actual.ts: actual for actual in series.actuals}
    shown = [hour for ts, hour in sorted(hours.items()) if datetime.fromtimestamp(ts, LOCAL_TZ).date() == day]
    prices = sorted(_price(hour) for hour in shown)
    return DayTable(
        title=f"{name}, {day:%A} {day.day} {day:%B}",
        rows=tuple(_row(hour, prices, floor_hour(series.now)) for hour in shown),
    )


def _row(hour: SeriesActual | SeriesForecastPoint, prices: list[float], current_hour: int) -> HourRow:
    return HourRow(
        clock_time=clock_time(hour.ts),
        eur_kwh=hour.eur_kwh if isinstance(hour, SeriesActual) else hour.p50_kwh,
        eur_mwh=_price(hour),
        band=None if isinstance(hour, SeriesActual) else (hour.p10_kwh, hour.p90_kwh),
        level=_level(_price(hour), prices),
        is_now=hour.ts == current_hour,
    )


def _price(hour: SeriesActual | SeriesForecastPoint) -> float:
    return hour.eur_mwh if isinstance(hour, SeriesActual) else hour.p50


def _level(price: float, prices: list[float]) -> Level:
    """Tell the third of the day's hours that a price belongs to."""
    third = len(prices) // 3
    if price < prices[third]:
        return "low"
    return "high" if price > prices[-third - 1] else "middle"


def clock_time(ts: int) -> str:
    """Write an hour as the Estonian clock shows it; the hour that autumn repeats with its zone."""
    local = datetime.fromtimestamp(ts, UTC).astimezone(LOCAL_TZ)
    repeated = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return f"{local:%H:%M} {local.tzname()}" if repeated else f"{local:%H:%M}"


def _ages(series: SeriesResponse) -> Iterable[str]:
    settled = series.actuals[-1].ts + HOUR_S if series.actuals else None
    if settled is None:
        yield "No settled prices yet"
    else:
        yield f"Prices settled until {datetime.fromtimestamp(settled, LOCAL_TZ):%d.%m. %H:%M}"
    yield _age("Forecast made", series.made_at, series.now, otherwise="No forecast yet")
    yield _age("Data refreshed", series.last_refresh, series.now, otherwise="Data never refreshed yet")


def _age(what: str, instant: int | None, now: int, *, otherwise: str) -> str:
    if instant is None:
        return otherwise
    age = max(now - instant, 0)
    return f"{what} {age // 60} min ago" if age < _SAID_IN_MINUTES_S else f"{what} {age // HOUR_S} h ago"
