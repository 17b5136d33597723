"""Completes the ledger: reads meters in the recorder, and asks the server for prices that were missed.

Meters are read when the recorder has written the statistics of five minutes, some seconds after they are over. So a
window's energy is whole shortly after its end.
"""

from collections.abc import Callable
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_RECORDER_5MIN_STATISTICS_GENERATED
from homeassistant.core import Event, HomeAssistant, callback

from ..const import LOGGER
from ..errors import TunnihindError
from ..past.hours import without_left_out
from ..past.paid_prices import PaidPrices
from ..past.recorder import meter_rows, records
from ..prices.timeline import HOUR_S, QUARTER_S
from ..server.clock import EntryClock
from .ledger import Ledger
from .readings import FIVE_MIN_S, Stretch, energy_in, of_counter, of_power

# For how long a meter may be silent around a window. What it counted meanwhile is spread evenly.
_SILENT_S: Final = 24 * HOUR_S


class Completion:
    """Looks for what is missing in the background, and calls `came` if it found any of it.

    `ledger` returns what is to be completed, `paid_prices` what the household pays, by its contract of today.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        clock: EntryClock,
        ledger: Callable[[], Ledger],
        paid_prices: Callable[[], PaidPrices],
        came: Callable[[], None],
    ) -> None:
        self._hass = hass
        self._entry = entry
        self._clock = clock
        self._ledger = ledger
        self._paid_prices = paid_prices
        self._came = came
        self._looked_in: int | None = None
        self._asked_in: int | None = None
        entry.async_on_unload(hass.bus.async_listen(EVENT_RECORDER_5MIN_STATISTICS_GENERATED, self._async_look_again))

    @callback
    def async_look(self, now: int) -> None:
        """Complete what is missing as of `now`, UTC seconds, once in each quarter of an hour."""
        if now // QUARTER_S == self._looked_in:
            return
        self._looked_in = now // QUARTER_S
        if self._ledger().unread(now) or self._ledger().missing_hours(now):
            self._async_start(now)

    @callback
    def _async_look_again(self, _: Event) -> None:
        """Complete what waits for a meter: the newest statistics are there."""
        now = self._clock.now()
        if self._ledger().unread(now):
            self._async_start(now)

    @callback
    def _async_start(self, now: int) -> None:
        self._entry.async_create_background_task(
            self._hass, self._async_complete(now), f"{self._entry.title} past windows"
        )

    async def _async_complete(self, now: int) -> None:
        came = await self._async_read(now)
        if now // HOUR_S != self._asked_in:
            self._asked_in = now // HOUR_S
            came |= await self._async_ask(now)
        if came:
            self._came()

    async def _async_read(self, now: int) -> bool:
        """Read every meter that is waited for, and tell whether one had anything."""
        if not records(self._hass):
            return False
        ledger, came, ahead_s = self._ledger(), False, self._clock.ahead_s
        for meter, slices in ledger.unread(now).items():
            at_home = {(start - ahead_s, end - ahead_s): (start, end) for start, end in slices}
            since, until = min(start for start, _ in at_home), max(end for _, end in at_home)
            stretches = await self._async_stretches(meter, since - _SILENT_S, until + _SILENT_S)
            readings = {at_home[one]: kwh for one, kwh in energy_in(stretches, at_home).items()}
            ledger.note_readings(meter, readings)
            came |= bool(readings)
        return came

    async def _async_stretches(self, meter: str, start: int, end: int) -> list[Stretch]:
        sums, means = await meter_rows(self._hass, meter, start - FIVE_MIN_S, end)
        return of_counter(sums) if sums else of_power(means)

    async def _async_ask(self, now: int) -> bool:
        """Ask the server for the prices that the newest answer no longer has, and tell whether it had any."""
        ledger = self._ledger()
        hours = ledger.missing_hours(now)
        if not hours:
            return False
        try:
            prices, _ = without_left_out(await self._paid_prices().of(hours))
        except TunnihindError as error:
            LOGGER.debug("the server did not send prices of past windows: %s", error)
            return False
        ledger.note_prices({hour: price.quarters for hour, price in prices.items()})
        return bool(prices)
