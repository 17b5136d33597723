"""The occurrences of a plan. Each occurrence has a span of time for one window.

Days and times of day are in Tallinn time. The clock change in spring leaves out an hour. A time of day in the left-out
hour has the offset from before the change. The clock change in autumn repeats an hour. A time of day in the repeated
hour means its first occurrence. On the day of a clock change, a span of one day has 23 or 25 hours.

Without bounds, a span is the day. With only an earliest time, a span ends at the same time on the next day. With only a
deadline, a span begins at the same time on the day before. With both bounds, a span begins at the earliest time and
ends at the next deadline.

Each further day of `days` makes the span a day longer. With a deadline, each further day makes the span open a day
earlier. Without a deadline, each further day makes the span close a day later. Spans never overlap. With a deadline, no
span opens before the previous deadline. Without a deadline, no span closes after the start of the next span. If every
day of the week is chosen, each span has only one day. `weekdays` are the chosen days of the deadline. Without a
deadline, `weekdays` are the chosen days of the start.

A span depends only on its date and not on the present time. A clock change may leave no time in a span. For example,
the clock skips the time from 03:30 to 04:00 in spring. If a day's span has no time, the plan has no occurrence on that
day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Final

from ..prices.days import instant_of, local
from ..prices.timeline import HOUR_S
from .settings import MOST_DAYS, PlanSettings

_DAY: Final = timedelta(days=1)
# The days of the longest span, and one more day because of the clock change in autumn.
_REACH_DAYS: Final = MOST_DAYS + 1
# A week without a clock change, from Monday 2026-01-05 in Tallinn on.
_PLAIN_WEEK: Final = (1_767_564_000, 1_767_564_000 + 7 * 24 * HOUR_S)


@dataclass(frozen=True, slots=True)
class Span:
    """The time [opens, closes) in which one window may run, in UTC seconds."""

    opens: int
    closes: int


def spans(settings: PlanSettings, since: int, until: int) -> Iterator[Span]:
    """Yield the spans that overlap [since, until) in the order of time. All times are UTC seconds."""
    day = local(since).date() - _REACH_DAYS * _DAY
    last = local(until).date() + _REACH_DAYS * _DAY
    while day <= last:
        if day.weekday() in settings.weekdays:
            span = _span_of(settings, day)
            if span.opens < span.closes and since < span.closes and span.opens < until:
                yield span
        day += _DAY


def last_close(settings: PlanSettings, span: Span) -> int:
    """Return the end of the days from which the plan may choose, in UTC seconds.

    The days are counted from the start of `span`.
    """
    opens = local(span.opens)
    return instant_of(opens.date() + settings.days * _DAY, opens.time())


def longest_span_s(settings: PlanSettings) -> int:
    """Return the length of the plan's longest span in seconds, without a clock change."""
    return max(span.closes - span.opens for span in spans(settings, *_PLAIN_WEEK))


def _span_of(settings: PlanSettings, day: date) -> Span:
    """Return the span whose deadline is on `day`.

    Without a deadline, return the span that opens on `day`.
    """
    return _starting_on(settings, day) if settings.deadline is None else _ending_on(settings, day)


def _starting_on(settings: PlanSettings, day: date) -> Span:
    wall = settings.earliest or time.min
    next_start = instant_of(_chosen(settings, day, _DAY), wall)
    return Span(instant_of(day, wall), min(next_start, instant_of(day + settings.days * _DAY, wall)))


def _ending_on(settings: PlanSettings, day: date) -> Span:
    deadline = settings.deadline or time.min
    earliest = settings.earliest or deadline
    first = day - (settings.days - (earliest < deadline)) * _DAY
    previous_deadline = instant_of(_chosen(settings, day, -_DAY), deadline)
    return Span(max(previous_deadline, instant_of(first, earliest)), instant_of(day, deadline))


def _chosen(settings: PlanSettings, day: date, step: timedelta) -> date:
    """Return the first chosen day after `day`. If `step` is negative, return the last chosen day before `day`."""
    day += step
    while day.weekday() not in settings.weekdays:
        day += step
    return day
