"""A plan's window as instants and numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorEntityDescription
from homeassistant.const import PERCENTAGE
from homeassistant.helpers.typing import StateType

from ..const import EUR, EUR_PER_KWH
from ..entity import PlanEntity, moment
from ..plans.outcome import Decision
from ..plans.plan import Status
from ..plans.saving import Saving
from ..plans.settings import Kind, goes_by_energy

_PERCENT: Final = 100


@dataclass(frozen=True, kw_only=True)
class PlanSensorDescription(SensorEntityDescription):
    """A sensor as a question to the plan's decision."""

    value_fn: Callable[[Decision], StateType | datetime]
    attributes_fn: Callable[[Decision], Mapping[str, Any]] | None = None
    fits: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """Whether a plan of that form has the sensor."""


def _looks_for_cheapest(plan: Mapping[str, Any]) -> bool:
    return bool(plan.get("kind", Kind.CHEAPEST) == Kind.CHEAPEST)


def _of_saving(figure: Callable[[Saving], float]) -> Callable[[Decision], float | None]:
    return lambda decision: figure(decision.saving) if decision.saving else None


def _saving_band(decision: Decision) -> Mapping[str, Any]:
    return {"p10": decision.saving.low, "p90": decision.saving.high} if decision.saving else {}


def _cost_band(decision: Decision) -> Mapping[str, Any]:
    cost = decision.cost
    return {"p10": cost.low, "p90": cost.high, "energy": cost.energy} if cost else {}


# None has long-term statistics: what is expected of one window adds up to nothing, and what came of it has its own.
PLAN_SENSORS: Final = (
    PlanSensorDescription(
        key="window_start",
        translation_key="window_start",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda decision: moment(decision.start),
    ),
    PlanSensorDescription(
        key="window_end",
        translation_key="window_end",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda decision: moment(decision.end),
    ),
    PlanSensorDescription(
        key="window_average",
        translation_key="window_average",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=lambda decision: decision.average,
    ),
    PlanSensorDescription(
        key="window_saving",
        translation_key="window_saving",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=_of_saving(lambda saving: saving.expected),
        attributes_fn=_saving_band,
        fits=_looks_for_cheapest,
    ),
    PlanSensorDescription(
        key="window_chance",
        translation_key="window_chance",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        value_fn=_of_saving(lambda saving: round(saving.chance * _PERCENT)),
        fits=_looks_for_cheapest,
    ),
    PlanSensorDescription(
        key="window_cost",
        translation_key="window_cost",
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement=EUR,
        suggested_display_precision=2,
        value_fn=lambda decision: decision.cost.expected if decision.cost else None,
        attributes_fn=_cost_band,
        fits=goes_by_energy,
    ),
    PlanSensorDescription(
        key="window_forecast_share",
        translation_key="window_forecast_share",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda decision: round(decision.forecast_share * _PERCENT),
    ),
)


class PlanSensor(PlanEntity, SensorEntity):
    """What a plan's window is like; unknown while it has none."""

    entity_description: PlanSensorDescription

    @property
    @override
    def native_value(self) -> StateType | datetime:
        return self.entity_description.value_fn(self.decision) if self.decision else None

    @property
    @override
    def extra_state_attributes(self) -> Mapping[str, Any] | None:
        attributes_fn = self.entity_description.attributes_fn
        return attributes_fn(self.decision) if attributes_fn and self.decision else None


PLAN_STATUS: Final = SensorEntityDescription(
    key="status",
    translation_key="status",
    device_class=SensorDeviceClass.ENUM,
    options=list(Status),
)


class PlanStatusSensor(PlanEntity, SensorEntity):
    """How a plan stands. It is available also while no price is known."""

    @property
    @override
    def available(self) -> bool:
        return self._status is not None

    @property
    @override
    def native_value(self) -> StateType:
        return self._status

    @property
    def _status(self) -> Status | None:
        return self.coordinator.planner.status(self.plan_id, self.coordinator.prices.now)
