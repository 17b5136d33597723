"""One server's prices: fetched once a minute, looked at anew every quarter of an hour.

The two are apart: entities change at the hour from what is in memory, also with the server gone, and a poll that brings
nothing new changes nothing.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.event import async_track_utc_time_change
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed
from homeassistant.util import dt as dt_util

from .address import without_password
from .answers import About, ForecastAnswer
from .client import Client
from .const import ATTRIBUTION, CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS, DEFAULT_VAT_RATE, DOMAIN, LOGGER
from .errors import CannotConnect, TunnihindError
from .household import merged, timeline_of
from .planner import Planner
from .plans.solver import QUARTER_S
from .prices.days import day_at
from .prices.tariff import Tariff, tariff_from
from .prices.timeline import HOUR_S, Timeline
from .problems import UNREACHABLE_S
from .storage import Kept, Storage
from .view import View

POLL_S: Final = 60
# A server that is down for long is asked ever less often, but often enough to be back soon after it is.
LONGEST_PAUSE_S: Final = 15 * 60
QUARTERS: Final = (0, 15, 30, 45)
# A server may be updated, its VAT rate set or another one started in its place, without being away for long enough to
# be missed.
ABOUT_LIFE_S: Final = HOUR_S

type TunnihindConfigEntry = ConfigEntry[TunnihindCoordinator]


class TunnihindCoordinator(DataUpdateCoordinator[ForecastAnswer]):
    """What is known from one server, what it costs the household, and what the plans make of it.

    `heard_at` is when the server last answered, UTC seconds; 0 when it never did. `server_device_id` is its device's.
    """

    config_entry: TunnihindConfigEntry
    view: View
    server_device_id: str

    def __init__(self, hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=f"{DOMAIN} {entry.title}",
            update_interval=timedelta(seconds=POLL_S),
            always_update=False,
        )
        self.url: Final[str] = entry.data[CONF_URL]
        # As it is now: what is told until the reload after a change of server is still the one's before.
        self._server: Final = entry.unique_id
        self.about: About | None = None
        self.heard_at = 0
        self.planner: Final = Planner()
        self._client = Client(async_get_clientsession(hass), self.url)
        self._storage = Storage(hass, entry.entry_id)
        self._newest: ForecastAnswer | None = None
        self._told_by: str | None = None
        self._failures = 0
        self._about_asked_at = 0
        self._history_asked_at = 0
        self._timeline = Timeline()
        self._saved = Kept()
        self._priced: tuple[ForecastAnswer, Tariff] | None = None

    @property
    def attribution(self) -> str:
        """The credit that the operator asks for, or the name of what serves."""
        return self.about.attribution if self.about else ATTRIBUTION

    async def async_start(self) -> None:
        """Begin with what was kept, however old, then ask the server: only what has begun can say what is wrong.

        Raises ConfigEntryNotReady where the server doesn't answer and nothing was kept.
        """
        kept = (await self._storage.load()).of_server(self._server)
        self.about = kept.about
        self._told_by = self._instance_id
        self.planner.restore(self.config_entry.subentries.values(), kept.outcomes)
        if kept.answer:
            self.data, self.heard_at = kept.answer, kept.answer.now
            self._look()
            await self.async_refresh()
        else:
            await self.async_config_entry_first_refresh()
        self.config_entry.async_on_unload(
            async_track_utc_time_change(self.hass, self._quarter_began, minute=QUARTERS, second=0)
        )

    async def async_stop(self) -> None:
        """Write what is known."""
        await self._storage.save(self._kept())

    @callback
    def async_apply_options(self) -> None:
        """Take up changed options and plans, without a reload: no entity turns unavailable for it."""
        self.planner.update(self.config_entry.subentries.values())
        self.async_update_listeners()

    @callback
    @override
    def async_update_listeners(self) -> None:
        """Look anew, then let the entities show it."""
        if self.data:
            self._look()
        super().async_update_listeners()

    @override
    async def _async_update_data(self) -> ForecastAnswer:
        silent_since = self.heard_at
        try:
            answer = await self._client.forecast()
        except TunnihindError as error:
            raise self._failed(error) from error
        else:
            self._failures, self.heard_at = 0, _now()
        finally:
            self._make_up_for_a_lost_timer(silent_since)
        await self._ask_who_it_is()
        if answer is self._newest and self._told_by == self._instance_id:
            return self.data
        self._newest = answer
        known = self._known_before(answer)
        return merged(known, answer, await self._history(known, answer))

    @property
    def _instance_id(self) -> str | None:
        return self.about.instance_id if self.about else None

    def _known_before(self, answer: ForecastAnswer) -> ForecastAnswer | None:
        """Return what `answer` adds to; nothing where it is of another server than what was told before.

        That one may have been a demo. But as long as the other one knows no price, it takes nothing away: it may be the
        same one, after a loss of its data.
        """
        if self._told_by not in {None, self._instance_id}:
            if not answer.covers(answer.now):
                return self.data
            LOGGER.info("another server answers at %s than before; its prices stand alone", without_password(self.url))
            self._told_by, self._history_asked_at = self._instance_id, 0
            return None
        self._told_by = self._instance_id
        return self.data

    def _failed(self, error: TunnihindError) -> UpdateFailed:
        pause = min(POLL_S * 2**self._failures, LONGEST_PAUSE_S)
        asked = (error.retry_after or 0) if isinstance(error, CannotConnect) else 0
        self._failures += 1
        self._about_asked_at = 0
        return UpdateFailed(
            translation_domain=error.translation_domain,
            translation_key=error.translation_key,
            translation_placeholders=error.translation_placeholders,
            retry_after=max(pause, min(asked, HOUR_S)),
        )

    async def _ask_who_it_is(self) -> None:
        """Ask for the server's identity, version and VAT rate, at the start, after a loss and once an hour."""
        if 0 <= _now() - self._about_asked_at < ABOUT_LIFE_S:  # less than 0: the clock was set back
            return
        try:
            self.about = await self._client.about() or self.about
        except CannotConnect as error:
            LOGGER.debug("the server did not tell who it is: %s", error)
        else:
            self._about_asked_at = _now()

    async def _history(self, known: ForecastAnswer | None, answer: ForecastAnswer) -> Mapping[int, float]:
        """Ask for today's past hours where they aren't known, but not again and again: a server may not have them.

        One that has no prices at all yet is asked once it has some.
        """
        if not answer.settled or _knows_today(known, answer) or 0 <= _now() - self._history_asked_at < HOUR_S:
            return {}
        self._history_asked_at = _now()
        try:
            return await self._client.settled_since_yesterday()
        except TunnihindError as error:
            LOGGER.debug("the server did not tell today's past hours: %s", error)
            return {}

    @callback
    def _quarter_began(self, _now: datetime) -> None:
        self.async_update_listeners()

    def _make_up_for_a_lost_timer(self, silent_since: int) -> None:
        """Look anew where a sleeping machine or a moved clock has skipped polls or the timer of the quarter."""
        slept = self.heard_at - silent_since >= UNREACHABLE_S
        if self.data and (slept or _now() // QUARTER_S != self.view.now // QUARTER_S):
            self.async_update_listeners()

    @callback
    def _look(self) -> None:
        now = _now()
        self._price()
        self.view = View(
            now=now,
            answer=self.data,
            timeline=self._timeline,
            cheap_hours=self.config_entry.options.get(CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS),
            outcomes=self.planner.decide(self._timeline, now),
        )
        self._save_what_changed()

    def _save_what_changed(self) -> None:
        kept = self._kept()
        if kept != self._saved:
            self._saved = kept
            self._storage.save_soon(kept)

    def _price(self) -> None:
        """Make the timeline anew where the answer or the tariff is another than before."""
        vat_rate = self.about.vat_rate if self.about else DEFAULT_VAT_RATE
        priced = self.data, tariff_from(self.config_entry.options, server_vat_rate=vat_rate)
        if priced != self._priced:
            self._priced = priced
            self._timeline = timeline_of(*priced)

    def _kept(self) -> Kept:
        return Kept(server=self._server, about=self.about, answer=self.data, outcomes=self.planner.kept())


def _knows_today(known: ForecastAnswer | None, answer: ForecastAnswer) -> bool:
    settled = {**known.settled, **answer.settled} if known else answer.settled
    return all(start in settled for start in range(day_at(answer.now).start, answer.now, HOUR_S))


def _now() -> int:
    return int(dt_util.utcnow().timestamp())
