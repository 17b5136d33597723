"""What the card shows, as it goes over Home Assistant's websocket: the contract between the integration and the card.

The types below say all of it. Instants are whole UTC seconds by the entry's clock. Prices are EUR/kWh as the household
pays or gets them, to 4 decimals, in whatever unit people read them (`unit`). Examples of every state are in
tests/integration/card/examples, which a test makes from this code.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypedDict

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import Platform
from homeassistant.helpers import entity_registry as er

from ..const import DOMAIN, EUR
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..household.prices_now import MOST_LISTED_S, PricesNow
from ..household.problems import FORECAST_LIFE_S, problems
from ..plans.outcome import Decision
from ..plans.plan import Status
from ..prices.days import TALLINN
from ..prices.levels import Level
from ..prices.timeline import Period, Timeline
from ..prices.units import Unit, unit_of
from ..server.answers import Mode
from ..server.contact import Problem
from .columns import CardDay, Columns, PriceColumns, columns_of, days, price_columns

WINDOW: Final = "window"


class State(StrEnum):
    """Whether the card has something to show."""

    READY = "ready"
    NO_PRICE = "no_price"
    """The price of now is not known: nothing has come yet, or what was known has run out. There may be other prices."""
    STARTING = "starting"
    """The integration starts, or starts again: for a moment, and what was shown before still holds."""
    RETRYING = "retrying"
    """The server doesn't answer, and nothing was kept from before. The integration goes on trying."""
    STOPPED = "stopped"
    """The integration is disabled or could not start."""
    REMOVED = "removed"


class CardNow(TypedDict):
    """The current period, [start, end): an hour, or a quarter where the household is billed by it.

    `settled` is false where the price is the median of the forecast. `level` is the same as the sensor's; with levels
    by the hour it is the hour's. `cheap` tells whether it is among the day's cheap ones. Both are None while a price of
    the day is not known. `next` is the price of the period after, `selling` what the household gets now; None where
    they are not known.
    """

    start: int
    end: int
    price: float
    settled: bool
    level: Level | None
    cheap: bool | None
    next: float | None
    selling: float | None


class CardWindow(TypedDict):
    """A plan's time: `pieces` are [start, end) in the order of time, of which one is usual.

    `average` is what a kilowatt-hour costs in it. `forecast_share` (0 to 1) is the part of its time that rests on
    predicted prices.
    """

    pieces: list[tuple[int, int]]
    average: float
    forecast_share: float


class CardPlan(TypedDict):
    """A plan with its windows: those that ran in the last two weeks, and the one that runs or comes.

    `id` is the subentry's, `entity_id` that of the plan's binary sensor "Window", None where it was deleted. `name` is
    what people called the plan. `status` is that of the plan's sensor.
    """

    id: str
    entity_id: str | None
    name: str
    status: Status | None
    windows: list[CardWindow]


class CardContents(TypedDict):
    """All that a card shows. An event has those fields that changed, the first one after a subscription has all.

    While `state` is neither `ready` nor `no_price`, events have no field but `entry_id`, `state` and `title`;
    what came before stays as it was.

    - `entry_id`, `title`: the config entry and its name.
    - `mode`: whether prices are live, made up or of a past day.
    - `clock_ahead_s`: add it to Home Assistant's time for the entry's. It is 0 except in a rehearsal.
    - `problems`: what is wrong, as the attribute of the sensor "Data problem" says it.
    - `lost_since`: since when nothing has come from the server; None unless `problems` has `server_unreachable`.
    - `stale_since`: since when the forecast is too old; None unless `problems` has `forecast_stale`.
    - `forecast_made_at`: when the forecast was made, by the server's clock; None without a forecast.
    - `unit`: in which unit people read prices: `cents` or `euros` per kWh. `currency` is that of all prices.
    - `time_zone`: the clock by which days, levels and network rates go: Tallinn's, in any home.
    - `days`: the Tallinn days from today on, see `CardDay`.
    - `prices`: what the household pays, period by period, see `PriceColumns`. None where nothing is known.
    - `selling`: what it gets for what it sells, without VAT, by the hour or quarter as it is paid; below zero it pays.
      None where it sells nothing, or nothing is known.
    - `now`: the current period. None where its price is not known.
    - `plans`: those with their windows. Whoever may not read a plan's sensor doesn't get the plan.
    - `credit`: the credit that the server asks for, to be shown with the prices.
    """

    entry_id: str
    title: str
    state: State
    mode: Mode
    clock_ahead_s: int
    problems: list[Problem]
    lost_since: int | None
    stale_since: int | None
    forecast_made_at: int | None
    unit: Unit
    currency: str
    time_zone: str
    days: list[CardDay]
    prices: PriceColumns | None
    selling: Columns | None
    now: CardNow | None
    plans: list[CardPlan]
    credit: str


class CardBeginning(TypedDict):
    """What goes to the card while the integration has nothing to show."""

    entry_id: str
    title: str
    state: State


_STATES: Final[Mapping[ConfigEntryState, State]] = {
    ConfigEntryState.SETUP_IN_PROGRESS: State.STARTING,
    ConfigEntryState.UNLOAD_IN_PROGRESS: State.STARTING,
    ConfigEntryState.SETUP_RETRY: State.RETRYING,
}


def beginning(entry: TunnihindConfigEntry, *, removed: bool = False) -> CardBeginning:
    """Return what a card shows of an entry that is not loaded."""
    state = State.REMOVED if removed else _state_of(entry)
    return CardBeginning(entry_id=entry.entry_id, title=entry.title, state=state)


def _state_of(entry: TunnihindConfigEntry) -> State:
    if entry.state is ConfigEntryState.NOT_LOADED and entry.disabled_by is None:
        return State.STARTING
    return _STATES.get(entry.state, State.STOPPED)


class Contents:
    """What a card shows of a loaded entry. What is long is made again only where it has changed."""

    def __init__(self, coordinator: TunnihindCoordinator) -> None:
        self._coordinator = coordinator
        self._made_from: tuple[Timeline, Timeline, Timeline, int] | None = None
        self._days: list[CardDay] = []
        self._prices: PriceColumns | None = None
        self._selling: Columns | None = None

    def as_of_now(self) -> CardContents:
        """Return all of it."""
        coordinator = self._coordinator
        prices = coordinator.prices
        self._make_columns(prices)
        contact = coordinator.contact
        found = problems(prices, contact)
        made_at = prices.answer.made_at
        return CardContents(
            entry_id=coordinator.config_entry.entry_id,
            title=coordinator.config_entry.title,
            state=State.READY if prices.current else State.NO_PRICE,
            mode=coordinator.mode,
            clock_ahead_s=coordinator.clock.ahead_s,
            problems=found,
            lost_since=prices.now - contact.silence_s(prices.now) if Problem.SERVER_UNREACHABLE in found else None,
            stale_since=made_at + FORECAST_LIFE_S if made_at and Problem.FORECAST_STALE in found else None,
            forecast_made_at=made_at,
            unit=unit_of(coordinator.config_entry.options),
            currency=EUR,
            time_zone=TALLINN.key,
            days=self._days,
            prices=self._prices,
            selling=self._selling,
            now=_now(prices, coordinator.selling_prices),
            plans=_plans(coordinator, prices),
            credit=coordinator.attribution,
        )

    def _make_columns(self, prices: PricesNow) -> None:
        coordinator = self._coordinator
        made_from = prices.timeline, prices.levels, coordinator.selling_prices.timeline, prices.today.start
        if made_from == self._made_from:
            return
        self._made_from = made_from
        start, end = prices.today.start, prices.today.start + MOST_LISTED_S
        self._prices = price_columns(prices, coordinator.tariff, start, end)
        self._days = days(prices.timeline, start, end)
        self._selling = None
        if coordinator.selling:
            self._selling = columns_of(coordinator.selling_prices.timeline, start, end)


def _now(paid: PricesNow, sold: PricesNow) -> CardNow | None:
    if paid.current is None:
        return None
    return CardNow(
        start=paid.current.start,
        end=paid.current.end,
        price=paid.current.price,
        settled=paid.current.settled,
        level=paid.level,
        cheap=paid.is_cheap,
        next=_price(paid.next),
        selling=_price(sold.current),
    )


def _price(period: Period | None) -> float | None:
    return period.price if period else None


def _plans(coordinator: TunnihindCoordinator, prices: PricesNow) -> list[CardPlan]:
    registry = er.async_get(coordinator.hass)
    return [
        CardPlan(
            id=plan_id,
            entity_id=registry.async_get_entity_id(Platform.BINARY_SENSOR, DOMAIN, f"{plan_id}_{WINDOW}"),
            name=plan.title,
            status=coordinator.planner.status(plan_id, prices.now),
            windows=[_window(window) for window in coordinator.planner.windows(plan_id)],
        )
        for plan_id in prices.outcomes
        if (plan := coordinator.config_entry.subentries.get(plan_id))
    ]


def _window(window: Decision) -> CardWindow:
    return CardWindow(
        pieces=list(window.pieces),
        average=window.average,
        forecast_share=window.forecast_share,
    )
