"""Decides when a plan runs, and reports the plan's status.

While a plan is switched on, `next_outcome` is called at the start of each quarter of an hour, and after each change of
prices or plans. Until a window begins, each call searches for the best window again with the newest prices. If only the
prices have changed, the window moves for a gain of `LEAST_GAIN` or more, so that it doesn't move at each new forecast.
After the end of a window, `next_outcome` searches for the next window in the spans that open at or after the window's
end.

If Home Assistant was down for a whole window, `next_outcome` searches for another window in the remaining time of the
span.

If a plan allows shortened windows and its setting `max_span_days` is more than 1, the plan may wait for a later span in
which the whole duration may fit, instead of using a shortened window in the rest of the present span.

If the clock is set back to a time within the span of a window that has begun, `next_outcome` keeps the window. If the
clock is set back to a time before the window's span, `next_outcome` ignores the window.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from operator import itemgetter

from ..prices.days import day_at
from ..prices.timeline import Timeline
from .begun_window import as_begun, continued, cut_off_window, in_room, newest_begun_window, pieces_after
from .outcome import NoWindow, NoWindowReason, Outcome, Window
from .search import SEARCH_AHEAD_S, best_pieces, has_room, window_in_span
from .settings import Horizon, PlanSettings
from .solver import length_s, round_up_to_quarter
from .spans import Span, does_count, latest_close_to_wait_for, open_times, spans
from .window_figures import with_average_recomputed


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
    window = newest_begun_window(timeline, last, now)
    if settings.blocked and window is not None and now < window.end:
        window = in_room(settings, timeline, window, now) or (last.last_run if last else None)
    if window is not None and not window.may_repeat:
        window = continued(settings, timeline, window, now)
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
            return as_begun(outcome) if outcome.start <= now else replace(outcome, last_run=window)
        is_time_over = outcome.reason is NoWindowReason.TOO_LITTLE_TIME and has_room(settings, span.opens, span.closes)
        reasons.append((is_time_over, outcome.reason))
    return NoWindow(min(reasons, key=itemgetter(0), default=(False, NoWindowReason.NO_PRICES))[1], window)


def _spans_ahead(settings: PlanSettings, last: Outcome | None, window: Window | None, now: int) -> list[Span]:
    """Return the spans in which a window may follow `window`, the plan's newest window that has begun.

    The span of `window` is left out, also if its earliest time has moved to a time after `window`. `last` is the plan's
    newest outcome. If it is a window ahead of a plan by energy, and its span opened on one of the weekdays, the span
    stays open until it closes, also if a new need was said on another day.
    """
    found = [*spans(settings, now, now + SEARCH_AHEAD_S)]
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
        for span in spans(settings, window.span.closes, now + SEARCH_AHEAD_S):
            outcome = window_in_span(settings, timeline, span, now, ran_until=ended)
            if isinstance(outcome, Window):
                found.append(outcome)
                ended = outcome.end
    return tuple(found)


def next_window(settings: PlanSettings, timeline: Timeline, window: Window) -> Window | None:
    """Return the window that will follow `window`, or None if none is possible, or a price of its span is unknown."""
    following = next_outcome(settings, timeline, window.end, as_begun(window))
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
    whole = best_pieces(settings, timeline, (round_up_to_quarter(span.opens), span.closes), span)
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
    window = newest_begun_window(timeline, last, now)
    if isinstance(last, NoWindow) and last.reason is NoWindowReason.SWITCHED_OFF and window is not None:
        return last
    if window is None or window.end <= now:
        return NoWindow(NoWindowReason.SWITCHED_OFF, window)
    ran = cut_off_window(window, now)
    if ran is None:
        return NoWindow(NoWindowReason.SWITCHED_OFF, last.last_run if last else None)
    return NoWindow(
        NoWindowReason.SWITCHED_OFF, with_average_recomputed(timeline, ran), pieces_after(window.pieces, now)
    )


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
