"""The actions: prices of any time, and the cheapest time for a job that is no plan."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers import service
from homeassistant.helpers.selector import ConfigEntrySelector
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from .const import CONF_REHEARSAL, DOMAIN
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .plans.outcome import NoWindow, Outcome
from .plans.plan import window_in
from .plans.saving import Saving
from .plans.settings import LONGEST_DURATION_MIN, QUARTER_MIN, Horizon, PlanSettings
from .plans.spans import Span
from .prices.days import iso_bounds
from .prices.timeline import Period
from .prices_now import PricesNow

GET_PRICES: Final = "get_prices"
FIND_CHEAPEST_HOURS: Final = "find_cheapest_hours"

ATTR_CONFIG_ENTRY: Final = "config_entry"
ATTR_START: Final = "start"
ATTR_END: Final = "end"
ATTR_FORECAST: Final = "forecast"
ATTR_DURATION: Final = "duration"
ATTR_SPLIT: Final = "split"
ATTR_MIN_PIECE: Final = "min_piece"
ATTR_EARLIEST: Final = "earliest"
ATTR_DEADLINE: Final = "deadline"
ATTR_HORIZON: Final = "horizon"
ATTR_PRICE_CAP: Final = "price_cap"


def _finite(cents: float) -> float:
    if not math.isfinite(cents):
        raise vol.Invalid("expected a price in cents per kWh")
    return cents


_ENTRY: Final = {vol.Optional(ATTR_CONFIG_ENTRY): ConfigEntrySelector({"integration": DOMAIN})}
_GET_PRICES: Final = vol.Schema(
    {
        **_ENTRY,
        vol.Optional(ATTR_START): cv.datetime,
        vol.Optional(ATTR_END): cv.datetime,
        vol.Optional(ATTR_FORECAST, default=True): cv.boolean,
    }
)
_FIND_CHEAPEST_HOURS: Final = vol.Schema(
    {
        **_ENTRY,
        vol.Required(ATTR_DURATION): cv.positive_time_period,
        vol.Optional(ATTR_SPLIT, default=False): cv.boolean,
        vol.Optional(ATTR_MIN_PIECE): cv.positive_time_period,
        vol.Optional(ATTR_EARLIEST): cv.datetime,
        vol.Optional(ATTR_DEADLINE): cv.datetime,
        vol.Optional(ATTR_HORIZON, default=Horizon.PUBLISHED): vol.In(list(Horizon)),
        vol.Optional(ATTR_PRICE_CAP): vol.All(vol.Coerce(float), _finite),
    }
)


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions."""
    for name, answer, schema in (
        (GET_PRICES, _get_prices, _GET_PRICES),
        (FIND_CHEAPEST_HOURS, _find_cheapest_hours, _FIND_CHEAPEST_HOURS),
    ):
        hass.services.async_register(DOMAIN, name, answer, schema=schema, supports_response=SupportsResponse.ONLY)


@callback
def _get_prices(call: ServiceCall) -> ServiceResponse:
    """Return the household's prices, by default from the current period on."""
    coordinator = _coordinator(call)
    prices = coordinator.prices
    start, end = _range(call.data, ATTR_START, ATTR_END, prices)
    periods = (period for period in prices.timeline.between(start, end) if period.settled or call.data[ATTR_FORECAST])
    return {"prices": [_price(period) for period in periods], **_mark(coordinator)}


@callback
def _find_cheapest_hours(call: ServiceCall) -> ServiceResponse:
    """Return the cheapest time for a job, or why there is none."""
    coordinator = _coordinator(call)
    prices = coordinator.prices
    span = Span(*_range(call.data, ATTR_EARLIEST, ATTR_DEADLINE, prices))
    window = _window(window_in(_job(call.data), prices.timeline, span, coordinator.clock.now()))
    return {**window, **_mark(coordinator)}


def _coordinator(call: ServiceCall) -> TunnihindCoordinator:
    entry_id = call.data.get(ATTR_CONFIG_ENTRY) or _only_server(call.hass)
    entry: TunnihindConfigEntry = service.async_get_config_entry(call.hass, DOMAIN, entry_id)
    return entry.runtime_data


def _mark(coordinator: TunnihindCoordinator) -> JsonObjectType:
    """Return the field that marks answers of a rehearsal."""
    return {"rehearsal": True} if coordinator.clock.is_rehearsal else {}


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


def _range(data: Mapping[str, Any], first: str, last: str, prices: PricesNow) -> tuple[int, int]:
    """Return the instants asked for, by default from now to the end of all that is known."""
    known_until = prices.timeline.periods[-1].end if prices.timeline.periods else prices.now
    start = _instant(data[first]) if first in data else prices.now
    end = _instant(data[last]) if last in data else max(known_until, start + 1)
    if end <= start:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="invalid_time_range",
            translation_placeholders={"start": first, "end": last},
        )
    return start, end


def _instant(moment: datetime) -> int:
    """Return UTC seconds; a time that was given without a zone is Home Assistant's own, as everywhere in actions."""
    return int(dt_util.as_utc(moment).timestamp())


def _job(data: Mapping[str, Any]) -> PlanSettings:
    """Read the job as a plan for once."""
    duration = _minutes(data, ATTR_DURATION, LONGEST_DURATION_MIN)
    wanted: dict[str, Any] = {
        ATTR_DURATION: duration,
        ATTR_SPLIT: data[ATTR_SPLIT],
        ATTR_HORIZON: data[ATTR_HORIZON],
        ATTR_PRICE_CAP: data.get(ATTR_PRICE_CAP),
    }
    if ATTR_MIN_PIECE in data:
        wanted[ATTR_MIN_PIECE] = _minutes(data, ATTR_MIN_PIECE, duration)
    return PlanSettings.from_mapping(wanted)


def _minutes(data: Mapping[str, Any], field: str, most: float) -> float:
    minutes: float = data[field] / timedelta(minutes=1)
    if minutes % QUARTER_MIN or not QUARTER_MIN <= minutes <= most:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="invalid_length",
            translation_placeholders={"field": field, "given": f"{minutes:g}", "most": f"{most:g}"},
        )
    return minutes


def _price(period: Period) -> JsonObjectType:
    band: JsonObjectType = {} if period.settled else {"p10": period.low, "p90": period.high}
    return {**_times(period.start, period.end), "price": period.price, "settled": period.settled, **band}


def _window(outcome: Outcome) -> JsonObjectType:
    if isinstance(outcome, NoWindow):
        return {"found": False, "reason": outcome.reason}
    return {
        "found": True,
        **_times(outcome.start, outcome.end),
        "pieces": [_times(start, end) for start, end in outcome.pieces],
        "average": outcome.average,
        "forecast_share": outcome.forecast_share,
        "shortened": outcome.shortened,
        **(_saving(outcome.saving) if outcome.saving else {}),
    }


def _saving(saving: Saving) -> JsonObjectType:
    return {
        "saving": {"expected": saving.expected, "p10": saving.low, "p90": saving.high},
        "chance": saving.chance,
    }


def _times(start: int, end: int) -> JsonObjectType:
    return {**iso_bounds(start, end)}
