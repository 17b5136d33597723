"""The cost and the saving of one plan's windows."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, Final, Self

from mashumaro.codecs import BasicDecoder

from ..plans.outcome import NoWindow, NoWindowReason, Outcome, Window
from ..plans.saving import Saving, saving_of
from ..plans.settings import PlanSettings
from ..plans.solver import round_up_to_quarter
from ..plans.spans import Span
from ..prices.timeline import HOUR_S, Timeline
from .run import StartedWindow, Total, amounts_by_day, begun
from .settled_prices import SettledPrices

# For at least 48 hours after a window's end, corrected prices and late meter readings change the window's figures.
_CORRECTED_S: Final = 48 * HOUR_S
# A clock that was set back by at most 12 hours counts as wrong: a computer without a battery for its clock starts with
# an old time, until the network sends the right time.
_CLOCK_IN_DOUBT_S: Final = 12 * HOUR_S
# From fourteen days after a window's end on, the window's figures no longer change, even if prices are missing.
_GIVEN_UP_S: Final = 14 * 24 * HOUR_S
# The number of newest days that have totals of their own. 62 days cover this month and the month before.
_DAYS_KEPT: Final = 62


@dataclass(frozen=True, slots=True)
class LastWindow:
    """The newest finished window of a plan, with its energy, cost, savings and expected savings.

    `start` and `end` are UTC seconds.
    """

    start: int
    end: int
    total: Total
    expected: Saving | None
    expected_at_start: Saving | None


@dataclass(frozen=True, slots=True)
class _Opened:
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

    Each window is kept until its figures no longer change, and is then added to the totals of its days. The totals of
    all days before the newest 62 are merged into one. `since` is the time when the account was opened, in UTC seconds.
    """

    def __init__(self, since: int) -> None:
        self.since = since
        self._ready_since: int | None = None
        self._opened: _Opened | None = None
        self._runs: list[StartedWindow] = []
        self._closed_until = 0
        self._ran_until = 0
        self._days: dict[date, Total] = {}
        self._before = Total()
        self._last_closed: LastWindow | None = None
        self._worked_out: dict[int, tuple[object, dict[date, Total]]] = {}
        self._now = since

    @property
    def total(self) -> Total:
        """The energy, costs and savings of all windows since the account was opened."""
        parts = [self._days, *(found for _, found in self._worked_out.values())]
        return sum((total for part in parts for total in part.values()), start=self._before)

    def total_of(self, days: Iterable[date]) -> Total:
        """Return the energy, costs and savings of all windows on `days`.

        Each day must be in this month or the month before.
        """
        wanted = set(days)
        parts = [self._days, *(found for _, found in self._worked_out.values())]
        return sum((part[day] for part in parts for day in wanted & part.keys()), start=Total())

    @property
    def last_window(self) -> LastWindow | None:
        """The newest finished window whose cost and savings are known at least in part, or None if there is none."""
        closed = self._last_closed
        for run in reversed(self._runs):
            if closed is not None and run.start < closed.start:
                break
            total = sum(self._days_of(run).values(), start=Total())
            if run.end <= self._now and total.even.kwh:
                return LastWindow(run.start, run.end, total, run.expected, run.expected_at_start)
        return closed

    @property
    def prices_needed_since(self) -> int | None:
        """The earliest time (UTC seconds) whose price the account still needs.

        If no price is needed, the value is None.
        """
        opened = [self._opened.at_once] if self._opened else []
        return min([*opened, *(run.prices_needed[0] for run in self._runs)], default=None)

    def update(
        self, settings: PlanSettings, outcome: Outcome, timeline: Timeline, prices: SettledPrices, now: int
    ) -> None:
        """Update the account with the plan's decision at `now` (UTC seconds)."""
        if self._ran_until - now > _CLOCK_IN_DOUBT_S:
            self._ran_until = 0
        # If the clock was set back by at most 12 hours, no running time counts until the clock reaches `_ran_until`.
        seen = self._now = max(now, self._ran_until)
        self._follow(settings, outcome, timeline, seen, is_set_back=now < seen)
        if self._runs:
            self._ran_until = max(self._ran_until, min(seen, self._runs[-1].end))
        self._work_out(prices, seen)
        self._close(prices, seen)

    def unread(self, until: int) -> dict[str, list[tuple[int, int]]]:
        """Return the slices up to `until` (UTC seconds) that lack a meter reading, keyed by the meter's id."""
        unread: dict[str, list[tuple[int, int]]] = {}
        for run in self._runs:
            if run.meter and (slices := run.unread(until)):
                unread.setdefault(run.meter, []).extend(slices)
        return unread

    def note_readings(self, meter: str, readings: Mapping[tuple[int, int], float]) -> None:
        """Add `readings`, which maps slices of windows to the kWh that `meter` measured."""
        self._runs = [
            replace(
                run,
                readings={**run.readings, **{one: readings[one] for one in run.unread(run.end) if one in readings}},
            )
            if run.meter == meter
            else run
            for run in self._runs
        ]

    def missing_hours(self, prices: SettledPrices, now: int) -> set[int]:
        """Return the starts of all hours before `now` (UTC seconds) for which finished windows lack a price."""
        return {
            hour
            for run in self._runs
            if run.end <= now
            for hour in prices.missing_hours(run.prices_needed[0], min(run.prices_needed[1], now))
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the account in a form that JSON can store."""
        return {
            "since": self.since,
            "ready_since": self._ready_since,
            "opened": asdict(self._opened) if self._opened else None,
            "runs": [run.as_dict() for run in self._runs],
            "closed_until": self._closed_until,
            "ran_until": self._ran_until,
            "days": {day.isoformat(): total.as_list() for day, total in self._days.items()},
            "before": self._before.as_list(),
            "last": asdict(self._last_closed) if self._last_closed else None,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        """Rebuild an account from the result of `as_dict`.

        Raises LookupError, TypeError, AttributeError or ValueError if `kept` has the wrong form.
        """
        account = cls(int(kept["since"]))
        account._ready_since = None if kept["ready_since"] is None else int(kept["ready_since"])
        account._opened = _OPENED.decode(kept["opened"])
        account._runs = [StartedWindow.from_dict(run) for run in kept["runs"]]
        account._closed_until = int(kept["closed_until"])
        account._ran_until = int(kept["ran_until"])
        account._days = {date.fromisoformat(day): Total.from_list(total) for day, total in kept["days"].items()}
        account._before = Total.from_list(kept["before"])
        account._last_closed = _LAST.decode(kept["last"])
        return account

    def _follow(
        self, settings: PlanSettings, outcome: Outcome, timeline: Timeline, now: int, *, is_set_back: bool
    ) -> None:
        """Update the account's windows and its present span according to the plan's decision."""
        window = outcome if isinstance(outcome, Window) and outcome.locked else outcome.last_run
        self._end_dropped(window, now)
        is_switched_off = isinstance(outcome, NoWindow) and outcome.reason is NoWindowReason.SWITCHED_OFF
        if settings.kind.looks_for_high_prices or is_switched_off:
            self._ready_since = self._opened = None
        else:
            self._ready_since = now if self._ready_since is None else min(self._ready_since, now)
        if window is not None and self._runs and self._runs[-1].start == window.start:
            needed = settings.energy_kwh if window is outcome else None
            self._runs[-1] = self._runs[-1].following(window.pieces, needed, now)
            self._note_ran_until(min(now, window.end))
            if window is outcome:
                return
        if is_set_back or self._ready_since is None or not isinstance(outcome, Window) or now < outcome.span.opens:
            return
        opened = self._open_span(outcome, self._ready_since, timeline)
        newest = self._runs[-1].start if self._runs else self._closed_until - 1
        if outcome.locked and outcome.runs_at(now) and outcome.start > newest:
            self._opened = None
            self._runs.append(
                StartedWindow(
                    window=(outcome.start, outcome.end),
                    pieces=begun(outcome.pieces, now),
                    at_once=min(opened.at_once, outcome.start),
                    expected=opened.expected,
                    expected_at_start=saving_of(timeline, outcome.pieces, opened.at_once),
                    meter=settings.meter,
                    power_kw=settings.power_kw,
                    energy_kwh=settings.energy_kwh,
                )
            )

    def _note_ran_until(self, instant: int) -> None:
        """Record that a window ran until `instant`. The next window can't start before `instant`."""
        if self._ready_since is not None:
            self._ready_since = max(self._ready_since, instant)

    def _end_dropped(self, window: Window | None, now: int) -> None:
        """End the running windows that are no longer in the plan's decision.

        A running window may disappear from the decision if an action requests a new window or the clock is set back.
        """
        ahead = [run for run in self._runs if run.end > now and (window is None or run.start != window.start)]
        if ahead:
            kept = [run.until(now) if run in ahead else run for run in self._runs]
            self._runs = [run for run in kept if run is not None]
            self._ready_since, self._opened = now, None

    def _open_span(self, window: Window, ready_since: int, timeline: Timeline) -> _Opened:
        """Return the plan's present span with the expected saving.

        While the span and the plan's duration stay the same, the first expected saving is kept.
        """
        opened = self._opened
        if opened is None or (opened.span, opened.asked_s) != (window.span, window.asked_s):
            at_once = round_up_to_quarter(max(window.span.opens, ready_since))
            expected = saving_of(timeline, window.pieces, at_once)
            self._opened = opened = _Opened(window.span, at_once, expected, window.asked_s)
        return opened

    def _work_out(self, prices: SettledPrices, now: int) -> None:
        """Compute a window's costs and savings again if the window, its running time or any price has changed."""
        known = self._worked_out
        self._worked_out = {}
        for run in self._runs:
            seen = (prices.version, run, min(now, run.end))
            before = known.get(run.start)
            self._worked_out[run.start] = (
                before if before and before[0] == seen else (seen, amounts_by_day(run, prices, now))
            )

    def _close(self, prices: SettledPrices, now: int) -> None:
        """Add each window that no longer changes to the totals of its days, and merge the totals of the oldest days."""
        for run in list(self._runs):
            age_s = now - run.end
            complete = not prices.missing_hours(*run.prices_needed)
            if age_s < _CORRECTED_S or (age_s < _GIVEN_UP_S and not complete):
                continue
            found = self._days_of(run)
            total = sum(found.values(), start=Total())
            if total.even.kwh and (self._last_closed is None or self._last_closed.start < run.start):
                self._last_closed = LastWindow(run.start, run.end, total, run.expected, run.expected_at_start)
            for day, part in found.items():
                self._days[day] = self._days.get(day, Total()) + part
            self._closed_until = max(self._closed_until, run.end)
            self._runs.remove(run)
            del self._worked_out[run.start]
        for day in sorted(self._days)[:-_DAYS_KEPT]:
            self._before += self._days.pop(day)

    def _days_of(self, run: StartedWindow) -> dict[date, Total]:
        return self._worked_out[run.start][1] if run.start in self._worked_out else {}


_OPENED: Final[BasicDecoder[_Opened | None]] = BasicDecoder(_Opened | None)
_LAST: Final[BasicDecoder[LastWindow | None]] = BasicDecoder(LastWindow | None)
