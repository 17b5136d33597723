"""The settings of a battery, read from its form, and the changes that automations and dashboards make to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import time, timedelta
from types import MappingProxyType
from typing import Any, Final, override

from ..core.market import Market
from ..core.network_clock import WEEKDAYS
from ..plans.settings import PlanError, group_of
from ..plans.steering import PlanChange, Steered
from .battery import Battery, Target

MAX_CAPACITY_KWH: Final = 1_000
LEAST_EFFICIENCY_PERCENT: Final = 50
MAX_WEAR_CENTS: Final = 100
MAX_THRESHOLD_CENTS: Final = 1_000
PERCENT: Final = 100
# A home battery never charges or discharges in less than six minutes. A higher power was likely given in watts.
MOST_POWER_PER_CAPACITY: Final = 10
_CENTS: Final = 100
_DAY: Final = timedelta(days=1)

DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "efficiency": 90,
        "wear": 0,
        "lowest": 10,
        "highest": 100,
        "reserve": 20,
        "charge_from_grid": True,
        "sell": True,
        "deadline": "17:00:00",
        "weekdays": list(WEEKDAYS),
        "threshold": 5,
    }
)
"""The values of a new battery's settings, in the form's units."""

METERS: Final = ("import_meter", "export_meter", "sun_meter", "charge_meter", "discharge_meter")
"""The fields of the meters that replace those of Home Assistant's Energy dashboard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatterySettings:
    """The settings of one battery.

    Each state of charge is a part (0 to 1) of `capacity_kwh`. The battery should have reached `target` at `deadline`
    of the zone's clock on `weekdays` (Monday is 0). If `target` is 0, there is no such wish. `threshold` is what
    other actions must save, in EUR a day, to replace those of the plan.

    `state_of_charge` is the id of an entity that shows the state of charge in percent, or the stored energy.
    `sun_forecast` and `load` are entities that replace those of the Energy dashboard. `meters` has the entities of the
    meters that replace those of the Energy dashboard, by field name. `group` is the group of plans that leave the
    battery room for charging from the grid.
    """

    battery: Battery
    capacity_kwh: float
    target: float
    deadline: time
    weekdays: frozenset[int]
    threshold: float
    state_of_charge: str
    sun_forecast: str | None
    load: str | None
    meters: Mapping[str, str]
    group: str | None = None

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> BatterySettings:
        """Read the settings from the values of a battery's form. Missing fields get their defaults.

        The units of the form are kWh, kW, percent, c/kWh and cents a day. Raises a ValueError, LookupError or TypeError
        if a value is wrong or missing; it is a PlanError with the wrong field if people can enter the value.
        """
        values = {**DEFAULTS, **{name: value for name, value in values.items() if value is not None}}
        capacity = float(values["capacity"])
        if not 0 < capacity <= MAX_CAPACITY_KWH:
            raise PlanError("capacity", "no_capacity", most=MAX_CAPACITY_KWH)
        charge, discharge = (_power(values, name, capacity) for name in ("charge_power", "discharge_power"))
        lowest, highest, reserve = (_part(values, name) for name in ("lowest", "highest", "reserve"))
        if lowest >= highest:
            raise PlanError("lowest", "lowest_above_highest")
        if reserve > highest:
            raise PlanError("reserve", "reserve_above_highest")
        target = _part(values, "target_soc") if "target_soc" in values else 0.0
        if target > highest:
            raise PlanError("target_soc", "target_above_highest")
        days = frozenset(map(WEEKDAYS.index, values["weekdays"]))
        if target and not days:
            raise PlanError("weekdays", "no_weekday")
        return cls(
            battery=Battery(
                charge_kw=charge,
                discharge_kw=discharge,
                efficiency=_within(values, "efficiency", LEAST_EFFICIENCY_PERCENT, PERCENT) / PERCENT,
                wear=_within(values, "wear", 0, MAX_WEAR_CENTS) / _CENTS,
                lowest_kwh=max(lowest, reserve) * capacity,
                highest_kwh=highest * capacity,
                charges_from_grid=bool(values["charge_from_grid"]),
                sells=bool(values["sell"]),
            ),
            capacity_kwh=capacity,
            target=target,
            deadline=time.fromisoformat(values["deadline"]),
            weekdays=days,
            threshold=_within(values, "threshold", 0, MAX_THRESHOLD_CENTS) / _CENTS,
            state_of_charge=values["state_of_charge"],
            sun_forecast=values.get("sun_forecast"),
            load=values.get("load"),
            meters={name: values[name] for name in METERS if name in values},
            group=group_of(values),
        )

    def targets(self, zone: Market, now: int, end: int) -> Iterator[Target]:
        """Yield the targets after `now` up to `end` (UTC seconds)."""
        if not self.target:
            return
        day = zone.local_time(now).date()
        while day <= zone.local_time(end).date():
            if day.weekday() in self.weekdays and now < (at := zone.instant(day, self.deadline)) <= end:
                yield Target(at, self.target * self.capacity_kwh)
            day += _DAY


def _within(values: Mapping[str, Any], name: str, least: float, most: float) -> float:
    number = float(values[name])
    if not least <= number <= most:
        raise PlanError(name, "out_of_range", given=f"{number:g}", least=least, most=most)
    return number


def _part(values: Mapping[str, Any], name: str) -> float:
    return _within(values, name, 0, PERCENT) / PERCENT


def _power(values: Mapping[str, Any], name: str, capacity_kwh: float) -> float:
    power = float(values[name])
    if power <= 0:
        raise PlanError(name, "no_power")
    if power > MOST_POWER_PER_CAPACITY * capacity_kwh:
        raise PlanError(name, "power_too_high", given=f"{power:g}")
    return power


@dataclass(frozen=True, slots=True)
class SteeredBattery(Steered):
    """A battery with its changes."""

    def settings(self) -> BatterySettings:
        """Return the settings after all changes. Raises the errors of `BatterySettings.from_mapping`."""
        return BatterySettings.from_mapping(self.current_values)

    @override
    def with_change(self, change: PlanChange, now: int) -> SteeredBattery:
        changed = self.with_values(change)
        changed.settings()
        return changed

    def with_form(self, form: Mapping[str, Any]) -> SteeredBattery:
        """Return the battery with the form `form`. If it differs from the old form, all changed values are dropped."""
        return self if form == self.form else replace(self, form=form, changes={})
