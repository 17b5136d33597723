"""Reads in the background what the home's sun gives beyond the home's usual use."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CoreState, HomeAssistant, callback

from ..battery.settings import BatterySettings
from ..client.clock import EntryClock
from ..const import LOGGER
from ..core.market import DAY_S, QUARTER_S, Market, floor_hour
from ..plans.settings import MAX_DAYS
from .home_energy import HomeEnergyReader, NotKnown

# No price is known further ahead: the forecast covers 7 days after the published prices.
_AHEAD_S: Final = 9 * DAY_S
# A window that runs began at most `MAX_DAYS` days ago, and an hour more if the clock changes in autumn.
_KEPT_S: Final = (MAX_DAYS + 1) * DAY_S


class SurplusReader:
    """Reads the home's surplus of sun in each quarter-hour, and calls `on_changed` after each change of it.

    `surplus_kw` is the mean surplus by the start of the UTC hour. Hours without a surplus are left out. While something
    is not known, such as the sun's forecast after a restart, the surplus that was read last stays. Past hours are kept
    as they were expected, because the windows that run in them still show the sun.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        clock: EntryClock,
        zone: Market,
        reader: HomeEnergyReader,
        on_changed: Callable[[], None],
    ) -> None:
        self._hass = hass
        self._entry = entry
        self._clock = clock
        self._zone = zone
        self._reader = reader
        self._on_changed = on_changed
        self.surplus_kw: Mapping[int, float] = {}
        self._read_in: int | None = None
        self._task: asyncio.Task[None] | None = None

    @callback
    def async_update(self, now: int, battery: BatterySettings | None, *, sells: bool) -> None:
        """Read the surplus if a quarter-hour has begun. `now` is in UTC seconds.

        `battery` has the settings of the home's battery, if it has one. `sells` says whether the household sells
        electricity. Until Home Assistant has started, the sun's forecast may be missing, and nothing is read.
        """
        quarter = now // QUARTER_S
        is_busy = self._task is not None and not self._task.done()
        if quarter == self._read_in or is_busy or self._hass.state is not CoreState.running:
            return
        self._read_in = quarter
        # The task must not call `on_changed` before the present update has ended.
        self._task = self._entry.async_create_background_task(
            self._hass, self._async_read(now, battery, sells=sells), f"{self._entry.title} sun", eager_start=False
        )

    async def _async_read(self, now: int, battery: BatterySettings | None, *, sells: bool) -> None:
        try:
            found = await self._async_surplus(now, battery, sells=sells)
        except NotKnown as unknown:
            LOGGER.debug("the surplus of sun is not known: %s", unknown)
            return
        kept = {hour: kw for hour, kw in self.surplus_kw.items() if now - _KEPT_S <= hour < floor_hour(now)}
        if kept | found != self.surplus_kw:
            self.surplus_kw = kept | found
            self._on_changed()

    async def _async_surplus(self, now: int, battery: BatterySettings | None, *, sells: bool) -> dict[int, float]:
        if not await self._reader.has_sun(battery):
            return {}
        ahead_s = self._clock.ahead_s
        home = (await self._reader.read(battery, now - ahead_s, sells=sells)).shifted(ahead_s)
        return await self._hass.async_add_executor_job(home.surplus_kw, self._zone, now, now + _AHEAD_S)
