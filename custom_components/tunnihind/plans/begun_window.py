"""Carries a window on that has begun, until it ends.

If a plan has a fixed duration, changes of prices or settings don't move a window that has begun. If the duration
becomes longer, `continued` adds the difference. If the plan is split, it allows shortened windows: a window may
begin although it is shorter than the plan's duration, for example because some prices are still unknown. Then
`continued` may add the missing time later in the span.

If a plan has an energy, the device needs this energy from `needed_since` on, also if a window has begun before. What
the window's pieces have run since then is taken off. The running piece goes on to its end, unless the need takes less.
If the need, the deadline or the price limit changes, `continued` chooses the later pieces again, so that as much of
the need as possible is met by the deadline.

A plan that covers all hours below or above a price limit has no fixed duration. After the plan's window has begun, each
call of `continued` chooses the later pieces again, and may end the running piece early. If the next span opens as
the window's span closes, the window's last piece runs on over this border as long as the limit allows. What lies beyond
the border is chosen again until it has run, and the next window begins after it.

A plan may run longer than its duration while electricity is cheap (`more_below`). After its window has begun, each call
of `continued` chooses again all time that has not run, and what is missing of the duration always counts. In one go,
the window only becomes longer or shorter.

A plan that is switched off stops at once. If a plan is switched off during a window and switched on again later, it
continues with the pieces of this window that are still ahead. If the plan allows shortened windows, `continued` may
add other time for the missed pieces. If the plan has a fixed duration and allows no shortened windows, `continued`
adds no time, so that the device doesn't start again after its window.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..core.market import QUARTER_S
from ..prices.timeline import Timeline
from .outcome import NoWindow, Outcome, Window
from .saving import seconds_by_period
from .search import (
    all_pieces_within_limit,
    bounds_after,
    bounds_of_pauses,
    counted_power_kw,
    filled_up,
    is_blocked,
    may_keep,
    open_timeline,
    price_function,
)
from .settings import Horizon, PlanSettings
from .solver import Job, Piece, cheapest_pieces, length_s, round_up_to_quarter
from .spans import Span, spans
from .window_figures import new_window, ran_before_need_s, with_average_recomputed, with_pieces


def newest_begun_window(timeline: Timeline, last: Outcome | None, now: int) -> Window | None:
    """Return the plan's newest window that has begun.

    If there is no such window, or if the window's span opens after `now` because the clock was set back, return None.
    """
    if isinstance(last, Window) and last.locked:
        window: Window | None = last
    elif isinstance(last, Window) and last.start <= now < last.end:
        window = as_begun(last)
    elif isinstance(last, NoWindow) and last.last_run is not None:
        window = _resumed_window(timeline, last.last_run, last.rest, now) if last.rest else last.last_run
    else:
        window = last.last_run if last is not None else None
    return window if window is not None and window.span.opens <= now else None


def as_begun(window: Window) -> Window:
    """Return a window at its begin. It stays the plan's window until it ends."""
    return replace(window, locked=True, kept_until=window.pieces[0][1], last_run=None)


def _resumed_window(timeline: Timeline, window: Window, rest: tuple[Piece, ...], now: int) -> Window:
    """Return `window` extended by the pieces of `rest` that are still ahead, for a plan that is switched on again."""
    pieces = _joined_pieces(window.pieces, pieces_after(rest, now))
    return with_average_recomputed(
        timeline, replace(window, pieces=pieces, shortened=length_s(pieces) < window.asked_s)
    )


def cut_off_window(window: Window, now: int) -> Window | None:
    """Cut the window off at `now` (UTC seconds). If no piece begins before `now`, return None.

    If the window becomes shorter, its saving and its cost become None.
    """
    pieces = tuple((start, min(end, now)) for start, end in window.pieces if start < now)
    if pieces == window.pieces:
        return window
    return replace(window, pieces=pieces, saving=None, cost=None) if pieces else None


def pieces_after(pieces: tuple[Piece, ...], now: int) -> tuple[Piece, ...]:
    """Return what is left of the pieces after `now` (UTC seconds)."""
    return tuple((max(start, now), end) for start, end in pieces if end > now)


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
    window = window if window.locked else as_begun(window)
    if window.end <= now:
        is_by_duration = settings.energy_kwh is None and not settings.kind.has_limit_instead_of_duration
        return replace(window, may_repeat=is_by_duration)
    *earlier, (start, end) = _begun_pieces(window, now)
    least_s = settings.shortest_piece_s
    if settings.min_piece_s is None:
        least_s = end - start if settings.energy_kwh is not None else settings.duration_s
    pieces = (*earlier, (start, _early_end((start, end), least_s, now)))
    return replace(window, pieces=pieces, saving=None, asked_s=length_s(pieces))


def in_room(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window | None:
    """Return a window that has begun without the pieces ahead for which other plans of the group leave no room.

    If no piece is left, the window has not begun, and the result is None.
    """
    pieces = tuple(piece for piece in window.pieces if piece[0] < now or not is_blocked(settings, [piece]))
    if pieces == window.pieces:
        return window
    return with_pieces(settings, timeline, window, pieces) if pieces else None


def continued(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Return a window that has begun, with its later pieces as the settings and prices of now ask for."""
    if settings.kind.has_limit_instead_of_duration:
        return _with_later_pieces_chosen_again(settings, timeline, window, now)
    if settings.energy_kwh is not None:
        return _with_need_met(settings, timeline, window, now)
    if settings.more_below is not None:
        return _with_cheap_time_chosen_again(settings, timeline, window, now)
    return _with_missing_time_added(settings, timeline, window, now)


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
        _keep_to_limit(settings, timeline, ahead) and window.end <= span.closes and not is_blocked(settings, ahead)
    )
    if settings.full_kwh is not None:
        chosen = _rest(settings, timeline, window, begun, missing_s, (now, span.closes))
        # If prices are lost for a while, nothing better than the chosen pieces is known.
        if not may_stay or length_s(chosen) >= min(missing_s, length_s(ahead)):
            bounds = bounds_after(settings, begun[-1][1], now, span.closes)
            filled = filled_up(settings, timeline, bounds, chosen, _full_missing_s(settings, begun), begun)
            ahead = ahead if may_stay and ahead and may_keep(settings, timeline, ahead, filled) else filled
        changed = replace(window, span=span, asked_s=length_s(begun) + missing_s)
        return with_pieces(settings, timeline, changed, _joined_pieces(begun, ahead))
    has_changed = missing_s != window.asked_s - length_s(begun) or span.closes != window.span.closes
    if not may_stay or has_changed or length_s(ahead) < missing_s:
        chosen = _rest(settings, timeline, window, begun, missing_s, (now, span.closes))
        # If prices are lost for a while, nothing better than the chosen pieces is known.
        if not may_stay or length_s(chosen) >= min(missing_s, length_s(ahead) + (not has_changed)):
            ahead = chosen
    changed = replace(window, span=span, asked_s=length_s(begun) + missing_s)
    return with_pieces(settings, timeline, changed, _joined_pieces(begun, ahead))


def _keep_to_limit(settings: PlanSettings, timeline: Timeline, pieces: Sequence[Piece]) -> bool:
    """Return whether all known prices in the pieces keep to the plan's price limit."""
    # Where a published price is lost for a while, its forecast may stand in.
    horizon = Horizon.EXPECTED if settings.horizon is Horizon.PUBLISHED else settings.horizon
    price_of = price_function(replace(settings, horizon=horizon))
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
    return with_pieces(settings, timeline, changed, _joined_pieces(begun, chosen))


def _with_cheap_time_chosen_again(settings: PlanSettings, timeline: Timeline, window: Window, now: int) -> Window:
    """Choose again all time that has not run, for a plan with `more_below`.

    The running piece ends at the earliest when it is as long as the shortest piece. The chosen time stays if other time
    gains little, see `may_keep`. If prices are lost for a while, nothing better than the chosen time is known.
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
    if length_s(ahead) < missing_s or not may_keep(settings, timeline, ahead, chosen):
        ahead = chosen
    changed = replace(window, span=span, asked_s=settings.duration_s)
    return with_pieces(settings, timeline, changed, _joined_pieces(begun, ahead))


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
    bounds = bounds_after(settings, begun[-1][1], now, window.span.closes)
    if not timeline.periods_between(bounds[0], max(bounds[1], bounds[0] + QUARTER_S)):
        return window
    is_piece_running = bounds[0] == begun[-1][1]
    ahead = all_pieces_within_limit(
        settings, timeline, bounds, price_function(settings), is_piece_running=is_piece_running
    )
    pieces = _joined_pieces(begun, ahead)
    if (pieces == window.pieces and not window.forecast_share) or not seconds_by_period(timeline, pieces):
        return replace(window, pieces=pieces)
    return replace(new_window(settings, timeline, window.span, pieces, at_once=window.start), locked=window.locked)


def _end_of_piece(settings: PlanSettings, timeline: Timeline, window: Window, piece: Piece, now: int) -> int:
    """Return the end of a piece that has begun.

    If some prices of the window were predicted, the piece ends early at a published price beyond the price limit. An
    early end leaves the piece at least `min_piece_s` seconds long.
    """
    _, end = piece
    if end <= now or not window.forecast_share:
        return end
    price_of = price_function(settings)
    for quarter in range(_early_end(piece, settings.shortest_piece_s, now), end, QUARTER_S):
        period = timeline.period_at(quarter)
        if period is not None and period.settled and price_of(period) is None:
            return quarter
    return end


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
    bounds = bounds_after(settings, begun[-1][1], *bounds)
    job = Job(
        duration_s=missing_s,
        min_piece_s=settings.shortest_piece_s,
        min_pause_s=settings.min_pause_s,
        **bounds_of_pauses(settings, begun[-1][1], bounds[1]),
        most_pieces=None if most_pieces is None else max(most_pieces - len(begun), 0),
        start_cost=settings.start_cost / counted_power_kw(settings),
        more_below=settings.more_below,
    )
    jobs = [job, replace(job, duration_s=missing_s + settings.shortest_piece_s - QUARTER_S)] if is_by_energy else [job]
    found: tuple[Piece, ...] = ()
    for job in dict.fromkeys(jobs):
        if not found or length_s(found) < missing_s:
            found = cheapest_pieces(
                open_timeline(settings, timeline, bounds),
                bounds,
                job,
                price_function(settings),
                is_piece_running=bounds[0] == begun[-1][1],
            )
    return found


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


def _missing_s(settings: PlanSettings, pieces: Sequence[Piece]) -> int:
    """Return for how many seconds the device needs to run after `pieces`, rounded up to a quarter of an hour.

    If `pieces` are longer than the need, the result is negative.
    """
    ran_before_s = ran_before_need_s(settings.needed_since, pieces)
    return round_up_to_quarter(ran_before_s + settings.needed_s - length_s(pieces))


def _full_missing_s(settings: PlanSettings, pieces: Sequence[Piece]) -> int:
    """Return how long the device must run after `pieces` until it is full, as `_missing_s` does."""
    ran_before_s = ran_before_need_s(settings.full_since, pieces)
    return round_up_to_quarter(ran_before_s + settings.full_s - length_s(pieces))


def _begun_pieces(window: Window, now: int) -> tuple[Piece, ...]:
    """Return the pieces of the window that have begun by `now` (UTC seconds), each with its whole length."""
    return tuple(piece for piece in window.pieces if piece[0] <= now)


def _early_end(piece: Piece, least_s: int, now: int) -> int:
    """Return the earliest end after `now` (UTC seconds) that leaves the piece at least `least_s` seconds long."""
    start, end = piece
    return min(end, round_up_to_quarter(max(start + least_s, now + 1)))


def _joined_pieces(pieces: Sequence[Piece], later: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return `pieces` followed by `later`. Two pieces without a gap between them become one piece."""
    if later and later[0][0] == pieces[-1][1]:
        return (*pieces[:-1], (pieces[-1][0], later[0][1]), *later[1:])
    return (*pieces, *later)
