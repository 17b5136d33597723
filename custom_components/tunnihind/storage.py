"""What is stored over a restart of Home Assistant: the newest prices and what the plans decided."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, override

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import UnsupportedStorageVersionError
from homeassistant.helpers.storage import Store

from .const import DOMAIN, LOGGER
from .prices.timeline import HOUR_S
from .server.answers import About, Backtest, Band, ForecastAnswer, Mode

_VERSION: Final = 1
# Several changes are written at once. Home Assistant writes what is left when it stops.
_DELAY_S: Final = 15


@dataclass(frozen=True, slots=True)
class StoredState:
    """What was known when Home Assistant last ran.

    `server` is the unique id of the entry's server, whose clock was `server_ahead_s` ahead. `outcomes` is what the
    plans had decided, as JSON, by subentry; `ran` is their windows of the last two weeks, in the same form. `steered`
    are the plans that were changed beside their forms, `ledger` is what their windows cost and saved.
    """

    server: str | None = None
    about: About | None = None
    answer: ForecastAnswer | None = None
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    ran: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    steered: dict[str, dict[str, Any]] = field(default_factory=dict)
    ledger: dict[str, Any] = field(default_factory=dict)
    server_ahead_s: int = 0

    def for_server(self, server: str | None) -> StoredState:
        """Return what is valid for that server. Prices and VAT rate of another server are not."""
        if server == self.server:
            return self
        ledger = {name: kept for name, kept in self.ledger.items() if name != "prices"}
        return StoredState(server=server, outcomes=self.outcomes, ran=self.ran, steered=self.steered, ledger=ledger)


class _Store(Store[dict[str, Any]]):
    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        """Start from nothing: the next poll brings all of it back."""
        LOGGER.debug("dropping prices stored in version %s.%s", old_major_version, old_minor_version)
        return {}


class Storage:
    """The file of one config entry."""

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        self._store = _Store(hass, _VERSION, f"{DOMAIN}.{entry_id}")

    async def load(self) -> StoredState:
        """Return what was stored, as far as it can be read."""
        try:
            kept = await self._store.async_load()
        except UnsupportedStorageVersionError:
            LOGGER.warning("what a newer version stored can't be read and begins anew", exc_info=True)
            return StoredState()
        return _state_from(kept) if isinstance(kept, dict) else StoredState()

    def save_soon(self, state: StoredState) -> None:
        """Write a little later, unless something newer comes before."""
        self._store.async_delay_save(lambda: asdict(state), _DELAY_S)

    async def save(self, state: StoredState) -> None:
        """Write at once."""
        await self._store.async_save(asdict(state))

    async def remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()


def _state_from(document: dict[str, Any]) -> StoredState:
    """Read each part by itself: prices that can't be read come again, what plans saved would be lost with them."""
    return StoredState(
        server=document.get("server"),
        about=_part(document, "about", _about_from),
        answer=_part(document, "answer", _answer_from),
        outcomes=_part(document, "outcomes", dict) or {},
        ran=_part(document, "ran", _lists_from) or {},
        steered=_part(document, "steered", dict) or {},
        ledger=_part(document, "ledger", dict) or {},
        server_ahead_s=_part(document, "server_ahead_s", int) or 0,
    )


def _part[Part](document: Mapping[str, Any], name: str, read: Callable[[Any], Part]) -> Part | None:
    """Return a part of the file; None where it is not there or can't be read."""
    kept = document.get(name)
    try:
        return read(kept) if kept else None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        LOGGER.warning("%r of what was stored can't be read and begins anew: %r", name, error)
        return None


def _lists_from(kept: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return {plan: list(windows) for plan, windows in kept.items()}


def _about_from(fields: dict[str, Any]) -> About:
    return About(**{**fields, "vat_rate": float(fields["vat_rate"]), "mode": Mode(fields.get("mode", Mode.LIVE))})


def _answer_from(fields: dict[str, Any]) -> ForecastAnswer:
    """Undo `asdict` and JSON, whose keys are strings."""
    backtest = fields["backtest"]
    return ForecastAnswer(
        now=int(fields["now"]),
        made_at=_instant_from(fields["made_at"]),
        last_refresh=_instant_from(fields["last_refresh"]),
        backtest=_backtest_from(backtest) if backtest else None,
        settled={int(start): price for start, price in _floats(fields["settled"]).items()},
        forecast={int(start): Band(**_floats(band)) for start, band in fields["forecast"].items()},
        step_s=int(fields.get("step_s", HOUR_S)),
    )


def _backtest_from(fields: dict[str, Any]) -> Backtest:
    figures = _floats(fields)
    return Backtest(figures["mae"], figures["baseline_mae"], figures["skill"], int(figures["horizon_h"]))


def _instant_from(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds)


def _floats(figures: dict[str, Any]) -> dict[str, float]:
    return {name: float(figure) for name, figure in figures.items()}
