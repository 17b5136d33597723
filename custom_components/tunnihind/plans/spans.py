"""The occurrences of a plan: the spans of time in which each of its windows may be.

Days and times of day are local. If spring leaves out a wall time, the offset before the change applies. If autumn
repeats one, the first of the two counts. So a day's span is 23 or 25 hours long when the clocks change.

| Bounds | Span of an occurrence |
|---|---|
| none | the day |
| earliest E | 24 hours of the clock from E |
| deadline D | 24 hours of the clock until D |
| both | from the last E before D until D; E is on the day before if it is not earlier than D |

Each further day of `days` makes the span a day longer: at its start with a deadline, else at its end. But occurrences
never overlap. With a deadline, a span opens no earlier than the chosen deadline before it. Without one, it closes no
later than the next chosen start. So if every day is chosen, a span is one day. `weekdays` choose the days of the
deadline or, without a deadline, of the start.

A span depends only on its own date, so it is the same at any time. A clock change may leave no time in a span (earliest
03:30 and deadline 04:00 on the spring day). Then the plan has no occurrence on that day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Final

from ..prices.days import instant_of, local
from ..prices.timeline import HOUR_S
from .settings import MOST_DAYS, PlanSettings

_DAY: Final = timedelta(days=1)
# The longest span, and another day for the hour that autumn adds.
_REACH_DAYS: Final = MOST_DAYS + 1
# From Monday 2026-01-05 in Tallinn on.
_PLAIN_WEEK: Final = (1_767_564_000, 1_767_564_000 + 7 * 24 * HOUR_S)


@dataclass(frozen=True, slots=True)
class Span:
    """The time in which one occurrence may run: [opens, closes) in UTC seconds."""

    opens: int
    closes: int


def spans(settings: PlanSettings, since: int, until: int) -> Iterator[Span]:
    """Yield the occurrences that overlap [since, until) (UTC seconds), in the order of time."""
    day = local(since).date() - _REACH_DAYS * _DAY
    last = local(until).date() + _REACH_DAYS * _DAY
    while day <= last:
        if day.weekday() in settings.weekdays:
            span = _span_of(settings, day)
            if span.opens < span.closes and since < span.closes and span.opens < until:
                yield span
        day += _DAY


def last_close(settings: PlanSettings, span: Span) -> int:
    """Return the end of the plan's days to choose from, counted from the start of `span`, UTC seconds."""
    opens = local(span.opens)
    return instant_of(opens.date() + settings.days * _DAY, opens.time())


def longest_span_s(settings: PlanSettings) -> int:
    """Return the length of the plan's longest occurrence, in seconds, in a week without a change of clocks."""
    return max(span.closes - span.opens for span in spans(settings, *_PLAIN_WEEK))


def _span_of(settings: PlanSettings, day: date) -> Span:
    """Return the span that closes on `day` with a deadline, or opens on it without one."""
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
    """Return the nearest chosen day after `day`, or before it if `step` is negative."""
    day += step
    while day.weekday() not in settings.weekdays:
        day += step
    return day
