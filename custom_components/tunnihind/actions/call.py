"""What all actions read from a call: the server that is meant, and times."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers import service
from homeassistant.helpers.selector import ConfigEntrySelector
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..const import CONF_REHEARSAL, DOMAIN
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..household.prices_now import PricesNow
from ..prices.days import iso_bounds

ATTR_CONFIG_ENTRY: Final = "config_entry"
ATTR_DIRECTION: Final = "direction"


class Direction(StrEnum):
    """Whose prices are meant."""

    BUY = "buy"
    SELL = "sell"


DIRECTION_FIELD: Final = {vol.Optional(ATTR_DIRECTION, default=Direction.BUY): vol.In(list(Direction))}
SERVER_FIELD: Final = {vol.Optional(ATTR_CONFIG_ENTRY): ConfigEntrySelector({"integration": DOMAIN})}


def length(given: object) -> timedelta:
    """Return a length of time. Raises vol.Invalid, also for one that no length can be, like infinity."""
    try:
        return cv.positive_time_period(given)
    except OverflowError as error:
        raise vol.Invalid(f"{given!r} is too long") from error


async def coordinator_of(call: ServiceCall) -> TunnihindCoordinator:
    """Return the coordinator of the server that is meant. Raises ServiceValidationError."""
    return await coordinator_of_entry(call.hass, call.data.get(ATTR_CONFIG_ENTRY) or _only_server(call.hass))


async def coordinator_of_entry(hass: HomeAssistant, entry_id: str) -> TunnihindCoordinator:
    """Return the coordinator of an entry. Raises ServiceValidationError where it is not loaded.

    A start or a reload that is under way is waited for: its first states already set off automations, which call.
    """
    if starting := hass.config_entries.async_get_entry(entry_id):
        async with starting.setup_lock:
            pass
    entry: TunnihindConfigEntry = service.async_get_config_entry(hass, DOMAIN, entry_id)
    return entry.runtime_data


def prices_asked(call: ServiceCall, coordinator: TunnihindCoordinator) -> PricesNow:
    """Return what the household pays, or gets where the call says so.

    Raises ServiceValidationError where it sells nothing.
    """
    if call.data[ATTR_DIRECTION] != Direction.SELL:
        return coordinator.prices
    if coordinator.selling is None:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="not_selling")
    return coordinator.selling_prices


def rehearsal_mark(coordinator: TunnihindCoordinator) -> JsonObjectType:
    """Return the field that marks answers of a rehearsal."""
    return {"rehearsal": True} if coordinator.clock.is_rehearsal else {}


def range_asked(data: Mapping[str, Any], first: str, last: str, prices: PricesNow) -> tuple[int, int]:
    """Return the instants asked for, by default from now to the end of all that is known.

    Raises ServiceValidationError.
    """
    known_until = prices.timeline.periods[-1].end if prices.timeline.periods else prices.now
    start = instant(data[first]) if first in data else prices.now
    end = instant(data[last]) if last in data else max(known_until, start + 1)
    if end <= start:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="invalid_time_range",
            translation_placeholders={"start": first, "end": last},
        )
    return start, end


def instant(moment: datetime) -> int:
    """Return UTC seconds; a time that was given without a zone is Home Assistant's own, as everywhere in actions."""
    return int(dt_util.as_utc(moment).timestamp())


def times(start: int, end: int) -> JsonObjectType:
    """Return [start, end) as Tallinn times, for an answer."""
    return {**iso_bounds(start, end)}


def _only_server(hass: HomeAssistant) -> str:
    """Return the id of the only entry. Rehearsals count only where there is no live server."""
    added = hass.config_entries.async_entries(DOMAIN, include_ignore=False, include_disabled=False)
    entries = [entry for entry in added if not entry.data.get(CONF_REHEARSAL)] or added
    if not entries:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="no_server")
    if len(entries) > 1:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="several_servers",
            translation_placeholders={"field": ATTR_CONFIG_ENTRY},
        )
    return entries[0].entry_id
