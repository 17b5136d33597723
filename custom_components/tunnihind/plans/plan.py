"""When a plan runs, and how it stands.

`decide` is called at least at every start of a quarter of an hour, each time with its last answer.

- Until a window begins it is searched again from what is known, so new prices may move it.
- Once it has begun it stays, even if prices, settings or the clock change.
- When it is over, its occurrence is done and the next one is planned.
- A split window that began shorter than planned, because prices came late, gets more pieces while its span lasts: a
  boiler must not stay cold because of what was not known at midnight.
- A window that Home Assistant missed from start to end has not run: the rest of its span is planned again.
- If the clock is set back into a span whose window has begun, that window stays. If it is set back to before the span
  opened, nothing has run.
"""

from dataclasses import replace
from enum import StrEnum
from typing import Final

from ..prices.days import day_at
from ..prices.timeline import HOUR_S, Period, Timeline, rounded
from .outcome import Decision, NoWindow, Outcome, Reason
from .saving import saving_of, seconds_of
from .settings import Horizon, PlanSettings
from .solver import Piece, PriceOf, cheapest, first_quarter
from .spans import Span, spans

# Further ahead than any known price, and than the next occurrence of a weekly plan.
_AHEAD_S: Final = 8 * 24 * HOUR_S
_SHARE_DECIMALS: Final = 3


class Status(StrEnum):
    """What a plan is doing, or why it does nothing."""

    PLANNED = "planned"
    """A window, or the next piece of one, is ahead."""
    RUNNING = "running"
    DONE = "done"
    """The window of the span that lasts has run, and the next one has none yet."""
    NO_PRICES = "no_prices"
    TOO_LITTLE_TIME = "too_little_time"
    ABOVE_CAP = "above_cap"
    OFF = "off"
    """Neither today nor tomorrow is one of the plan's days."""


_WHY_NONE: Final = {
    Reason.NO_PRICES: Status.NO_PRICES,
    Reason.TOO_LITTLE_TIME: Status.TOO_LITTLE_TIME,
    Reason.ABOVE_CAP: Status.ABOVE_CAP,
}


def decide(settings: PlanSettings, timeline: Timeline, now: int, last: Outcome | None = None) -> Outcome:
    """Return the plan's window as of `now` (UTC seconds), or why it has none.

    `last` is what was decided before; None forgets what ran. The first occurrence, in the order of time, that has a
    window wins. Where none has, the reason is that of the first one that had time enough.
    """
    run = _last_run(last, now)
    if run is not None:
        run = _made_up(settings, timeline, run, now)
        if now < run.end:
            return run
    reasons = []
    for span in spans(settings, now, now + _AHEAD_S):
        if run is not None and span.opens < run.end:
            continue
        outcome = window_in(settings, timeline, span, now)
        if isinstance(outcome, Decision):
            return replace(outcome, locked=True) if outcome.start <= now else replace(outcome, last_run=run)
        reasons.append(outcome.reason)
    # min() keeps the first of equals, and False comes before True.
    return NoWindow(min(reasons, key=lambda reason: reason is Reason.TOO_LITTLE_TIME, default=Reason.NO_PRICES), run)


def window_in(settings: PlanSettings, timeline: Timeline, span: Span, now: int) -> Outcome:
    """Return the window within one span as of `now` (UTC seconds), whatever ran before, or why there is none."""
    bounds = first_quarter(max(now, span.opens)), span.closes
    pieces = _pieces(settings, timeline, bounds, settings.price_cap)
    if pieces:
        return _decision(settings, timeline, span, bounds, pieces)
    return NoWindow(_why_none(settings, timeline, bounds))


def status_of(settings: PlanSettings, outcome: Outcome, now: int) -> Status:
    """Return how the plan stands at `now` (UTC seconds), by what it has decided for then."""
    if isinstance(outcome, Decision):
        return Status.RUNNING if outcome.runs_at(now) else Status.PLANNED
    if outcome.last_run is not None and now < outcome.last_run.span.closes:
        return Status.DONE
    if not any(spans(settings, now, day_at(now, days_later=1).end)):
        return Status.OFF
    return _WHY_NONE[outcome.reason]


def _last_run(last: Outcome | None, now: int) -> Decision | None:
    """Return the newest window that has begun, unless the clock was set back to before its span."""
    if isinstance(last, Decision) and last.locked:
        run: Decision | None = last
    elif isinstance(last, Decision) and last.start <= now < last.end:
        run = replace(last, locked=True, last_run=None)
    else:
        run = last.last_run if last is not None else None
    return run if run is not None and run.span.opens <= now else None


def _made_up(settings: PlanSettings, timeline: Timeline, run: Decision, now: int) -> Decision:
    """Return a window that has begun, with more pieces if it is shortened and its span now has room for them."""
    had_s = _length(run.pieces)
    if not run.shortened or settings.min_piece_s is None or settings.duration_s <= had_s:
        return run
    rest = replace(settings, duration_s=settings.duration_s - had_s)
    bounds = first_quarter(max(now, run.end)), run.span.closes
    pieces = _pieces(rest, timeline, bounds, settings.price_cap)
    if not pieces:
        return run
    more = _decision(rest, timeline, run.span, bounds, pieces)
    share = _length(pieces) / (had_s + _length(pieces))
    return replace(
        run,
        pieces=_joined(run.pieces, pieces),
        average=rounded((1 - share) * run.average + share * more.average),
        saving=None,
        forecast_share=round((1 - share) * run.forecast_share + share * more.forecast_share, _SHARE_DECIMALS),
        shortened=more.shortened,
    )


def _length(pieces: tuple[Piece, ...]) -> int:
    return sum(end - start for start, end in pieces)


def _joined(pieces: tuple[Piece, ...], later: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return the pieces in the order of time, those that touch as one."""
    (start, end), (begins, ends) = pieces[-1], later[0]
    return (*pieces[:-1], (start, ends), *later[1:]) if end == begins else (*pieces, *later)


def _pieces(settings: PlanSettings, timeline: Timeline, bounds: Piece, price_cap: float | None) -> tuple[Piece, ...]:
    return cheapest(
        timeline,
        bounds,
        duration_s=settings.duration_s,
        min_piece_s=settings.min_piece_s,
        price_of=_price_of(settings.horizon, price_cap),
    )


def _price_of(horizon: Horizon, price_cap: float | None) -> PriceOf:
    """Return what a period counts as; the price cap applies to the same figure."""

    def price(period: Period) -> float | None:
        if horizon is Horizon.PUBLISHED and not period.settled:
            return None
        counted = period.high if horizon is Horizon.CAUTIOUS else period.price
        return None if price_cap is not None and counted > price_cap else counted

    return price


def _decision(
    settings: PlanSettings, timeline: Timeline, span: Span, bounds: Piece, pieces: tuple[Piece, ...]
) -> Decision:
    seconds = seconds_of(timeline, pieces)
    duration = seconds.total()
    predicted = sum(part for period, part in seconds.items() if not period.settled)
    return Decision(
        pieces=pieces,
        span=span,
        average=rounded(sum(period.price * part for period, part in seconds.items()) / duration),
        saving=saving_of(timeline, pieces, bounds[0]),
        forecast_share=round(predicted / duration, _SHARE_DECIMALS),
        shortened=duration < settings.duration_s,
    )


def _why_none(settings: PlanSettings, timeline: Timeline, bounds: Piece) -> Reason:
    if bounds[1] - bounds[0] < (settings.min_piece_s or settings.duration_s):
        return Reason.TOO_LITTLE_TIME
    if settings.price_cap is not None and _pieces(settings, timeline, bounds, None):
        return Reason.ABOVE_CAP
    return Reason.NO_PRICES
