"""Makes the dashboard's words and figures from the served data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from tunnihind.api.answers import DEFAULT_HISTORY_DAYS
from tunnihind.api.health import lacks_tomorrows_prices, publication_is_late
from tunnihind.api.models.service import Mode
from tunnihind.api.periods import served_periods
from tunnihind.api.served_data import ServedData
from tunnihind.core.cheapest_hours import CheapestPrice
from tunnihind.core.levels import Level, levels
from tunnihind.core.market import DAY_S, HOUR_S, floor_hour, free_until, vat_rate_at
from tunnihind.core.tariff import Tariff
from tunnihind.forecast.scoring.weather_scores import VariableScores
from tunnihind.settings import Settings
from tunnihind.web.days import (
    CalendarRow,
    DaySummary,
    calendar_rows,
    cheapest_hours,
    day_summaries,
    prices_on_paths,
)
from tunnihind.web.display import Display, PricedPeriod, group_by_day, priced_periods, shown_vat
from tunnihind.web.drawing import Drawing, draw_chart
from tunnihind.web.household import HouseholdPrice, household_price
from tunnihind.web.notices import (
    NoPricesExplanation,
    Notice,
    SourceLine,
    SourceState,
    data_notices,
    freshness_lines,
    mode_notices,
    no_prices_explanation,
    source_lines,
    unknown_parameter_notices,
)
from tunnihind.web.options import PageOptions
from tunnihind.web.outlook import day_outlooks, outlook_sentences
from tunnihind.web.scale import PriceWord, Tint, price_word, scale_in_unit, tint
from tunnihind.web.start_advice import start_advice
from tunnihind.web.surcharge import NO_SURCHARGE, Surcharge, tariff_surcharge
from tunnihind.web.weather import RegionWeather, WeatherStrip, weather_strip


@dataclass(frozen=True, slots=True)
class PageContext:
    """The data that pages need besides the served data.

    If no recent weather forecast is known, `weather` is None. `sources` holds the state of each data source, and
    `weather_scores` holds the scores of past weather forecasts. In a rehearsal, both are empty.
    """

    weather: RegionWeather | None = None
    sources: tuple[SourceState, ...] = ()
    weather_scores: tuple[VariableScores, ...] = ()


_NO_PAGE_CONTEXT: Final = PageContext()


@dataclass(frozen=True, slots=True)
class DashboardSummary:
    """The words and figures with which the template of the dashboard or of the small view is filled.

    `start_advice` says whether to start a device now or later. If no prices ahead are known, it is empty.
    `cheapest_hours` has the prices of the 1 to 8 cheapest hours of each day ahead. `outlook` contains sentences about
    cheap and expensive hours ahead, and about days with unusual prices. `scale` lists the prices at which the colour
    changes, in the reader's unit. `word` and `tint` are the word and the colour of the present price. If this price is
    unknown or the scale is empty, both are None. `beyond_window` holds the served forecast for hours after the public
    window, in EUR/MWh. If the page shows quarters, `beyond_window` is empty. If market prices are shown, `household` is
    None. If there are no prices to show, `no_prices_explanation` gives the reason.
    """

    display: Display
    current_ts: int
    current_hour: int
    current: PricedPeriod | None
    next_period: PricedPeriod | None
    start_advice: str
    outlook: tuple[str, ...]
    days: tuple[DaySummary, ...]
    cheapest_hours: Mapping[date, Sequence[CheapestPrice]]
    tomorrow_is_due: bool
    levels: Mapping[int, Level]
    scale: tuple[float, ...]
    word: PriceWord | None
    tint: Tint | None
    beyond_window: tuple[Mapping[str, float], ...]
    notices: tuple[Notice, ...]
    freshness: tuple[str, ...]
    calendar: tuple[CalendarRow, ...]
    drawing: Drawing | None
    weather: WeatherStrip | None
    household: HouseholdPrice | None
    sources: tuple[SourceLine, ...]
    no_prices_explanation: NoPricesExplanation | None


def summarise_dashboard(
    data: ServedData,
    now: int,
    settings: Settings,
    options: PageOptions,
    page_context: PageContext = _NO_PAGE_CONTEXT,
    *,
    pipeline_expected: bool = True,
    mode: Mode = "live",
) -> DashboardSummary:
    """Make the dashboard's words and figures as of `now` (unix seconds).

    For the small view (`embed=1`), `outlook`, `days`, `cheapest_hours` and `calendar` are left empty, to save time.
    """
    is_dashboard = options.embed == "0"
    periods = _shown_periods(data, now, settings, options.step_s)
    vat = shown_vat(options, data.market, vat_rate_at(settings.api_vat_rates, now), now)
    display = Display(options, data.market, vat, _shown_surcharge(options.tariff, periods, now))
    current_ts = now - now % display.step_s
    days = group_by_day(periods, {ts: display.local_day(ts) for ts in periods})
    today = display.local_day(now)
    level_of = {
        period.ts: level
        for of_day in days.values()
        for period, level in zip(of_day, levels([display.shown_price(one) for one in of_day]), strict=True)
    }
    on_paths = prices_on_paths(periods.values(), data.scenarios if is_dashboard else None, display)
    scale = scale_in_unit(data.price_scale, (ts for ts in periods if ts % HOUR_S == 0), display)
    drawing = draw_chart(list(periods.values()), scale, now, display)
    word = price_word(display.shown_price(periods[current_ts]), scale, display.cent) if current_ts in periods else None
    return DashboardSummary(
        display=display,
        current_ts=current_ts,
        current_hour=floor_hour(now),
        current=periods.get(current_ts),
        next_period=periods.get(current_ts + display.step_s),
        start_advice=start_advice(periods, now, display),
        outlook=outlook_sentences(day_outlooks(days, now, display, page_context.weather), days, now, display)
        if is_dashboard
        else (),
        days=day_summaries(today, current_ts, days, on_paths, display) if is_dashboard else (),
        cheapest_hours=cheapest_hours(periods.values(), on_paths, now, display) if is_dashboard else {},
        tomorrow_is_due=lacks_tomorrows_prices(data, now) and not publication_is_late(data.market, now),
        levels=level_of,
        scale=scale,
        word=word,
        tint=tint(display.shown_price(periods[current_ts]), scale) if word else None,
        beyond_window=tuple(_forecast_beyond_window(periods, data, now, options.step_s)),
        notices=(
            *mode_notices(mode, now, display),
            *unknown_parameter_notices(display),
            *(
                data_notices(
                    data, now, display, price_is_shown=current_ts in periods, pipeline_expected=pipeline_expected
                )
                if periods
                else ()
            ),
        ),
        freshness=tuple(freshness_lines(data, now, display)),
        calendar=calendar_rows(days, today, scale, display) if is_dashboard else (),
        drawing=drawing,
        weather=weather_strip(page_context.weather, drawing, display),
        household=household_price(options.tariff, periods.get(current_ts), periods.values(), now, display),
        sources=source_lines(page_context.sources, now, display),
        no_prices_explanation=None
        if periods
        else no_prices_explanation(
            data, page_context.sources, now, display, pipeline_expected=pipeline_expected, mode=mode
        ),
    )


def _shown_periods(data: ServedData, now: int, settings: Settings, step_s: int) -> dict[int, PricedPeriod]:
    """Return the hours or quarters of the last two weeks, and all future periods that are served."""
    since = now - now % step_s - DEFAULT_HISTORY_DAYS * DAY_S
    return priced_periods(served_periods(data, now, settings, step_s=step_s, since=since))


def _forecast_beyond_window(
    periods: Mapping[int, PricedPeriod], data: ServedData, now: int, step_s: int
) -> Iterator[Mapping[str, float]]:
    """Yield the forecast in EUR/MWh for the hours after the public window, with the field names of `/api/series`.

    If the periods are quarters, yield nothing.
    """
    limit = free_until(data.newest_settled_ts, now)
    for ts, period in periods.items():
        if step_s == HOUR_S and ts > limit and period.settled is None:
            yield {"ts": ts, **period.percentiles._asdict()}


def _shown_surcharge(tariff: Tariff | None, periods: Mapping[int, PricedPeriod], now: int) -> Surcharge:
    """Return the surcharge for all periods and for one more day, because an open page also receives new periods."""
    if tariff is None:
        return NO_SURCHARGE
    return tariff_surcharge(tariff, min(periods, default=now), max(periods, default=now) + DAY_S)
