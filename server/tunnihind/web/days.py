"""Summarises the prices of each day from today on, and makes the calendar of coloured hours."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import count, groupby, pairwise
from statistics import fmean
from typing import Final, Literal

import numpy as np

from tunnihind.core.cheapest_hours import CheapestPrice, cheapest_hours_by_day
from tunnihind.core.market import HOUR_S, floor_hour, rounded_market_price
from tunnihind.forecast.run import Scenarios
from tunnihind.web.display import Display, PricedPeriod
from tunnihind.web.scale import Tint, tint

_LIKELY_LEVELS: Final = (0.1, 0.9)
"""The levels of the percentiles that bound a likely range."""

type PathPrices = Mapping[int, Sequence[float]]
"""Maps the start of an hour to the hour's price on each of the equally likely price paths, in the reader's unit."""


def prices_on_paths(
    periods: Iterable[PricedPeriod], scenarios: Scenarios | None, display: Display
) -> dict[int, list[float]]:
    """Return the prices of the hours with an unsettled period. Hours that the price paths don't cover are left out."""
    if scenarios is None:
        return {}
    unsettled = {floor_hour(period.ts) for period in periods if period.settled is None}
    return {
        hour: [display.shown_amount(rounded_market_price(price), hour) for price in on_paths]
        for hour, on_paths in zip(count(scenarios.start_ts, HOUR_S), scenarios.eur_mwh.T.tolist(), strict=False)
        if hour in unsettled
    }


type DayName = Literal["today", "tomorrow", ""]
type DayState = Literal["settled", "forecast", "partly", "gaps", "none"]


@dataclass(frozen=True, slots=True)
class DaySummary:
    """One day of the reader's calendar, with the periods that have a published price or a forecast.

    `cheapest` and `most_expensive` are the cheapest and the most expensive of the day's periods that have not ended.
    Among equal prices, the first counts. If all periods have ended, `cheapest` and `most_expensive` are None.
    `mean_range` is the likely range of the day's mean price, in the reader's unit. If no price of the day is a
    forecast, `mean_range` is None.

    If the day has no periods, `state` is "none". Otherwise, if periods are missing between other periods, `state` is
    "gaps". Otherwise, if a published price follows a forecast, `state` is "partly". Otherwise, `state` is "forecast" if
    any price is a forecast, and "settled" if all prices are published. `state_text` describes `state` in words.
    """

    name: DayName
    day: date
    periods: tuple[PricedPeriod, ...]
    cheapest: PricedPeriod | None
    most_expensive: PricedPeriod | None
    mean_range: tuple[float, float] | None
    state: DayState
    state_text: str

    @property
    def has_only_one_hour(self) -> bool:
        """True if the day has periods, and they all begin within one hour.

        In Estonia, a delivery day ends at 01:00, so the last calendar day of a forecast usually has only one hour.
        """
        return bool(self.periods) and self.periods[-1].ts - self.periods[0].ts < HOUR_S

    @property
    def price_groups(self) -> tuple[tuple[PricedPeriod, ...], ...]:
        """The day's periods in groups. A new group begins wherever published prices and forecasts meet."""
        by_kind = groupby(self.periods, key=lambda period: period.settled is None)
        return tuple(tuple(run) for _, run in by_kind)


def day_summaries(
    today: date,
    current_ts: int,
    days: Mapping[date, Sequence[PricedPeriod]],
    on_paths: PathPrices,
    display: Display,
) -> tuple[DaySummary, ...]:
    """Summarise today and tomorrow, even if they have no periods, and all later days in `days`.

    `current_ts` is the start of the present period in unix seconds. `on_paths` comes from `prices_on_paths`.
    """
    tomorrow = today + timedelta(days=1)
    shown = (today, tomorrow, *(day for day in days if day > tomorrow))
    return tuple(
        _day_summary(_day_name(day, today), day, days.get(day, ()), current_ts, on_paths, display) for day in shown
    )


def _day_name(day: date, today: date) -> DayName:
    names: dict[int, DayName] = {0: "today", 1: "tomorrow"}
    return names.get((day - today).days, "")


def _day_summary(
    name: DayName,
    day: date,
    periods: Sequence[PricedPeriod],
    current_ts: int,
    on_paths: PathPrices,
    display: Display,
) -> DaySummary:
    ahead = [period for period in periods if period.ts >= current_ts]
    state = _day_state(periods, display.step_s)
    return DaySummary(
        name=name,
        day=day,
        periods=tuple(periods),
        cheapest=min(ahead, key=display.shown_price, default=None),
        most_expensive=max(ahead, key=display.shown_price, default=None),
        mean_range=_mean_range(periods, on_paths, display),
        state=state,
        state_text=_state_text(state, day, periods, display),
    )


def _day_state(periods: Sequence[PricedPeriod], step_s: int) -> DayState:
    if not periods:
        return "none"
    if any(later.ts - earlier.ts != step_s for earlier, later in pairwise(periods)):
        return "gaps"
    are_settled = [period.settled is not None for period in periods]
    if are_settled != sorted(are_settled, reverse=True):
        return "partly"
    return "settled" if all(are_settled) else "forecast"


def _state_text(state: DayState, day: date, periods: Sequence[PricedPeriod], display: Display) -> str:
    """Describe `state` in words.

    If "settled" or "forecast" applies to only some hours of the day, add the times of these hours. In Estonia, delivery
    days begin at 01:00, so the first forecast day usually begins with one published hour.
    """
    text = display.texts(f"days.state.{state}")
    if state not in {"settled", "forecast"}:
        return text
    instants = [period.ts for period in periods if state == "settled" or period.settled is None]
    since, until = instants[0], instants[-1] + display.step_s
    begins, ends = display.local_day(since - 1) != day, display.local_day(until) != day
    if begins and ends:
        return text
    if ends:
        return display.texts("days.since", kind=text, time=display.time_of_day(since))
    if begins:
        return display.texts("days.until", kind=text, time=display.time_of_day(until))
    return f"{text} {display.time_of_day(since)}–{display.time_of_day(until)}"


def _mean_range(periods: Sequence[PricedPeriod], on_paths: PathPrices, display: Display) -> tuple[float, float] | None:
    """Return the likely range of a day's mean price. If no price of the day is a forecast, return None.

    If the price paths cover all forecast hours, the range goes from p10 to p90 of the paths' mean prices for the day.
    The page shows a mean price that is computed from published prices and medians. If this mean price lies outside the
    range, the range is widened to include it.

    If the price paths don't cover all forecast hours, the lower bound is the day's mean price with p10 as the price of
    each forecast period, and the upper bound is the mean price with p90. This range is too wide, because the errors of
    the hours partly cancel each other out.
    """
    settled = [display.shown_price(period) for period in periods if period.settled is not None]
    ahead = [period for period in periods if period.settled is None]
    if not ahead:
        return None
    hours = Counter(floor_hour(period.ts) for period in ahead)
    if not hours.keys() <= on_paths.keys():
        low, high = zip(*(display.interval(period) for period in ahead), strict=True)
        return fmean([*settled, *low]), fmean([*settled, *high])
    total = sum(settled) + sum(n * np.array(on_paths[hour]) for hour, n in hours.items())
    low_mean, high_mean = np.quantile(total / len(periods), _LIKELY_LEVELS).tolist()
    shown_mean = fmean(map(display.shown_price, periods))
    return min(low_mean, shown_mean), max(high_mean, shown_mean)


def cheapest_hours(
    periods: Iterable[PricedPeriod], on_paths: PathPrices, now: int, display: Display
) -> dict[date, list[CheapestPrice]]:
    """Return the prices of the 1 to 8 cheapest hours of each day ahead, in the reader's unit.

    The fees and the VAT of each hour are added before the hours are compared. An hour of published quarters counts with
    their mean price. `now` is in unix seconds.
    """
    first = floor_hour(now) + HOUR_S
    prices: dict[int, Sequence[float]] = {}
    for hour, group in groupby((one for one in periods if one.ts >= first), key=lambda period: floor_hour(period.ts)):
        of_hour = list(group)
        if all(period.settled is not None for period in of_hour):
            prices[hour] = [display.mean_price(of_hour)]
        elif hour in on_paths:
            prices[hour] = on_paths[hour]
    return cheapest_hours_by_day(prices, first, display.time_zone)


_PAST_DAYS: Final = 7
_LOCAL_HOURS: Final = 24
_SHORTEST_DAY_S: Final = 23 * HOUR_S
"""If the known periods of a day are shorter than this in total, the calendar shows no mean price, because readers would
take it for the mean price of the whole day."""


@dataclass(frozen=True, slots=True)
class CalendarCell:
    """One hour of the calendar, with the colour of its mean price and the colours of its periods."""

    ts: int
    periods: tuple[PricedPeriod, ...]
    tint: Tint
    tints: tuple[Tint, ...]

    @property
    def is_settled(self) -> bool:
        """True if all prices of the hour are settled."""
        return all(period.settled is not None for period in self.periods)


@dataclass(frozen=True, slots=True)
class CalendarRow:
    """One day of the calendar.

    `is_whole` is true if the day has enough periods for a mean price. `local_hours` has the cells of each hour from 0
    to 23 on the reader's clock. An hour has no cell if it has no price or is skipped in spring. The hour that is
    repeated in autumn has two cells.
    """

    day: date
    name: DayName
    is_past: bool
    periods: tuple[PricedPeriod, ...]
    is_whole: bool
    local_hours: tuple[tuple[CalendarCell, ...], ...]


def calendar_rows(
    days: Mapping[date, Sequence[PricedPeriod]], today: date, scale: Sequence[float], display: Display
) -> tuple[CalendarRow, ...]:
    """Return the rows of the calendar: first today and later days, then the past week with the newest day first."""
    shown = {day: periods for day, periods in days.items() if day >= today - timedelta(days=_PAST_DAYS)}
    order = sorted(shown, key=lambda day: (day < today, abs(day - today)))
    return tuple(
        CalendarRow(
            day,
            _day_name(day, today),
            day < today,
            tuple(shown[day]),
            len(shown[day]) * display.step_s >= _SHORTEST_DAY_S,
            _cells_by_local_hour(shown[day], scale, display),
        )
        for day in order
    )


def _cells_by_local_hour(
    periods: Sequence[PricedPeriod], scale: Sequence[float], display: Display
) -> tuple[tuple[CalendarCell, ...], ...]:
    by_local_hour: list[list[CalendarCell]] = [[] for _ in range(_LOCAL_HOURS)]
    for cell in _hour_cells(periods, scale, display):
        by_local_hour[datetime.fromtimestamp(cell.ts, display.time_zone).hour].append(cell)
    return tuple(tuple(same) for same in by_local_hour)


def _hour_cells(periods: Sequence[PricedPeriod], scale: Sequence[float], display: Display) -> Iterator[CalendarCell]:
    for hour, group in groupby(periods, key=lambda period: floor_hour(period.ts)):
        of_hour = tuple(group)
        tints = tuple(tint(display.shown_price(period), scale) for period in of_hour)
        yield CalendarCell(hour, of_hour, tint(display.mean_price(of_hour), scale), tints)
