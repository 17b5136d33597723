"""Computes the spans of a plan, and the open times in each span. In each span, one window may run.

Days and times of day are in the plan's zone. If the clock skips a time of day in spring, the UTC offset from before the
change applies to this time of day. If a time of day comes twice in autumn, the first of the two times counts.

This paragraph describes the spans of plans with `max_span_days` = 1. If a plan has neither an earliest time nor a
deadline, each span is a whole day. If a plan has only an earliest time, each span ends one day after its start, at the
same time of day. If a plan has only a deadline, each span begins one day before its deadline, at the same time of day.
If a plan has an earliest time and a deadline, each span begins at the earliest time and ends at the next deadline.

If a plan by energy has no deadline, each span begins at the time of day at which the device needed the energy, and the
plan's earliest time doesn't count. So a new need has a whole day from then on, and is not cut off at midnight. If the
day of the need is not one of the plan's weekdays, the spans are whole days.

If `max_span_days` is n, a span with a deadline opens n - 1 days earlier than with `max_span_days` = 1, and a span
without a deadline closes n - 1 days later. But spans never overlap: a span with a deadline never opens before
the previous deadline, and a span without a deadline never closes after the start of the next span. So if every day of
the week is chosen, no span is longer than one day.

If a plan starts with the next whole span (`Starts.NEXT_PERIOD`), the spans that opened before `said_at` don't count. If
the spans open with the need, each need has a whole span of its own already, so all of them count.

If a plan has a second deadline, each of the chosen days has two deadlines. A span ends at each, and begins at the
deadline before it, which may be on a day that is not chosen.

Pieces run only in the open times of a span. If a plan has an earliest time and a deadline, both count on each day: an
open time begins at each earliest time of the span and ends at the next deadline, and the span opens at an earliest
time. If a plan lacks one of them, the whole span is one open time. Times in which other plans of a group leave no room
are not open.

If the plan has a deadline, `weekdays` are the days of the deadlines. If the plan has no deadline, `weekdays` are the
days on which spans open. If the clock change in spring leaves no time between the start and the end of a span, the plan
has no span on that day. For example, a span from 03:30 to 04:00 would begin at 04:30 and end at 04:00.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import pairwise
from typing import Final

from ..core.market import QUARTER_S
from .settings import MAX_DAYS, PlanSettings, Starts
from .solver import Piece, round_up_to_quarter

_DAY: Final = timedelta(days=1)
# A span lasts at most `MAX_DAYS` days, and an hour more if the clock changes in autumn.
_LONGEST_SPAN_DAYS: Final = MAX_DAYS + 1
# The Monday and the end of a week without a clock change.
_PLAIN_WEEK: Final = (date(2026, 1, 5), date(2026, 1, 12))


@dataclass(frozen=True, slots=True)
class Span:
    """The time from `opens` to `closes` (UTC seconds), in which one window may run.

    The window's pieces lie within the span's open times, see `open_times`.
    """

    opens: int
    closes: int


def spans(settings: PlanSettings, since: int, until: int) -> Iterator[Span]:
    """Yield the spans that count and overlap [since, until), in chronological order. All times are UTC seconds."""
    return (span for span in _all_spans(settings, since, until) if does_count(settings, span))


def does_count(settings: PlanSettings, span: Span) -> bool:
    """Return whether a span of the plan counts, although it may have opened before the plan or its need was said."""
    return settings.starts is Starts.NOW or span.opens >= (settings.said_at or 0) or _open_with_need(settings)


def _all_spans(settings: PlanSettings, since: int, until: int) -> Iterator[Span]:
    first, last = (settings.zone.local_time(instant).date() for instant in (since, until))
    for day in _days(first - _LONGEST_SPAN_DAYS * _DAY, last + _LONGEST_SPAN_DAYS * _DAY):
        if day.weekday() in settings.weekdays:
            for span in _spans_of_day(settings, day):
                if span.opens < span.closes and since < span.closes and span.opens < until:
                    yield span


def _spans_of_day(settings: PlanSettings, day: date) -> Sequence[Span]:
    """Return the spans that end on a chosen day, or that start on it if the plan has no deadline."""
    if settings.deadline is None:
        return [_span_starting_on(settings, day)]
    if settings.second_deadline is None:
        return [_span_ending_on(settings, day, settings.deadline)]
    first, second = sorted((settings.deadline, settings.second_deadline))
    instants = [
        settings.zone.instant(date_, wall) for date_, wall in ((day - _DAY, second), (day, first), (day, second))
    ]
    return [Span(opens, closes) for opens, closes in pairwise(instants)]


def latest_close_to_wait_for(settings: PlanSettings, span: Span) -> int:
    """Return the instant (UTC seconds) that is `settings.max_span_days` calendar days after the start of `span`.

    A plan waits for a later span only if the later span closes by the returned instant.
    """
    opens = settings.zone.local_time(span.opens)
    return settings.zone.instant(opens.date() + settings.max_span_days * _DAY, opens.time())


def open_times(settings: PlanSettings, since: int, until: int) -> tuple[Piece, ...]:
    """Return the times within [since, until) (UTC seconds) in which a piece may run, in chronological order.

    Like pieces, these times begin and end at full quarters of an hour, and have gaps between them.
    """
    quarters = (
        (round_up_to_quarter(start), end // QUARTER_S * QUARTER_S)
        for time in _times_between_bounds(settings, since, until)
        for start, end in _without(time, settings.blocked)
    )
    return tuple((start, end) for start, end in quarters if start < end)


def longest_open_time_s(settings: PlanSettings) -> int:
    """Return the length in seconds of the plan's longest open time in a week without a clock change.

    If the plan has two deadlines, the shorter of the two spans of a day counts.
    """
    of_spans = [max((end - start for start, end in times), default=0) for times in _open_times_of_plain_week(settings)]
    return max(of_spans) if settings.second_deadline is None else min(of_spans)


def most_open_time_s(settings: PlanSettings) -> int:
    """Return the most seconds of open time that a span of the plan has in a week without a clock change.

    If the plan has two deadlines, the shorter of the two spans of a day counts.
    """
    of_spans = [sum(end - start for start, end in times) for times in _open_times_of_plain_week(settings)]
    return max(of_spans) if settings.second_deadline is None else min(of_spans)


def _open_times_of_plain_week(settings: PlanSettings) -> Iterator[tuple[Piece, ...]]:
    return (
        open_times(settings, span.opens, span.closes)
        for span in _all_spans(settings, *map(settings.zone.midnight, _PLAIN_WEEK))
    )


def _times_between_bounds(settings: PlanSettings, since: int, until: int) -> Sequence[Piece]:
    """Return the times within [since, until) from each earliest time to the next deadline. Touching times are one."""
    if settings.earliest is None or settings.deadline is None:
        return [(since, until)]
    times: list[Piece] = []
    for day in _days(settings.zone.local_time(since).date() - _DAY, settings.zone.local_time(until).date()):
        closing_day = day if settings.earliest < settings.deadline else day + _DAY
        start = max(settings.zone.instant(day, settings.earliest), since)
        end = min(settings.zone.instant(closing_day, settings.deadline), until)
        if times and start <= times[-1][1]:
            start = times.pop()[0]
        if start < end:
            times.append((start, end))
    return times


def _without(time: Piece, blocked: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the parts of a time that are outside the blocked times, which are in chronological order."""
    start, until = time
    for blocked_from, blocked_until in blocked:
        if start < blocked_until and blocked_from < until:
            yield start, blocked_from
            start = blocked_until
    yield start, until


def _span_starting_on(settings: PlanSettings, day: date) -> Span:
    wall = _opening_time(settings)
    next_start = settings.zone.instant(_nearest_chosen_day(settings, day, _DAY), wall)
    return Span(
        settings.zone.instant(day, wall),
        min(next_start, settings.zone.instant(day + settings.max_span_days * _DAY, wall)),
    )


def _opening_time(settings: PlanSettings) -> time:
    """Return the time of day at which the spans of a plan without a deadline open."""
    if settings.energy_kwh is not None and settings.needed_since is not None:
        needed = settings.zone.local_time(settings.needed_since).time()
        return needed if _open_with_need(settings) else time.min
    return settings.earliest or time.min


def _open_with_need(settings: PlanSettings) -> bool:
    """Return whether the plan's spans open at the time of day at which the device needed the energy."""
    if settings.deadline is not None or settings.energy_kwh is None or settings.needed_since is None:
        return False
    return settings.zone.local_time(settings.needed_since).weekday() in settings.weekdays


def _span_ending_on(settings: PlanSettings, day: date, deadline: time) -> Span:
    earliest = settings.earliest or deadline
    days_to_deadline = 0 if earliest < deadline else 1
    previous = _nearest_chosen_day(settings, day, -_DAY)
    # The first earliest time that is neither too many days before the deadline nor before the previous deadline.
    first = max(day - (settings.max_span_days - 1 + days_to_deadline) * _DAY, previous + (1 - days_to_deadline) * _DAY)
    return Span(
        max(settings.zone.instant(previous, deadline), settings.zone.instant(first, earliest)),
        settings.zone.instant(day, deadline),
    )


def _nearest_chosen_day(settings: PlanSettings, day: date, step: timedelta) -> date:
    """Return the nearest date on one of the plan's weekdays after `day`, or before `day` if `step` is negative."""
    day += step
    while day.weekday() not in settings.weekdays:
        day += step
    return day


def _days(first: date, last: date) -> Iterator[date]:
    return (first + number * _DAY for number in range((last - first).days + 1))
