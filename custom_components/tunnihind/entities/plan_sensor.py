"""Sensors for a plan's status, and for values of the plan's window, such as its start, cost and expected saving."""

from collections.abc import Callable
from typing import Final, override

from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import PERCENTAGE, UnitOfTime

from ..const import EUR, EUR_PER_KWH
from ..entity import Attributes, PlanEntity, PlanSensorWithoutPrice, ValueDescription, ValueSensor, utc_datetime
from ..plans.outcome import Window
from ..plans.plan import PlanStatus
from ..plans.saving import Saving

_PERCENT: Final = 100
_MINUTE_S: Final = 60


def _saving_value_fn(figure: Callable[[Saving], float]) -> Callable[[Window], float | None]:
    return lambda window: figure(window.saving) if window.saving else None


def _saving_attributes(window: Window) -> Attributes:
    return {"p10": window.saving.low, "p90": window.saving.high} if window.saving else {}


def _cost_attributes(window: Window) -> Attributes:
    cost = window.cost
    sun = {} if window.sun_kwh is None else {"sun_energy": window.sun_kwh}
    return {"p10": cost.low, "p90": cost.high, "energy": cost.energy, **sun} if cost else {}


# The sensors for a plan's window have no long-term statistics, because sums and means of expected figures would be
# meaningless. The module `account_sensor` contains the sensors for actual costs and savings.
WINDOW_VALUE_SENSORS: Final[tuple[ValueDescription[Window], ...]] = (
    ValueDescription(
        key="window_start",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda window: utc_datetime(window.start),
    ),
    ValueDescription(
        key="window_end",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda window: utc_datetime(window.end),
    ),
    ValueDescription(
        key="window_average",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=lambda window: window.average,
    ),
    ValueDescription(
        key="window_saving",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=_saving_value_fn(lambda saving: saving.expected),
        attributes_fn=_saving_attributes,
    ),
    ValueDescription(
        key="window_chance",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        value_fn=_saving_value_fn(lambda saving: round(saving.chance * _PERCENT)),
    ),
    ValueDescription(
        key="window_cost",
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement=EUR,
        suggested_display_precision=2,
        value_fn=lambda window: window.cost.expected if window.cost else None,
        attributes_fn=_cost_attributes,
    ),
    ValueDescription(
        key="window_forecast_share",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda window: round(window.forecast_share * _PERCENT),
    ),
)


class WindowValueSensor(PlanEntity, ValueSensor[Window]):
    """A sensor for one value of a plan's window. While the plan has no window, the sensor has no value."""

    @property
    @override
    def subject(self) -> Window | None:
        return self.window


NEXT_WINDOW: Final = ValueDescription[Window](
    key="next_window",
    device_class=SensorDeviceClass.TIMESTAMP,
    entity_registry_enabled_default=False,
    value_fn=lambda window: utc_datetime(window.start),
    attributes_fn=lambda window: {"end": utc_datetime(window.end), "average": window.average},
)


class NextWindowSensor(PlanEntity, ValueSensor[Window]):
    """A sensor for the start of the window that follows the present one. It may still move with new prices."""

    @property
    @override
    def subject(self) -> Window | None:
        return self.coordinator.planner.next_window(self.plan_id, self.coordinator.prices.timeline)


PLAN_STATUS: Final = ValueDescription[PlanStatus](
    key="status",
    device_class=SensorDeviceClass.ENUM,
    options=list(PlanStatus),
    value_fn=lambda status: status,
)


class PlanStatusSensor(PlanSensorWithoutPrice[PlanStatus]):
    """A sensor for the status of a plan, available even if no price is known."""

    @property
    @override
    def subject(self) -> PlanStatus | None:
        return self.coordinator.planner.status(self.plan_id, self.coordinator.prices.now)


type _WindowNow = tuple[Window, int]
"""A plan's window, and the present instant in UTC seconds."""


def _minutes_until_next_piece(subject: _WindowNow) -> int:
    """Return the minutes until the window or its next piece begins, or 0 while a piece runs and after the window."""
    window, now = subject
    return max(0, min((start for start, end in window.pieces if now < end), default=now) - now) // _MINUTE_S


def _minutes_left(subject: _WindowNow) -> int:
    """Return the minutes left in the window, without the pauses between its pieces."""
    window, now = subject
    return sum(end - max(start, now) for start, end in window.pieces if now < end) // _MINUTE_S


WINDOW_TIME_SENSORS: Final = tuple(
    ValueDescription(
        key=key,
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.MINUTES,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=minutes,
    )
    for key, minutes in (("time_until_window", _minutes_until_next_piece), ("window_time_left", _minutes_left))
)


class WindowTimeSensor(PlanEntity, ValueSensor[_WindowNow]):
    """A sensor for the minutes until a plan's window or its next piece begins, or for the minutes left in the window.

    While the plan has no window, the sensor has no value. The value is updated every quarter-hour, and when prices or
    plans change.
    """

    @property
    @override
    def subject(self) -> _WindowNow | None:
        return (self.window, self.coordinator.prices.now) if self.window else None
