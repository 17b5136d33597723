"""The binary sensors of the server and of the plans."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, override

# Type checkers expect `BinarySensorDeviceClass` from `binary_sensor.const`, but Home Assistant has that module only
# from version 2026.10 on.
from homeassistant.components.binary_sensor import (  # type: ignore[attr-defined]
    BinarySensorDeviceClass,
    BinarySensorEntity,
    BinarySensorEntityDescription,
)
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .core.market import Market
from .entity import (
    NEGATIVE_SELLING_PRICE,
    WINDOW,
    AlwaysAvailableEntity,
    Attributes,
    PlanEntity,
    PriceEntity,
    SellingEntity,
    add_plan_entities,
    add_while_selling,
)
from .household.prices_now import PricesNow
from .household.problems import problems
from .plans.outcome import NoWindow
from .prices.days import iso_bounds

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class PriceBinaryDescription(BinarySensorEntityDescription):
    """The description of a `PriceBinarySensor`. If `is_on_fn` returns None, the sensor's state is unknown."""

    is_on_fn: Callable[[PricesNow], bool | None]
    attributes_fn: Callable[[PricesNow], Attributes] | None = None


def _end_attribute(zone: Market, instant: int | None) -> Attributes:
    return {} if instant is None else {"end": zone.local_time(instant).isoformat()}


def _negative_price_description(key: str) -> PriceBinaryDescription:
    return PriceBinaryDescription(
        key=key,
        is_on_fn=lambda prices: prices.current_period.price < 0 if prices.current_period else None,
        attributes_fn=lambda prices: _end_attribute(prices.zone, prices.negative_until),
    )


PRICE_BINARY_SENSORS: Final = (
    PriceBinaryDescription(
        key="cheap_hour",
        is_on_fn=lambda prices: prices.is_cheap,
    ),
    _negative_price_description("negative_price"),
    PriceBinaryDescription(
        key="tomorrow_known",
        is_on_fn=lambda prices: prices.tomorrow_summary is not None,
    ),
)
NEGATIVE_SELLING: Final = _negative_price_description(NEGATIVE_SELLING_PRICE)
DATA_PROBLEM: Final = BinarySensorEntityDescription(
    key="data_problem",
    device_class=BinarySensorDeviceClass.PROBLEM,
    entity_category=EntityCategory.DIAGNOSTIC,
)
WINDOW_RUNNING: Final = BinarySensorEntityDescription(
    key=WINDOW,
    device_class=BinarySensorDeviceClass.RUNNING,
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the binary sensors of the server and of each plan."""
    coordinator = entry.runtime_data
    async_add_entities(PriceBinarySensor(coordinator, description) for description in PRICE_BINARY_SENSORS)
    async_add_entities([ProblemSensor(coordinator, DATA_PROBLEM)])
    add_while_selling(entry, lambda: async_add_entities([SellingBinarySensor(coordinator, NEGATIVE_SELLING)]))
    add_plan_entities(entry, async_add_entities, WindowRunningSensor, [WINDOW_RUNNING])


class PriceBinarySensor(PriceEntity, BinarySensorEntity):
    """A binary sensor whose state depends on today's or tomorrow's prices."""

    entity_description: PriceBinaryDescription

    @property
    @override
    def is_on(self) -> bool | None:
        return self.entity_description.is_on_fn(self.prices)

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        attributes_fn = self.entity_description.attributes_fn
        return attributes_fn(self.prices) if attributes_fn else None


class SellingBinarySensor(SellingEntity, PriceBinarySensor):
    """A binary sensor whose state depends on the current selling price."""


class ProblemSensor(AlwaysAvailableEntity, BinarySensorEntity):
    """A sensor that is on while there is a problem, such as an unreachable server or an outdated forecast."""

    @property
    @override
    def is_on(self) -> bool:
        return bool(self._problems)

    @property
    @override
    def extra_state_attributes(self) -> Attributes:
        return {"problems": self._problems}

    @property
    def _problems(self) -> list[str]:
        return list(problems(self.prices, self.coordinator.server_status))


class WindowRunningSensor(PlanEntity, BinarySensorEntity):
    """A sensor that is on while a piece of the plan's window runs. Between two pieces, the sensor is off."""

    @property
    @override
    def is_on(self) -> bool:
        return self.window is not None and self.window.runs_at(self.coordinator.prices.now)

    @property
    @override
    def extra_state_attributes(self) -> Attributes:
        if self.window is None:
            attributes = (
                _no_window_attributes(self.coordinator.zone, self.outcome) if isinstance(self.outcome, NoWindow) else {}
            )
        else:
            attributes = {
                "pieces": [iso_bounds(self.coordinator.zone, start, end) for start, end in self.window.pieces],
                "shortened": self.window.shortened,
                "locked": self.window.has_started_by(self.coordinator.prices.now),
            }
        planner = self.coordinator.planner
        more = {
            "missing_energy": planner.missing_kwh(self.plan_id, self.coordinator.prices.now),
            "gave_way_to": planner.gave_way_to(self.plan_id),
        }
        return {**attributes, **{name: value for name, value in more.items() if value is not None}}


def _no_window_attributes(zone: Market, outcome: NoWindow) -> Attributes:
    window = outcome.last_run
    return {"reason": outcome.reason, "last_ended": zone.local_time(window.end).isoformat() if window else None}
