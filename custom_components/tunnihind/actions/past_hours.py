"""What the imports of past hours have in common: where they begin, one at a time, and what they answer."""

import asyncio
from collections.abc import Mapping
from datetime import date, time
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN
from ..past.hours import LeftOut, left_out_spans
from ..prices.days import instant_of
from ..prices.timeline import HOUR_S
from .call import times

ATTR_START: Final = "start"
START_FIELD: Final = {vol.Optional(ATTR_START): cv.date}
_LOCK: Final[HassKey[asyncio.Lock]] = HassKey(f"{DOMAIN}_import")


def import_lock(hass: HomeAssistant) -> asyncio.Lock:
    """Return the lock that lets one import after the other read and write."""
    return hass.data.setdefault(_LOCK, asyncio.Lock())


def start_asked(data: Mapping[str, Any], earliest: date, now: int) -> int:
    """Return the Estonian midnight, UTC seconds, from which on hours count, that of `earliest` at the earliest.

    Raises ServiceValidationError.
    """
    day: date = max(data.get(ATTR_START, earliest), earliest)
    start = instant_of(day, time.min)
    if start + HOUR_S > now:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="start_not_past",
            translation_placeholders={"field": ATTR_START, "given": day.isoformat()},
        )
    return start


def hours_answer(hours: Mapping[int, Any], changed: int, left_out: Mapping[int, LeftOut]) -> JsonObjectType:
    """Return what was done: the hours that have a value now, how many of them were written, and the hours left out."""
    bounds = times(min(hours), max(hours) + HOUR_S) if hours else {}
    return {
        **bounds,
        "hours": len(hours),
        "changed": changed,
        "left_out": [
            {
                **times(span.start, span.end),
                "hours": (span.end - span.start) // HOUR_S,
                "reason": span.why.reason,
                **({"parts": [*span.why.parts]} if span.why.parts else {}),
            }
            for span in left_out_spans(left_out)
        ],
    }
