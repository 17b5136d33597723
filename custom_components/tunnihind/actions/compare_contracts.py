"""The action `compare_contracts`, which says what contracts and a battery would be worth by one's own past year."""

from typing import Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..battery.settings import MAX_CAPACITY_KWH
from ..core.comparison import Bills
from ..plans.settings import MAX_POWER_KW
from ..worth.answer import Answer, answer_question
from ..worth.battery import BatteryWorth
from ..worth.question import (
    BATTERY_CAPACITY,
    BATTERY_POWER,
    BATTERY_PRICE,
    CAP,
    ENERGY,
    FIXED,
    FIXED_MONTHLY,
    MAX_CENTS,
    MAX_MONTHLY_EUR,
    MAX_PRICE_EUR,
    MONTHLY,
    SOLD,
    Question,
)
from ..worth.text import CONTRACTS, notes_on
from .call import ENTRY_FIELD, bounds_fields, coordinator_of_call, finite_number, rehearsal_field

_MONTHLY: Final = vol.All(finite_number, vol.Range(0, MAX_MONTHLY_EUR))
_CENTS: Final = vol.All(finite_number, vol.Range(-MAX_CENTS, MAX_CENTS))
SCHEMA: Final = vol.Schema(
    {
        **ENTRY_FIELD,
        vol.Required(ENERGY): cv.string,
        vol.Optional(SOLD): cv.string,
        vol.Optional(MONTHLY): _MONTHLY,
        vol.Optional(FIXED): _CENTS,
        vol.Optional(FIXED_MONTHLY): _MONTHLY,
        vol.Optional(CAP): _CENTS,
        vol.Optional(BATTERY_CAPACITY): vol.All(finite_number, vol.Range(0, MAX_CAPACITY_KWH)),
        vol.Optional(BATTERY_POWER): vol.All(finite_number, vol.Range(0, MAX_POWER_KW)),
        vol.Optional(BATTERY_PRICE): vol.All(finite_number, vol.Range(0, MAX_PRICE_EUR)),
    }
)


async def compare_contracts(call: ServiceCall) -> ServiceResponse:
    """Return what the past year would cost now with each contract, and what a battery would save."""
    question = Question.from_mapping(call.data)
    coordinator = await coordinator_of_call(call)
    answer = await answer_question(call.hass, coordinator, question)
    return {
        **answer_fields(answer),
        "notes": [*await notes_on(call.hass, answer, call.hass.config.language)],
        **rehearsal_field(coordinator),
    }


def answer_fields(answer: Answer) -> JsonObjectType:
    """Convert an answer to the fields of the action's answer, without notes. Euros are rounded to cents."""
    year, present, missing = answer.year, answer.present, answer.year.missing_hours
    return {
        **bounds_fields(year.tariff.zone, year.first_reading, year.end),
        "rates_on": year.today.isoformat(),
        **_bills_fields(present.total),
        "months": [
            {"month": month, **_bills_fields(bills), "missing_hours": missing.get(month, 0)}
            for month, bills in present.months.items()
        ],
        "packages": [{"package": package, **_bills_fields(bills)} for package, bills in answer.packages.items()],
        **({} if year.sold is None else {"sold": {"kwh": round(answer.sold_kwh, 3), "earned": _cents(answer.earned)}}),
        **({"battery": _battery_fields(answer.battery)} if answer.battery else {}),
        "months_without_price": [*present.months_without_price],
        "missing_hours": sum(missing.values()),
    }


def _bills_fields(bills: Bills) -> JsonObjectType:
    sums = {name: getattr(bills, name) for name in CONTRACTS}
    return {"kwh": round(bills.kwh, 3), **{name: _cents(eur) for name, eur in sums.items() if eur is not None}}


def _battery_fields(worth: BatteryWorth) -> JsonObjectType:
    years = worth.payback_years
    return {
        "ideal_saving": _cents(worth.ideal),
        "share": worth.share,
        "expected_saving": _cents(worth.expected),
        "yearly_saving": _cents(worth.yearly),
        "cycles": round(worth.cycles, 1),
        "hours": worth.hours,
        **({} if worth.price is None else {"payback_years": None if years is None else round(years, 1)}),
    }


def _cents(eur: float) -> float:
    """Round to cents. Never returns -0.0."""
    return round(eur, 2) + 0.0
