"""A window that has begun, with its pieces, energy, costs and savings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from datetime import date
from itertools import batched
from typing import Final, Self, override

from mashumaro import field_options
from mashumaro.types import SerializableType

from ..core.market import HOUR_S, SHORTEST_STEP_S, Market
from ..past.meter import LONGEST_EXCURSION_S
from ..plans.saving import Saving
from ..plans.solver import Piece
from ..prices.days import day_at
from .settled_prices import SettledPrices

# The figures of a stored total, and stored meter readings, are rounded to 6 decimals.
_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class Amounts:
    """An amount of energy in kWh, with its cost and savings in EUR.

    `saved` is the saving compared with starting the device at once. `below_mean` is the saving compared with the mean
    price of the day. A negative saving is a loss.
    """

    kwh: float = 0.0
    cost: float = 0.0
    saved: float = 0.0
    below_mean: float = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def per_kwh(self) -> Amounts | None:
        """The amounts for one kWh, or None if `kwh` is 0."""
        if not self.kwh:
            return None
        return Amounts(1.0, self.cost / self.kwh, self.saved / self.kwh, self.below_mean / self.kwh)


NO_AMOUNTS: Final = Amounts()


@dataclass(frozen=True)
class Total(SerializableType):
    """The total energy, cost and savings of some windows.

    `at_one_kw` contains the amounts for an imaginary device that uses 1 kW while the windows run, so `at_one_kw.kwh` is
    the running time in hours. `used` contains the amounts for the measured or assumed energy of the plan's own device.
    `unread_h` is the number of hours for which the energy of the plan's own device is unknown. Slices that need an
    unknown price are left out of all three fields.
    """

    at_one_kw: Amounts = Amounts()
    used: Amounts = Amounts()
    unread_h: float = 0.0

    def __add__(self, other: Total) -> Total:
        return Total(self.at_one_kw + other.at_one_kw, self.used + other.used, self.unread_h + other.unread_h)

    @override
    def _serialize(self) -> list[float]:
        """Return the total as a short list of rounded figures, because the totals of many days are stored."""
        figures = (*astuple(self.at_one_kw), *astuple(self.used), self.unread_h)
        return [round(figure, _DECIMALS) or 0.0 for figure in figures]  # `or 0.0` turns -0.0 into 0.0

    @override
    @classmethod
    def _deserialize(cls, value: list[float]) -> Self:
        *figures, unread_h = map(float, value)
        at_one_kw, used = batched(figures, len(fields(Amounts)), strict=True)
        return cls(Amounts(*at_one_kw), Amounts(*used), unread_h)


NO_TOTAL: Final = Total()


def _readings_as_list(readings: Mapping[Piece, float]) -> list[tuple[int, int, float]]:
    return [(start, end, round(kwh, _DECIMALS)) for (start, end), kwh in readings.items()]


def _readings_from_list(kept: list[tuple[int, int, float]]) -> Mapping[Piece, float]:
    return {(int(start), int(end)): float(kwh) for start, end, kwh in kept}


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedWindow:
    """A window that has begun. Ranges of time are [start, end) in UTC seconds.

    `window` is the time from the start of the first planned piece to the end of the last planned piece, or to the
    instant at which the window was cut off. `pieces` lists all pieces that have begun, in chronological order. If Home
    Assistant was down for a whole piece, this piece is left out. If a piece began while Home Assistant was down, the
    piece counts from the restart on.

    `at_once` is the earliest time (UTC seconds) at which the window could have begun. `expected` is the first estimate
    of the window's saving after the span had opened. If the plan's duration changed or the plan was switched on again
    before the window began, `expected` is the first estimate after the last such change. `expected_at_start` is the
    estimate made when the window began. An estimate is None if a price was unknown.

    `readings` maps each measured slice to the kWh that `meter` measured. Without a meter, the device is assumed to use
    `power_kw` in each piece. If `energy_kwh` is not None, the device is assumed to stop when it has used `energy_kwh`.
    If `meter` and `power_kw` are both None, the energy is unknown.
    """

    window: Piece
    pieces: tuple[Piece, ...]
    at_once: int
    expected: Saving | None = None
    expected_at_start: Saving | None = None
    meter: str | None = None
    power_kw: float | None = None
    energy_kwh: float | None = None
    readings: Mapping[Piece, float] = field(
        default_factory=dict, metadata=field_options(serialize=_readings_as_list, deserialize=_readings_from_list)
    )

    @property
    def start(self) -> int:
        """The start of the window in UTC seconds."""
        return self.window[0]

    @property
    def end(self) -> int:
        """The end of the window in UTC seconds."""
        return self.window[1]

    def needed_price_range(self, zone: Market) -> Piece:
        """Return the range of time whose settled prices are needed to compute the window's cost and savings.

        The range lasts from the start of the window's first day in `zone`, or from `at_once` if that is earlier, to the
        end of the window's last day.
        """
        return min(self.at_once, day_at(zone, self.start).start), day_at(zone, self.end - 1).end

    def with_decided_pieces(self, decided: tuple[Piece, ...], energy_kwh: float | None, now: int) -> StartedWindow:
        """Return the window as of `now` (UTC seconds), after the plan has chosen the pieces in `decided`.

        `energy_kwh` is the energy that the device should use in these pieces.
        """
        window = self.start, max(self.start, decided[-1][1])
        return replace(self, window=window, pieces=begun_pieces(decided, now, self.pieces), energy_kwh=energy_kwh)

    def cut_off(self, instant: int) -> StartedWindow | None:
        """Cut the window off at `instant` (UTC seconds). If no piece begins before `instant`, return None."""
        pieces = tuple((start, min(end, instant)) for start, end in self.pieces if start < instant)
        return replace(self, window=(self.start, min(self.end, instant)), pieces=pieces) if pieces else None

    def slices(self, until: int) -> list[Piece]:
        """Split the pieces by `SHORTEST_STEP_S`, and return the slices that ended by `until` (UTC seconds)."""
        return [one for piece in self.pieces for one in _slices(piece) if one[1] <= until]

    def slices_to_read(self, now: int) -> list[Piece]:
        """Return the slices whose energy is unknown at `now` (UTC seconds), or whose readings may still prove wrong."""
        settled_until = now - LONGEST_EXCURSION_S
        return [one for one in self.slices(now) if one not in self.readings or one[1] > settled_until]

    def with_readings(self, readings: Mapping[Piece, float | None]) -> StartedWindow:
        """Return the window with the kWh of its slices in `readings`. None means that the energy is unknown."""
        own = {one: readings[one] for one in self.slices(self.end) if one in readings}
        known = {one: kwh for one, kwh in {**self.readings, **own}.items() if kwh is not None}
        return replace(self, readings=known)

    def energy_by_slice(self, until: int) -> Mapping[Piece, float]:
        """Return the energy in kWh of each slice in `slices(until)`. Slices with unknown energy are left out."""
        if self.meter:
            return {one: kwh for one, kwh in self.readings.items() if one[1] <= until}
        if self.power_kw is None:
            return {}
        used: dict[Piece, float] = {}
        left = self.energy_kwh
        for start, end in self.slices(until):
            kwh = self.power_kw * (end - start) / HOUR_S
            if left is not None:
                kwh, left = min(kwh, left), left - min(kwh, left)
            used[start, end] = kwh
        return used


def begun_pieces(decided: Sequence[Piece], now: int, earlier_pieces: Sequence[Piece] = ()) -> tuple[Piece, ...]:
    """Return the pieces of a window that have begun by `now` (UTC seconds).

    `decided` contains the pieces that the plan has chosen. `earlier_pieces` is the result of the previous call. A
    decided piece that ended by `now` is left out, unless a piece in `earlier_pieces` begins within the decided piece. A
    piece in `earlier_pieces` that begins outside all decided pieces ends at `now` or earlier.
    """
    pieces = [
        (start, min(end, now))
        for start, end in earlier_pieces
        if start < now and not any(first <= start < last for first, last in decided)
    ]
    for start, end in decided:
        begins = min((one for one, _ in earlier_pieces if start <= one < end), default=max(start, now))
        if begins < now or start <= now < end:
            pieces.append((begins, end))
    return tuple(sorted(pieces))


def totals_by_day(window: StartedWindow, prices: SettledPrices, until: int) -> dict[date, Total]:
    """Return the window's energy, cost and savings on each day, up to `until` (UTC seconds).

    `saved` compares the window with an immediate start at `at_once`. After the immediate start, slices of the same
    length and energy follow each other without pauses. If a settled price that a slice needs is unknown, the slice is
    left out.
    """
    days: dict[date, Total] = {}
    means: dict[date, float | None] = {}
    energy = window.energy_by_slice(until)
    at_once = window.at_once
    for start, end in window.slices(until):
        day = day_at(prices.zone, start)
        if day.date not in means:
            means[day.date] = prices.mean(day.start, day.end)
        price, first, mean = prices.mean(start, end), prices.mean(at_once, at_once + end - start), means[day.date]
        at_once += end - start
        if price is None or first is None or mean is None:
            continue
        hours, kwh = (end - start) / HOUR_S, energy.get((start, end))
        used = NO_AMOUNTS if kwh is None else _amounts(kwh, price, first, mean)
        slice_total = Total(_amounts(hours, price, first, mean), used, hours if kwh is None else 0.0)
        days[day.date] = days.get(day.date, NO_TOTAL) + slice_total
    return days


def _amounts(kwh: float, price: float, at_once: float, mean: float) -> Amounts:
    return Amounts(kwh, kwh * price, kwh * (at_once - price), kwh * (mean - price))


def _slices(piece: Piece) -> Iterator[Piece]:
    start, end = piece
    while start < end:
        next_step = start - start % SHORTEST_STEP_S + SHORTEST_STEP_S
        yield start, min(next_step, end)
        start = next_step
