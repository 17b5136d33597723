"""How long it is until a plan's window, and how long it still runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorEntityDescription
from homeassistant.const import UnitOfTime

from ..entity import PlanEntity
from ..plans.outcome import Decision

_MINUTE_S: Final = 60


@dataclass(frozen=True, kw_only=True)
class WindowTimeDescription(SensorEntityDescription):
    """A length of time, in seconds, of a window as of an instant (UTC seconds). Off at first."""

    device_class: SensorDeviceClass | None = SensorDeviceClass.DURATION
    native_unit_of_measurement: str | None = UnitOfTime.MINUTES
    suggested_display_precision: int | None = 0
    entity_registry_enabled_default: bool = False
    value_fn: Callable[[Decision, int], int]


def _until_it_runs(window: Decision, now: int) -> int:
    """Return the time until the window, or its next piece, begins; nothing while one runs."""
    return max(0, min((start for start, end in window.pieces if now < end), default=now) - now)


def _left(window: Decision, now: int) -> int:
    """Return for how long the window still runs, pauses between its pieces not counted."""
    return sum(end - max(start, now) for start, end in window.pieces if now < end)


WINDOW_TIMES: Final = (
    WindowTimeDescription(key="time_until_window", translation_key="time_until_window", value_fn=_until_it_runs),
    WindowTimeDescription(key="window_time_left", translation_key="window_time_left", value_fn=_left),
)


class WindowTimeSensor(PlanEntity, SensorEntity):
    """Minutes to or in a plan's window; unknown while it has none.

    Windows begin and end on quarters of an hour, and that is how often it changes: what counts down by the second in a
    dashboard are the sensors of the window's start and end.
    """

    entity_description: WindowTimeDescription

    @property
    @override
    def native_value(self) -> int | None:
        if self.decision is None:
            return None
        return self.entity_description.value_fn(self.decision, self.coordinator.prices.now) // _MINUTE_S
