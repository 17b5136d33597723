"""Draws the chart on the server, for readers without JavaScript.

Readers with JavaScript see the server's chart until the page's script has drawn its own chart.

Coordinates are thousandths of the plot's width or height, so that the SVG can stretch. Only `Tick` and `RangeLabel`
have percentages. The y axis points downwards.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil, floor, log10
from typing import Final, Literal

from tunnihind.core.market import HOUR_S
from tunnihind.web.display import Display, PricedPeriod
from tunnihind.web.scale import Tint, tint

_PLOT_SIZE: Final = 1000
_TICKS: Final = 6
_FREE_SPACE_SHARE: Final = 0.05
"""Free space at the top of the price axis, as a fraction of the axis without free space. With negative prices, the
bottom has as much."""
_LABELLED_TIMES: Final = frozenset({"00:00", "06:00", "12:00", "18:00"})
"""The times below the plot. A narrow plot shows only noon."""
_NEAR_SIDE_SHARE: Final = 0.1
"""If the present is less than this fraction of the plot's width from a side, the word "now" isn't centred on the
present, because the word might cross this side."""
_TIME_AFTER_LAST_PERIOD_S: Final = 2 * HOUR_S
"""The chart ends this many seconds after the last period, so that readers see the end of the period."""
_NOW_STEP_S: Final = 900
"""The mark of the present moves only once in this many seconds, so that open pages aren't sent again every minute."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of an axis. `at` is the distance from the plot's left or upper side, in percent of the axis's length."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class RangeLabel:
    """The name of a day or a month.

    `at` is the left edge and `width` the width of the label's space, in percent of the plot's width.
    """

    at: float
    width: float
    label: str


@dataclass(frozen=True, slots=True)
class ColourPaths:
    """The settled prices of one colour, as two SVG paths.

    `area` fills the space between the prices and zero. `line` follows the prices.
    """

    tint: Tint
    area: str
    line: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The paths and labels of the chart. `start` and `end` are the chart's bounds in unix seconds.

    `nights` lists the left edge and the width of each area of the plot in which prices contain the network's night
    rate. `now` is the x coordinate of the present. `zero` is the y coordinate of the price zero.
    """

    start: int
    end: int
    settled: tuple[ColourPaths, ...]
    median: str
    band: str
    nights: tuple[tuple[float, float], ...]
    now: float
    zero: int
    prices: tuple[Tick, ...]
    hours: tuple[Tick, ...]
    days: tuple[RangeLabel, ...]

    @property
    def now_anchor(self) -> Literal["start", "middle", "end"]:
        """The SVG `text-anchor` with which the word "now" stays within the plot."""
        if self.now < _NEAR_SIDE_SHARE * _PLOT_SIZE:
            return "start"
        return "end" if self.now > (1 - _NEAR_SIDE_SHARE) * _PLOT_SIZE else "middle"


@dataclass(frozen=True, slots=True)
class _Frame:
    """Converts instants and amounts to coordinates."""

    start: int
    end: int
    low: float
    high: float

    def x(self, ts: float) -> float:
        return round(_PLOT_SIZE * (ts - self.start) / (self.end - self.start), 1)

    def y(self, amount: float) -> int:
        """Return the y coordinate of an amount, rounded to a whole number.

        Rounding moves a line by less than a pixel, and saves bytes in the page.
        """
        return round(_PLOT_SIZE * (self.high - amount) / (self.high - self.low))


def draw_chart(periods: Sequence[PricedPeriod], scale: Sequence[float], now: int, display: Display) -> Drawing | None:
    """Draw the periods of today and of later days."""
    today = display.local_day(now)
    shown = [period for period in periods if display.local_day(period.ts) >= today]
    if not shown:
        return None
    step, low, high = _price_axis(shown, display)
    frame = _Frame(shown[0].ts, shown[-1].ts + display.step_s + _TIME_AFTER_LAST_PERIOD_S, low, high)
    # Periods with a published price get no forecast in the chart, because an old forecast would confuse readers.
    ahead = [period for period in shown if period.forecast and period.settled is None]
    return Drawing(
        start=frame.start,
        end=frame.end,
        settled=tuple(_colour_paths([period for period in shown if period.settled is not None], scale, frame, display)),
        median=_median_path(ahead, frame, display),
        band=_band_path(ahead, frame, display),
        nights=tuple(_night_areas(shown, frame, display)),
        now=frame.x(now // _NOW_STEP_S * _NOW_STEP_S),
        zero=frame.y(0),
        prices=tuple(_price_ticks(frame, step, display)),
        hours=tuple(_hour_ticks(shown, frame, display)),
        days=tuple(_day_labels(shown, frame, display)),
    )


def _price_axis(shown: Sequence[PricedPeriod], display: Display) -> tuple[float, float, float]:
    """Return the spacing of the price axis's labels, the axis's bottom and its top.

    For the same prices, `priceAxis` in drawing.js computes the same axis.
    """
    amounts = [0.0]
    for period in shown:
        amounts.append(display.shown_price(period))
        if period.forecast and period.settled is None:
            amounts += display.interval(period)
    least, most = min(amounts), max(amounts)
    reach = most - least or 1.0
    margin = reach * _FREE_SPACE_SHARE
    bottom = least - margin if least < 0 else 0.0
    return round_step(reach, _TICKS), bottom, (most or (0.0 if least < 0 else 1.0)) + margin


def round_step(reach: float, steps: int) -> float:
    """Return the smallest round number that is at least `reach` divided by `steps`.

    A round number is 1, 2 or 5 times a power of ten.
    """
    magnitude = 10.0 ** floor(log10(reach / steps))
    return next(magnitude * nice for nice in (1, 2, 5, 10) if magnitude * nice * steps >= reach * (1 - 1e-9))


def _colour_paths(
    periods: Sequence[PricedPeriod], scale: Sequence[float], frame: _Frame, display: Display
) -> Iterator[ColourPaths]:
    """Draw the settled prices of each colour. Vertical lines join the prices of consecutive periods."""
    heights = {period.ts: frame.y(display.shown_price(period)) for period in periods}
    zero = frame.y(0)
    areas = defaultdict[Tint, str](str)
    lines = defaultdict[Tint, str](str)
    for period in periods:
        ts, height, of = period.ts, heights[period.ts], tint(display.shown_price(period), scale)
        left, right, before = frame.x(ts), frame.x(ts + display.step_s), heights.get(ts - display.step_s)
        areas[of] += f"M{left} {zero}V{height}H{right}V{zero}Z"
        joint = f"M{left} {height}" if before is None else f"M{left} {before}V{height}"
        lines[of] += f"{joint}H{right}"
    for of, area in areas.items():
        yield ColourPaths(of, area, lines[of])


def _night_areas(shown: Sequence[PricedPeriod], frame: _Frame, display: Display) -> Iterator[tuple[float, float]]:
    """Yield the left edge and the width of each area of the plot in which prices contain the network's night rate."""
    for is_night, periods in groupby(shown, key=lambda period: display.surcharge.is_night_rate_at(period.ts)):
        instants = [period.ts for period in periods]
        if is_night:
            start, end = frame.x(instants[0]), frame.x(instants[-1] + display.step_s)
            yield start, round(end - start, 1)


def _middle_x(period: PricedPeriod, frame: _Frame, display: Display) -> float:
    return frame.x(period.ts + display.step_s / 2)


def _median_path(periods: Sequence[PricedPeriod], frame: _Frame, display: Display) -> str:
    medians = [(period, display.shown_amount(period.percentiles.p50, period.ts)) for period in periods]
    return _path([(_middle_x(period, frame, display), frame.y(median)) for period, median in medians])


def _band_path(periods: Sequence[PricedPeriod], frame: _Frame, display: Display) -> str:
    """Draw the outline of the forecast's band: first along p90 to the end, then back along p10."""
    bounds = [(_middle_x(period, frame, display), *display.interval(period)) for period in periods]
    upper = [(x, frame.y(high)) for x, _, high in bounds]
    lower = [(x, frame.y(low)) for x, low, _ in reversed(bounds)]
    return _path(upper + lower) + "Z" if bounds else ""


def _path(points: Sequence[tuple[float, int]]) -> str:
    """Return an SVG path that joins points by lines.

    The coordinates are relative, because relative coordinates compress to half the size of absolute ones.
    """
    if not points:
        return ""
    ways = (f"{to[0] - start[0]:.1f} {to[1] - start[1]}" for start, to in pairwise(points))
    return f"M{points[0][0]} {points[0][1]}l" + " ".join(ways)


def _price_ticks(frame: _Frame, step: float, display: Display) -> Iterator[Tick]:
    decimals = max(0, -floor(log10(step)))
    for i in range(ceil(frame.low / step), floor(frame.high / step) + 1):
        amount = i * step
        yield Tick(frame.y(amount) / 10, display.texts.number(amount, decimals))


def _hour_ticks(shown: Sequence[PricedPeriod], frame: _Frame, display: Display) -> Iterator[Tick]:
    for period in shown:
        if (time := display.time_of_day(period.ts)) in _LABELLED_TIMES:
            yield Tick(frame.x(period.ts) / 10, time)


def _day_labels(shown: Sequence[PricedPeriod], frame: _Frame, display: Display) -> Iterator[RangeLabel]:
    for day, periods in groupby(shown, key=lambda period: display.local_day(period.ts)):
        instants = [period.ts for period in periods]
        start, end = frame.x(instants[0]) / 10, frame.x(instants[-1] + display.step_s) / 10
        yield RangeLabel(round(start, 2), round(end - start, 2), display.texts.short_date(day))
