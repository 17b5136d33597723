"""Functions that several actions share: they read the fields of a call, and make parts of the answer."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers import service
from homeassistant.helpers.selector import ConfigEntrySelector
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..choices import one_of
from ..const import CONF_REHEARSAL, DOMAIN
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..core.market import Market
from ..errors import Refusal
from ..forms.plan_notes import note_on_limit
from ..household.prices_now import PricesNow
from ..plans.outcome import NoWindow, Outcome
from ..plans.saving import Cost, Saving
from ..prices.days import iso_bounds

ATTR_CONFIG_ENTRY: Final = "config_entry"
ATTR_DIRECTION: Final = "direction"


class Direction(StrEnum):
    """Whether prices are for electricity that the household buys or sells."""

    BUY = "buy"
    SELL = "sell"


DIRECTION_FIELD: Final = {vol.Optional(ATTR_DIRECTION, default=Direction.BUY): one_of(Direction)}
ENTRY_FIELD: Final = {vol.Optional(ATTR_CONFIG_ENTRY): ConfigEntrySelector({"integration": DOMAIN})}


def parse_duration(given: object) -> timedelta:
    """Convert a length of time in one of Home Assistant's forms, such as "03:00:00", to a timedelta.

    Raises vol.Invalid if `given` has no such form, is negative or is too long.
    """
    try:
        return cv.positive_time_period(given)
    except OverflowError as error:
        raise vol.Invalid("expected a shorter time") from error


def finite_number(given: object) -> float:
    """Convert a number or a string to a finite float. Refuse True and False, which Python treats as 1 and 0.

    Raises vol.Invalid.
    """
    number = math.nan if isinstance(given, bool) else vol.Coerce(float)(given)
    if not math.isfinite(number):
        raise vol.Invalid("expected a number")
    return number


async def coordinator_of_call(call: ServiceCall) -> TunnihindCoordinator:
    """Return the coordinator of the entry that `call` names. If `call` names none, use the entry from `_only_entry_id`.

    Raises ServiceValidationError if there is no such entry, if several entries are possible, or if the entry is not
    loaded.
    """
    return await coordinator_of_entry(call.hass, call.data.get(ATTR_CONFIG_ENTRY) or _only_entry_id(call.hass))


async def coordinator_of_entry(hass: HomeAssistant, entry_id: str) -> TunnihindCoordinator:
    """Return the coordinator of an entry.

    Raises ServiceValidationError if the integration has no entry with this id, or if the entry is not loaded. If Home
    Assistant is loading or unloading the entry, first wait until this has ended, because the first states of an entry's
    entities may trigger automations that call actions before the entry is loaded.
    """
    if starting := hass.config_entries.async_get_entry(entry_id):
        async with starting.setup_lock:
            pass
    entry: TunnihindConfigEntry = service.async_get_config_entry(hass, DOMAIN, entry_id)
    return entry.runtime_data


def requested_prices(call: ServiceCall, coordinator: TunnihindCoordinator) -> PricesNow:
    """Return the buying prices or the selling prices of the household, depending on the call's direction.

    Raises Refusal if the call asks for selling prices, but the household sells nothing.
    """
    if call.data[ATTR_DIRECTION] != Direction.SELL:
        return coordinator.prices
    if coordinator.selling_contract is None:
        raise Refusal("not_selling")
    return coordinator.selling_prices


def rehearsal_field(coordinator: TunnihindCoordinator) -> JsonObjectType:
    """Return the field that marks an answer of a rehearsal, or no field if the entry is not for a rehearsal."""
    return {"rehearsal": True} if coordinator.clock.is_rehearsal else {}


async def hint_field(call: ServiceCall) -> JsonObjectType:
    """Return the field `hint` of an action's answer if the call's price limit may have been meant in euros."""
    note = await note_on_limit(call.hass, call.data.get("price_cap"), call.hass.config.language)
    return {"hint": note} if note else {}


def requested_range(data: Mapping[str, Any], first: str, last: str, prices: PricesNow) -> tuple[int, int]:
    """Return the start and the end of the time range in a call, in UTC seconds.

    `first` and `last` are the names of the call's fields for the start and the end. The default start is now. The
    default end is the end of the last period with a known price, or now if no price is known, but at least one second
    after the start. Raises Refusal if the end is not after the start.
    """
    known_until = prices.timeline.known_until or prices.now
    start = to_instant(data[first]) if first in data else prices.now
    end = to_instant(data[last]) if last in data else max(known_until, start + 1)
    if end <= start:
        raise Refusal("invalid_time_range", start=first, end=last)
    return start, end


def to_instant(moment: datetime) -> int:
    """Convert a date and time to UTC seconds. A `moment` without a time zone is in Home Assistant's time zone."""
    return int(dt_util.as_utc(moment).timestamp())


def bounds_fields(zone: Market, start: int, end: int) -> JsonObjectType:
    """Convert `start` and `end` (UTC seconds) to fields of an action's answer, as ISO 8601 strings in local time."""
    return {**iso_bounds(zone, start, end)}


def _only_entry_id(hass: HomeAssistant) -> str:
    """Return the id of the only enabled entry that counts. If no entry or several entries count, raise Refusal.

    Rehearsals count only if all enabled entries are rehearsals.
    """
    added = hass.config_entries.async_entries(DOMAIN, include_ignore=False, include_disabled=False)
    entries = [entry for entry in added if not entry.data.get(CONF_REHEARSAL)] or added
    if not entries:
        raise Refusal("no_server")
    if len(entries) > 1:
        raise Refusal("several_servers", field=ATTR_CONFIG_ENTRY)
    return entries[0].entry_id


def outcome_fields(zone: Market, outcome: Outcome) -> JsonObjectType:
    """Convert a plan's outcome to the fields of an action's answer: a window, or the reason why there is none.

    If the window has no saving, `saving` and `chance` are left out. If the window has no cost, `cost` is left out.
    """
    if isinstance(outcome, NoWindow):
        return {"found": False, "reason": outcome.reason}
    return {
        "found": True,
        **bounds_fields(zone, outcome.start, outcome.end),
        "pieces": [bounds_fields(zone, start, end) for start, end in outcome.pieces],
        "average": outcome.average,
        "forecast_share": outcome.forecast_share,
        "shortened": outcome.shortened,
        **({"saving": _band(saving), "chance": saving.chance} if (saving := outcome.saving) else {}),
        **({"cost": {**_band(cost), "energy": cost.energy}} if (cost := outcome.cost) else {}),
    }


def _band(figure: Saving | Cost) -> JsonObjectType:
    return {"expected": figure.expected, "p10": figure.low, "p90": figure.high}
