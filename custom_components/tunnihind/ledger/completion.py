"""Completes the ledger with meter readings from the recorder and missing prices from the server.

Whenever the recorder writes new five-minute statistics, this module looks for missing readings, so that the energy of
a window with a meter is usually known shortly after the window's end.

The energy comes from five-minute statistics, because windows begin and end at quarters of an hour. Whether a reading is
right can turn out up to a day later, so the readings of a day are read again and again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_RECORDER_5MIN_STATISTICS_GENERATED
from homeassistant.core import Event, HomeAssistant, callback

from ..battery.settings import BatterySettings
from ..client.clock import EntryClock
from ..const import LOGGER
from ..core.market import HOUR_S, SHORTEST_STEP_S
from ..errors import TunnihindError
from ..household.home_energy import NotKnown, read_grid_energy
from ..past.meter import energy_by_slice
from ..past.paid_prices import PaidPriceCalculator, split_left_out
from ..past.recorder import has_recorder, measured_stretches
from .battery_account import BatteryAccount
from .ledger import Ledger


class LedgerCompleter:
    """Adds missing readings and prices to the ledger in the background.

    When readings or prices have been added, `on_found` is called. `ledger` returns the present ledger.
    `paid_price_calculator` returns a `PaidPriceCalculator` with the household's present tariff. `selling_prices_of`
    returns the selling prices of hours, as `SettledPrices.add_hour_prices` takes them. `batteries` returns the
    settings of all batteries by id.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        clock: EntryClock,
        ledger: Callable[[], Ledger],
        paid_price_calculator: Callable[[], PaidPriceCalculator],
        selling_prices_of: Callable[[Sequence[int]], Awaitable[Mapping[int, tuple[float, ...]]]],
        batteries: Callable[[], Mapping[str, BatterySettings]],
        on_found: Callable[[], None],
    ) -> None:
        self._hass = hass
        self._entry = entry
        self._clock = clock
        self._ledger = ledger
        self._paid_price_calculator = paid_price_calculator
        self._selling_prices_of = selling_prices_of
        self._batteries = batteries
        self._on_found = on_found
        self._last_step: int | None = None
        self._last_hour: int | None = None
        self._task: asyncio.Task[None] | None = None
        entry.async_on_unload(
            hass.bus.async_listen(EVENT_RECORDER_5MIN_STATISTICS_GENERATED, self._async_look_for_missing_readings)
        )

    @callback
    def async_look_for_missing_data(self, now: int) -> None:
        """If this is the first call in a period of `SHORTEST_STEP_S`, look for missing readings and prices.

        `now` is the present time in UTC seconds. Missing prices are requested at most once in each hour.
        """
        if now // SHORTEST_STEP_S == self._last_step:
            return
        self._last_step = now // SHORTEST_STEP_S
        ledger = self._ledger()
        if ledger.battery_accounts or ledger.slices_to_read(now) or ledger.hours_without_price(now):
            self._async_start_task(now)

    @callback
    def _async_look_for_missing_readings(self, _: Event) -> None:
        """Read the meters again, because the recorder has new statistics."""
        now = self._clock.now()
        ledger = self._ledger()
        if ledger.slices_to_read(now) or any(one.periods_to_read(now) for one in ledger.battery_accounts.values()):
            self._async_start_task(now)

    @callback
    def _async_start_task(self, now: int) -> None:
        if self._task is None or self._task.done():
            self._task = self._entry.async_create_background_task(
                self._hass, self._async_complete_ledger(now), f"{self._entry.title} past windows"
            )

    async def _async_complete_ledger(self, now: int) -> None:
        has_new = await self._async_read_meters(now)
        for battery, settings in self._batteries().items():
            if account := self._ledger().battery_accounts.get(battery):
                has_new |= await self._async_read_battery(account, settings, now)
        if now // HOUR_S != self._last_hour:
            self._last_hour = now // HOUR_S
            has_new |= await self._async_fetch_prices(now)
        if has_new:
            self._on_found()

    async def _async_read_meters(self, now: int) -> bool:
        """Read the meters' statistics, and return whether any reading is new or has changed."""
        if not has_recorder(self._hass):
            return False
        ledger, has_new, ahead_s = self._ledger(), False, self._clock.ahead_s
        for meter, slices in ledger.slices_to_read(now).items():
            at_home = {(start - ahead_s, end - ahead_s): (start, end) for start, end in slices}
            since, until = min(start for start, _ in at_home), max(end for _, end in at_home)
            stretches = await measured_stretches(self._hass, meter, since, until)
            measured = energy_by_slice(stretches, at_home)
            # The recorder may no longer have the readings of the earliest slices.
            covered = [one for one in at_home if stretches and stretches[0].start <= one[0]]
            has_new |= ledger.update_readings(meter, {at_home[one]: measured.get(one) for one in covered})
        return has_new

    async def _async_read_battery(self, account: BatteryAccount, settings: BatterySettings, now: int) -> bool:
        """Read the meters of a battery's home, and return whether this changes anything."""
        sells, ahead_s = self._ledger().selling_prices is not None, self._clock.ahead_s
        at_home = {(start - ahead_s, end - ahead_s): (start, end) for start, end in account.periods_to_read(now)}
        try:
            found = await read_grid_energy(self._hass, settings, list(at_home), sells=sells)
        except NotKnown as unknown:
            return account.update_readings({}, unknown.missing)
        return account.update_readings({at_home[one]: energy for one, energy in found.items()})

    async def _async_fetch_prices(self, now: int) -> bool:
        """Request the prices that the ledger lacks, and return whether any price was added to it."""
        ledger = self._ledger()
        hours, hours_sold = ledger.hours_without_price(now), ledger.hours_without_selling_price()
        try:
            prices, _ = split_left_out(await self._paid_price_calculator().prices_of(hours))
            sold = await self._selling_prices_of(hours_sold)
        except TunnihindError as error:
            LOGGER.debug("can't get the prices of past windows: %s", error)
            return False
        ledger.prices.add_hour_prices({hour: price.by_step for hour, price in prices.items()})
        if ledger.selling_prices:
            ledger.selling_prices.add_hour_prices(sold)
        return bool(prices or sold)
