"""Keeps the prices and the plans that a household's entities show.

The coordinator polls the server once a minute. After several failed polls in a row, or if the server requests a pause
when a poll fails, the coordinator waits longer. When new prices arrive or the list of problems changes, the coordinator
updates the entities. The entities are also updated every quarter-hour and at the beginning of a problem, even if the
server doesn't answer. Prices and plans use the time of the config entry's `EntryClock`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_URL
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .battery.settings import SteeredBattery
from .client.answers import About, MarketPrices, Mode, credit_with_mode
from .client.clock import EntryClock, UpdateTimer
from .client.polling import Problem, ResetReason, ServerPoller, ServerStatus
from .client.requests import MAX_PAST_DAYS, POLL_S, Client
from .const import (
    ATTRIBUTION,
    CONF_CHEAP_HOURS,
    CONF_HOURS_AHEAD,
    CONF_INSTANCE_ID,
    CONF_REHEARSAL,
    DEFAULT_CHEAP_HOURS,
    DEFAULT_HOURS_AHEAD,
    DOMAIN,
    LOGGER,
)
from .core.market import HOUR_S, SHORTEST_STEP_S
from .core.tariff import Tariff
from .errors import NoPastPrices, Refusal, TunnihindError
from .household.battery_planner import BatteryPlanner, batteries_of
from .household.planner import PLANNERS_OF_HOME, Planner, plans_of
from .household.prices_now import PricesNow, Timelines
from .household.problems import instants_of_problems, problems
from .household.surplus import SurplusReader
from .ledger.completion import LedgerCompleter
from .ledger.ledger import Ledger
from .past.history import MarketHistory
from .past.paid_prices import PaidPriceCalculator
from .plans.steering import Steered, SteeredPlan
from .plans.sun import Sun
from .prices.billing import Resolution, billing_from, selling_contract_from
from .prices.tariff_options import tariff_from
from .prices.zones import zone_of
from .storage import Storage, StoredState

type TunnihindConfigEntry = ConfigEntry[TunnihindCoordinator]


class TunnihindCoordinator(DataUpdateCoordinator[MarketPrices]):
    """The prices of one household from one server, and the decisions about the household's plans.

    `billing` says how the household is billed for the electricity that it buys. `selling_contract` is the household's
    contract for selling electricity. `selling_prices` are the prices that the household gets for its electricity. If
    the household sells nothing, `selling_contract` is None, and `selling_prices` contains no prices.
    """

    config_entry: TunnihindConfigEntry
    prices: PricesNow
    selling_prices: PricesNow
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
        self.zone: Final = zone_of(entry.data)
        self.server_id: Final = entry.unique_id
        """The server's id when the entry was loaded. If the entry gets another server, the entry is reloaded."""
        self.clock: Final = EntryClock(is_rehearsal=entry.data.get(CONF_REHEARSAL, False))
        self._of_home: Final = {} if self.clock.is_rehearsal else hass.data.setdefault(PLANNERS_OF_HOME, {})
        self.planner: Final = Planner(self.zone, entry.entry_id, self._of_home, self._async_plans_moved)
        self.battery_planner: Final = BatteryPlanner(
            hass, entry, self.clock, self.zone, self.planner.room_in, super().async_update_listeners
        )
        self.surplus_reader: Final = SurplusReader(
            hass, entry, self.clock, self.zone, self.battery_planner.reader, self.async_update_listeners
        )
        self.ledger = Ledger(self.zone)
        self.client = Client(async_get_clientsession(hass), self.url)
        self._poller: Final = ServerPoller(
            self.client, self.clock, self.zone, has_stored_id=lambda: entry.data[CONF_INSTANCE_ID] is not None
        )
        self._storage = Storage(hass, entry.entry_id)
        self._timer = UpdateTimer(hass, self.clock, self.async_update_listeners)
        self._ledger_completer = LedgerCompleter(
            hass,
            entry,
            self.clock,
            lambda: self.ledger,
            lambda: self.paid_price_calculator,
            self._async_selling_prices_of,
            lambda: self.battery_planner.settings,
            self.async_update_listeners,
        )
        self._shown_problems: list[Problem] = []
        self._timelines: Final = Timelines()
        self._saved_state = StoredState()
        self.billing = billing_from(entry.options)
        self.selling_contract = selling_contract_from(entry.options, self.zone)

    @property
    def about(self) -> About | None:
        """The server's newest known description of itself. If no description is known, the value is None."""
        return self._poller.about

    @property
    def mode(self) -> Mode:
        """The kind of prices that the entry shows: live prices, made-up prices, or prices of a past day."""
        return self._poller.mode

    @property
    def attribution(self) -> str:
        """The credit line for the prices, with a mark if the prices are not live.

        Until the server has described itself, the credit line names the integration.
        """
        return credit_with_mode(
            self.about.attribution if self.about else ATTRIBUTION, self.mode, self.hass.config.language
        )

    @property
    def server_status(self) -> ServerStatus:
        """The time of the server's last answer, and problems with the server's prices."""
        return self._poller.status(needs_quarters=self._needs_quarters)

    @property
    def tariff(self) -> Tariff:
        """The household's fees and VAT, which are added to the market price."""
        chosen = self.about.chosen_vat_rate if self.about else None
        return tariff_from(self.config_entry.options, zone=self.zone, chosen_vat_rate=chosen)

    @property
    def paid_price_calculator(self) -> PaidPriceCalculator:
        """An object that computes the prices that the household paid in past hours."""
        step_s = self.billing.billed_by.step_s
        return PaidPriceCalculator(step_s=step_s, history=self.market_history(step_s), tariff=self.tariff)

    def market_history(self, step_s: int) -> MarketHistory:
        """Return the past market prices by periods of `step_s` seconds."""
        return MarketHistory(partial(self.client.settled_prices_of_month, step_s=step_s, zone=self.zone), self.zone)

    async def _async_selling_prices_of(self, hours: Sequence[int]) -> dict[int, tuple[float, ...]]:
        """Return the selling prices of each hour's periods of `SHORTEST_STEP_S`.

        Hours with an unknown price are left out. `hours` are the starts of the hours in UTC seconds, in chronological
        order. Raises TunnihindError if a request fails.
        """
        contract = self.selling_contract
        if contract is None or not hours:
            return {}
        step_s = contract.resolution.step_s
        settled = await self.market_history(step_s).prices_between(hours[0], hours[-1] + HOUR_S)
        periods = {hour: [at - at % step_s for at in range(hour, hour + HOUR_S, SHORTEST_STEP_S)] for hour in hours}
        return {
            hour: tuple(contract.price(settled[start], start) for start in starts)
            for hour, starts in periods.items()
            if all(start in settled for start in starts)
        }

    @property
    def _needs_quarters(self) -> bool:
        """True if the household's contract for buying or for selling has quarter-hour prices."""
        sold_by = self.selling_contract.resolution if self.selling_contract else Resolution.HOUR
        return Resolution.QUARTER in {self.billing.billed_by, sold_by}

    @property
    def _asks_for_quarters(self) -> bool:
        # On a server with the full horizon, only the quarter-hour forecast reaches beyond the public window.
        return self._needs_quarters or (self.about is not None and self.about.full_horizon)

    async def async_start(self) -> None:
        """Load the stored data, then poll the server.

        Raises ConfigEntryNotReady if the poll fails and no prices are stored.
        """
        self.config_entry.async_on_unload(self._timer.async_cancel)
        kept = (await self._storage.load()).state_for_server(self.server_id)
        self.clock.server_ahead_s = kept.server_ahead_s
        self._poller.restore(kept.about, kept.answer)
        self._of_home[self.config_entry.entry_id] = self.planner
        self.config_entry.async_on_unload(self._leave_home)
        self.planner.restore(plans_of(self.config_entry).values(), kept, self.clock.now())
        self.surplus_reader.surplus_kw = kept.surplus_kw
        self.battery_planner.async_update_batteries(batteries_of(self.config_entry).values(), kept.batteries)
        self.ledger = Ledger.from_dict(kept.ledger, self.zone)
        if kept.answer:
            self.data = kept.answer
            self._update_all_data()
            await self.async_refresh()
        else:
            await self.async_config_entry_first_refresh()

    @override
    async def _async_update_data(self) -> MarketPrices:
        try:
            known, reset = await self._poller.poll(in_quarters=self._asks_for_quarters)
        except TunnihindError as error:
            self._update_entities_if_outdated()
            raise UpdateFailed(
                translation_domain=error.translation_domain,
                translation_key=error.translation_key,
                translation_placeholders=error.translation_placeholders,
                retry_after=self._poller.note_failure(error),
            ) from error
        if reset is ResetReason.OTHER_SERVER:
            self.ledger.forget_prices()
        elif reset is ResetReason.NEW_REHEARSAL:
            self.planner.forget_decisions()
            self.battery_planner.forget_decisions()
            self.ledger.forget_all()
        if known == self.data:
            self._update_entities_if_outdated()
        return known

    def _update_entities_if_outdated(self) -> None:
        """Update the entities if the list of problems has changed, or if the timer has missed an update.

        The timer may miss an update if the computer was asleep, or if a clock was changed.
        """
        if not self.data:
            return
        self._set_timer()
        now = self.clock.now()
        skipped = now // SHORTEST_STEP_S != self.prices.now // SHORTEST_STEP_S
        if skipped or problems(replace(self.prices, now=now), self.server_status) != self._shown_problems:
            self.async_update_listeners()

    async def async_market_prices_between(self, start: int, end: int) -> MarketPrices:
        """Return all known prices, and the server's settled prices from `start` to `end` (UTC seconds).

        Past prices that are not known yet are requested by month. If the server has no prices of months, those of the
        last 14 days are requested. Raises Refusal if the server's first price is later than `start`, and TunnihindError
        if a request fails.
        """
        known, step_s = self.data.settled, self.data.step_s
        present = self.prices.now - self.prices.now % step_s
        # The first known quarters may be the rest of an hour.
        until = min(end, present, -(-min(known, default=present) // HOUR_S) * HOUR_S)
        if start >= until:
            return self.data
        history = self.market_history(step_s)
        try:
            settled = await history.prices_between(start, until)
            first = min(settled, default=until)
            if first > start and await history.has_month_before(start):
                first = start
            elif first > start:
                first = await history.first_period(present) or min(known, default=start)
        except NoPastPrices:
            settled = await self._poller.past_prices(MAX_PAST_DAYS)
            first = min(settled, default=until)
        if first > start:
            raise Refusal("no_prices_before", first=self.zone.local_time(first).isoformat(" ", "minutes"))
        asked = {at: price for at, price in settled.items() if start - HOUR_S < at < end + HOUR_S}
        return replace(self.data, settled={**asked, **known})

    def timelines_of(self, answer: MarketPrices) -> Timelines:
        """Return the household's buying and selling prices for the market prices in `answer`."""
        lines = Timelines()
        lines.update(answer, self.tariff, self.billing, self.selling_contract)
        return lines

    async def async_past_market_prices(self, days: int) -> MarketPrices:
        """Request the prices of the last `days` days (2 to 14), and return all known settled prices."""
        return replace(self.data, settled=await self._poller.past_prices(days), forecast={})

    @callback
    @override
    def async_add_listener(self, update_callback: CALLBACK_TYPE, context: object = None) -> CALLBACK_TYPE:
        """Call `update_callback` at each update of the entities, until the returned function is called.

        An error of `update_callback` is logged. Home Assistant 2026.4 would call no further listener after an error.
        """

        @callback
        def call() -> None:
            try:
                update_callback()
            except Exception:
                self.logger.exception("a part of %s can't be updated", self.name)

        return super().async_add_listener(call, context)

    @callback
    @override
    def async_update_listeners(self) -> None:
        """Compute the prices and plans for the present moment, then update the entities."""
        if self.data:
            self._update_all_data()
        super().async_update_listeners()

    @callback
    def _update_all_data(self) -> None:
        """Compute all data as of now, store changed data, and set the timer for the next update."""
        self._set_timer()
        now, tariff, lines = self.clock.now(), self.tariff, self._timelines
        price_scale = self.about.price_scale if self.about else ()
        lines.update(self.data, tariff, self.billing, self.selling_contract, price_scale)
        selling = lines.selling if self.selling_contract else None
        self.prices = PricesNow(
            now=now,
            answer=self.data,
            timeline=lines.buying,
            level_prices=lines.level_prices,
            cheap_hours=self.config_entry.options.get(CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS),
            hours_ahead=self.config_entry.options.get(CONF_HOURS_AHEAD, DEFAULT_HOURS_AHEAD),
            outcomes=self.planner.update_outcomes(
                lines.buying,
                now,
                Sun(self.surplus_reader.surplus_kw, selling),
                usual_price=self.ledger.usual_price(lines.buying, now),
            ),
            unknown_parts=tariff.charges(now).unknown_parts,
            price_scale=price_scale,
            household_scale=lines.household_scale,
        )
        self.selling_prices = replace(self.prices, timeline=lines.selling, level_prices=lines.selling)
        self.battery_planner.async_update_prices(now, lines.buying, selling)
        battery = next(iter(self.battery_planner.settings.values()), None)
        self.surplus_reader.async_update(now, battery, sells=selling is not None)
        self.ledger.keep_only(self.config_entry.subentries)
        self.ledger.update(self.planner.settings, self.prices.outcomes, lines.buying, now)
        self.ledger.update_batteries(
            self.battery_planner.settings,
            [id_ for id_, battery in self.battery_planner.batteries.items() if battery.enabled],
            lines.buying,
            selling,
            now,
        )
        self._ledger_completer.async_look_for_missing_data(now)
        self._shown_problems = problems(self.prices, self.server_status)
        self._save_if_changed()

    @callback
    def _async_plans_moved(self) -> None:
        """Update the entities soon, because another entry has moved plans of a group."""
        self.hass.loop.call_soon(self._async_show_moved_plans)

    @callback
    def _async_show_moved_plans(self) -> None:
        if self.data and self._of_home.get(self.config_entry.entry_id) is self.planner:  # the entry is still loaded
            self.async_update_listeners()

    def _leave_home(self) -> None:
        self._of_home.pop(self.config_entry.entry_id, None)

    def _set_timer(self) -> None:
        """Set the timer for the next quarter-hour, or for the next problem if the server sends nothing new before."""
        self._timer.async_set(instants_of_problems(self.data, self.server_status))

    def plan(self, plan_id: str) -> Steered | None:
        """Return the plan or the battery with this id, or None if there is none or its settings are not valid."""
        return self.planner.plan(plan_id) or self.battery_planner.battery(plan_id)

    @callback
    def async_call_at_updates(self, action: Callable[[], None]) -> None:
        """Call `action` now, and at each update of the entities until the entry is unloaded."""
        action()
        self.config_entry.async_on_unload(self.async_add_listener(action))

    @callback
    def async_replace_plans(self, plans: Mapping[str, Steered], *, replan: bool = False) -> None:
        """Apply changed plans and batteries, and update the entities.

        `replan` has the same meaning as in `Planner.replace_plans`. If the settings of a changed plan are not valid,
        raise ValueError.
        """
        of_devices = {plan_id: plan for plan_id, plan in plans.items() if isinstance(plan, SteeredPlan)}
        self.planner.replace_plans(of_devices, self.clock.now(), replan=replan)
        batteries = {plan_id: plan for plan_id, plan in plans.items() if isinstance(plan, SteeredBattery)}
        self.battery_planner.async_replace_batteries(batteries, replan=replan)
        self.async_update_listeners()

    @callback
    def async_apply_options(self) -> None:
        """Apply changed options and plans without a reload, so that no entity becomes unavailable.

        If polls now have to request quarter-hour prices, or no longer have to, poll the server in the background.
        """
        asked_for_quarters = self._asks_for_quarters
        self.planner.update_plans(plans_of(self.config_entry).values(), self.clock.now())
        self.battery_planner.async_update_batteries(batteries_of(self.config_entry).values())
        self.billing = billing_from(self.config_entry.options)
        self.selling_contract = selling_contract_from(self.config_entry.options, self.zone)
        self.async_update_listeners()
        if self._asks_for_quarters is not asked_for_quarters:
            # If the entry is unloaded, Home Assistant cancels this background task.
            self.config_entry.async_create_background_task(self.hass, self.async_refresh(), f"{self.name} other prices")

    async def async_save(self) -> None:
        """Store the present data at once."""
        await self._storage.save(self._state_to_store())

    def _save_if_changed(self) -> None:
        kept = self._state_to_store()
        if kept != self._saved_state:
            self._saved_state = kept
            self._storage.save_soon(kept)

    def _state_to_store(self) -> StoredState:
        return StoredState(
            server=self.server_id,
            about=self.about,
            answer=self.data,
            outcomes=self.planner.outcomes,
            ran=self.planner.begun_windows,
            steered=self.planner.plans,
            ledger=self.ledger.as_dict(),
            batteries=self.battery_planner.batteries,
            surplus_kw=self.surplus_reader.surplus_kw,
            server_ahead_s=self.clock.server_ahead_s,
        )
