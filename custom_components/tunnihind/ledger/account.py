"""The account of one plan: the energy, costs and savings of its windows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from mashumaro.codecs import BasicDecoder, BasicEncoder

from ..core.market import HOUR_S
from ..plans.outcome import NoWindow, NoWindowReason, Outcome, Window
from ..plans.saving import Saving, window_saving
from ..plans.settings import PlanSettings
from ..plans.spans import Span, open_times
from ..prices.timeline import Timeline
from .settled_prices import SettledPrices
from .started_window import NO_TOTAL, StartedWindow, Total, begun_pieces, totals_by_day

CORRECTABLE_S: Final = 48 * HOUR_S
"""For at least this long after a window's end, corrected prices and late meter readings change its figures."""
# If the clock is at most 12 hours behind the time until which the newest window has run, the clock counts as wrong: a
# computer without a battery for its clock starts with an old time, until the network sends the right time.
_MAX_CLOCK_ERROR_S: Final = 12 * HOUR_S
GIVE_UP_AFTER_S: Final = 14 * 24 * HOUR_S
"""From this long after a window's end on, its figures no longer change, even if prices are missing."""
# This many of the newest days with windows have separate totals. 62 days cover this month and the month before.
_DAYS_KEPT: Final = 62


@dataclass(frozen=True, slots=True)
class LastWindow:
    """The newest finished window of a plan, with its energy, cost, savings and expected savings.

    `start` and `end` are UTC seconds. `expected` and `expected_at_start` are the estimates of the `StartedWindow`.
    """

    start: int
    end: int
    total: Total
    expected: Saving | None
    expected_at_start: Saving | None


@dataclass(frozen=True, slots=True)
class _OpenSpan:
    """A plan's present span, and the saving that is expected in this span.

    `at_once` is the earliest time at which a window in the span could have started, in UTC seconds. `expected` is the
    expected saving compared with a start at `at_once`, or None if a price was unknown. `asked_s` is the plan's duration
    in seconds when `expected` was computed.
    """

    span: Span
    at_once: int
    expected: Saving | None
    asked_s: int


@dataclass(eq=False)
class Account:
    """The energy, costs and savings of one plan's windows. The fields are what Home Assistant stores.

    Each window is kept until its figures no longer change, and is then added to the totals of its days. The newest 62
    days with windows have separate totals, and all earlier days share one total. `since` is the time when the account
    was opened, in UTC seconds.
    """

    since: int
    can_start_since: int | None = None
    present_span: _OpenSpan | None = None
    windows: list[StartedWindow] = field(default_factory=list)
    closed_until: int = 0
    ran_until: int = 0
    totals_by_day: dict[date, Total] = field(default_factory=dict)
    earlier_total: Total = NO_TOTAL
    last_closed: LastWindow | None = None

    def __post_init__(self) -> None:
        """Start without computed totals."""
        self._computed_totals: dict[int, tuple[object, dict[date, Total]]] = {}
        self._now = self.since

    @property
    def total(self) -> Total:
        """The energy, costs and savings of all windows since the account was opened."""
        return sum((total for part in self._totals() for total in part.values()), start=self.earlier_total)

    def total_of(self, days: Iterable[date]) -> Total:
        """Return the energy, costs and savings of all windows on `days`.

        Each day must be in this month or the month before.
        """
        wanted = set(days)
        return sum((part[day] for part in self._totals() for day in wanted & part.keys()), start=NO_TOTAL)

    @property
    def last_window(self) -> LastWindow | None:
        """The newest finished window whose cost and savings are known at least in part, or None if there is none."""
        closed = self.last_closed
        for started in reversed(self.windows):
            if closed is not None and started.start < closed.start:
                break
            total = sum(self._totals_of(started).values(), start=NO_TOTAL)
            if started.end <= self._now and total.at_one_kw.kwh:
                return LastWindow(started.start, started.end, total, started.expected, started.expected_at_start)
        return closed

    def prices_needed_since(self, prices: SettledPrices) -> int | None:
        """Return the earliest time (UTC seconds) whose price the account still needs, or None if it needs none."""
        opened = [self.present_span.at_once] if self.present_span else []
        return min([*opened, *(started.needed_price_range(prices.zone)[0] for started in self.windows)], default=None)

    def update(
        self, settings: PlanSettings, outcome: Outcome, timeline: Timeline, prices: SettledPrices, now: int
    ) -> None:
        """Update the account with the plan's decision at `now` (UTC seconds)."""
        if self.ran_until - now > _MAX_CLOCK_ERROR_S:
            self.ran_until = 0
        # If the clock is at most 12 hours behind `_ran_until`, no running time counts until the clock reaches
        # `_ran_until`.
        seen = self._now = max(now, self.ran_until)
        if self.present_span is not None and self.present_span.span.closes <= seen:
            self.present_span = None
        self._follow_outcome(settings, outcome, timeline, seen, is_clock_set_back=now < seen)
        if self.windows:
            self.ran_until = max(self.ran_until, min(seen, self.windows[-1].end))
        self._compute_totals(prices, seen)
        self._close_windows(prices, seen)

    def slices_to_read(self, now: int) -> dict[str, list[tuple[int, int]]]:
        """Return the slices whose energy has to be read at `now` (UTC seconds), keyed by the meter's id."""
        to_read: dict[str, list[tuple[int, int]]] = {}
        for started in self.windows:
            if started.meter and (slices := started.slices_to_read(now)):
                to_read.setdefault(started.meter, []).extend(slices)
        return to_read

    def update_readings(self, meter: str, readings: Mapping[tuple[int, int], float | None]) -> bool:
        """Set the kWh that `meter` measured in slices, and return whether this changes anything.

        None means that the energy of a slice is unknown.
        """
        before = self.windows
        self.windows = [
            started.with_readings(readings) if started.meter == meter else started for started in self.windows
        ]
        return self.windows != before

    def hours_without_price(self, prices: SettledPrices, now: int) -> set[int]:
        """Return the starts of all hours before `now` (UTC seconds) for which finished windows lack a price."""
        return {
            hour
            for started in self.windows
            if started.end <= now
            for start, end in [started.needed_price_range(prices.zone)]
            for hour in prices.hours_without_price(start, min(end, now))
        }

    def _follow_outcome(
        self, settings: PlanSettings, outcome: Outcome, timeline: Timeline, now: int, *, is_clock_set_back: bool
    ) -> None:
        """Update the account's windows and its present span according to the plan's decision."""
        window = outcome if isinstance(outcome, Window) and outcome.locked else outcome.last_run
        self._end_dropped_windows(window, now)
        is_switched_off = isinstance(outcome, NoWindow) and outcome.reason is NoWindowReason.SWITCHED_OFF
        if settings.kind.looks_for_high_prices or is_switched_off:
            self.can_start_since = self.present_span = None
        else:
            self.can_start_since = now if self.can_start_since is None else min(self.can_start_since, now)
        if window is not None and self.windows and self.windows[-1].start == window.start:
            self.windows[-1] = self.windows[-1].with_decided_pieces(window.pieces, window.asked_kwh, now)
            if self.can_start_since is not None:  # the next window can't start before this one has ended
                self.can_start_since = max(self.can_start_since, min(now, window.end))
            if window is outcome:
                return
        if (
            is_clock_set_back
            or self.can_start_since is None
            or not isinstance(outcome, Window)
            or now < outcome.span.opens
        ):
            return
        opened = self._present_span_for(outcome, settings, self.can_start_since, timeline)
        newest = self.windows[-1].start if self.windows else self.closed_until - 1
        if outcome.locked and outcome.runs_at(now) and outcome.start > newest:
            self.present_span = None
            self.windows.append(
                StartedWindow(
                    window=(outcome.start, outcome.end),
                    pieces=begun_pieces(outcome.pieces, now),
                    at_once=min(opened.at_once, outcome.start),
                    expected=opened.expected,
                    expected_at_start=window_saving(timeline, outcome.pieces, opened.at_once),
                    meter=settings.meter,
                    power_kw=settings.power_kw,
                    energy_kwh=outcome.asked_kwh,
                )
            )

    def _end_dropped_windows(self, window: Window | None, now: int) -> None:
        """End the running windows that are no longer in the plan's decision.

        A running window may disappear from the decision, for example because an action requests a new window or the
        clock was set back.
        """
        ahead = [
            started
            for started in self.windows
            if started.end > now and (window is None or started.start != window.start)
        ]
        if ahead:
            kept = [started.cut_off(now) if started in ahead else started for started in self.windows]
            self.windows = [started for started in kept if started is not None]
            self.can_start_since, self.present_span = now, None

    def _present_span_for(
        self, window: Window, settings: PlanSettings, can_start_since: int, timeline: Timeline
    ) -> _OpenSpan:
        """Return the plan's present span with the expected saving.

        While the span and the plan's duration stay the same, the first expected saving is kept.
        """
        opened = self.present_span
        if opened is None or (opened.span, opened.asked_s) != (window.span, window.asked_s):
            times = open_times(settings, max(window.span.opens, can_start_since), window.span.closes)
            at_once = times[0][0] if times else window.start
            expected = window_saving(timeline, window.pieces, at_once)
            self.present_span = opened = _OpenSpan(window.span, at_once, expected, window.asked_s)
        return opened

    def _compute_totals(self, prices: SettledPrices, now: int) -> None:
        """Compute the totals of each window again if the window, its running time or any settled price has changed."""
        known = self._computed_totals
        self._computed_totals = {}
        for started in self.windows:
            seen = (prices.version, started, min(now, started.end))
            before = known.get(started.start)
            self._computed_totals[started.start] = (
                before if before and before[0] == seen else (seen, totals_by_day(started, prices, now))
            )

    def _close_windows(self, prices: SettledPrices, now: int) -> None:
        """Add each window that no longer changes to the totals of its days, and merge the totals of the oldest days."""
        for started in list(self.windows):
            age_s = now - started.end
            complete = not prices.hours_without_price(*started.needed_price_range(prices.zone))
            if age_s < CORRECTABLE_S or (age_s < GIVE_UP_AFTER_S and not complete):
                continue
            found = self._totals_of(started)
            total = sum(found.values(), start=NO_TOTAL)
            if total.at_one_kw.kwh and (self.last_closed is None or self.last_closed.start < started.start):
                self.last_closed = LastWindow(
                    started.start, started.end, total, started.expected, started.expected_at_start
                )
            for day, part in found.items():
                self.totals_by_day[day] = self.totals_by_day.get(day, NO_TOTAL) + part
            self.closed_until = max(self.closed_until, started.end)
            self.windows.remove(started)
            del self._computed_totals[started.start]
        for day in sorted(self.totals_by_day)[:-_DAYS_KEPT]:
            self.earlier_total += self.totals_by_day.pop(day)

    def _totals(self) -> list[dict[date, Total]]:
        """Return the totals by day of closed windows, and of each window whose figures may still change."""
        return [self.totals_by_day, *(totals for _, totals in self._computed_totals.values())]

    def _totals_of(self, started: StartedWindow) -> dict[date, Total]:
        return self._computed_totals[started.start][1] if started.start in self._computed_totals else {}


ACCOUNT_DECODER: Final = BasicDecoder(Account)
ACCOUNT_ENCODER: Final = BasicEncoder(Account)
"""The encoder makes of an account what JSON can store, and the decoder reads it again.

If the stored value has the wrong form, the decoder raises LookupError, TypeError, AttributeError or ValueError.
"""
