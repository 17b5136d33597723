"""What a household asks: the meters whose past year counts, and the contracts and the battery to compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from ..battery.settings import MOST_POWER_PER_CAPACITY
from ..core.comparison import Offer
from ..errors import Refusal
from .battery import BatteryOffer

ENERGY: Final = "energy"
SOLD: Final = "sold"
MONTHLY: Final = "monthly"
FIXED: Final = "fixed"
FIXED_MONTHLY: Final = "fixed_monthly"
CAP: Final = "cap"
BATTERY_CAPACITY: Final = "battery_capacity"
BATTERY_POWER: Final = "battery_power"
BATTERY_PRICE: Final = "battery_price"

MAX_CENTS: Final = 500
MAX_MONTHLY_EUR: Final = 1_000
MAX_PRICE_EUR: Final = 1_000_000
# Each of these fields says something only if the other one is given.
_NEEDED: Final = {
    FIXED_MONTHLY: FIXED,
    BATTERY_CAPACITY: BATTERY_POWER,
    BATTERY_POWER: BATTERY_CAPACITY,
    BATTERY_PRICE: BATTERY_CAPACITY,
}
_CENTS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to compare. `energy` and `sold` are ids of statistics. The margin of `offer` is the household's own."""

    energy: str
    sold: str | None
    offer: Offer
    battery: BatteryOffer | None

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Read the fields of the action, with prices in c/kWh and EUR without VAT.

        Raises Refusal if a field needs another one, or if the battery's power doesn't fit its capacity.
        """
        for field, other in _NEEDED.items():
            if field in given and other not in given:
                raise Refusal("field_needed", field=other, other=field)
        offer = Offer(
            spot_monthly=given.get(MONTHLY, 0.0),
            fixed=_euros(given.get(FIXED)),
            fixed_monthly=given.get(FIXED_MONTHLY, 0.0),
            cap=_euros(given.get(CAP)),
        )
        return cls(energy=given[ENERGY], sold=given.get(SOLD), offer=offer, battery=_battery_from(given))


def _battery_from(given: Mapping[str, Any]) -> BatteryOffer | None:
    if BATTERY_CAPACITY not in given:
        return None
    capacity, power = given[BATTERY_CAPACITY], given[BATTERY_POWER]
    for field, amount in ((BATTERY_CAPACITY, capacity), (BATTERY_POWER, power)):
        if amount <= 0:
            raise Refusal("more_than_nothing", field=field)
    if power > MOST_POWER_PER_CAPACITY * capacity:
        raise Refusal("battery_power_too_high", field=BATTERY_POWER, given=f"{power:g}", capacity=f"{capacity:g}")
    return BatteryOffer(capacity_kwh=capacity, power_kw=power, price=given.get(BATTERY_PRICE))


def _euros(cents: float | None) -> float | None:
    return None if cents is None else cents / _CENTS
