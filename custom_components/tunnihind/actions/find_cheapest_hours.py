"""The action `find_cheapest_hours`, which finds the cheapest or the most expensive time for a job."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv

from ..choices import one_of
from ..errors import Refusal
from ..plans.search import window_in_span
from ..plans.settings import (
    LONGEST_DURATION_MIN,
    MAX_TOLERANCE_CENTS,
    QUARTER_MIN,
    SETTINGS_OF_PIECES,
    Horizon,
    PlanKind,
    PlanSettings,
    Preference,
)
from ..plans.spans import Span
from .call import (
    DIRECTION_FIELD,
    ENTRY_FIELD,
    coordinator_of_call,
    finite_number,
    hint_field,
    outcome_fields,
    parse_duration,
    rehearsal_field,
    requested_prices,
    requested_range,
)

_KINDS: Final = (PlanKind.CHEAPEST, PlanKind.MOST_EXPENSIVE)


SCHEMA: Final = vol.Schema(
    {
        **ENTRY_FIELD,
        **DIRECTION_FIELD,
        vol.Required("duration"): parse_duration,
        vol.Optional("split", default=False): cv.boolean,
        vol.Optional("min_piece"): parse_duration,
        vol.Optional("min_pause"): parse_duration,
        vol.Optional("earliest"): cv.datetime,
        vol.Optional("deadline"): cv.datetime,
        vol.Optional("horizon", default=Horizon.PUBLISHED): one_of(Horizon),
        vol.Optional("price_cap"): finite_number,
        vol.Optional("kind", default=PlanKind.CHEAPEST): one_of(_KINDS),
        vol.Optional("tolerance", default=0.0): vol.All(finite_number, vol.Range(0, MAX_TOLERANCE_CENTS)),
        vol.Optional("prefer", default=Preference.EARLIEST): one_of(Preference),
    }
)


async def find_cheapest_hours(call: ServiceCall) -> ServiceResponse:
    """Return the cheapest or the most expensive time for a job. If no time is found, return the reason."""
    coordinator = await coordinator_of_call(call)
    prices = requested_prices(call, coordinator)
    span = Span(*requested_range(call.data, "earliest", "deadline", prices))
    settings = _plan_settings(call.data)
    outcome = window_in_span(settings, prices.timeline, span, coordinator.clock.now())
    window = outcome_fields(coordinator.zone, outcome)
    return {**window, **await hint_field(call), **rehearsal_field(coordinator)}


def _plan_settings(data: Mapping[str, Any]) -> PlanSettings:
    """Convert a call's fields to plan settings.

    Raises Refusal if a length is too short, too long, or not a multiple of a quarter of an hour. Also raises Refusal if
    the call has a field of `SETTINGS_OF_PIECES`, but the job runs in one piece.
    """
    fields = ("split", "horizon", "price_cap", "kind", "tolerance", "prefer")
    duration = _minutes(data, "duration", LONGEST_DURATION_MIN)
    wanted = {"duration": duration, **{field: data.get(field) for field in fields}}
    if "min_piece" in data:
        wanted["min_piece"] = _minutes(data, "min_piece", duration)
    if data.get("min_pause"):
        wanted["min_pause"] = _minutes(data, "min_pause", LONGEST_DURATION_MIN)
    for field in SETTINGS_OF_PIECES:
        if field in wanted and not data["split"]:
            raise Refusal("split_needed", field=field)
    return PlanSettings.from_mapping(wanted)


def _minutes(data: Mapping[str, Any], field: str, most: float) -> float:
    minutes: float = data[field] / timedelta(minutes=1)
    if minutes % QUARTER_MIN or not QUARTER_MIN <= minutes <= most:
        raise Refusal("invalid_length", field=field, given=f"{minutes:g}", most=f"{most:g}")
    return minutes
