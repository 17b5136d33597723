"""Sensors that show the times, the price, the cost and the saving of a plan's window, and the plan's status."""

from collections.abc import Callable
from typing import Final, override

from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import PERCENTAGE, UnitOfTime

from ..const import EUR, EUR_PER_KWH
from ..entity import Attributes, PlanEntity, PlanSensorWithoutPrice, ValueDescription, ValueSensor, moment
from ..plans.outcome import Decision
from ..plans.plan import Status
from ..plans.saving import Saving

_PERCENT: Final = 100
_MINUTE_S: Final = 60


def _of_saving(figure: Callable[[Saving], float]) -> Callable[[Decision], float | None]:
    return lambda decision: figure(decision.saving) if decision.saving else None


def _saving_band(decision: Decision) -> Attributes:
    return {"p10": decision.saving.low, "p90": decision.saving.high} if decision.saving else {}


def _cost_band(decision: Decision) -> Attributes:
    cost = decision.cost
    return {"p10": cost.low, "p90": cost.high, "energy": cost.energy} if cost else {}


# The sensors for a plan's window have no long-term statistics, because sums and means of expected figures would be
# meaningless. The module `account_sensor` contains the sensors for actual costs and savings.
PLAN_SENSORS: Final[tuple[ValueDescription[Decision], ...]] = (
    ValueDescription(
        key="window_start",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda decision: moment(decision.start),
    ),
    ValueDescription(
        key="window_end",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda decision: moment(decision.end),
    ),
    ValueDescription(
        key="window_average",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=lambda decision: decision.average,
    ),
    ValueDescription(
        key="window_saving",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=_of_saving(lambda saving: saving.expected),
        attributes_fn=_saving_band,
    ),
    ValueDescription(
        key="window_chance",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        value_fn=_of_saving(lambda saving: round(saving.chance * _PERCENT)),
    ),
    ValueDescription(
        key="window_cost",
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement=EUR,
        suggested_display_precision=2,
        value_fn=lambda decision: decision.cost.expected if decision.cost else None,
        attributes_fn=_cost_band,
    ),
    ValueDescription(
        key="window_forecast_share",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda decision: round(decision.forecast_share * _PERCENT),
    ),
)


class PlanSensor(PlanEntity, ValueSensor[Decision]):
    """A sensor for one value of a plan's window. While the plan has no window, the sensor has no value."""

    @property
    @override
    def subject(self) -> Decision | None:
        return self.decision


PLAN_STATUS: Final = ValueDescription[Status](
    key="status",
    device_class=SensorDeviceClass.ENUM,
    options=list(Status),
    value_fn=lambda status: status,
)


class PlanStatusSensor(PlanSensorWithoutPrice[Status]):
    """A sensor for the status of a plan."""

    @property
    @override
    def subject(self) -> Status | None:
        return self.coordinator.planner.status(self.plan_id, self.coordinator.prices.now)


type _WindowAt = tuple[Decision, int]
"""A plan's window, and the present instant in UTC seconds."""


def _until_it_runs(at: _WindowAt) -> int:
    """Return the minutes until the window or its next piece begins, or 0 while a piece runs and after the window."""
    window, now = at
    return max(0, min((start for start, end in window.pieces if now < end), default=now) - now) // _MINUTE_S


def _left(at: _WindowAt) -> int:
    """Return the minutes left in the window, without the pauses between its pieces."""
    window, now = at
    return sum(end - max(start, now) for start, end in window.pieces if now < end) // _MINUTE_S


WINDOW_TIMES: Final = tuple(
    ValueDescription(
        key=key,
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.MINUTES,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=minutes,
    )
    for key, minutes in (("time_until_window", _until_it_runs), ("window_time_left", _left))
)


class WindowTimeSensor(PlanEntity, ValueSensor[_WindowAt]):
    """A sensor for the minutes until a plan's window or its next piece begins, or for the minutes left in the window.

    While the plan has no window, the sensor has no value. The value is updated every quarter-hour, and when prices or
    plans change.
    """

    @property
    @override
    def subject(self) -> _WindowAt | None:
        return (self.decision, self.coordinator.prices.now) if self.decision else None
