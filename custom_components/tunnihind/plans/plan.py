"""Decides when a plan runs, and reports the plan's status.

While a plan is switched on, `next_outcome` is called at the start of each quarter of an hour, and after each change of
prices or plans. Until a window begins, each call searches for the best window again with the newest prices. If only the
prices have changed, the window moves for a gain of `LEAST_GAIN` or more, so that it doesn't move at each new forecast.
After the end of a window, `next_outcome` searches for the next window in the spans that open at or after the window's
end.

If a plan has a fixed duration, changes of prices or settings don't move a window that has begun. If the duration
becomes longer, `next_outcome` adds the difference. If the plan is split, it allows shortened windows: a window may
begin although it is shorter than the plan's duration, for example because some prices are still unknown. Then
`next_outcome` may add the missing time later in the span.

If a plan has an energy, the device needs this energy from `needed_since` on, also if a window has begun before. What
the window's pieces have run since then is taken off. The running piece goes on to its end, unless the need takes less.
If the need, the deadline or the price limit changes, `next_outcome` chooses the later pieces again, so that as much of
the need as possible is met by the deadline.

A plan that covers all hours below or above a price limit has no fixed duration. After the plan's window has begun, each
call of `next_outcome` chooses the later pieces again, and may end the running piece early. If the next span opens as
the window's span closes, the window's last piece runs on over this border as long as the limit allows. What lies beyond
the border is chosen again until it has run, and the next window begins after it.

A plan may run longer than its duration while electricity is cheap (`more_below`). After its window has begun, each call
of `next_outcome` chooses again all time that has not run, and what is missing of the duration always counts. In one go,
the window only becomes longer or shorter.

If Home Assistant was down for a whole window, `next_outcome` searches for another window in the remaining time of the
span.

If a plan allows shortened windows and its setting `max_span_days` is more than 1, the plan may wait for a later span in
which the whole duration may fit, instead of using a shortened window in the rest of the present span.

A plan that is switched off stops at once. If a plan is switched off during a window and switched on again later, it
continues with the pieces of this window that are still ahead. If the plan allows shortened windows, `next_outcome` may
add other time for the missed pieces. If the plan has a fixed duration and allows no shortened windows, `next_outcome`
adds no time, so that the device doesn't start again after its window.

If the clock is set back to a time within the span of a window that has begun, `next_outcome` keeps the window. If the
clock is set back to a time before the window's span, `next_outcome` ignores the window.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from operator import itemgetter
from typing import Final, TypedDict

from ..core.market import HOUR_S, QUARTER_S, rounded_price
from ..prices.days import day_at
from ..prices.timeline import Period, Timeline
from .cheap_time import with_cheap_time
from .outcome import NoWindow, NoWindowReason, Outcome, Window
from .saving import Cost, seconds_by_period, window_cost, window_saving
from .settings import Horizon, PlanKind, PlanSettings, Preference
from .solver import Job, Piece, PriceOf, cheapest_pieces, length_s, round_up_to_quarter, usable_pieces
from .spans import Span, does_count, latest_close_to_wait_for, open_times, spans

# Even a plan for one weekday usually has a span in the next 8 days. Hardly any price after these days is known.
_SEARCH_AHEAD_S: Final = 8 * 24 * HOUR_S
_SHARE_DECIMALS: Final = 3
LEAST_GAIN: Final = 0.05
"""The least gain in EUR for which a window that has not begun moves when prices change."""
USUAL_POWER_KW: Final = 2.0
"""A device whose power is unknown counts with this power, as on the server's page."""
_ENERGY_DECIMALS: Final = 3


class _BoundsOfPauses(TypedDict, total=False):
    max_pause_s: int
    latest_start: int
    earliest_end: int


class PlanStatus(StrEnum):
    """A plan's status, as its sensor shows it. `NoWindowReason` explains the statuses that are also reasons."""

    PLANNED = "planned"
    """The window, or its next piece, has not begun yet."""
    RUNNING = "running"
    DONE = "done"
    """No window is ahead. Either the window of the present span has run, or the device needs 0 kWh."""
    NO_PRICES = "no_prices"
    TOO_LITTLE_TIME = "too_little_time"
    ABOVE_CAP = "above_cap"
    BELOW_CAP = "below_cap"
    SWITCHED_OFF = "switched_off"
    OFF = "off"
    """The plan has no window, and no span before the end of tomorrow."""


def next_outcome(
    settings: PlanSettings,
    timeline: Timeline,
    now: int,
    last: Outcome | None = None,
    *,
    only_prices_changed: bool = False,
) -> Outcome:
    """Return the plan's window as of `now` (UTC seconds), or the reason why there is no window.

    `last` is the newest result of `next_outcome` or `switched_off_outcome` for this plan, if there is one.
    `only_prices_changed` is true if the plan's settings are the same as for `last`. A window that has begun remains the
    result until it ends. Otherwise, the result is the window of the first span in which a window is possible (see
    `_spans_ahead`). If the window of a span is shortened, and the plan should wait for a later span (see
    `_should_wait_for_later_day`), the span is skipped. If no window is found, the result is the reason of the first
    span, unless the span had enough time when it opened and too little is left. Then the result is the reason of a
    later span, if there is one.
    """
    window = _newest_begun_window(timeline, last, now)
    if settings.blocked and window is not None and now < window.end:
        window = _in_room(settings, timeline, window, now) or (last.last_run if last else None)
    if window is not None and not window.may_repeat:
        window = _continued(settings, timeline, window, now)
        if now < window.end:
            return window
    if settings.needs_no_energy:
        return NoWindow(NoWindowReason.NOTHING_NEEDED, window)
    reasons: list[tuple[bool, NoWindowReason]] = []
    ran_until = window.end if window is not None else 0
    planned = last if only_prices_changed and isinstance(last, Window) and last.start > now else None
    open_spans = _spans_ahead(settings, last, window, now)
    for place, span in enumerate(open_spans):
        pieces = planned.pieces if planned and span.opens <= planned.start and planned.end <= span.closes else ()
        outcome = window_in_span(settings, timeline, span, now, ran_until=ran_until, planned=pieces)
        if isinstance(outcome, Window):
            if outcome.shortened and _should_wait_for_later_day(settings, timeline, outcome, open_spans[place + 1 :]):
                continue
            return _locked(outcome) if outcome.start <= now else replace(outcome, last_run=window)
        is_time_over = outcome.reason is NoWindowReason.TOO_LITTLE_TIME and _has_room(settings, span.opens, span.closes)
        reasons.append((is_time_over, outcome.reason))
    return NoWindow(min(reasons, key=itemgetter(0), default=(False, NoWindowReason.NO_PRICES))[1], window)


def _continued(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Return a window that has begun, with its later pieces as the settings and prices of now ask for."""
    if settings.kind.has_limit_instead_of_duration:
        return _with_later_pieces_chosen_again(settings, timeline, window, now)
    if settings.energy_kwh is not None:
        return _with_need_met(settings, timeline, window, now)
    if settings.more_below is not None:
        return _with_cheap_time_chosen_again(settings, timeline, window, now)
    return _with_missing_time_added(settings, timeline, window, now)


def _spans_ahead(settings: PlanSettings, last: Outcome | None, window: Window | None, now: int) -> list[Span]:
    """Return the spans in which a window may follow `window`, the plan's newest window that has begun.

    The span of `window` is left out, also if its earliest time has moved to a time after `window`. `last` is the plan's
    newest outcome. If it is a window ahead of a plan by energy, and its span opened on one of the weekdays, the span
    stays open until it closes, also if a new need was said on another day.
    """
    found = [*spans(settings, now, now + _SEARCH_AHEAD_S)]
    if (
        settings.energy_kwh is not None
        and settings.deadline is None
        and isinstance(last, Window)
        and last.span.opens <= now < last.span.closes
        and settings.zone.local_time(last.span.opens).weekday() in settings.weekdays
        and does_count(settings, last.span)
        and not any(span.opens <= now for span in found)
    ):
        found = [last.span, *found]
    if window is None or window.may_repeat:
        return found
    ended = window.end
    if settings.kind.has_limit_instead_of_duration:  # the last piece may reach into a later span
        ended = min(ended, window.span.closes)
    return [span for span in found if span.opens >= ended and span.closes != window.span.closes]


def windows_after(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> tuple[Window, ...]:
    """Return the plan's windows after `window`, as of `now` (UTC seconds).

    If the plan has a fixed duration, the result is empty, because the best time in a later span may still change
    completely.
    """
    found: list[Window] = []
    if settings.kind.has_limit_instead_of_duration:
        ended = window.end
        for span in spans(settings, window.span.closes, now + _SEARCH_AHEAD_S):
            outcome = window_in_span(settings, timeline, span, now, ran_until=ended)
            if isinstance(outcome, Window):
                found.append(outcome)
                ended = outcome.end
    return tuple(found)


def next_window(settings: PlanSettings, timeline: Timeline, window: Window) -> Window | None:
    """Return the window that will follow `window`, or None if none is possible, or a price of its span is unknown."""
    following = next_outcome(settings, timeline, window.end, _locked(window))
    if not isinstance(following, Window) or following.start < window.end:
        return None
    return None if _has_unknown_prices(settings, timeline, following.span) else following


def _should_wait_for_later_day(
    settings: PlanSettings, timeline: Timeline, window: Window, later: Sequence[Span]
) -> bool:
    """Return whether the plan should wait for a span in `later` instead of using the shortened `window`.

    The plan should wait if the whole span of `window`, including past hours, has room for a longer window, and the
    plan's whole duration may fit into a later span that closes by the instant from `latest_close_to_wait_for`. A plan
    with a longest pause or a second deadline doesn't wait.
    """
    span = window.span
    if settings.max_pause_s is not None or settings.second_deadline is not None:
        return False
    latest = latest_close_to_wait_for(settings, span)
    if not any(_may_whole_duration_fit(settings, timeline, other) for other in later if other.closes <= latest):
        return False
    whole = _best_pieces(settings, timeline, (round_up_to_quarter(span.opens), span.closes), span)
    return length_s(whole) > length_s(window.pieces)


def _may_whole_duration_fit(settings: PlanSettings, timeline: Timeline, span: Span) -> bool:
    """Return whether the plan's whole duration fits into `span`, or may fit once more prices are known."""
    outcome = window_in_span(settings, timeline, span, span.opens)
    if isinstance(outcome, Window) and not outcome.shortened:
        return True
    lengths = [end - start for start, end in open_times(settings, span.opens, span.closes)]
    room_s = max(lengths, default=0) if settings.min_piece_s is None else sum(lengths)
    return _has_unknown_prices(settings, timeline, span) and room_s >= settings.duration_s


def _has_unknown_prices(settings: PlanSettings, timeline: Timeline, span: Span) -> bool:
    known_until = timeline.settled_until if settings.horizon is Horizon.PUBLISHED else timeline.known_until
    return known_until is None or known_until < span.closes


def switched_off_outcome(timeline: Timeline, now: int, last: Outcome | None) -> NoWindow:
    """Return the outcome of a plan that is switched off. A running window ends at `now` (UTC seconds).

    `last` is the newest result of `next_outcome` or `switched_off_outcome` for this plan, if there is one.
    """
    window = _newest_begun_window(timeline, last, now)
    if isinstance(last, NoWindow) and last.reason is NoWindowReason.SWITCHED_OFF and window is not None:
        return last
    if window is None or window.end <= now:
        return NoWindow(NoWindowReason.SWITCHED_OFF, window)
    ran = _cut_off_window(window, now)
    if ran is None:
        return NoWindow(NoWindowReason.SWITCHED_OFF, last.last_run if last else None)
    return NoWindow(
        NoWindowReason.SWITCHED_OFF, _with_average_recomputed(timeline, ran), _pieces_after(window.pieces, now)
    )


def replanned(settings: PlanSettings, last: Outcome | None, now: int) -> Window | None:
    """Return the part of the plan's newest window that stays if the plan chooses its time again.

    `last` is the plan's newest outcome, and `now` is in UTC seconds. The pieces that have begun stay. The running piece
    ends as soon as it has the length of the shortest piece. In one piece, a plan by duration ends it as soon as it has
    the plan's duration, and a plan by energy doesn't shorten it. `next_outcome` then adds the time that is missing. If
    the window is over, another window may follow it in the same span, but only in a plan by duration: in all other
    plans, `next_outcome` adds what is missing to the window. If no window has begun, return None.
    """
    if isinstance(last, NoWindow) and last.rest and last.last_run is not None:
        return replace(last.last_run, saving=None, asked_s=length_s(last.last_run.pieces))
    window = last if isinstance(last, Window) and last.start <= now else last.last_run if last is not None else None
    if window is None:
        return None
    window = window if window.locked else _locked(window)
    if window.end <= now:
        is_by_duration = settings.energy_kwh is None and not settings.kind.has_limit_instead_of_duration
        return replace(window, may_repeat=is_by_duration)
    *earlier, (start, end) = _begun_pieces(window, now)
    least_s = settings.shortest_piece_s
    if settings.min_piece_s is None:
        least_s = end - start if settings.energy_kwh is not None else settings.duration_s
    pieces = (*earlier, (start, _early_end((start, end), least_s, now)))
    return replace(window, pieces=pieces, saving=None, asked_s=length_s(pieces))


def _cut_off_window(window: Window, now: int) -> Window | None:
    """Cut the window off at `now` (UTC seconds). If no piece begins before `now`, return None.

    If the window becomes shorter, its saving and its cost become None.
    """
    pieces = tuple((start, min(end, now)) for start, end in window.pieces if start < now)
    if pieces == window.pieces:
        return window
    return replace(window, pieces=pieces, saving=None, cost=None) if pieces else None


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
    bounds = _bounds_after(settings, ran_until, max(now, span.opens), span.closes)
    is_piece_running = bounds[0] == ran_until < span.closes
    pieces = _best_pieces(settings, timeline, bounds, span, ran_until, is_piece_running=is_piece_running)
    if pieces and ran_until < pieces[0][0] < ran_until + settings.min_pause_s:
        bounds = _bounds_after(settings, ran_until, ran_until + settings.min_pause_s, span.closes)
        pieces = _best_pieces(settings, timeline, bounds, span, ran_until)
    if settings.full_kwh is not None:
        if not pieces or pieces[0][0] != ran_until:
            bounds = _bounds_after(settings, ran_until, max(bounds[0], ran_until + settings.min_pause_s), span.closes)
        pieces = _filled(settings, timeline, bounds, pieces, round_up_to_quarter(settings.full_s))
    if planned and _may_keep(settings, timeline, planned, pieces):
        pieces = tuple(planned)
    if pieces:
        return _window(settings, timeline, span, pieces, at_once=open_times(settings, *bounds)[0][0])
    return NoWindow(_no_window_reason(settings, timeline, bounds, span))


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
    return (before - after) / HOUR_S * _power_kw(settings) + settings.start_cost * (len(planned) - len(pieces))


def _power_kw(settings: PlanSettings) -> float:
    return settings.power_kw or USUAL_POWER_KW


def _may_keep(settings: PlanSettings, timeline: Timeline, planned: Sequence[Piece], pieces: Sequence[Piece]) -> bool:
    """Return whether the `planned` pieces may stay, because the new `pieces` gain less than `LEAST_GAIN`.

    The planned pieces must not have more time above the price up to which the plan adds time to what is needed.
    """
    highest = settings.more_below if settings.full_kwh is None else settings.usual_price
    if (settings.full_kwh is not None or highest is not None) and _dear_s(
        settings, timeline, planned, highest
    ) > _dear_s(settings, timeline, pieces, highest):
        return False
    return _gain(settings, timeline, planned, pieces) < LEAST_GAIN


def _dear_s(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece], highest: float | None) -> int:
    """Return for how many seconds of the pieces the price is unknown, or above `highest` (EUR/kWh)."""
    price_of = _price_function(settings)
    seconds = seconds_by_period(timeline, pieces)
    prices = {period: price_of(period) for period in seconds}
    return sum(seconds[one] for one, price in prices.items() if price is None or highest is None or price > highest)


def _filled(
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
        start_cost=settings.start_cost / _power_kw(settings),
    )
    return with_cheap_time(
        _open_timeline(settings, timeline, bounds),
        bounds,
        pieces,
        job,
        _price_function(settings),
        settings.usual_price,
        is_piece_running=bounds[0] == ran_until,
    )


def cost_in(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece]) -> float | None:
    """Return what the device costs in the pieces in EUR, without starts, as the search counts it.

    If the plan must not use one of the pieces for its price, or the price is unknown, return None. In a plan for high
    prices, the cost is negative.
    """
    price_sum = _price_sum(replace(settings, blocked=()), timeline, pieces)
    return price_sum / HOUR_S * _power_kw(settings) if math.isfinite(price_sum) else None


def _price_sum(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece]) -> float:
    """Return the sum of the prices of all seconds in the pieces, as the search counts them, in EUR/kWh.

    If the plan must not use one of these seconds, or its price is unknown, the sum is infinite.
    """
    price_of, seconds = _price_function(settings), seconds_by_period(timeline, pieces)
    if seconds.total() < length_s(pieces) or _is_blocked(settings, pieces):
        return math.inf
    prices = {period: price_of(period) for period in seconds}
    return sum(math.inf if price is None else price * seconds[period] for period, price in prices.items())


def status_of(settings: PlanSettings, outcome: Outcome, now: int) -> PlanStatus:
    """Return the plan's status at `now` (UTC seconds)."""
    if isinstance(outcome, Window):
        return PlanStatus.RUNNING if outcome.runs_at(now) else PlanStatus.PLANNED
    if outcome.reason is NoWindowReason.SWITCHED_OFF:
        return PlanStatus.SWITCHED_OFF
    if outcome.last_run is not None and now < outcome.last_run.span.closes:
        return PlanStatus.DONE
    if not any(spans(settings, now, day_at(settings.zone, now, days_later=1).end)):
        return PlanStatus.OFF
    # All reasons except NOTHING_NEEDED are also statuses.
    return PlanStatus.DONE if outcome.reason is NoWindowReason.NOTHING_NEEDED else PlanStatus(outcome.reason)


def missing_kwh(settings: PlanSettings, outcome: Outcome, now: int) -> float | None:
    """Return the part of the plan's energy for which the present span has no time, in kWh, as of `now` (UTC seconds).

    Between two spans, the next span counts. If the plan has no energy, or is switched off, return None.
    """
    if isinstance(outcome, NoWindow) and outcome.reason is NoWindowReason.SWITCHED_OFF:
        return None
    if outcome.last_run is not None and now < outcome.last_run.span.closes:
        return outcome.last_run.missing_kwh
    if isinstance(outcome, Window) and all(outcome.span.opens < span.closes for span in spans(settings, now, now + 1)):
        return outcome.missing_kwh
    return settings.energy_kwh


def _newest_begun_window(timeline: Timeline, last: Outcome | None, now: int) -> Window | None:
    """Return the plan's newest window that has begun.

    If there is no such window, or if the window's span opens after `now` because the clock was set back, return None.
    """
    if isinstance(last, Window) and last.locked:
        window: Window | None = last
    elif isinstance(last, Window) and last.start <= now < last.end:
        window = _locked(last)
    elif isinstance(last, NoWindow) and last.last_run is not None:
        window = _resumed_window(timeline, last.last_run, last.rest, now) if last.rest else last.last_run
    else:
        window = last.last_run if last is not None else None
    return window if window is not None and window.span.opens <= now else None


def _locked(window: Window) -> Window:
    return replace(window, locked=True, kept_until=window.pieces[0][1], last_run=None)


def _resumed_window(timeline: Timeline, window: Window, rest: tuple[Piece, ...], now: int) -> Window:
    """Return `window` extended by the pieces of `rest` that are still ahead, for a plan that is switched on again."""
    pieces = _joined_pieces(window.pieces, _pieces_after(rest, now))
    return _with_average_recomputed(
        timeline, replace(window, pieces=pieces, shortened=length_s(pieces) < window.asked_s)
    )


def _with_average_recomputed(timeline: Timeline, window: Window) -> Window:
    """Compute the window's average price and forecast share again.

    If a price is unknown, both stay as they were.
    """
    seconds = seconds_by_period(timeline, window.pieces)
    if seconds.total() != length_s(window.pieces):
        return window
    return replace(window, average=_average_price(seconds), forecast_share=_forecast_share(seconds))


def _in_room(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window | None:
    """Return a window that has begun without the pieces ahead for which other plans of the group leave no room.

    If no piece is left, the window has not begun, and the result is None.
    """
    pieces = tuple(piece for piece in window.pieces if piece[0] < now or not _is_blocked(settings, [piece]))
    if pieces == window.pieces:
        return window
    return _with_pieces(settings, timeline, window, pieces) if pieces else None


def _is_blocked(settings: PlanSettings, pieces: Sequence[Piece]) -> bool:
    """Return whether other plans of the group leave no room for one of the pieces."""
    return any(start < until and since < end for start, end in pieces for since, until in settings.blocked)


def _begun_pieces(window: Window, now: int) -> tuple[Piece, ...]:
    """Return the pieces of the window that have begun by `now` (UTC seconds), each with its whole length."""
    return tuple(piece for piece in window.pieces if piece[0] <= now)


def _pieces_after(pieces: tuple[Piece, ...], now: int) -> tuple[Piece, ...]:
    return tuple((max(start, now), end) for start, end in pieces if end > now)


def _with_need_met(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Choose again the pieces that have not begun, if they no longer suit a plan by energy.

    The running piece goes on to its end. If the need takes less, the piece ends earlier, but neither before it has the
    length of the shortest piece nor before `window.kept_until`. The pieces that have not begun stay while the need, the
    deadline and the price limit allow it, unless newly known prices allow a shortened window to become longer.
    """
    begun = _begun_pieces(window, now)
    span = _present_span(settings, window, now)
    # Without a piece that has begun, the clock was set back.
    if not begun or now >= max(span.closes, window.span.closes):
        return window
    *earlier, (start, end) = begun
    needed_until = max(end + max(_missing_s(settings, begun), _full_missing_s(settings, begun)), window.kept_until)
    begun = (*earlier, (start, _early_end((start, end), max(settings.shortest_piece_s, needed_until - start), now)))
    missing_s = max(_missing_s(settings, begun), 0)
    ahead = window.pieces[len(begun) :]
    may_stay = (
        _keep_to_limit(settings, timeline, ahead) and window.end <= span.closes and not _is_blocked(settings, ahead)
    )
    if settings.full_kwh is not None:
        chosen = _rest(settings, timeline, window, begun, missing_s, (now, span.closes))
        # If prices are lost for a while, nothing better than the chosen pieces is known.
        if not may_stay or length_s(chosen) >= min(missing_s, length_s(ahead)):
            bounds = _bounds_after(settings, begun[-1][1], now, span.closes)
            filled = _filled(settings, timeline, bounds, chosen, _full_missing_s(settings, begun), begun)
            ahead = ahead if may_stay and ahead and _may_keep(settings, timeline, ahead, filled) else filled
        changed = replace(window, span=span, asked_s=length_s(begun) + missing_s)
        return _with_pieces(settings, timeline, changed, _joined_pieces(begun, ahead))
    has_changed = missing_s != window.asked_s - length_s(begun) or span.closes != window.span.closes
    if not may_stay or has_changed or length_s(ahead) < missing_s:
        chosen = _rest(settings, timeline, window, begun, missing_s, (now, span.closes))
        # If prices are lost for a while, nothing better than the chosen pieces is known.
        if not may_stay or length_s(chosen) >= min(missing_s, length_s(ahead) + (not has_changed)):
            ahead = chosen
    changed = replace(window, span=span, asked_s=length_s(begun) + missing_s)
    return _with_pieces(settings, timeline, changed, _joined_pieces(begun, ahead))


def _present_span(settings: PlanSettings, window: Window, now: int) -> Span:
    """Return the span of a window that has begun, with the bounds of the newest settings.

    If the deadline of the newest settings has passed, the span closes at `now` (UTC seconds).
    """
    opens, until = window.span.opens, window.end
    if settings.deadline is not None:  # the earliest time of the newest settings may still be ahead
        until = max(until, window.span.closes)
    present = next(spans(settings, now, max(until, now + 1)), None)
    if present is None and settings.deadline is None:  # the need was said on a day that is not one of the weekdays
        return window.span
    if present is not None and present.opens < until:
        return Span(min(opens, present.opens), present.closes)
    return Span(opens, now)


def _keep_to_limit(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece]) -> bool:
    """Return whether all known prices in the pieces keep to the plan's price limit."""
    # Where a published price is lost for a while, its forecast may stand in.
    horizon = Horizon.EXPECTED if settings.horizon is Horizon.PUBLISHED else settings.horizon
    price_of = _price_function(replace(settings, horizon=horizon))
    return all(price_of(period) is not None for period in seconds_by_period(timeline, pieces))


def _with_missing_time_added(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Add the missing time to the window of a plan by duration, as far as the plan and the rest of the span allow.

    A longer duration may move the pieces that have not begun. A plan that runs in one piece never starts again. It only
    gets the time by which its duration has become longer since the window was chosen, if this time follows the running
    piece.
    """
    is_split, asked_s = settings.min_piece_s is not None, max(window.asked_s, settings.duration_s)
    begun = _begun_pieces(window, now) if asked_s > window.asked_s else window.pieces
    has_s, ahead = length_s(begun) if is_split else window.asked_s, window.pieces[len(begun) :]
    # The missing time is rounded down, because a restart of the device for less than a quarter of an hour is not
    # worthwhile.
    missing_s = (asked_s - has_s) // QUARTER_S * QUARTER_S
    span = _present_span(settings, window, now)
    # Without a piece that has begun, the clock was set back.
    if not begun or missing_s <= length_s(ahead):
        return window
    chosen = _rest(settings, timeline, window, begun, missing_s, (now, span.closes))
    if length_s(chosen) <= length_s(ahead):
        return window
    changed = replace(window, span=span, asked_s=asked_s if is_split else has_s + length_s(chosen))
    return _with_pieces(settings, timeline, changed, _joined_pieces(begun, chosen))


def _with_cheap_time_chosen_again(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Choose again all time that has not run, for a plan with `more_below`.

    The running piece ends at the earliest when it is as long as the shortest piece. The chosen time stays if other time
    gains little, see `_may_keep`. If prices are lost for a while, nothing better than the chosen time is known.
    """
    begun, span = [*_begun_pieces(window, now)], _present_span(settings, window, now)
    # Without a piece that has begun, the clock was set back.
    if not begun or now >= max(span.closes, window.span.closes):
        return window
    start, end = begun[-1]
    begun[-1] = start, _early_end((start, end), settings.shortest_piece_s, now)
    missing_s = max(settings.duration_s - length_s(begun), 0)
    ahead = (*([(begun[-1][1], end)] if begun[-1][1] < end else []), *window.pieces[len(begun) :])
    chosen = _rest(settings, timeline, window, begun, missing_s, (now, span.closes))
    is_known = seconds_by_period(timeline, ahead).total() == length_s(ahead)
    if not is_known or length_s(chosen) < min(missing_s, length_s(ahead)):
        return window
    if length_s(ahead) < missing_s or not _may_keep(settings, timeline, ahead, chosen):
        ahead = chosen
    changed = replace(window, span=span, asked_s=settings.duration_s)
    return _with_pieces(settings, timeline, changed, _joined_pieces(begun, ahead))


def _rest(
    settings: PlanSettings,
    timeline: Timeline,
    window: Window,
    begun: Sequence[Piece],
    missing_s: int,
    bounds: Piece,
) -> tuple[Piece, ...]:
    """Return the best pieces of `missing_s` seconds in total, for a window whose pieces `begun` stay.

    The pieces lie within `bounds`, after the last piece of `begun`. If time is short, they are shorter. If the last
    piece of `begun` reaches into `bounds`, the first piece may continue it. If a plan by energy has no pieces of
    `missing_s` seconds that are long enough, its pieces are longer in total. The plan's tolerance and preference don't
    count, because they have chosen the start of the window already.
    """
    if missing_s <= 0 and settings.more_below is None:
        return ()
    is_by_energy, most_pieces = settings.energy_kwh is not None, settings.most_pieces
    if settings.min_piece_s is None:
        # A need that grew allows one more start.
        grew = is_by_energy and (
            (settings.needed_since or 0) > begun[-1][0] or length_s(begun) + missing_s > window.asked_s
        )
        most_pieces = max(len(begun) + grew, len(window.pieces))
    bounds = _bounds_after(settings, begun[-1][1], *bounds)
    job = Job(
        duration_s=missing_s,
        min_piece_s=settings.shortest_piece_s,
        min_pause_s=settings.min_pause_s,
        **_bounds_of_pauses(settings, begun[-1][1], bounds[1]),
        most_pieces=None if most_pieces is None else max(most_pieces - len(begun), 0),
        start_cost=settings.start_cost / _power_kw(settings),
        more_below=settings.more_below,
    )
    jobs = [job, replace(job, duration_s=missing_s + settings.shortest_piece_s - QUARTER_S)] if is_by_energy else [job]
    found: tuple[Piece, ...] = ()
    for job in dict.fromkeys(jobs):
        if not found or length_s(found) < missing_s:
            found = cheapest_pieces(
                _open_timeline(settings, timeline, bounds),
                bounds,
                job,
                _price_function(settings),
                is_piece_running=bounds[0] == begun[-1][1],
            )
    return found


def _bounds_of_pauses(settings: PlanSettings, ran_until: int, closes: int) -> _BoundsOfPauses:
    """Return the parts of a job that keep to the plan's longest pause.

    They apply after a piece that ran until `ran_until`, or 0, and before the span that opens at `closes` or later.
    """
    longest_s = settings.max_pause_s
    if longest_s is None:
        return {}
    bounds: _BoundsOfPauses = {"max_pause_s": longest_s}
    if ran_until:
        bounds["latest_start"] = ran_until + longest_s
    if following := next(spans(settings, closes, closes + _SEARCH_AHEAD_S), None):
        bounds["earliest_end"] = following.opens - longest_s
    return bounds


def _ran_before_s(since: int | None, pieces: Sequence[Piece]) -> int:
    """Return how long the pieces of a window ran before the device needed an energy, in seconds."""
    since = since or 0
    return sum(min(end, since) - start for start, end in pieces if start < since)


def _missing_s(settings: PlanSettings, pieces: Sequence[Piece]) -> int:
    """Return for how many seconds the device needs to run after `pieces`, rounded up to a quarter of an hour.

    If `pieces` are longer than the need, the result is negative.
    """
    ran_before_s = _ran_before_s(settings.needed_since, pieces)
    return round_up_to_quarter(ran_before_s + settings.needed_s - length_s(pieces))


def _full_missing_s(settings: PlanSettings, pieces: Sequence[Piece]) -> int:
    """Return how long the device must run after `pieces` until it is full, as `_missing_s` does."""
    ran_before_s = _ran_before_s(settings.full_since, pieces)
    return round_up_to_quarter(ran_before_s + settings.full_s - length_s(pieces))


def _with_pieces(settings: PlanSettings, timeline: Timeline, window: Window, pieces: tuple[Piece, ...]) -> Window:
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
        changed = replace(_with_average_recomputed(timeline, changed), saving=None)
    elif asked_kwh == window.asked_kwh:
        return changed
    return replace(changed, cost=_cost(settings, timeline, pieces, asked_kwh))


def _with_later_pieces_chosen_again(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Choose the later pieces again with the newest prices, and what lies beyond the end of the window's span.

    The running piece may end early (see `_end_of_piece`).
    """
    begun = [*_begun_pieces(window, now)]
    if not begun:  # the clock was set back to a time before the window
        return window
    running = begun[-1]
    border = window.span.closes // QUARTER_S * QUARTER_S
    chosen_until = max(border, _early_end(running, settings.shortest_piece_s, now))
    begun[-1] = running[0], min(_end_of_piece(settings, timeline, window, running, now), chosen_until)
    bounds = _bounds_after(settings, begun[-1][1], now, window.span.closes)
    if not timeline.periods_between(bounds[0], max(bounds[1], bounds[0] + QUARTER_S)):
        return window
    is_piece_running = bounds[0] == begun[-1][1]
    ahead = _all_pieces_within_limit(
        settings, timeline, bounds, _price_function(settings), is_piece_running=is_piece_running
    )
    pieces = _joined_pieces(begun, ahead)
    if (pieces == window.pieces and not window.forecast_share) or not seconds_by_period(timeline, pieces):
        return replace(window, pieces=pieces)
    return replace(_window(settings, timeline, window.span, pieces, at_once=window.start), locked=window.locked)


def _end_of_piece(settings: PlanSettings, timeline: Timeline, window: Window, piece: Piece, now: int) -> int:
    """Return the end of a piece that has begun.

    If some prices of the window were predicted, the piece ends early at a published price beyond the price limit. An
    early end leaves the piece at least `min_piece_s` seconds long.
    """
    _, end = piece
    if end <= now or not window.forecast_share:
        return end
    price_of = _price_function(settings)
    for quarter in range(_early_end(piece, settings.shortest_piece_s, now), end, QUARTER_S):
        period = timeline.period_at(quarter)
        if period is not None and period.settled and price_of(period) is None:
            return quarter
    return end


def _early_end(piece: Piece, least_s: int, now: int) -> int:
    """Return the earliest end after `now` (UTC seconds) that leaves the piece at least `least_s` seconds long."""
    start, end = piece
    return min(end, round_up_to_quarter(max(start + least_s, now + 1)))


def _bounds_after(settings: PlanSettings, ran_until: int, now: int, closes: int) -> Piece:
    """Return the time from `now` to `closes` in which a piece may run after a piece that ran until `ran_until`.

    If the earlier piece can go on without a gap, the time begins with `ran_until`. All times are UTC seconds.
    """
    opens = round_up_to_quarter(max(now, ran_until))
    return opens if opens == ran_until else max(opens, round_up_to_quarter(ran_until + settings.min_pause_s)), closes


def _joined_pieces(pieces: Sequence[Piece], later: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return `pieces` followed by `later`. Two pieces without a gap between them become one piece."""
    if later and later[0][0] == pieces[-1][1]:
        return (*pieces[:-1], (pieces[-1][0], later[0][1]), *later[1:])
    return (*pieces, *later)


def _best_pieces(
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
    price_of = _price_function(settings if with_price_limit else replace(settings, price_limit=None))
    if settings.kind.has_limit_instead_of_duration:
        return _all_pieces_within_limit(settings, timeline, bounds, price_of, is_piece_running=is_piece_running)
    if settings.energy_kwh == 0:
        return ()
    timeline = _open_timeline(settings, timeline, (span.opens, span.closes))
    found = (
        cheapest_pieces(timeline, bounds, job, price_of, span_opens=span.opens)
        for job in _jobs(settings, span, ran_until)
    )
    return next(filter(None, found), ())


def _all_pieces_within_limit(
    settings: PlanSettings, timeline: Timeline, bounds: Piece, price_of: PriceOf, *, is_piece_running: bool
) -> tuple[Piece, ...]:
    """Return all pieces that begin within `bounds` and in which the plan may run, in chronological order.

    `bounds` must end at the end of a span. If the next span opens at this end, the last piece runs on into it, and from
    there on over further borders, but at most `_SEARCH_AHEAD_S`. If `is_piece_running` is true, a piece is running when
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
                _open_timeline(settings, timeline, (opens, until)),
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
        if following is None or reached <= until - QUARTER_S or until > closes + _SEARCH_AHEAD_S:
            return pieces


def _open_timeline(settings: PlanSettings, timeline: Timeline, bounds: Piece) -> Timeline:
    """Return the prices of the open times within `bounds`."""
    return timeline.within(open_times(settings, *bounds))


def _jobs(settings: PlanSettings, span: Span, ran_until: int) -> list[Job]:
    """Return the jobs to try one after another. A plan by energy that runs in one piece may have a shortened window."""
    job = Job(
        duration_s=settings.duration_s,
        min_piece_s=settings.min_piece_s,
        min_pause_s=settings.min_pause_s,
        **_bounds_of_pauses(settings, ran_until, span.closes),
        most_pieces=settings.most_pieces,
        tolerance=settings.tolerance,
        prefer_latest=settings.prefer is Preference.LATEST,
        start_cost=settings.start_cost / _power_kw(settings),
        more_below=settings.more_below,
    )
    if settings.min_piece_s is not None or settings.energy_kwh is None:
        return [job]
    return [job, replace(job, min_piece_s=QUARTER_S, most_pieces=1)]


def _price_function(settings: PlanSettings) -> PriceOf:
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


def _window(
    settings: PlanSettings, timeline: Timeline, span: Span, pieces: tuple[Piece, ...], *, at_once: int
) -> Window:
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


def _asked_kwh(settings: PlanSettings, pieces: Sequence[Piece]) -> float | None:
    """Return the energy that the device should use in a window: what it used before its need, and the need.

    If the window is longer, it is the energy of the whole window, but no more than until the device is full.
    """
    if settings.energy_kwh is None or settings.power_kw is None:
        return None
    asked = _ran_before_s(settings.needed_since, pieces) / HOUR_S * settings.power_kw + settings.energy_kwh
    if settings.full_kwh is not None:
        full = _ran_before_s(settings.full_since, pieces) / HOUR_S * settings.power_kw + settings.full_kwh
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


def _no_window_reason(settings: PlanSettings, timeline: Timeline, bounds: Piece, span: Span) -> NoWindowReason:
    if not _has_room(settings, *bounds):
        return NoWindowReason.TOO_LITTLE_TIME
    if settings.energy_kwh == 0:  # only cheap time would count
        known = _open_timeline(settings, timeline, bounds).periods_between(*bounds)
        return NoWindowReason.ABOVE_CAP if settings.usual_price and known else NoWindowReason.NO_PRICES
    if settings.price_limit is not None and _best_pieces(settings, timeline, bounds, span, with_price_limit=False):
        return NoWindowReason.BELOW_CAP if settings.kind.looks_for_high_prices else NoWindowReason.ABOVE_CAP
    return NoWindowReason.NO_PRICES


def _has_room(settings: PlanSettings, since: int, until: int) -> bool:
    """Return whether an open time within [since, until) (UTC seconds) has room for the plan's shortest window."""
    return any(end - start >= settings.shortest_window_s for start, end in open_times(settings, since, until))
