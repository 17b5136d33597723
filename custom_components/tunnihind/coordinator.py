"""One server's prices: fetched once a minute, looked at anew every quarter of an hour.

The two are apart: entities change at the hour from what is in memory, also with the server gone, and a poll that brings
nothing new changes nothing. What time it is says the entry's clock.
"""

from datetime import timedelta
from typing import Final, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .address import without_password
from .answers import About, ForecastAnswer, Mode
from .client import Client
from .clock import EntryClock, QuarterTimer, home_now
from .const import (
    ATTRIBUTION,
    CONF_CHEAP_HOURS,
    CONF_REHEARSAL,
    DEFAULT_CHEAP_HOURS,
    DEFAULT_VAT_RATE,
    DOMAIN,
    LOGGER,
)
from .errors import CannotConnect, RehearsalOver, ServerIsRehearsal, TunnihindError
from .history import History
from .known import merged, timeline_of
from .mode_names import marked
from .pauses import POLL_S, pause_s
from .planner import Planner
from .prices.tariff import Tariff, tariff_from
from .prices.timeline import HOUR_S, QUARTER_S, Timeline
from .prices_now import View
from .problems import Contact, Problem, problems
from .storage import Kept, Storage

# A server may be updated, its VAT rate set or another one started in its place, without being away for long enough to
# be missed.
ABOUT_LIFE_S: Final = HOUR_S

type TunnihindConfigEntry = ConfigEntry[TunnihindCoordinator]


class TunnihindCoordinator(DataUpdateCoordinator[ForecastAnswer]):
    """What is known from one server, what it costs the household, and what the plans make of it.

    `clock` is what the entry lives by, `server_device_id` its server's device.
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
        self.clock: Final = EntryClock(is_rehearsal=entry.data.get(CONF_REHEARSAL, False))
        self.planner: Final = Planner()
        self._client = Client(async_get_clientsession(hass), self.url)
        self._storage = Storage(hass, entry.entry_id)
        self._newest: ForecastAnswer | None = None
        self._told_by: str | None = None
        self._failures = 0
        self._about_asked_at = 0
        self._heard_at = 0
        self._told_at = 0
        self._history = History(self._client)
        self._timer = QuarterTimer(hass, self.clock, self.async_update_listeners)
        self._shown_problems: list[Problem] = []
        self._timeline = Timeline(HOUR_S)
        self._saved = Kept()
        self._priced: tuple[ForecastAnswer, Tariff] | None = None

    @property
    def attribution(self) -> str:
        """The credit that the operator asks for, or the name of what serves; marked where prices are not today's."""
        return marked(self.about.attribution if self.about else ATTRIBUTION, self.mode, self.hass.config.language)

    @property
    def mode(self) -> Mode:
        """What the entry's prices are of."""
        if self.clock.is_rehearsal:
            return Mode.REHEARSAL
        return Mode.DEMO if self.about and self.about.mode is Mode.DEMO else Mode.LIVE

    @property
    def contact(self) -> Contact:
        """How it stands with the server."""
        return Contact(
            heard_at=self._heard_at,
            told_at=self._told_at,
            clock_ahead_s=0 if self.clock.is_rehearsal else self.clock.server_ahead_s,
            is_history_missing=self._history.is_missing,
            not_of_its_kind=self._not_of_its_kind,
        )

    async def async_start(self) -> None:
        """Begin with what was kept, however old, then ask the server: only what has begun can say what is wrong.

        Raises ConfigEntryNotReady where the server doesn't answer and nothing was kept.
        """
        self.config_entry.async_on_unload(self._timer.async_cancel)
        kept = (await self._storage.load()).of_server(self._server)
        self.about = kept.about
        self.clock.server_ahead_s = kept.server_ahead_s
        self._told_by = self._instance_id
        self.planner.restore(self.config_entry.subentries.values(), kept.outcomes, kept.ran)
        if kept.answer:
            self.data = kept.answer
            self._heard_at = self._told_at = self.clock.of_server(kept.answer.now)
            self._look()
            await self.async_refresh()
        else:
            await self.async_config_entry_first_refresh()

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
        try:
            answer = await self._client.forecast()
            in_doubt = self._not_of_its_kind is not None or not self.clock.expects(answer.now)
            await self._ask_who_it_is(at_once=in_doubt and answer is not self._newest)
        except TunnihindError as error:
            self._catch_up()
            raise self._failed(error) from error
        known = await self._learned(answer)
        if known == self.data:
            self._catch_up()
        return known

    async def _learned(self, answer: ForecastAnswer) -> ForecastAnswer:
        """Return what is known with this answer. Raises UpdateFailed where it is nothing that the entry can live by."""
        self._failures = 0
        if self._not_of_its_kind:
            self._heard_at = self._told_at = self.clock.now()
            return self._left_alone()
        is_new = answer is not self._newest or self._told_by != self._instance_id
        if is_new:
            self._hear(answer)
        now = self._heard_at = self.clock.now()
        if not is_new and not self._history.is_due(now):
            return self.data
        self._newest = answer
        return await self._history.completed(merged(self._known_before(answer), answer, now), now)

    @property
    def _instance_id(self) -> str | None:
        return self.about.instance_id if self.about else None

    @property
    def _not_of_its_kind(self) -> Problem | None:
        if self.about is None or (self.about.mode is Mode.REHEARSAL) is self.clock.is_rehearsal:
            return None
        return Problem.REHEARSAL_OVER if self.clock.is_rehearsal else Problem.SERVER_IS_REHEARSAL

    def _left_alone(self) -> ForecastAnswer:
        """Return what was known before: past prices never get among today's, nor today's into a rehearsal."""
        if not self.data:
            error = RehearsalOver if self.clock.is_rehearsal else ServerIsRehearsal
            raise self._failed(error(url=without_password(self.url)))
        return self.data

    def _hear(self, answer: ForecastAnswer) -> None:
        """Take up the server's time; an answer that tells the one of before comes from a cache."""
        if not self.data or answer.now != self.data.now:
            self.clock.hear(answer.now)
            self._told_at = self.clock.now()

    def _known_before(self, answer: ForecastAnswer) -> ForecastAnswer | None:
        """Return what `answer` adds to; nothing where it is of another server than what was told before.

        That one may have been a demo. But as long as the other one knows no price, it takes nothing away: it may be the
        same one, after a loss of its data. Nor does a rehearsal know, once it begins again, what it knew the last time.
        """
        if self._told_by not in {None, self._instance_id}:
            if not answer.covers(self.clock.now()):
                return self.data
            LOGGER.info("another server answers at %s than before; its prices stand alone", without_password(self.url))
            self._told_by = self._instance_id
            self._history.forget()
            return None
        self._told_by = self._instance_id
        if self.data and self.clock.started_anew(self.data.now, answer.now):
            LOGGER.info("the rehearsal at %s began again", without_password(self.url))
            self.planner.forget()
            return None
        return self.data

    def _failed(self, error: TunnihindError) -> UpdateFailed:
        pause = pause_s(self._failures)
        asked = (error.retry_after or 0) if isinstance(error, CannotConnect) else 0
        self._failures += 1
        self._about_asked_at = 0
        return UpdateFailed(
            translation_domain=error.translation_domain,
            translation_key=error.translation_key,
            translation_placeholders=error.translation_placeholders,
            retry_after=max(pause, min(asked, HOUR_S)),
        )

    async def _ask_who_it_is(self, *, at_once: bool) -> None:
        """Ask for the server's identity, version and VAT rate, at the start, after a loss and once an hour.

        A server whose clock has moved may have become a rehearsal, or be none any more: it is asked at once, and the
        prices that it tells do not count before it has answered. Raises CannotConnect in that case only.
        """
        if not at_once and 0 <= home_now() - self._about_asked_at < ABOUT_LIFE_S:  # less than 0: the clock was set back
            return
        try:
            self.about = await self._client.about() or self.about
        except CannotConnect as error:
            if at_once:
                raise
            LOGGER.debug("the server did not tell who it is: %s", error)
        else:
            self._about_asked_at = home_now()

    def _catch_up(self) -> None:
        """Look anew where a sleeping machine or a moved clock has skipped a quarter, or a problem came or went."""
        if not self.data:
            return
        skipped = self.clock.now() // QUARTER_S != self.view.now // QUARTER_S
        if skipped or problems(self.view, self.contact) != self._shown_problems:
            self.async_update_listeners()

    @callback
    def _look(self) -> None:
        self._timer.async_set()
        now = self.clock.now()
        self._price()
        self.view = View(
            now=now,
            answer=self.data,
            timeline=self._timeline,
            cheap_hours=self.config_entry.options.get(CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS),
            outcomes=self.planner.decide(self._timeline, now),
        )
        self._shown_problems = problems(self.view, self.contact)
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
        return Kept(
            server=self._server,
            about=self.about,
            answer=self.data,
            outcomes=self.planner.kept(),
            ran=self.planner.kept_ran(),
            server_ahead_s=self.clock.server_ahead_s,
        )
