"""The contents that the integration sends to the card over Home Assistant's websocket.

The card's JavaScript relies on the types in this module. Instants are whole UTC seconds, on the `EntryClock` unless
stated otherwise. Household prices and selling prices are in EUR/kWh, rounded to 4 decimals. A test compares the
contents that a card gets with the examples in tests/integration/card/examples.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypedDict

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from ..battery.plan import Action
from ..battery.settings import PERCENT
from ..client.answers import Mode
from ..client.polling import Problem
from ..const import DOMAIN, EUR
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..core.market import FORECAST_STALE_AFTER_S
from ..entity import BATTERY_ACTION, WINDOW
from ..household.battery_planner import Decision, batteries_of
from ..household.home_energy import NoPlanReason
from ..household.planner import plans_of
from ..household.prices_now import MAX_LISTED_S, PricesNow
from ..household.problems import problems
from ..plans.solver import Piece
from ..prices.units import Unit, unit_of
from ..prices.zones import zone_of
from .columns import HouseholdColumns, PriceColumns, household_columns, price_columns


class CardState(StrEnum):
    """The state of the config entry whose prices the card shows."""

    READY = "ready"
    NO_PRICE = "no_price"
    """The current price is unknown. The prices of other times may be known."""
    STARTING = "starting"
    """The entry is not loaded yet, or is being loaded or unloaded. The card may still show earlier prices."""
    RETRYING = "retrying"
    """The server gives no usable answer, and no earlier prices are stored. Home Assistant tries again later."""
    STOPPED = "stopped"
    """The entry is disabled, or Home Assistant failed to load or unload it."""
    REMOVED = "removed"


class CardPeriod(TypedDict):
    """The start and the end of the current price period: an hour or a quarter-hour."""

    start: int
    end: int


class CardPlan(TypedDict):
    """A plan with its windows.

    `id` is the id of the plan's subentry. `entity_id` is the id of the plan's binary sensor "Window", or None if there
    is no such sensor. `windows` lists the windows of the last two weeks, and the window that runs or comes next. If the
    plan covers all hours below or above a price limit, `windows` also lists all known future windows. Each window
    consists of one or more pieces in chronological order. Each piece is a pair of start and end in UTC seconds.
    """

    id: str
    entity_id: str | None
    name: str
    windows: list[tuple[Piece, ...]]


class CardCourse(TypedDict):
    """The course of a battery.

    `runs` has the start, the end (UTC seconds) and the action of each run. `percent` has states of charge in whole
    percent: that of now, for `start` (UTC seconds), and those at the ends of periods of `step` seconds from `start` on.
    """

    runs: list[tuple[int, int, Action]]
    start: int
    step: int
    percent: list[int]


class CardBattery(TypedDict):
    """A battery with valid settings.

    `id` is the id of the battery's subentry. `entity_id` is the id of its sensor "Action", or None if there is no such
    sensor. Without a plan, `course` is None, and `reason` says why.
    """

    id: str
    entity_id: str | None
    name: str
    reason: NoPlanReason | None
    course: CardCourse | None


class CardPlanElsewhere(TypedDict):
    """A plan or a battery that a card names, but that belongs to another config entry than the card shows.

    If the other entry has another price zone, `zone` is this zone, or else None. `entry` is the other entry's title.
    """

    name: str
    zone: str | None
    entry: str


class CardContentsWithoutPrices(TypedDict):
    """The card's contents while the entry is not loaded."""

    state: CardState


class CardContents(CardContentsWithoutPrices):
    """The card's contents for a loaded entry.

    Each event of a subscription contains only the fields that have changed since the earlier events. So the first event
    for a loaded entry contains all fields. While the entry is not loaded, events contain only `state`, and the card
    keeps the last values of all other fields.

    `mode` names the kind of prices: live prices, made-up prices, or prices of a past day. In a rehearsal,
    `clock_ahead_s` is the number of seconds by which the server's clock is ahead of Home Assistant's clock. In all
    other modes, `clock_ahead_s` is 0. `problems` lists the same problems as the attribute `problems` of the sensor
    "Data problem". `lost_since` is the time of the server's last answer, but at most an hour after this answer first
    arrived, because a cache may repeat old answers. If `problems` doesn't contain `server_unreachable`, `lost_since` is
    None. `stale_since` is the time, on the server's clock, at which the forecast became too old. If `problems` doesn't
    contain `forecast_stale`, `stale_since` is None. `unit` is the unit in which the card shows prices: `cents` or
    `euros` per kWh. `currency` is always EUR.

    `prices` contains the household's prices of today and later days, or is None if none of these prices is known.
    `selling` contains the selling prices of today and later days, without VAT. If a selling price is below zero, the
    household pays the buyer. If the household sells nothing, if none of these selling prices is known, or if the user
    may not read selling prices, `selling` is None. `now` is the current period, or None if the current price is
    unknown. `plans` lists all plans with valid settings. If a user may not read a plan's binary sensor "Window", the
    plan is left out for this user. `batteries` lists all batteries with valid settings whose sensor "Action" the user
    may read. `plans_elsewhere` lists the plans and batteries of other entries that the card's request names and the
    user may read. `zone` is the entry's price zone if the enabled entries have several zones, or else None.
    """

    mode: Mode
    clock_ahead_s: int
    problems: list[Problem]
    lost_since: int | None
    stale_since: int | None
    unit: Unit
    currency: str
    prices: HouseholdColumns | None
    selling: PriceColumns | None
    now: CardPeriod | None
    plans: list[CardPlan]
    batteries: list[CardBattery]
    plans_elsewhere: list[CardPlanElsewhere]
    zone: str | None


_STATES: Final[Mapping[ConfigEntryState, CardState]] = {
    ConfigEntryState.SETUP_IN_PROGRESS: CardState.STARTING,
    ConfigEntryState.UNLOAD_IN_PROGRESS: CardState.STARTING,
    ConfigEntryState.SETUP_RETRY: CardState.RETRYING,
}


def contents_without_prices(entry: TunnihindConfigEntry, *, removed: bool) -> CardContentsWithoutPrices:
    """Return the card's contents for an entry that is not loaded. `removed` is true if the entry has been deleted."""
    if removed:
        return CardContentsWithoutPrices(state=CardState.REMOVED)
    if entry.state is ConfigEntryState.NOT_LOADED and entry.disabled_by is None:
        return CardContentsWithoutPrices(state=CardState.STARTING)
    return CardContentsWithoutPrices(state=_STATES.get(entry.state, CardState.STOPPED))


class ContentsBuilder:
    """Makes the card's contents for a loaded entry.

    Lists of prices are cached until the prices, the server's `price_scale` or the date changes.
    """

    def __init__(self, coordinator: TunnihindCoordinator) -> None:
        self._coordinator = coordinator
        self._made_from: tuple[object, ...] = ()
        self._prices: HouseholdColumns | None = None
        self._selling: PriceColumns | None = None

    def current_contents(self) -> CardContents:
        """Return the present contents. The module `feed` leaves out what a user may not read.

        It also fills `plans_elsewhere`, which depends on the card's request.
        """
        coordinator = self._coordinator
        prices, server_status = coordinator.prices, coordinator.server_status
        self._update_columns(prices)
        found = problems(prices, server_status)
        made_at, current = prices.answer.made_at, prices.current_period
        return CardContents(
            state=CardState.READY if current else CardState.NO_PRICE,
            mode=coordinator.mode,
            clock_ahead_s=coordinator.clock.ahead_s,
            problems=found,
            lost_since=server_status.silent_since if Problem.SERVER_UNREACHABLE in found else None,
            stale_since=made_at + FORECAST_STALE_AFTER_S if made_at and Problem.FORECAST_STALE in found else None,
            unit=unit_of(coordinator.config_entry.options),
            currency=EUR,
            prices=self._prices,
            selling=self._selling,
            now=CardPeriod(start=current.start, end=current.end) if current else None,
            plans=_plans(coordinator),
            batteries=_batteries(coordinator),
            plans_elsewhere=[],
            zone=coordinator.zone.code if _has_several_zones(coordinator.hass) else None,
        )

    def _update_columns(self, prices: PricesNow) -> None:
        coordinator, start = self._coordinator, prices.today.start
        made_from = prices.timeline, prices.level_prices, prices.price_scale, coordinator.selling_prices.timeline, start
        if made_from != self._made_from:
            self._made_from = made_from
            self._prices = household_columns(prices, coordinator.tariff, start, start + MAX_LISTED_S)
            self._selling = price_columns(coordinator.selling_prices.timeline, start, start + MAX_LISTED_S)


def _has_several_zones(hass: HomeAssistant) -> bool:
    entries = hass.config_entries.async_entries(DOMAIN, include_ignore=False, include_disabled=False)
    return len({zone_of(entry.data) for entry in entries}) > 1


def _plans(coordinator: TunnihindCoordinator) -> list[CardPlan]:
    registry, plans = er.async_get(coordinator.hass), plans_of(coordinator.config_entry)
    return [
        CardPlan(
            id=plan_id,
            entity_id=registry.async_get_entity_id(Platform.BINARY_SENSOR, DOMAIN, f"{plan_id}_{WINDOW}"),
            name=plans[plan_id].title,
            windows=[window.pieces for window in coordinator.planner.windows(plan_id)],
        )
        for plan_id in coordinator.prices.outcomes
        if plan_id in plans
    ]


def _batteries(coordinator: TunnihindCoordinator) -> list[CardBattery]:
    registry, batteries = er.async_get(coordinator.hass), batteries_of(coordinator.config_entry)
    planner = coordinator.battery_planner
    return [
        CardBattery(
            id=battery_id,
            entity_id=registry.async_get_entity_id(Platform.SENSOR, DOMAIN, f"{battery_id}_{BATTERY_ACTION}"),
            name=batteries[battery_id].title,
            reason=planner.decision(battery_id).reason,
            course=_course(planner.decision(battery_id)),
        )
        for battery_id in planner.settings
        if battery_id in batteries
    ]


def _course(decision: Decision) -> CardCourse | None:
    plan, reading, settings = decision.plan, decision.reading, decision.settings
    if plan is None or reading is None or settings is None:
        return None
    starts, end = plan.steps.starts, plan.steps.end
    step = end - int(starts[-1])
    return CardCourse(
        runs=[(run.start, run.end, run.action) for run in plan.runs],
        start=end - step * len(starts),
        step=step,
        percent=[
            round(stored / settings.capacity_kwh * PERCENT) for stored in (reading.stored_kwh, *plan.course.stored_kwh)
        ],
    )
