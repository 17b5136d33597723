"""The figures of a plan's window: its average price, its cost, and the energy that it leaves missing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..core.market import HOUR_S, rounded_price
from ..prices.timeline import Period, Timeline
from .outcome import Window
from .saving import Cost, seconds_by_period, window_cost, window_saving
from .settings import PlanKind, PlanSettings
from .solver import Piece, length_s
from .spans import Span

_SHARE_DECIMALS: Final = 3
_ENERGY_DECIMALS: Final = 3


def new_window(
    settings: PlanSettings, timeline: Timeline, span: Span, pieces: tuple[Piece, ...], *, at_once: int
) -> Window:
    """Return the window of the pieces in `span`. Its saving is against a start at `at_once` (UTC seconds)."""
    seconds, asked_kwh = seconds_by_period(timeline, pieces), _asked_kwh(settings, pieces)
    return Window(
        pieces=pieces,
        span=span,
        average=_average_price(seconds),
        saving=window_saving(timeline, pieces, at_once) if settings.kind is PlanKind.CHEAPEST else None,
        cost=_cost(settings, timeline, pieces, asked_kwh),
        forecast_share=_forecast_share(seconds),
        shortened=seconds.total() < settings.duration_s,
        asked_s=settings.duration_s,
        asked_kwh=asked_kwh,
        missing_kwh=_missing_kwh(settings, asked_kwh, pieces),
    )


def with_pieces(settings: PlanSettings, timeline: Timeline, window: Window, pieces: tuple[Piece, ...]) -> Window:
    """Return a window that has begun with the pieces `pieces`."""
    asked_kwh = _asked_kwh(settings, pieces)
    changed = replace(
        window,
        pieces=pieces,
        shortened=length_s(pieces) < window.asked_s,
        asked_kwh=asked_kwh,
        missing_kwh=_missing_kwh(settings, asked_kwh, pieces),
    )
    if pieces != window.pieces:
        changed = replace(with_average_recomputed(timeline, changed), saving=None)
    elif asked_kwh == window.asked_kwh:
        return changed
    return replace(changed, cost=_cost(settings, timeline, pieces, asked_kwh))


def with_average_recomputed(timeline: Timeline, window: Window) -> Window:
    """Compute the window's average price and forecast share again.

    If a price is unknown, both stay as they were.
    """
    seconds = seconds_by_period(timeline, window.pieces)
    if seconds.total() != length_s(window.pieces):
        return window
    return replace(window, average=_average_price(seconds), forecast_share=_forecast_share(seconds))


def ran_before_need_s(since: int | None, pieces: Sequence[Piece]) -> int:
    """Return how long the pieces of a window ran before the device needed an energy, in seconds."""
    since = since or 0
    return sum(min(end, since) - start for start, end in pieces if start < since)


def _asked_kwh(settings: PlanSettings, pieces: Sequence[Piece]) -> float | None:
    """Return the energy that the device should use in a window: what it used before its need, and the need.

    If the window is longer, it is the energy of the whole window, but no more than until the device is full.
    """
    if settings.energy_kwh is None or settings.power_kw is None:
        return None
    asked = ran_before_need_s(settings.needed_since, pieces) / HOUR_S * settings.power_kw + settings.energy_kwh
    if settings.full_kwh is not None:
        full = ran_before_need_s(settings.full_since, pieces) / HOUR_S * settings.power_kw + settings.full_kwh
        asked = max(asked, min(full, length_s(pieces) / HOUR_S * settings.power_kw))
    return round(asked, _ENERGY_DECIMALS)


def _missing_kwh(settings: PlanSettings, asked_kwh: float | None, pieces: Sequence[Piece]) -> float | None:
    if asked_kwh is None or settings.power_kw is None:
        return None
    return round(max(asked_kwh - length_s(pieces) / HOUR_S * settings.power_kw, 0.0), _ENERGY_DECIMALS)


def _cost(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece], asked_kwh: float | None) -> Cost | None:
    """Return the cost of a window, or None if the plan has no energy or a price is unknown."""
    if asked_kwh is None or settings.power_kw is None:
        return None
    return window_cost(timeline, pieces, energy_kwh=asked_kwh, power_kw=settings.power_kw)


def _average_price(seconds: Counter[Period]) -> float:
    return rounded_price(sum(period.price * part for period, part in seconds.items()) / seconds.total())


def _forecast_share(seconds: Counter[Period]) -> float:
    predicted = sum(part for period, part in seconds.items() if not period.settled)
    return round(predicted / seconds.total(), _SHARE_DECIMALS)
