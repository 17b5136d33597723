"""Decides about the plans of a group, which share a limit of power or must not run at the same time.

Each plan is decided by `next_outcome`, with its own rules, in the room that the others leave: the time in which its
power and that of the others' pieces keep to the limit. So the limit holds at any time, except while pieces that have
begun already exceed it. Without a limit, one plan runs at a time.

Needs are met in the order of the plans' priority, and then of the time by which they are due. Plans of all hours below
or above a price have no need and come last. What is left is to cost as little as possible. So before the plans are
decided one after another, the hours of the plans that are due within about two days are chosen together. While a plan
is decided, the hours chosen for those after it are no room for it. Plans that are due later choose one after another.

The planned pieces of a plan that has not changed stay, unless another arrangement meets the needs better or gains
`LEAST_GAIN`. The arrangement of plans that simply choose one after another is tried too, because whole hours may be a
coarse choice.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, cast

from ..core.market import HOUR_S, QUARTER_S, floor_hour
from ..prices.timeline import Timeline
from .outcome import Outcome, Window
from .plan import next_outcome
from .search import LEAST_GAIN, cost_in, counted_power_kw
from .settings import PlanSettings
from .solver import Piece, length_s
from .spans import open_times
from .together import StepJob, chosen_together

MOST_TOGETHER: Final = 4
# Two days may have 49 hours, and the present hour has begun.
_HOURS: Final = 50
_UNITS_PER_EUR: Final = 1_000_000
_WATTS: Final = 1_000
_ROUNDING: Final = 1e-6
_COST_DECIMALS: Final = 9
_FOREVER: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Member:
    """A plan of a group that is switched on.

    `prices` are those that count for it, and `last` is its newest outcome. `only_prices_changed` is the same as in
    `next_outcome`.
    """

    settings: PlanSettings
    prices: Timeline
    last: Outcome | None
    only_prices_changed: bool = False


@dataclass(frozen=True, slots=True)
class Place[Key]:
    """What is decided about a plan of a group.

    `blocked` are the times ahead in which the other plans leave it no room. `gave_way_to` are the plans for which it
    gave up better time, or time that it needs.
    """

    outcome: Outcome
    blocked: tuple[Piece, ...]
    gave_way_to: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Room:
    """The power that the plans of a group leave to others.

    `loads` are the pieces of the plans, each with the start and the end in UTC seconds, and with the power in kW.
    """

    limit_kw: float
    loads: tuple[tuple[int, int, float], ...] = ()

    @classmethod
    def left_by(cls, plans: Iterable[tuple[PlanSettings, Outcome]], limit_kw: float | None) -> Room:
        """Return the room that the plans leave. Without a limit, there is none while one of them runs."""
        whole = math.inf if limit_kw is None else limit_kw
        return cls(
            whole,
            tuple(
                (*piece, whole if limit_kw is None or settings.power_kw is None else settings.power_kw)
                for settings, outcome in plans
                if isinstance(outcome, Window)
                for piece in outcome.pieces
            ),
        )

    def least_kw(self, start: int, end: int) -> float:
        """Return the power that is left in all of the time from `start` to `end` (UTC seconds)."""
        edges = {start, *(since for since, _, _ in self.loads if start < since < end)}
        loads = (sum(kw for since, until, kw in self.loads if since <= at < until) for at in edges)
        most = max(loads)
        return self.limit_kw if not most else 0.0 if math.isinf(most) else max(self.limit_kw - most, 0.0)


def decided_together[Key: Hashable](
    members: Mapping[Key, Member], limit_kw: float | None, now: int
) -> Mapping[Key, Place[Key]]:
    """Decide about the plans of a group as of `now` (UTC seconds).

    Equal plans are in the order of `members`. If a limit is given, a plan without a power counts as the whole limit.
    """
    return cast("Mapping[Key, Place[Key]]", _decided_together((*members.items(),), limit_kw, now))


# Several entries of a home often ask the same at the same time.
@lru_cache(maxsize=4)
def _decided_together(
    members: tuple[tuple[Hashable, Member], ...], limit_kw: float | None, now: int
) -> Mapping[Hashable, Place[Hashable]]:
    group = _Group(dict(members), limit_kw, now)
    outcomes = group.best()
    return {key: group.place(key, outcomes) for key, _ in members}


class _Group[Key: Hashable]:
    """The plans of a group, with their powers in watts.

    Without a limit, all plans have the power 1, and so has the limit.
    """

    def __init__(self, members: Mapping[Key, Member], limit_kw: float | None, now: int) -> None:
        self._members = members
        self._now = now
        self._limit = 1 if limit_kw is None else math.floor(limit_kw * _WATTS + _ROUNDING)
        self._power = {
            key: self._limit
            if limit_kw is None or one.settings.power_kw is None
            else math.ceil(one.settings.power_kw * _WATTS - _ROUNDING)
            for key, one in members.items()
        }
        self._alone = {key: self._outcome(key) for key in members}
        self._order = sorted(members, key=self._rank)

    def best(self) -> Mapping[Key, Outcome]:
        """Return the best outcomes of all plans that keep to the limit."""
        kept = {key: self._outcome(key, keep=True) for key in self._members}
        if self._fit(self._alone) and self._fit(kept):
            return kept
        prior = self._arranged({key: self._ahead(one.last) for key, one in self._members.items()}, keep=True)
        found = min((self._arranged(reserved) for reserved in (self._chosen_together(), {})), key=self._value)
        for _ in self._order:  # Whole hours leave gaps, in which another round finds room.
            again = self._arranged({key: self._ahead(one) for key, one in found.items()})
            if self._value(again) >= self._value(found):
                break
            found = again
        (lacking, cost), (found_lacking, found_cost) = self._value(prior), self._value(found)
        if lacking != found_lacking:
            return min(prior, found, key=self._value)
        least_gain = LEAST_GAIN if self._moves_planned(found, prior) else _ROUNDING
        return prior if cost - found_cost < least_gain else found

    def _moves_planned(self, outcomes: Mapping[Key, Outcome], prior: Mapping[Key, Outcome]) -> bool:
        """Return whether the outcomes move a plan that has not changed and would stay in the `prior` arrangement."""
        return any(
            self._ahead(member.last) == self._ahead(prior[key]) != self._ahead(outcomes[key])
            for key, member in self._members.items()
            if member.only_prices_changed and self._ahead(member.last)
        )

    def place(self, key: Key, outcomes: Mapping[Key, Outcome]) -> Place[Key]:
        """Return what is decided about one of the plans."""
        pieces = {other: self._ahead(one) for other, one in outcomes.items() if other != key}
        blocked = self._blocked(key, pieces)
        outcome, alone = outcomes[key], self._alone[key]
        lost = [
            (max(start, since), min(end, until))
            for start, end in self._ahead(alone)
            for since, until in blocked
            if start < until and since < end
        ]
        is_worse = self._value_of(key, outcome) > self._value_of(key, alone)
        gave_way_to = tuple(other for other, ahead in pieces.items() if is_worse and _overlap(ahead, lost))
        return Place(outcome, blocked, gave_way_to)

    def _rank(self, key: Key) -> tuple[bool, int, float]:
        settings, alone = self._members[key].settings, self._alone[key]
        due = alone.span.closes if isinstance(alone, Window) else math.inf
        return settings.kind.has_limit_instead_of_duration, settings.priority, due

    def _outcome(self, key: Key, blocked: tuple[Piece, ...] = (), *, keep: bool = False) -> Outcome:
        """Decide about a plan in the room that is not blocked. If `keep` is true, its planned pieces may stay."""
        member = self._members[key]
        return next_outcome(
            replace(member.settings, blocked=blocked),
            member.prices,
            self._now,
            member.last,
            only_prices_changed=keep and member.only_prices_changed,
        )

    def _fit(self, outcomes: Mapping[Key, Outcome]) -> bool:
        """Return whether the outcomes keep to the limit from now on."""
        return not self._times_above(((key, self._ahead(one)) for key, one in outcomes.items()), self._limit)

    def _arranged(self, reserved: Mapping[Key, Sequence[Piece]], *, keep: bool = False) -> dict[Key, Outcome]:
        """Decide about one plan after another. Until a plan is decided, its `reserved` time is no room for others."""
        pieces = {key: {*self._held(key), *reserved.get(key, ())} for key in self._order}
        outcomes: dict[Key, Outcome] = {}
        for key in self._order:
            del pieces[key]
            outcomes[key] = self._outcome(key, self._blocked(key, pieces), keep=keep)
            pieces[key] = {*self._ahead(outcomes[key])}
        return outcomes

    def _ahead(self, outcome: Outcome | None) -> list[Piece]:
        """Return the pieces that are not over."""
        pieces = outcome.pieces if isinstance(outcome, Window) else outcome.rest if outcome is not None else ()
        return [piece for piece in pieces if piece[1] > self._now]

    def _begun_window(self, key: Key) -> Window | None:
        """Return the plan's newest window if it has begun and is not over."""
        last = self._members[key].last
        has_begun = isinstance(last, Window) and (last.locked or last.start < self._now)
        return last if isinstance(last, Window) and has_begun and last.end > self._now else None

    def _held(self, key: Key) -> list[Piece]:
        """Return the pieces that stay: the running one, and all of a window whose later pieces don't move."""
        window, may_move = self._begun_window(key), _may_later_pieces_move(self._members[key].settings)
        return [piece for piece in self._ahead(window) if piece[0] < self._now or not may_move]

    def _blocked(self, key: Key, pieces: Mapping[Key, Iterable[Piece]]) -> tuple[Piece, ...]:
        return self._times_above(pieces.items(), self._limit - self._power[key])

    def _times_above(self, pieces: Iterable[tuple[Key, Iterable[Piece]]], most: int) -> tuple[Piece, ...]:
        """Return the times from now on in which the power of all pieces is above `most`, in chronological order."""
        changes = Counter({self._now: 0, _FOREVER: 0})
        for key, of_plan in pieces:
            for start, end in of_plan:
                changes[max(start, self._now)] += self._power[key]
                changes[end] -= self._power[key]
        times: list[Piece] = []
        load, since = 0, self._now
        for at in sorted(changes):
            if load > most and since < at:
                start = times.pop()[0] if times and times[-1][1] == since else since
                times.append((start, at))
            load, since = load + changes[at], at
        return tuple(times)

    def _value(self, outcomes: Mapping[Key, Outcome]) -> tuple[tuple[int, ...], float]:
        """Return what needs lack in their order, in seconds, and the cost of all outcomes in EUR. Less is better."""
        lacking, costs = zip(*(self._value_of(key, outcomes[key]) for key in self._order), strict=True)
        return lacking, sum(costs)

    def _value_of(self, key: Key, outcome: Outcome) -> tuple[int, float]:
        """Return what the need of the present span lacks, and the cost of the window.

        Time beyond the need is worth the highest price that the plan accepts for it.
        """
        alone, settings = self._alone[key], self._members[key].settings
        if not isinstance(alone, Window):
            return 0, 0.0
        if not isinstance(outcome, Window) or outcome.span.closes != alone.span.closes:
            return alone.asked_s, 0.0
        lasts_s = length_s(outcome.pieces)
        power_kw = counted_power_kw(settings)
        # A price of a window that has begun may be unknown for a while. The window is the same in all arrangements.
        cost = cost_in(settings, self._members[key].prices, outcome.pieces) or 0.0
        cost += settings.start_cost * len(outcome.pieces)
        worth = _worth_of_more(settings) * max(lasts_s - alone.asked_s, 0) / HOUR_S * power_kw
        return max(alone.asked_s - lasts_s, 0), round(cost - worth, _COST_DECIMALS)

    def _chosen_together(self) -> dict[Key, Sequence[Piece]]:
        """Return the hours that are chosen together for the plans with a need, and pieces for plans that are due later.

        Plans that are due later choose at their place in the order.
        """
        reserved: dict[Key, Sequence[Piece]] = {}
        batch: dict[Key, StepJob] = {}
        for key in self._order:
            settings, alone = self._members[key].settings, self._alone[key]
            if settings.kind.has_limit_instead_of_duration or not isinstance(alone, Window):
                continue
            is_due = alone.span.closes <= floor_hour(self._now) + _HOURS * HOUR_S
            if is_due and (job := self._job(key, alone)) is not None:
                batch[key] = job
            if len(batch) == MOST_TOGETHER or not is_due:
                reserved |= self._hours_of(batch, reserved)
                batch = {}
            if not is_due:
                taken = {other: {*self._held(other), *reserved.get(other, ())} for other in self._order if other != key}
                reserved[key] = self._ahead(self._outcome(key, self._blocked(key, taken)))
        return reserved | self._hours_of(batch, reserved)

    def _hours_of(
        self, batch: Mapping[Key, StepJob], reserved: Mapping[Key, Sequence[Piece]]
    ) -> dict[Key, Sequence[Piece]]:
        """Choose hours for the plans of the batch in the room that running and reserved pieces leave."""
        if not batch:
            return {}
        first = floor_hour(self._now)
        taken = {key: {*self._held(key), *reserved.get(key, ())} for key in self._order}
        room = tuple(
            max(self._limit - max(map(self._load(taken), range(hour, hour + HOUR_S, QUARTER_S))), 0)
            for hour in range(first, first + _HOURS * HOUR_S, HOUR_S)
        )
        choice = chosen_together((*batch.values(),), room)
        return {
            key: [(first + hour * HOUR_S, first + (hour + 1) * HOUR_S) for hour in hours]
            for key, hours in zip(batch, choice.runs, strict=True)
        }

    def _job(self, key: Key, alone: Window) -> StepJob | None:
        """Return the need of a plan in whole hours from the present one on, or None if it is met already."""
        member, begun = self._members[key], self._begun_window(key)
        settings, first = member.settings, floor_hour(self._now)
        ran = [piece for piece in begun.pieces if piece[0] < self._now] if begun else []
        missing_s = alone.asked_s - length_s(ran)
        if missing_s <= 0 or (begun and not _may_later_pieces_move(settings)):
            return None
        ran_until = ran[-1][1] if ran else alone.last_run.end if alone.last_run else 0
        is_running = bool(ran) and ran_until > self._now
        steps = _hours_up(missing_s)
        if settings.min_piece_s is not None:
            min_piece, most_pieces = min(_hours_up(settings.shortest_piece_s), steps), settings.most_pieces
        elif settings.energy_kwh is not None:
            min_piece, most_pieces = 1, max(len(alone.pieces), 1)
        else:
            min_piece, most_pieces = steps, 1
        opens = max(self._now, ran_until if is_running else ran_until + settings.min_pause_s)
        usable = open_times(settings, max(opens, alone.span.opens), alone.span.closes)
        hours = [(hour, hour + HOUR_S) for hour in range(first, first + _HOURS * HOUR_S, HOUR_S)]
        costs = [
            cost_in(settings, member.prices, [hour])
            if any(start <= hour[0] and hour[1] <= end for start, end in usable)
            else None
            for hour in hours
        ]
        return StepJob(
            costs=tuple(None if cost is None else round(cost * _UNITS_PER_EUR) for cost in costs),
            steps=steps,
            power=self._power[key],
            min_piece=min_piece,
            min_pause=_hours_up(settings.min_pause_s),
            most_pieces=None if most_pieces is None else max(most_pieces - len(ran), 0),
            start_cost=round(settings.start_cost * _UNITS_PER_EUR),
            running_until=min(_hours_up(ran_until - first), _HOURS) if is_running else None,
        )

    def _load(self, pieces: Mapping[Key, Iterable[Piece]]) -> Callable[[int], int]:
        """Return a function that computes the power of the pieces at an instant."""
        return lambda at: sum(
            self._power[key] for key, of_plan in pieces.items() for start, end in of_plan if start <= at < end
        )


def _may_later_pieces_move(settings: PlanSettings) -> bool:
    """Return whether the plan chooses its later pieces again after its window has begun."""
    is_by_duration = settings.energy_kwh is None and not settings.kind.has_limit_instead_of_duration
    return not is_by_duration or settings.more_below is not None


def _worth_of_more(settings: PlanSettings) -> float:
    """Return what time beyond its need is worth to a plan, in EUR/kWh. It is negative if high prices are sought."""
    if settings.kind.has_limit_instead_of_duration:
        return (settings.price_limit or 0.0) * (-1 if settings.kind.looks_for_high_prices else 1)
    return (settings.more_below if settings.full_kwh is None else settings.usual_price) or 0.0


def _hours_up(seconds: int) -> int:
    return -(-seconds // HOUR_S)


def _overlap(pieces: Iterable[Piece], others: Sequence[Piece]) -> bool:
    return any(start < until and since < end for start, end in pieces for since, until in others)
