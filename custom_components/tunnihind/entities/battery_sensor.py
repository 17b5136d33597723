"""Sensors for a battery's plan: what to do now, what that saves, and what stored energy is worth.

In the attributes, states of charge are in percent, powers in kW, and times in ISO 8601 with the zone's offset from UTC.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, override

from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import PERCENTAGE, UnitOfPower

from ..battery.plan import Action, BatteryPlan
from ..battery.settings import PERCENT
from ..const import EUR, EUR_PER_KWH
from ..core.market import Market
from ..entity import BATTERY_ACTION, Attributes, PlanSensorWithoutPrice, ValueDescription
from ..household.battery_planner import Decision
from ..prices.days import iso_bounds

_POWER_DECIMALS: Final = 3
_PERCENT_DECIMALS: Final = 1
_EUR_DECIMALS: Final = 4
# So many runs take less than 16 kB. A day by the quarter may have 40 runs and more.
_MOST_RUNS: Final = 120


@dataclass(frozen=True, slots=True)
class DecisionNow:
    """What is decided about a battery, with the battery's capacity and zone."""

    decision: Decision
    capacity_kwh: float
    zone: Market

    def percent(self, stored_kwh: float) -> float:
        """Convert a stored energy to a state of charge in percent."""
        return round(stored_kwh / self.capacity_kwh * PERCENT, _PERCENT_DECIMALS)


def _of_plan(value: Callable[[BatteryPlan], float]) -> Callable[[DecisionNow], float | None]:
    return lambda subject: None if subject.decision.plan is None else value(subject.decision.plan)


def _stored_at_end(subject: DecisionNow) -> float | None:
    plan = subject.decision.plan
    return None if plan is None else subject.percent(plan.stored_kwh)


def _action_attributes(subject: DecisionNow) -> Attributes:
    decision, plan = subject.decision, subject.decision.plan
    if plan is None:
        return {"reason": decision.reason, "missing": list(decision.missing)}
    return {
        "power": round(plan.power_kw, _POWER_DECIMALS),
        "expected_power": round(float(plan.course.power_kw[0]), _POWER_DECIMALS),
        "state_of_charge": _stored_at_end(subject),
        "until": subject.zone.local_time(plan.until).isoformat(),
        "notes": list(decision.notes),
        "course": _course(subject, plan),
    }


def _course(subject: DecisionNow, plan: BatteryPlan) -> list[Mapping[str, Any]]:
    """Return the plan's next runs, with the mean power and the state of charge at the end of each."""
    return [
        {
            **iso_bounds(subject.zone, run.start, run.end),
            "action": run.action,
            "power": round(run.power_kw, _POWER_DECIMALS),
            "state_of_charge": subject.percent(run.stored_kwh),
        }
        for run in islice(plan.runs, _MOST_RUNS)
    ]


def _saving_attributes(subject: DecisionNow) -> Attributes:
    plan = subject.decision.plan
    if plan is None:
        return {}
    return {
        "beyond_sun": round(plan.saving_beyond_sun, _EUR_DECIMALS),
        "end": subject.zone.local_time(plan.steps.end).isoformat(),
    }


def _worth_attributes(subject: DecisionNow) -> Attributes:
    plan = subject.decision.plan
    return {} if plan is None else {"now": round(plan.course.worth_now, _EUR_DECIMALS)}


BATTERY_SENSORS: Final[tuple[ValueDescription[DecisionNow], ...]] = (
    ValueDescription(
        key=BATTERY_ACTION,
        device_class=SensorDeviceClass.ENUM,
        options=list(Action),
        value_fn=lambda subject: subject.decision.action,
        attributes_fn=_action_attributes,
    ),
    ValueDescription(
        key="planned_power",
        device_class=SensorDeviceClass.POWER,
        native_unit_of_measurement=UnitOfPower.KILO_WATT,
        suggested_display_precision=2,
        value_fn=_of_plan(lambda plan: round(plan.power_kw, _POWER_DECIMALS)),
    ),
    ValueDescription(
        key="planned_state_of_charge",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=_stored_at_end,
    ),
    ValueDescription(
        key="worth_of_stored_energy",
        native_unit_of_measurement=EUR_PER_KWH,
        suggested_display_precision=4,
        value_fn=_of_plan(lambda plan: round(plan.end_worth, _EUR_DECIMALS)),
        attributes_fn=_worth_attributes,
    ),
    ValueDescription(
        key="expected_saving",
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement=EUR,
        suggested_display_precision=2,
        value_fn=_of_plan(lambda plan: round(plan.saving, _EUR_DECIMALS)),
        attributes_fn=_saving_attributes,
    ),
)


class BatterySensor(PlanSensorWithoutPrice[DecisionNow]):
    """A sensor for one value of a battery's plan. Without a plan, only the action has a value."""

    _unrecorded_attributes = frozenset({"course"})

    @property
    @override
    def subject(self) -> DecisionNow | None:
        planner = self.coordinator.battery_planner
        settings = planner.settings.get(self.plan_id)
        if settings is None:
            return None
        return DecisionNow(planner.decision(self.plan_id), settings.capacity_kwh, self.coordinator.zone)
