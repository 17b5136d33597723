"""The prices of each day from today on, how certain they are, and the calendar of hours coloured by price."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise
from statistics import fmean
from typing import Final, Literal

import numpy as np

from tunnihind.forecast.run import Scenarios
from tunnihind.market import HOUR_S, floor_hour, market_price
from tunnihind.web.display import Display, PricedPeriod
from tunnihind.web.scale import Tint, tint

_LIKELY: Final = (0.1, 0.9)
"""The percentiles of a likely range."""

type DayName = Literal["today", "tomorrow", ""]
type DayState = Literal["settled", "forecast", "partly", "gaps", "none"]


@dataclass(frozen=True, slots=True)
class DaySummary:
    """One day of the reader's calendar, with its known periods.

    `cheapest` and `dearest` are the first cheapest and the first most expensive period from the present one on; None if
    no price is known. `mean_range` is the likely range of the day's mean price, in the reader's unit; None if no price
    is a forecast. `state` describes the last periods: `partly` if published and forecast prices alternate, `gaps` if
    prices are missing between others. `kind` is the state in words.
    """

    name: DayName
    day: date
    periods: tuple[PricedPeriod, ...]
    cheapest: PricedPeriod | None
    dearest: PricedPeriod | None
    mean_range: tuple[float, float] | None
    state: DayState
    kind: str

    @property
    def is_only_an_hour(self) -> bool:
        """Whether only one hour of the day is known. One hour says little about the day.

        On most mornings the forecast ends with such a day, because the last hour of the market's day is the reader's
        first hour of the next day.
        """
        return bool(self.periods) and self.periods[-1].ts - self.periods[0].ts < HOUR_S

    @property
    def runs(self) -> tuple[tuple[PricedPeriod, ...], ...]:
        """The day's periods in groups. A group has periods without a gap, all published or all forecast."""
        by_kind = groupby(self.periods, key=lambda period: period.settled is None)
        return tuple(tuple(run) for _, run in by_kind)


def days_from(
    today: date,
    current_ts: int,
    days: Mapping[date, Sequence[PricedPeriod]],
    scenarios: Scenarios | None,
    display: Display,
) -> tuple[DaySummary, ...]:
    """Summarise today, tomorrow and the days after that have a known price.

    `current_ts` is the start of the present period.
    """
    tomorrow = today + timedelta(days=1)
    shown = (today, tomorrow, *(day for day in days if day > tomorrow))
    return tuple(
        _summary(relative_day(day, today), day, days.get(day, ()), current_ts, scenarios, display) for day in shown
    )


def relative_day(day: date, today: date) -> DayName:
    """Return the name of a day, seen from today; empty for a day that is named only by its date."""
    names: dict[int, DayName] = {0: "today", 1: "tomorrow"}
    return names.get((day - today).days, "")


def _summary(
    name: DayName,
    day: date,
    periods: Sequence[PricedPeriod],
    current_ts: int,
    scenarios: Scenarios | None,
    display: Display,
) -> DaySummary:
    ahead = [period for period in periods if period.ts >= current_ts]
    state = _state(periods, display.step_s)
    return DaySummary(
        name=name,
        day=day,
        periods=tuple(periods),
        cheapest=min(ahead, key=display.shown, default=None),
        dearest=max(ahead, key=display.shown, default=None),
        mean_range=_mean_range(periods, scenarios, display),
        state=state,
        kind=_kind(state, day, periods, display),
    )


def _state(periods: Sequence[PricedPeriod], step_s: int) -> DayState:
    """Return the state of a day's prices."""
    if not periods:
        return "none"
    if any(later.ts - earlier.ts != step_s for earlier, later in pairwise(periods)):
        return "gaps"
    are_settled = [period.settled is not None for period in periods]
    if are_settled != sorted(are_settled, reverse=True):
        return "partly"
    return "settled" if all(are_settled) else "forecast"


def _kind(state: DayState, day: date, periods: Sequence[PricedPeriod], display: Display) -> str:
    """Write the state of a day's prices in words, with times if the state isn't the same all day.

    Most days of a forecast have one published hour, because the market's day begins at 01:00 in Estonia.
    """
    said = display.texts(f"days.state.{state}")
    if state not in {"settled", "forecast"}:
        return said
    told = [period.ts for period in periods if state == "settled" or period.settled is None]
    since, until = told[0], told[-1] + display.step_s
    begins, ends = display.day(since - 1) != day, display.day(until) != day
    if begins and ends:
        return said
    if ends:
        return display.texts("days.since", kind=said, time=display.clock(since))
    if begins:
        return display.texts("days.until", kind=said, time=display.clock(until))
    return f"{said} {display.clock(since)}–{display.clock(until)}"


def _mean_range(
    periods: Sequence[PricedPeriod], scenarios: Scenarios | None, display: Display
) -> tuple[float, float] | None:
    """Return the 80% range of a day's mean price; None if no price is a forecast.

    The range comes from the forecast's price paths. Not all hours turn out expensive or cheap together, so the mean is
    more certain than each hour. Without paths, the bounds are the means of the hours' bounds, which makes the range
    rather too wide.

    The page shows the mean of the medians. If hours may turn out much more expensive but hardly cheaper, nearly all
    paths can be above this mean. The range is then widened to include it.
    """
    settled = [display.shown(period) for period in periods if period.settled is not None]
    ahead = [period for period in periods if period.settled is None]
    if not ahead:
        return None
    hours = Counter(floor_hour(period.ts) for period in ahead)
    if scenarios is None or not all(_on_paths(hour, scenarios) for hour in hours):
        low, high = zip(*(display.interval(period) for period in ahead), strict=True)
        return fmean([*settled, *low]), fmean([*settled, *high])
    total = np.zeros(len(scenarios.eur_mwh)) + sum(settled)
    for hour, count in hours.items():
        of_hour = scenarios.eur_mwh[:, (hour - scenarios.start_ts) // HOUR_S]
        total += [count * display.amount(market_price(price), hour) for price in of_hour.tolist()]
    low_mean, high_mean = np.quantile(total / len(periods), _LIKELY).tolist()
    told = fmean(map(display.shown, periods))
    return min(low_mean, told), max(high_mean, told)


def _on_paths(hour: int, scenarios: Scenarios) -> bool:
    _, hours = scenarios.eur_mwh.shape
    return hour in range(scenarios.start_ts, scenarios.start_ts + hours * HOUR_S, HOUR_S)


_PAST_DAYS: Final = 7
_CLOCK_HOURS: Final = 24
_SHORTEST_DAY_S: Final = 23 * HOUR_S
"""A shorter part of a day gets no mean, because readers would take it for the mean of a whole day."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """One hour with its coloured periods: the hour itself or its quarters."""

    ts: int
    periods: tuple[PricedPeriod, ...]
    tints: tuple[Tint, ...]

    @property
    def is_settled(self) -> bool:
        """Whether all prices of the hour are settled."""
        return all(period.settled is not None for period in self.periods)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One day. A clock hour has one cell. It has none if spring leaves it out, and two if autumn repeats it."""

    day: date
    name: DayName
    is_past: bool
    periods: tuple[PricedPeriod, ...]
    is_whole: bool
    clock_hours: tuple[tuple[GridCell, ...], ...]


def grid(
    days: Mapping[date, Sequence[PricedPeriod]], today: date, scale: Sequence[float], display: Display
) -> tuple[GridRow, ...]:
    """Lay out today and the days after it, then the past week, the latest day first."""
    shown = {day: periods for day, periods in days.items() if day >= today - timedelta(days=_PAST_DAYS)}
    order = sorted(shown, key=lambda day: (day < today, abs(day - today)))
    return tuple(
        GridRow(
            day,
            relative_day(day, today),
            day < today,
            tuple(shown[day]),
            len(shown[day]) * display.step_s >= _SHORTEST_DAY_S,
            _clock_hours(shown[day], scale, display),
        )
        for day in order
    )


def _clock_hours(
    periods: Sequence[PricedPeriod], scale: Sequence[float], display: Display
) -> tuple[tuple[GridCell, ...], ...]:
    clock_hours: list[list[GridCell]] = [[] for _ in range(_CLOCK_HOURS)]
    for cell in _cells(periods, scale, display):
        clock_hours[datetime.fromtimestamp(cell.ts, display.zone).hour].append(cell)
    return tuple(tuple(same) for same in clock_hours)


def _cells(periods: Sequence[PricedPeriod], scale: Sequence[float], display: Display) -> Iterator[GridCell]:
    for hour, group in groupby(periods, key=lambda period: floor_hour(period.ts)):
        of_hour = tuple(group)
        yield GridCell(hour, of_hour, tuple(tint(display.shown(period), scale) for period in of_hour))
