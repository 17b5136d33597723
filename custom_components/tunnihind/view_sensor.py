"""Sensors as questions to the view."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, override

from homeassistant.components.sensor import SensorEntityDescription
from homeassistant.helpers.typing import StateType

from .entity import HubEntity, StatisticsSensor
from .prices.days import iso_bounds
from .prices.timeline import Period
from .prices_now import View

type Value = StateType | datetime
type Attributes = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ViewSensorDescription(SensorEntityDescription):
    """What to ask, and what else to tell."""

    value_fn: Callable[[View], Value]
    attributes_fn: Callable[[View], Attributes] | None = None


class ViewSensor(HubEntity, StatisticsSensor):
    """A sensor that shows what the view answers."""

    entity_description: ViewSensorDescription

    @property
    @override
    def native_value(self) -> Value:
        return self.entity_description.value_fn(self.view)

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        attributes_fn = self.entity_description.attributes_fn
        return attributes_fn(self.view) if attributes_fn else None


def times(first: Period | None, last: Period | None) -> Attributes:
    """Return when `first` starts and `last` ends, on the Tallinn clock."""
    if first is None or last is None:
        return {}
    return iso_bounds(first.start, last.end)


def moment(seconds: int | None) -> datetime | None:
    """Return UTC seconds as Home Assistant shows instants."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
