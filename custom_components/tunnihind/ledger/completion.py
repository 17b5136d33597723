"""Completes the ledger with meter readings from the recorder and missing prices from the server.

Whenever the recorder writes new five-minute statistics, this module looks for missing readings, so that the energy of
a window with a meter is usually known shortly after the window's end.

The five-minute statistics are already corrected for resets of a meter and for changes of the meter's unit. Hourly
statistics are not used, because windows begin and end at quarters of an hour.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_RECORDER_5MIN_STATISTICS_GENERATED
from homeassistant.core import Event, HomeAssistant, callback

from ..const import LOGGER
from ..errors import TunnihindError
from ..past.paid_prices import FIVE_MIN_S, PaidPriceCalculator, split_left_out
from ..past.recorder import has_recorder, meter_readings
from ..plans.solver import Piece
from ..prices.timeline import HOUR_S, QUARTER_S
from ..server.clock import EntryClock
from .ledger import Ledger

# If a power meter has no readings for up to an hour, for example during a restart, the gap is filled with the mean of
# the readings before and after the gap.
_LONGEST_GAP_S: Final = HOUR_S
# Readings of more than 100 kW are ignored, because a home's grid connection doesn't allow so much power. The first
# reading after the replacement of a meter may be much too high.
_MAX_KW: Final = 100.0
# Readings are requested for at least 24 hours before the first missing reading and for 24 hours after the last, because
# a meter may be silent for hours.
_FETCH_MARGIN_S: Final = 24 * HOUR_S


@dataclass(frozen=True, slots=True)
class EnergyStretch:
    """The energy in kWh from `start` to `end` (UTC seconds), assumed to be spread evenly over this time."""

    start: int
    end: int
    kwh: float

    @property
    def is_plausible(self) -> bool:
        """Return whether a device in a home can use `kwh` in the time from `start` to `end`."""
        return self.kwh <= _MAX_KW * (self.end - self.start) / HOUR_S


def energy_from_counter(sums: Mapping[int, float]) -> list[EnergyStretch]:
    """Return the energy that a meter counted between each reading and the next.

    `sums` maps the start of each five-minute period to the recorder's sum for the meter in kWh at the end of the
    period. If readings are missing, one `EnergyStretch` covers the whole gap. If a reading is lower than the reading
    before, the energy between the two readings is 0. Implausibly large amounts of energy are left out.
    """
    rows = sorted(sums.items())
    stretches = (
        EnergyStretch(before + FIVE_MIN_S, start + FIVE_MIN_S, max(total - total_before, 0.0))
        for (before, total_before), (start, total) in pairwise(rows)
    )
    return [stretch for stretch in stretches if stretch.is_plausible]


def energy_from_power(means: Mapping[int, float]) -> list[EnergyStretch]:
    """Return the energy that a device used, computed from the device's mean power.

    `means` maps the start of each five-minute period to the device's mean power in kW. Negative power counts as 0.
    Implausibly high power is ignored. Gaps of at most an hour are filled.
    """
    measured = [
        EnergyStretch(start, start + FIVE_MIN_S, max(kilowatts, 0.0) * FIVE_MIN_S / HOUR_S)
        for start, kilowatts in sorted(means.items())
    ]
    stretches = [stretch for stretch in measured if stretch.is_plausible]
    holes = (
        EnergyStretch(before.end, after.start, (before.kwh + after.kwh) / 2 * (after.start - before.end) / FIVE_MIN_S)
        for before, after in pairwise(stretches)
        if 0 < after.start - before.end <= _LONGEST_GAP_S
    )
    return sorted([*stretches, *holes], key=lambda stretch: stretch.start)


def energy_by_slice(stretches: Sequence[EnergyStretch], slices: Iterable[Piece]) -> dict[Piece, float]:
    """Return the energy in kWh of each slice in `slices` that `stretches` cover completely.

    `stretches` must be in chronological order and must not overlap.
    """
    found: dict[Piece, float] = {}
    ends = [stretch.end for stretch in stretches]
    for start, end in slices:
        covered_s, kwh = 0, 0.0
        for stretch in stretches[bisect_right(ends, start) :]:
            if stretch.start >= end:
                break
            seconds = min(stretch.end, end) - max(stretch.start, start)
            covered_s += seconds
            kwh += stretch.kwh * seconds / (stretch.end - stretch.start)
        if covered_s == end - start:
            found[start, end] = kwh
    return found


class LedgerCompleter:
    """Adds missing readings and prices to the ledger in the background.

    When readings or prices have been added, `on_found` is called. `ledger` returns the present ledger.
    `paid_price_calculator` returns a `PaidPriceCalculator` with the household's present tariff.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        clock: EntryClock,
        ledger: Callable[[], Ledger],
        paid_price_calculator: Callable[[], PaidPriceCalculator],
        on_found: Callable[[], None],
    ) -> None:
        self._hass = hass
        self._entry = entry
        self._clock = clock
        self._ledger = ledger
        self._paid_price_calculator = paid_price_calculator
        self._on_found = on_found
        self._last_quarter: int | None = None
        self._last_hour: int | None = None
        self._task: asyncio.Task[None] | None = None
        entry.async_on_unload(
            hass.bus.async_listen(EVENT_RECORDER_5MIN_STATISTICS_GENERATED, self._async_look_for_missing_readings)
        )

    @callback
    def async_look_for_missing_data(self, now: int) -> None:
        """If this is the first call in a quarter of an hour, look for missing readings and prices.

        `now` is the present time in UTC seconds. Missing prices are requested at most once in each hour.
        """
        if now // QUARTER_S == self._last_quarter:
            return
        self._last_quarter = now // QUARTER_S
        if self._ledger().unread_slices(now) or self._ledger().hours_without_price(now):
            self._async_start_task(now)

    @callback
    def _async_look_for_missing_readings(self, _: Event) -> None:
        """Look for missing meter readings again, because the recorder has new statistics."""
        now = self._clock.now()
        if self._ledger().unread_slices(now):
            self._async_start_task(now)

    @callback
    def _async_start_task(self, now: int) -> None:
        if self._task is None or self._task.done():
            self._task = self._entry.async_create_background_task(
                self._hass, self._async_complete_ledger(now), f"{self._entry.title} past windows"
            )

    async def _async_complete_ledger(self, now: int) -> None:
        has_new = await self._async_read_meters(now)
        if now // HOUR_S != self._last_hour:
            self._last_hour = now // HOUR_S
            has_new |= await self._async_fetch_prices(now)
        if has_new:
            self._on_found()

    async def _async_read_meters(self, now: int) -> bool:
        """Read missing meter readings from the meters' statistics, and return whether any were found."""
        if not has_recorder(self._hass):
            return False
        ledger, has_new, ahead_s = self._ledger(), False, self._clock.ahead_s
        for meter, slices in ledger.unread_slices(now).items():
            at_home = {(start - ahead_s, end - ahead_s): (start, end) for start, end in slices}
            since, until = min(start for start, _ in at_home), max(end for _, end in at_home)
            sums, means = await meter_readings(
                self._hass, meter, since - _FETCH_MARGIN_S - FIVE_MIN_S, until + _FETCH_MARGIN_S
            )
            stretches = energy_from_counter(sums) if sums else energy_from_power(means)
            readings = {at_home[one]: kwh for one, kwh in energy_by_slice(stretches, at_home).items()}
            ledger.add_readings(meter, readings)
            has_new |= bool(readings)
        return has_new

    async def _async_fetch_prices(self, now: int) -> bool:
        """Request the prices that finished windows lack, and return whether any price was added to the ledger."""
        ledger = self._ledger()
        hours = ledger.hours_without_price(now)
        if not hours:
            return False
        try:
            prices, _ = split_left_out(await self._paid_price_calculator().prices_of(hours))
        except TunnihindError as error:
            LOGGER.debug("can't get the prices of past windows: %s", error)
            return False
        ledger.add_prices({hour: price.quarters for hour, price in prices.items()})
        return bool(prices)
