"""Stores the data of a config entry, and reads the data when the entry is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import UnsupportedStorageVersionError
from homeassistant.helpers.storage import Store
from mashumaro.codecs import BasicDecoder

from .battery.settings import SteeredBattery
from .client.answers import About, MarketPrices
from .const import DOMAIN, LOGGER
from .plans.outcome import Outcome, Window, outcome_from_dict
from .plans.steering import SteeredPlan

_VERSION: Final = 1
# `save_soon` writes the data this many seconds after its last call, or at once when Home Assistant stops.
_DELAY_S: Final = 15


@dataclass(frozen=True, slots=True)
class StoredState:
    """The stored data of a config entry.

    `server` is the unique id of the server. `about` is the server's description of itself. `answer` contains the known
    prices. `server_ahead_s` is the number of seconds by which the server's clock is ahead of Home Assistant's clock.

    The keys of `outcomes`, `ran` and `steered` are the ids of the plans' subentries. `outcomes` contains the decisions
    about the plans. `ran` contains the windows that have begun, until two weeks after their end. `steered` contains
    the plans themselves. `ledger` contains the accounts of the plans and batteries, and the household's settled prices,
    as JSON values. `batteries` contains the batteries, by the ids of their subentries. `surplus_kw` has the home's
    surplus of sun by the start of the UTC hour.
    """

    server: str | None = None
    about: About | None = None
    answer: MarketPrices | None = None
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    ran: Mapping[str, list[Window]] = field(default_factory=dict)
    steered: Mapping[str, SteeredPlan] = field(default_factory=dict)
    ledger: dict[str, Any] = field(default_factory=dict)
    batteries: Mapping[str, SteeredBattery] = field(default_factory=dict)
    surplus_kw: Mapping[int, float] = field(default_factory=dict)
    server_ahead_s: int = 0

    def state_for_server(self, server: str | None) -> StoredState:
        """Return the data for `server`.

        If the data come from another server, leave out that server's description, its prices and the offset of its
        clock.
        """
        if server == self.server:
            return self
        ledger = {name: kept for name, kept in self.ledger.items() if name not in {"prices", "selling_prices"}}
        return StoredState(
            server=server,
            outcomes=self.outcomes,
            ran=self.ran,
            steered=self.steered,
            ledger=ledger,
            batteries=self.batteries,
            surplus_kw=self.surplus_kw,
        )


class Storage:
    """The file with the data of one config entry."""

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        self._store = Store[dict[str, Any]](hass, _VERSION, f"{DOMAIN}.{entry_id}")

    async def load(self) -> StoredState:
        """Return the stored data. Data that can't be read are left out."""
        try:
            kept = await self._store.async_load()
        except UnsupportedStorageVersionError:
            LOGGER.warning(
                "the stored data are not used, because a newer version of the integration wrote them", exc_info=True
            )
            return StoredState()
        return stored_state_from(kept) if isinstance(kept, dict) else StoredState()

    def save_soon(self, state: StoredState) -> None:
        """Store the data after a short delay. If newer data arrive during the delay, store only the newer data."""
        self._store.async_delay_save(lambda: asdict(state), _DELAY_S)

    async def save(self, state: StoredState) -> None:
        """Store the data at once."""
        await self._store.async_save(asdict(state))

    async def remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()


_ABOUT_DECODER: Final = BasicDecoder(About)
_ANSWER_DECODER: Final = BasicDecoder(MarketPrices)
_WINDOWS_DECODER: Final = BasicDecoder(list[Window])
_STEERED_DECODER: Final = BasicDecoder(SteeredPlan)
_BATTERY_DECODER: Final = BasicDecoder(SteeredBattery)
_SURPLUS_DECODER: Final = BasicDecoder(dict[int, float])


def stored_state_from(document: Mapping[str, Any]) -> StoredState:
    """Return the data in `document`. Leave out unreadable fields, and unreadable values of single plans."""
    return StoredState(
        server=document.get("server"),
        about=read_field(document, "about", _ABOUT_DECODER.decode),
        answer=read_field(document, "answer", _ANSWER_DECODER.decode),
        outcomes=read_plan_values(document, "outcomes", outcome_from_dict),
        ran=read_plan_values(document, "ran", _WINDOWS_DECODER.decode),
        steered=read_plan_values(document, "steered", _STEERED_DECODER.decode),
        ledger=read_field(document, "ledger", dict) or {},
        batteries=read_plan_values(document, "batteries", _BATTERY_DECODER.decode),
        surplus_kw=read_field(document, "surplus_kw", _SURPLUS_DECODER.decode) or {},
        server_ahead_s=read_field(document, "server_ahead_s", int) or 0,
    )


def read_plan_values[Kept](document: Mapping[str, Any], name: str, read: Callable[[Any], Kept]) -> dict[str, Kept]:
    """Return the values in `document[name]`, keyed by plan id. Leave out values that are empty or can't be read."""
    plans = read_field(document, name, dict) or {}
    found = {plan: read_field(plans, plan, read) for plan in plans}
    return {plan: kept for plan, kept in found.items() if kept is not None}


def read_field[Part](document: Mapping[str, Any], name: str, read: Callable[[Any], Part]) -> Part | None:
    """Return the field `name` of the document. If the field is missing, empty or unreadable, return None."""
    kept = document.get(name)
    try:
        return read(kept) if kept else None
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        LOGGER.warning("the stored field %r can't be read and starts empty: %r", name, error)
        return None
