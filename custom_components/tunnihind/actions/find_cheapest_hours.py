"""`find_cheapest_hours`: the cheapest, or the dearest, time for a job that is no plan."""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv

from ..errors import Refusal
from ..plans.plan import window_in
from ..plans.settings import (
    LONGEST_DURATION_MIN,
    MOST_TOLERANCE_CENTS,
    QUARTER_MIN,
    Horizon,
    Kind,
    PlanSettings,
    Prefer,
)
from ..plans.spans import Span
from .call import (
    DIRECTION_FIELD,
    SERVER_FIELD,
    coordinator_of,
    length,
    prices_asked,
    range_asked,
    rehearsal_mark,
    window_answer,
)

ATTR_DURATION: Final = "duration"
ATTR_SPLIT: Final = "split"
ATTR_MIN_PIECE: Final = "min_piece"
ATTR_EARLIEST: Final = "earliest"
ATTR_DEADLINE: Final = "deadline"
ATTR_HORIZON: Final = "horizon"
ATTR_PRICE_CAP: Final = "price_cap"
ATTR_KIND: Final = "kind"
ATTR_TOLERANCE: Final = "tolerance"
ATTR_PREFER: Final = "prefer"
_KINDS: Final = (Kind.CHEAPEST, Kind.DEAREST)


def _finite(cents: float) -> float:
    if not math.isfinite(cents):
        raise vol.Invalid("expected a price in cents per kWh")
    return cents


SCHEMA: Final = vol.Schema(
    {
        **SERVER_FIELD,
        **DIRECTION_FIELD,
        vol.Required(ATTR_DURATION): length,
        vol.Optional(ATTR_SPLIT, default=False): cv.boolean,
        vol.Optional(ATTR_MIN_PIECE): length,
        vol.Optional(ATTR_EARLIEST): cv.datetime,
        vol.Optional(ATTR_DEADLINE): cv.datetime,
        vol.Optional(ATTR_HORIZON, default=Horizon.PUBLISHED): vol.In(list(Horizon)),
        vol.Optional(ATTR_PRICE_CAP): vol.All(vol.Coerce(float), _finite),
        vol.Optional(ATTR_KIND, default=Kind.CHEAPEST): vol.In(_KINDS),
        vol.Optional(ATTR_TOLERANCE, default=0.0): vol.All(
            vol.Coerce(float), _finite, vol.Range(0, MOST_TOLERANCE_CENTS)
        ),
        vol.Optional(ATTR_PREFER, default=Prefer.EARLIEST): vol.In(list(Prefer)),
    }
)


async def find_cheapest_hours(call: ServiceCall) -> ServiceResponse:
    """Return the cheapest or dearest time for a job, or why there is none."""
    coordinator = await coordinator_of(call)
    prices = prices_asked(call, coordinator)
    span = Span(*range_asked(call.data, ATTR_EARLIEST, ATTR_DEADLINE, prices))
    window = window_answer(window_in(_job(call.data), prices.timeline, span, coordinator.clock.now()))
    return {**window, **rehearsal_mark(coordinator)}


def _job(data: Mapping[str, Any]) -> PlanSettings:
    """Read the job as a plan for once."""
    duration = _minutes(data, ATTR_DURATION, LONGEST_DURATION_MIN)
    wanted: dict[str, Any] = {
        ATTR_DURATION: duration,
        ATTR_SPLIT: data[ATTR_SPLIT],
        ATTR_HORIZON: data[ATTR_HORIZON],
        ATTR_PRICE_CAP: data.get(ATTR_PRICE_CAP),
        ATTR_KIND: data[ATTR_KIND],
        ATTR_TOLERANCE: data[ATTR_TOLERANCE],
        ATTR_PREFER: data[ATTR_PREFER],
    }
    if ATTR_MIN_PIECE in data:
        wanted[ATTR_MIN_PIECE] = _minutes(data, ATTR_MIN_PIECE, duration)
    return PlanSettings.from_mapping(wanted)


def _minutes(data: Mapping[str, Any], field: str, most: float) -> float:
    minutes: float = data[field] / timedelta(minutes=1)
    if minutes % QUARTER_MIN or not QUARTER_MIN <= minutes <= most:
        raise Refusal("invalid_length", field=field, given=f"{minutes:g}", most=f"{most:g}")
    return minutes
