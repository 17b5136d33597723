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
from tunnihind.web.hours import PricedHour

_SIZE: Final = 1000
_TICKS: Final = 5
_HEADROOM: Final = 1.05
_MARGIN_S: Final = 2 * HOUR_S
"""Room after the last hour, for the mark of the forecast's end to be seen."""
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


def draw(hours: Sequence[PricedHour], free_until: int, now: int, display: Display) -> Drawing | None:
    """Draw the hours from the start of today on; None where there are none."""
    today = display.day(now)
    shown = [hour for hour in hours if display.day(hour.ts) >= today]
    if not shown:
        return None
    step, low, high = _scale(shown, display)
    frame = _Frame(shown[0].ts, shown[-1].ts + HOUR_S + _MARGIN_S, low, high)
    ahead = [hour for hour in shown if hour.forecast and hour.ts >= now]
    return Drawing(
        settled=_steps([hour for hour in shown if hour.settled], frame, display),
        median=_line(ahead, frame, display),
        band=_band(ahead, frame, display),
        now=frame.x(now // _NOW_STEP_S * _NOW_STEP_S),
        limit=frame.x(min(floor_hour(free_until) + HOUR_S, frame.end)) if ahead else None,
        zero=frame.y(0),
        prices=tuple(_price_ticks(frame, step, display)),
        days=tuple(_day_spans(shown, frame, display)),
    )


def _scale(shown: Sequence[PricedHour], display: Display) -> tuple[float, float, float]:
    """Return the step, the bottom and the top of a price axis that holds zero and all that is drawn."""
    amounts = [0.0]
    for hour in shown:
        amounts.append(display.amount(hour))
        if hour.forecast:
            amounts += display.interval(hour)
    reach = (max(amounts) - min(amounts)) * _HEADROOM or 1.0
    magnitude = 10.0 ** floor(log10(reach / _TICKS))
    step = next(magnitude * nice for nice in (1, 2, 5, 10) if magnitude * nice * _TICKS >= reach)
    return step, floor(min(amounts) / step) * step, ceil(max(amounts) / step) * step or step


def _median(hour: PricedHour, display: Display) -> float:
    return display.amount(PricedHour(hour.ts, None, hour.forecast))


def _steps(hours: Sequence[PricedHour], frame: _Frame, display: Display) -> str:
    """Draw each hour as a level, joined to the next where that follows at once."""
    follows = {later.ts for earlier, later in pairwise(hours) if later.ts == earlier.ts + HOUR_S}
    return "".join(
        f"{'V' if hour.ts in follows else f'M{frame.x(hour.ts)} '}{frame.y(display.amount(hour))}"
        f"H{frame.x(hour.ts + HOUR_S)}"
        for hour in hours
    )


def _middle(hour: PricedHour, frame: _Frame) -> float:
    return frame.x(hour.ts + HOUR_S / 2)


def _line(hours: Sequence[PricedHour], frame: _Frame, display: Display) -> str:
    points = [f"{_middle(hour, frame)} {frame.y(_median(hour, display))}" for hour in hours]
    return "M" + "L".join(points) if points else ""


def _band(hours: Sequence[PricedHour], frame: _Frame, display: Display) -> str:
    """Draw the outline of the band: p90 forwards, p10 backwards."""
    upper = [f"{_middle(hour, frame)} {frame.y(display.interval(hour)[1])}" for hour in hours]
    lower = [f"{_middle(hour, frame)} {frame.y(display.interval(hour)[0])}" for hour in reversed(hours)]
    return "M" + "L".join(upper + lower) + "Z" if upper else ""


def _price_ticks(frame: _Frame, step: float, display: Display) -> Iterator[Tick]:
    decimals = max(0, -floor(log10(step)))
    for i in range(round((frame.high - frame.low) / step) + 1):
        amount = frame.low + i * step
        yield Tick(frame.y(amount) / 10, display.texts.number(amount, decimals))


def _day_spans(shown: Sequence[PricedHour], frame: _Frame, display: Display) -> Iterator[DaySpan]:
    for day, hours in groupby(shown, key=lambda hour: display.day(hour.ts)):
        instants = [hour.ts for hour in hours]
        start, end = frame.x(instants[0]) / 10, frame.x(instants[-1] + HOUR_S) / 10
        yield DaySpan(round(start, 2), round(end - start, 2), display.texts.short_date(day))
