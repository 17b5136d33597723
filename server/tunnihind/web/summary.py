"""Makes the dashboard's words and figures from the served data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tunnihind.api.answers import DEFAULT_DAYS
from tunnihind.api.health import awaits_tomorrow, publication_is_late
from tunnihind.api.models.service import Mode
from tunnihind.api.periods import served_periods
from tunnihind.api.served_data import ServedData
from tunnihind.forecast.scoring.weather_scores import VariableScores
from tunnihind.market import DAY_S, HOUR_S, floor_hour, free_until, vat_rate_at
from tunnihind.settings import Settings
from tunnihind.web.days import DaySummary, GridRow, days_from, grid
from tunnihind.web.display import Display, Level, PricedPeriod, by_day, levels, priced_periods, vat_shown
from tunnihind.web.drawing import Drawing, draw
from tunnihind.web.household import Household, explain
from tunnihind.web.next_time import cheapest_next
from tunnihind.web.notices import (
    NoPricesNotice,
    Notice,
    SourceLine,
    SourceState,
    freshness,
    of_address,
    of_data,
    of_mode,
    source_lines,
    why_empty,
)
from tunnihind.web.options import PageOptions
from tunnihind.web.outlook import outlook, sentences
from tunnihind.web.scale import Tint, as_shown, tint
from tunnihind.web.tariff import NO_SURCHARGE, Surcharge, Tariff, surcharge
from tunnihind.web.weather import RegionWeather, WeatherStrip, weather_strip


@dataclass(frozen=True, slots=True)
class PageContext:
    """The data that pages need besides the served data.

    If no recent weather forecast is known, `weather` is None. `sources` holds the state of each data source.
    `weather_scores` are the scores of past weather forecasts.
    """

    weather: RegionWeather | None = None
    sources: tuple[SourceState, ...] = ()
    weather_scores: tuple[VariableScores, ...] = ()


_NO_PAGE_CONTEXT: Final = PageContext()


@dataclass(frozen=True, slots=True)
class Summary:
    """All words and figures of the dashboard.

    `cheapest` names the cheapest three consecutive hours of the next 24. `outlook` contains sentences about the
    highlights ahead. `scale` lists the prices at which the colour changes, in the reader's unit. `tint` is the colour
    of the present price. `beyond` holds the served forecast for hours after the public window, in EUR/MWh. If the page
    shows quarters, `beyond` is empty. If market prices are shown, `household` is None. If there are no prices to show,
    `emptiness` gives the reason.
    """

    display: Display
    current_ts: int
    current_hour: int
    current: PricedPeriod | None
    following: PricedPeriod | None
    cheapest: str
    outlook: tuple[str, ...]
    days: tuple[DaySummary, ...]
    tomorrow_is_due: bool
    levels: Mapping[int, Level]
    scale: tuple[float, ...]
    tint: Tint | None
    beyond: tuple[Mapping[str, float], ...]
    notices: tuple[Notice, ...]
    freshness: tuple[str, ...]
    grid: tuple[GridRow, ...]
    drawing: Drawing | None
    weather: WeatherStrip | None
    household: Household | None
    sources: tuple[SourceLine, ...]
    emptiness: NoPricesNotice | None


def summarise(
    data: ServedData,
    now: int,
    settings: Settings,
    options: PageOptions,
    page_context: PageContext = _NO_PAGE_CONTEXT,
    *,
    pipeline_expected: bool = True,
    mode: Mode = "live",
) -> Summary:
    """Make the dashboard's words and figures as of `now` (unix seconds).

    For the small view (`embed=1`), `cheapest`, `outlook`, `days` and `grid` are left empty, to save time.
    """
    is_whole = options.embed == "0"
    periods = _periods(data, now, settings, options.step_s)
    vat = vat_shown(options, data.market, vat_rate_at(settings.api_vat_rates, now), now)
    display = Display(options, data.market, vat, _surcharge(options.tariff, periods, now))
    current_ts = now - now % display.step_s
    days = by_day(periods, {ts: display.day(ts) for ts in periods})
    today = display.day(now)
    level_of = {ts: level for of_day in days.values() for ts, level in levels(of_day, display.shown).items()}
    scale = as_shown(data.price_scale, (ts for ts in periods if ts % HOUR_S == 0), display)
    drawing = draw(list(periods.values()), scale, now, display)
    return Summary(
        display=display,
        current_ts=current_ts,
        current_hour=floor_hour(now),
        current=periods.get(current_ts),
        following=periods.get(current_ts + display.step_s),
        cheapest=cheapest_next(periods, current_ts, display) if is_whole else "",
        outlook=sentences(outlook(days, now, display, page_context.weather), days, now, display) if is_whole else (),
        days=days_from(today, current_ts, days, data.scenarios, display) if is_whole else (),
        tomorrow_is_due=awaits_tomorrow(data, now) and not publication_is_late(data.market, now),
        levels=level_of,
        scale=scale,
        tint=tint(display.shown(periods[current_ts]), scale) if current_ts in periods else None,
        beyond=tuple(_beyond(periods, data, now, options.step_s)),
        notices=(
            *of_mode(mode, now, display),
            *of_address(display),
            *(
                of_data(data, now, display, price_is_shown=current_ts in periods, pipeline_expected=pipeline_expected)
                if periods
                else ()
            ),
        ),
        freshness=tuple(freshness(data, now, display)),
        grid=grid(days, today, scale, display) if is_whole else (),
        drawing=drawing,
        weather=weather_strip(page_context.weather, drawing, display),
        household=explain(options.tariff, periods.get(current_ts), periods.values(), now, display),
        sources=source_lines(page_context.sources, now, display),
        emptiness=None
        if periods
        else why_empty(data, page_context.sources, now, display, pipeline_expected=pipeline_expected, mode=mode),
    )


def _periods(data: ServedData, now: int, settings: Settings, step_s: int) -> dict[int, PricedPeriod]:
    """Return the hours or quarters of the last two weeks, and all future periods that are served."""
    since = now - now % step_s - DEFAULT_DAYS * DAY_S
    return priced_periods(served_periods(data, now, settings, step_s=step_s, since=since))


def _beyond(
    periods: Mapping[int, PricedPeriod], data: ServedData, now: int, step_s: int
) -> Iterator[Mapping[str, float]]:
    """Yield the forecast for the hours after the public window in EUR/MWh, with the field names of `/api/series`.

    If the periods are quarters, yield nothing.
    """
    limit = free_until(data.newest_settled, now)
    for ts, period in periods.items():
        if step_s == HOUR_S and ts > limit and period.settled is None:
            yield {"ts": ts, **period.percentiles._asdict()}


def _surcharge(tariff: Tariff | None, periods: Mapping[int, PricedPeriod], now: int) -> Surcharge:
    """Return the surcharge for all periods and for one more day, because an open page also receives new periods."""
    if tariff is None:
        return NO_SURCHARGE
    return surcharge(tariff, min(periods, default=now), max(periods, default=now) + DAY_S)
