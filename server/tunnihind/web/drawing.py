"""The chart that the server draws: shown before any script has run, and all there is without JavaScript.

Coordinates are thousandths of the plot's width and height, y downwards, for an SVG that stretches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil, floor, log10
from typing import Final

from tunnihind.market import HOUR_S, floor_hour
from tunnihind.web.display import Display
from tunnihind.web.periods import PricedPeriod

_SIZE: Final = 1000
_TICKS: Final = 5
_HEADROOM: Final = 1.05
_MARGIN_S: Final = 2 * HOUR_S
"""Room after the last period, for the mark of the forecast's end to be seen."""
_NOW_STEP_S: Final = 900
"""How often the mark of the present moves, so that the page doesn't change with every second."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A label and where it stands, in percent."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Where a day stands, in percent of the plot's width, and its name."""

    at: float
    width: float
    label: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Paths and labels, from the start of the reader's day to the end of the public forecast."""

    start: int
    end: int
    settled: str
    median: str
    band: str
    now: float
    limit: float | None
    zero: float
    prices: tuple[Tick, ...]
    days: tuple[DaySpan, ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Turns instants and amounts into coordinates."""

    start: int
    end: int
    low: float
    high: float

    def x(self, ts: float) -> float:
        return round(_SIZE * (ts - self.start) / (self.end - self.start), 1)

    def y(self, amount: float) -> float:
        return round(_SIZE * (self.high - amount) / (self.high - self.low), 1)


def draw(periods: Sequence[PricedPeriod], free_until: int, now: int, display: Display) -> Drawing | None:
    """Draw the periods from the start of today on; None where there are none."""
    today = display.day(now)
    shown = [period for period in periods if display.day(period.ts) >= today]
    if not shown:
        return None
    step, low, high = _scale(shown, display)
    frame = _Frame(shown[0].ts, shown[-1].ts + display.step_s + _MARGIN_S, low, high)
    # One price for each hour: where it is published, what had been forecast would only confuse.
    ahead = [period for period in shown if period.forecast and period.settled is None]
    return Drawing(
        start=frame.start,
        end=frame.end,
        settled=_steps([period for period in shown if period.settled is not None], frame, display),
        median=_line(ahead, frame, display),
        band=_band(ahead, frame, display),
        now=frame.x(now // _NOW_STEP_S * _NOW_STEP_S),
        limit=frame.x(min(floor_hour(free_until) + HOUR_S, frame.end)) if ahead else None,
        zero=frame.y(0),
        prices=tuple(_price_ticks(frame, step, display)),
        days=tuple(_day_spans(shown, frame, display)),
    )


def _scale(shown: Sequence[PricedPeriod], display: Display) -> tuple[float, float, float]:
    """Return the step, the bottom and the top of a price axis that holds zero and all that is drawn."""
    amounts = [0.0]
    for period in shown:
        amounts.append(display.shown(period))
        if period.forecast:
            amounts += display.interval(period)
    reach = (max(amounts) - min(amounts)) * _HEADROOM or 1.0
    magnitude = 10.0 ** floor(log10(reach / _TICKS))
    step = next(magnitude * nice for nice in (1, 2, 5, 10) if magnitude * nice * _TICKS >= reach)
    return step, floor(min(amounts) / step) * step, ceil(max(amounts) / step) * step or step


def _steps(periods: Sequence[PricedPeriod], frame: _Frame, display: Display) -> str:
    """Draw each period as a level, joined to the next where that follows at once."""
    follows = {later.ts for earlier, later in pairwise(periods) if later.ts == earlier.ts + display.step_s}
    return "".join(
        f"{'V' if period.ts in follows else f'M{frame.x(period.ts)} '}{frame.y(display.shown(period))}"
        f"H{frame.x(period.ts + display.step_s)}"
        for period in periods
    )


def _middle(period: PricedPeriod, frame: _Frame, display: Display) -> float:
    return frame.x(period.ts + display.step_s / 2)


def _line(periods: Sequence[PricedPeriod], frame: _Frame, display: Display) -> str:
    medians = [(period, display.amount(period.percentiles.p50, period.ts)) for period in periods]
    points = [f"{_middle(period, frame, display)} {frame.y(median)}" for period, median in medians]
    return "M" + "L".join(points) if points else ""


def _band(periods: Sequence[PricedPeriod], frame: _Frame, display: Display) -> str:
    """Draw the outline of the band: p90 forwards, p10 backwards."""
    bounds = [(_middle(period, frame, display), *display.interval(period)) for period in periods]
    upper = [f"{x} {frame.y(high)}" for x, _, high in bounds]
    lower = [f"{x} {frame.y(low)}" for x, low, _ in reversed(bounds)]
    return "M" + "L".join(upper + lower) + "Z" if upper else ""


def _price_ticks(frame: _Frame, step: float, display: Display) -> Iterator[Tick]:
    decimals = max(0, -floor(log10(step)))
    for i in range(round((frame.high - frame.low) / step) + 1):
        amount = frame.low + i * step
        yield Tick(frame.y(amount) / 10, display.texts.number(amount, decimals))


def _day_spans(shown: Sequence[PricedPeriod], frame: _Frame, display: Display) -> Iterator[DaySpan]:
    for day, periods in groupby(shown, key=lambda period: display.day(period.ts)):
        instants = [period.ts for period in periods]
        start, end = frame.x(instants[0]) / 10, frame.x(instants[-1] + display.step_s) / 10
        yield DaySpan(round(start, 2), round(end - start, 2), display.texts.short_date(day))
