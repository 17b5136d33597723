"""The account of one plan: the energy, costs and savings of its windows."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final, Self

from mashumaro.codecs import BasicDecoder

from ..core.market import HOUR_S
from ..plans.outcome import NoWindow, NoWindowReason, Outcome, Window
from ..plans.saving import Saving, window_saving
from ..plans.settings import PlanSettings
from ..plans.spans import Span, open_times
from ..prices.timeline import Timeline
from .settled_prices import SettledPrices
from .started_window import StartedWindow, Total, begun_pieces, totals_by_day

# For at least 48 hours after a window's end, corrected prices and late meter readings change the window's figures.
_CORRECTABLE_S: Final = 48 * HOUR_S
# If the clock is at most 12 hours behind the time until which the newest window has run, the clock counts as wrong: a
# computer without a battery for its clock starts with an old time, until the network sends the right time.
_MAX_CLOCK_ERROR_S: Final = 12 * HOUR_S
# From fourteen days after a window's end on, the window's figures no longer change, even if prices are missing.
_GIVE_UP_AFTER_S: Final = 14 * 24 * HOUR_S
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


class Account:
    """The energy, costs and savings of one plan's windows.

    Each window is kept until its figures no longer change, and is then added to the totals of its days. The newest 62
    days with windows have separate totals, and all earlier days share one total. `since` is the time when the account
    was opened, in UTC seconds.
    """

    def __init__(self, since: int) -> None:
        self.since = since
        self._can_start_since: int | None = None
        self._present_span: _OpenSpan | None = None
        self._windows: list[StartedWindow] = []
        self._closed_until = 0
        self._ran_until = 0
        self._totals_by_day: dict[date, Total] = {}
        self._earlier_total = Total()
        self._last_closed: LastWindow | None = None
        self._computed_totals: dict[int, tuple[object, dict[date, Total]]] = {}
        self._now = since

    @property
    def total(self) -> Total:
        """The energy, costs and savings of all windows since the account was opened."""
        parts = [self._totals_by_day, *(found for _, found in self._computed_totals.values())]
        return sum((total for part in parts for total in part.values()), start=self._earlier_total)

    def total_of(self, days: Iterable[date]) -> Total:
        """Return the energy, costs and savings of all windows on `days`.

        Each day must be in this month or the month before.
        """
        wanted = set(days)
        parts = [self._totals_by_day, *(found for _, found in self._computed_totals.values())]
        return sum((part[day] for part in parts for day in wanted & part.keys()), start=Total())

    @property
    def last_window(self) -> LastWindow | None:
        """The newest finished window whose cost and savings are known at least in part, or None if there is none."""
        closed = self._last_closed
        for started in reversed(self._windows):
            if closed is not None and started.start < closed.start:
                break
            total = sum(self._totals_of(started).values(), start=Total())
            if started.end <= self._now and total.at_one_kw.kwh:
                return LastWindow(started.start, started.end, total, started.expected, started.expected_at_start)
        return closed

    def prices_needed_since(self, prices: SettledPrices) -> int | None:
        """Return the earliest time (UTC seconds) whose price the account still needs, or None if it needs none."""
        opened = [self._present_span.at_once] if self._present_span else []
        return min([*opened, *(started.needed_price_range(prices.zone)[0] for started in self._windows)], default=None)

    def update(
        self, settings: PlanSettings, outcome: Outcome, timeline: Timeline, prices: SettledPrices, now: int
    ) -> None:
        """Update the account with the plan's decision at `now` (UTC seconds)."""
        if self._ran_until - now > _MAX_CLOCK_ERROR_S:
            self._ran_until = 0
        # If the clock is at most 12 hours behind `_ran_until`, no running time counts until the clock reaches
        # `_ran_until`.
        seen = self._now = max(now, self._ran_until)
        if self._present_span is not None and self._present_span.span.closes <= seen:
            self._present_span = None
        self._follow_outcome(settings, outcome, timeline, seen, is_clock_set_back=now < seen)
        if self._windows:
            self._ran_until = max(self._ran_until, min(seen, self._windows[-1].end))
        self._compute_totals(prices, seen)
        self._close_windows(prices, seen)

    def slices_to_read(self, now: int) -> dict[str, list[tuple[int, int]]]:
        """Return the slices whose energy has to be read at `now` (UTC seconds), keyed by the meter's id."""
        to_read: dict[str, list[tuple[int, int]]] = {}
        for started in self._windows:
            if started.meter and (slices := started.slices_to_read(now)):
                to_read.setdefault(started.meter, []).extend(slices)
        return to_read

    def update_readings(self, meter: str, readings: Mapping[tuple[int, int], float | None]) -> bool:
        """Set the kWh that `meter` measured in slices, and return whether this changes anything.

        None means that the energy of a slice is unknown.
        """
        before = self._windows
        self._windows = [
            started.with_readings(readings) if started.meter == meter else started for started in self._windows
        ]
        return self._windows != before

    def hours_without_price(self, prices: SettledPrices, now: int) -> set[int]:
        """Return the starts of all hours before `now` (UTC seconds) for which finished windows lack a price."""
        return {
            hour
            for started in self._windows
            if started.end <= now
            for start, end in [started.needed_price_range(prices.zone)]
            for hour in prices.hours_without_price(start, min(end, now))
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the account in a form that JSON can store."""
        return {
            "since": self.since,
            "ready_since": self._can_start_since,
            "opened": asdict(self._present_span) if self._present_span else None,
            "runs": [started.as_dict() for started in self._windows],
            "closed_until": self._closed_until,
            "ran_until": self._ran_until,
            "days": {day.isoformat(): total.as_list() for day, total in self._totals_by_day.items()},
            "before": self._earlier_total.as_list(),
            "last": asdict(self._last_closed) if self._last_closed else None,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        """Rebuild an account from the result of `as_dict`.

        Raises LookupError, TypeError, AttributeError or ValueError if `kept` has the wrong form.
        """
        account = cls(int(kept["since"]))
        account._can_start_since = None if kept["ready_since"] is None else int(kept["ready_since"])
        account._present_span = _OPEN_SPAN_DECODER.decode(kept["opened"])
        account._windows = [StartedWindow.from_dict(started) for started in kept["runs"]]
        account._closed_until = int(kept["closed_until"])
        account._ran_until = int(kept["ran_until"])
        account._totals_by_day = {
            date.fromisoformat(day): Total.from_list(total) for day, total in kept["days"].items()
        }
        account._earlier_total = Total.from_list(kept["before"])
        account._last_closed = _LAST_WINDOW_DECODER.decode(kept["last"])
        return account

    def _follow_outcome(
        self, settings: PlanSettings, outcome: Outcome, timeline: Timeline, now: int, *, is_clock_set_back: bool
    ) -> None:
        """Update the account's windows and its present span according to the plan's decision."""
        window = outcome if isinstance(outcome, Window) and outcome.locked else outcome.last_run
        self._end_dropped_windows(window, now)
        is_switched_off = isinstance(outcome, NoWindow) and outcome.reason is NoWindowReason.SWITCHED_OFF
        if settings.kind.looks_for_high_prices or is_switched_off:
            self._can_start_since = self._present_span = None
        else:
            self._can_start_since = now if self._can_start_since is None else min(self._can_start_since, now)
        if window is not None and self._windows and self._windows[-1].start == window.start:
            self._windows[-1] = self._windows[-1].with_decided_pieces(window.pieces, window.asked_kwh, now)
            self._set_earliest_next_start(min(now, window.end))
            if window is outcome:
                return
        if (
            is_clock_set_back
            or self._can_start_since is None
            or not isinstance(outcome, Window)
            or now < outcome.span.opens
        ):
            return
        opened = self._present_span_for(outcome, settings, self._can_start_since, timeline)
        newest = self._windows[-1].start if self._windows else self._closed_until - 1
        if outcome.locked and outcome.runs_at(now) and outcome.start > newest:
            self._present_span = None
            self._windows.append(
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

    def _set_earliest_next_start(self, instant: int) -> None:
        """Record that a window ran until `instant`. The next window can't start before `instant`."""
        if self._can_start_since is not None:
            self._can_start_since = max(self._can_start_since, instant)

    def _end_dropped_windows(self, window: Window | None, now: int) -> None:
        """End the running windows that are no longer in the plan's decision.

        A running window may disappear from the decision, for example because an action requests a new window or the
        clock was set back.
        """
        ahead = [
            started
            for started in self._windows
            if started.end > now and (window is None or started.start != window.start)
        ]
        if ahead:
            kept = [started.cut_off(now) if started in ahead else started for started in self._windows]
            self._windows = [started for started in kept if started is not None]
            self._can_start_since, self._present_span = now, None

    def _present_span_for(
        self, window: Window, settings: PlanSettings, can_start_since: int, timeline: Timeline
    ) -> _OpenSpan:
        """Return the plan's present span with the expected saving.

        While the span and the plan's duration stay the same, the first expected saving is kept.
        """
        opened = self._present_span
        if opened is None or (opened.span, opened.asked_s) != (window.span, window.asked_s):
            times = open_times(settings, max(window.span.opens, can_start_since), window.span.closes)
            at_once = times[0][0] if times else window.start
            expected = window_saving(timeline, window.pieces, at_once)
            self._present_span = opened = _OpenSpan(window.span, at_once, expected, window.asked_s)
        return opened

    def _compute_totals(self, prices: SettledPrices, now: int) -> None:
        """Compute the totals of each window again if the window, its running time or any settled price has changed."""
        known = self._computed_totals
        self._computed_totals = {}
        for started in self._windows:
            seen = (prices.version, started, min(now, started.end))
            before = known.get(started.start)
            self._computed_totals[started.start] = (
                before if before and before[0] == seen else (seen, totals_by_day(started, prices, now))
            )

    def _close_windows(self, prices: SettledPrices, now: int) -> None:
        """Add each window that no longer changes to the totals of its days, and merge the totals of the oldest days."""
        for started in list(self._windows):
            age_s = now - started.end
            complete = not prices.hours_without_price(*started.needed_price_range(prices.zone))
            if age_s < _CORRECTABLE_S or (age_s < _GIVE_UP_AFTER_S and not complete):
                continue
            found = self._totals_of(started)
            total = sum(found.values(), start=Total())
            if total.at_one_kw.kwh and (self._last_closed is None or self._last_closed.start < started.start):
                self._last_closed = LastWindow(
                    started.start, started.end, total, started.expected, started.expected_at_start
                )
            for day, part in found.items():
                self._totals_by_day[day] = self._totals_by_day.get(day, Total()) + part
            self._closed_until = max(self._closed_until, started.end)
            self._windows.remove(started)
            del self._computed_totals[started.start]
        for day in sorted(self._totals_by_day)[:-_DAYS_KEPT]:
            self._earlier_total += self._totals_by_day.pop(day)

    def _totals_of(self, started: StartedWindow) -> dict[date, Total]:
        return self._computed_totals[started.start][1] if started.start in self._computed_totals else {}


_OPEN_SPAN_DECODER: Final[BasicDecoder[_OpenSpan | None]] = BasicDecoder(_OpenSpan | None)
_LAST_WINDOW_DECODER: Final[BasicDecoder[LastWindow | None]] = BasicDecoder(LastWindow | None)
