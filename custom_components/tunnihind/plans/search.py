"""Searches a span for the window that suits a plan best.

If only the prices have changed since the last search, a window moves for a gain of `LEAST_GAIN` or more, so that it
doesn't move at each new forecast.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypedDict

from ..core.market import HOUR_S, QUARTER_S
from ..prices.timeline import Period, Timeline
from .cheap_time import with_cheap_time
from .outcome import NoWindow, NoWindowReason, Outcome
from .saving import seconds_by_period
from .settings import Horizon, PlanSettings, Preference
from .solver import Job, Piece, PriceOf, cheapest_pieces, length_s, round_up_to_quarter, usable_pieces
from .spans import Span, open_times, spans
from .window_figures import new_window

SEARCH_AHEAD_S: Final = 8 * 24 * HOUR_S
"""Even a plan for one weekday usually has a span in this time. Hardly any price after it is known."""
LEAST_GAIN: Final = 0.05
"""The least gain in EUR for which a window that has not begun moves when prices change."""
_USUAL_POWER_KW: Final = 2.0
"""A device whose power is unknown counts with this power, as on the server's page."""


def window_in_span(
    settings: PlanSettings,
    timeline: Timeline,
    span: Span,
    now: int,
    *,
    ran_until: int = 0,
    planned: Sequence[Piece] = (),
) -> Outcome:
    """Return the plan's window in `span` as of `now` (UTC seconds), or the reason why there is no window.

    This function doesn't check whether a window has already run in `span`. `ran_until` (UTC seconds) is the end of the
    plan's last piece that began before `span`, or 0. The first piece begins at once or after a pause. If the plan has
    no fixed duration and may run from `ran_until` on, the last piece may go on, and its rest may be shorter than
    `min_piece_s`. Pieces that are `planned` already stay, unless other pieces gain `LEAST_GAIN`.
    """
    if settings.needs_no_energy:
        return NoWindow(NoWindowReason.NOTHING_NEEDED)
    bounds = bounds_after(settings, ran_until, max(now, span.opens), span.closes)
    is_piece_running = bounds[0] == ran_until < span.closes
    pieces = best_pieces(settings, timeline, bounds, span, ran_until, is_piece_running=is_piece_running)
    if pieces and ran_until < pieces[0][0] < ran_until + settings.min_pause_s:
        bounds = bounds_after(settings, ran_until, ran_until + settings.min_pause_s, span.closes)
        pieces = best_pieces(settings, timeline, bounds, span, ran_until)
    if settings.full_kwh is not None:
        if not pieces or pieces[0][0] != ran_until:
            bounds = bounds_after(settings, ran_until, max(bounds[0], ran_until + settings.min_pause_s), span.closes)
        pieces = filled_up(settings, timeline, bounds, pieces, round_up_to_quarter(settings.full_s))
    if planned and may_keep(settings, timeline, planned, pieces):
        pieces = tuple(planned)
    if pieces:
        return new_window(settings, timeline, span, pieces, at_once=open_times(settings, *bounds)[0][0])
    return NoWindow(_no_window_reason(settings, timeline, bounds, span))


def best_pieces(
    settings: PlanSettings,
    timeline: Timeline,
    bounds: Piece,
    span: Span,
    ran_until: int = 0,
    *,
    with_price_limit: bool = True,
    is_piece_running: bool = False,
) -> tuple[Piece, ...]:
    """Return the best pieces within `bounds`. If `with_price_limit` is false, ignore the price limit.

    `bounds` is the whole `span`, or the rest of it. `ran_until` is the end of the plan's last piece before `span`, or
    0.
    """
    price_of = price_function(settings if with_price_limit else replace(settings, price_limit=None))
    if settings.kind.has_limit_instead_of_duration:
        return all_pieces_within_limit(settings, timeline, bounds, price_of, is_piece_running=is_piece_running)
    if settings.energy_kwh == 0:
        return ()
    timeline = open_timeline(settings, timeline, (span.opens, span.closes))
    found = (
        cheapest_pieces(timeline, bounds, job, price_of, span_opens=span.opens)
        for job in _jobs(settings, span, ran_until)
    )
    return next(filter(None, found), ())


def all_pieces_within_limit(
    settings: PlanSettings, timeline: Timeline, bounds: Piece, price_of: PriceOf, *, is_piece_running: bool
) -> tuple[Piece, ...]:
    """Return all pieces that begin within `bounds` and in which the plan may run, in chronological order.

    `bounds` must end at the end of a span. If the next span opens at this end, the last piece runs on into it, and from
    there on over further borders, but at most `SEARCH_AHEAD_S`. If `is_piece_running` is true, a piece is running when
    `bounds` begins, and may go on even if `bounds` has ended already.
    """
    opens, closes = bounds
    until = closes
    while True:
        following = next((span for span in spans(settings, until, until + 1) if span.opens == until), None)
        until = following.closes if following else until
        pieces = tuple(
            (start, end)
            for start, end in usable_pieces(
                open_timeline(settings, timeline, (opens, until)),
                (opens, until),
                settings.shortest_piece_s,
                price_of,
                min_pause_s=settings.min_pause_s,
                is_piece_running=is_piece_running,
            )
            if start < closes or (is_piece_running and start == opens)
        )
        reached = max(opens, pieces[-1][1]) if pieces else opens
        # No piece ends within a quarter of an hour, also if the span does.
        if following is None or reached <= until - QUARTER_S or until > closes + SEARCH_AHEAD_S:
            return pieces


def filled_up(
    settings: PlanSettings,
    timeline: Timeline,
    bounds: Piece,
    pieces: tuple[Piece, ...],
    full_s: int,
    begun: Sequence[Piece] = (),
) -> tuple[Piece, ...]:
    """Return `pieces` with more time within `bounds` at or below the usual price, until they last `full_s` seconds.

    `begun` are the window's earlier pieces. In one go, a device doesn't start again for the added time.
    """
    if settings.usual_price is None or full_s <= length_s(pieces):
        return pieces
    is_split, most_pieces = settings.min_piece_s is not None, settings.most_pieces
    left = None if most_pieces is None else max(most_pieces - len(begun), 0)
    ran_until = begun[-1][1] if begun else None
    one_go = len(pieces) - bool(pieces and pieces[0][0] == ran_until) if begun else 1
    job = Job(
        duration_s=full_s,
        min_piece_s=min(settings.shortest_piece_s, full_s) if is_split else QUARTER_S,
        min_pause_s=settings.min_pause_s,
        most_pieces=left if is_split else one_go,
        start_cost=settings.start_cost / counted_power_kw(settings),
    )
    return with_cheap_time(
        open_timeline(settings, timeline, bounds),
        bounds,
        pieces,
        job,
        price_function(settings),
        settings.usual_price,
        is_piece_running=bounds[0] == ran_until,
    )


def may_keep(settings: PlanSettings, timeline: Timeline, planned: Sequence[Piece], pieces: Sequence[Piece]) -> bool:
    """Return whether the `planned` pieces may stay, because the new `pieces` gain less than `LEAST_GAIN`.

    The planned pieces must not have more time above the price up to which the plan adds time to what is needed.
    """
    highest = settings.more_below if settings.full_kwh is None else settings.usual_price
    if (settings.full_kwh is not None or highest is not None) and _dear_s(
        settings, timeline, planned, highest
    ) > _dear_s(settings, timeline, pieces, highest):
        return False
    return _gain(settings, timeline, planned, pieces) < LEAST_GAIN


def _gain(settings: PlanSettings, timeline: Timeline, planned: Sequence[Piece], pieces: Sequence[Piece]) -> float:
    """Return what a device gains if it runs in `pieces` instead of in the `planned` pieces, in EUR.

    If the plan may no longer use the planned pieces, or if they don't have the length of the others, the gain is
    infinite. But pieces of a plan with `more_below` may be longer than the others.
    """
    longer_s = length_s(planned) - length_s(pieces)
    if settings.kind.has_limit_instead_of_duration or longer_s < 0 or (longer_s and settings.more_below is None):
        return math.inf
    before, after = (_price_sum(settings, timeline, chosen) for chosen in (planned, pieces))
    before -= (settings.more_below or 0) * longer_s
    return (before - after) / HOUR_S * counted_power_kw(settings) + settings.start_cost * (len(planned) - len(pieces))


def _dear_s(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece], highest: float | None) -> int:
    """Return for how many seconds of the pieces the price is unknown, or above `highest` (EUR/kWh)."""
    price_of = price_function(settings)
    seconds = seconds_by_period(timeline, pieces)
    prices = {period: price_of(period) for period in seconds}
    return sum(seconds[one] for one, price in prices.items() if price is None or highest is None or price > highest)


def cost_in(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece]) -> float | None:
    """Return what the device costs in the pieces in EUR, without starts, as the search counts it.

    If the plan must not use one of the pieces for its price, or the price is unknown, return None. In a plan for high
    prices, the cost is negative.
    """
    price_sum = _price_sum(replace(settings, blocked=()), timeline, pieces)
    return price_sum / HOUR_S * counted_power_kw(settings) if math.isfinite(price_sum) else None


def _price_sum(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece]) -> float:
    """Return the sum of the prices of all seconds in the pieces, as the search counts them, in EUR/kWh.

    If the plan must not use one of these seconds, or its price is unknown, the sum is infinite.
    """
    price_of, seconds = price_function(settings), seconds_by_period(timeline, pieces)
    if seconds.total() < length_s(pieces) or is_blocked(settings, pieces):
        return math.inf
    prices = {period: price_of(period) for period in seconds}
    return sum(math.inf if price is None else price * seconds[period] for period, price in prices.items())


def _jobs(settings: PlanSettings, span: Span, ran_until: int) -> list[Job]:
    """Return the jobs to try one after another. A plan by energy that runs in one piece may have a shortened window."""
    job = Job(
        duration_s=settings.duration_s,
        min_piece_s=settings.min_piece_s,
        min_pause_s=settings.min_pause_s,
        **bounds_of_pauses(settings, ran_until, span.closes),
        most_pieces=settings.most_pieces,
        tolerance=settings.tolerance,
        prefer_latest=settings.prefer is Preference.LATEST,
        start_cost=settings.start_cost / counted_power_kw(settings),
        more_below=settings.more_below,
    )
    if settings.min_piece_s is not None or settings.energy_kwh is None:
        return [job]
    return [job, replace(job, min_piece_s=QUARTER_S, most_pieces=1)]


class _BoundsOfPauses(TypedDict, total=False):
    max_pause_s: int
    latest_start: int
    earliest_end: int


def bounds_of_pauses(settings: PlanSettings, ran_until: int, closes: int) -> _BoundsOfPauses:
    """Return the parts of a job that keep to the plan's longest pause.

    They apply after a piece that ran until `ran_until`, or 0, and before the span that opens at `closes` or later.
    """
    longest_s = settings.max_pause_s
    if longest_s is None:
        return {}
    bounds: _BoundsOfPauses = {"max_pause_s": longest_s}
    if ran_until:
        bounds["latest_start"] = ran_until + longest_s
    if following := next(spans(settings, closes, closes + SEARCH_AHEAD_S), None):
        bounds["earliest_end"] = following.opens - longest_s
    return bounds


def bounds_after(settings: PlanSettings, ran_until: int, now: int, closes: int) -> Piece:
    """Return the time from `now` to `closes` in which a piece may run after a piece that ran until `ran_until`.

    If the earlier piece can go on without a gap, the time begins with `ran_until`. All times are UTC seconds.
    """
    opens = round_up_to_quarter(max(now, ran_until))
    return opens if opens == ran_until else max(opens, round_up_to_quarter(ran_until + settings.min_pause_s)), closes


def open_timeline(settings: PlanSettings, timeline: Timeline, bounds: Piece) -> Timeline:
    """Return the prices of the open times within `bounds`."""
    return timeline.within(open_times(settings, *bounds))


def price_function(settings: PlanSettings) -> PriceOf:
    """Return a function that computes a period's price in EUR/kWh for the search.

    If the plan looks for high prices, the returned function negates the price. If the plan must not use a period, the
    returned function returns None.
    """
    seeks_high, horizon = settings.kind.looks_for_high_prices, settings.horizon
    sign = -1 if seeks_high else 1
    limit = math.inf if settings.price_limit is None else sign * settings.price_limit

    def price(period: Period) -> float | None:
        if horizon is Horizon.PUBLISHED and not period.settled:
            return None
        cautious = period.low if seeks_high else period.high
        counted = sign * (cautious if horizon is Horizon.CAUTIOUS else period.price)
        return None if counted > limit else counted

    return price


def counted_power_kw(settings: PlanSettings) -> float:
    """Return the device's power, or the usual power if it is unknown."""
    return settings.power_kw or _USUAL_POWER_KW


def is_blocked(settings: PlanSettings, pieces: Sequence[Piece]) -> bool:
    """Return whether other plans of the group leave no room for one of the pieces."""
    return any(start < until and since < end for start, end in pieces for since, until in settings.blocked)


def has_room(settings: PlanSettings, since: int, until: int) -> bool:
    """Return whether an open time within [since, until) (UTC seconds) has room for the plan's shortest window."""
    return any(end - start >= settings.shortest_window_s for start, end in open_times(settings, since, until))


def _no_window_reason(settings: PlanSettings, timeline: Timeline, bounds: Piece, span: Span) -> NoWindowReason:
    if not has_room(settings, *bounds):
        return NoWindowReason.TOO_LITTLE_TIME
    if settings.energy_kwh == 0:  # only cheap time would count
        known = open_timeline(settings, timeline, bounds).periods_between(*bounds)
        return NoWindowReason.ABOVE_CAP if settings.usual_price and known else NoWindowReason.NO_PRICES
    if settings.price_limit is not None and best_pieces(settings, timeline, bounds, span, with_price_limit=False):
        return NoWindowReason.BELOW_CAP if settings.kind.looks_for_high_prices else NoWindowReason.ABOVE_CAP
    return NoWindowReason.NO_PRICES
