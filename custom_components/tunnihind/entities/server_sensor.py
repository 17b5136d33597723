"""What the sensors of a server have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, override

from homeassistant.components.sensor import SensorEntityDescription
from homeassistant.helpers.typing import StateType

from ..entity import ServerEntity, StatisticsSensor
from ..household.prices_now import PricesNow

type Value = StateType | datetime
type Attributes = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ServerSensorDescription(SensorEntityDescription):
    """What a sensor of the server shows as its state and as its attributes, worked out from the prices."""

    value_fn: Callable[[PricesNow], Value]
    attributes_fn: Callable[[PricesNow], Attributes] | None = None


class ServerSensor(ServerEntity, StatisticsSensor):
    """A sensor of the server."""

    entity_description: ServerSensorDescription

    @property
    @override
    def native_value(self) -> Value:
        return self.entity_description.value_fn(self.prices)

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        attributes_fn = self.entity_description.attributes_fn
        return attributes_fn(self.prices) if attributes_fn else None
