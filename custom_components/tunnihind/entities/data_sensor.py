"""How old and how good the data is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass
from homeassistant.const import PERCENTAGE, EntityCategory

from ..const import EUR_PER_MWH
from ..entity import DataEntity, moment
from ..household.prices_now import PricesNow
from ..server.answers import Backtest
from .server_sensor import ServerSensor, ServerSensorDescription

_PERCENT: Final = 100


@dataclass(frozen=True, kw_only=True)
class _AgeDescription(ServerSensorDescription):
    device_class: SensorDeviceClass | None = SensorDeviceClass.TIMESTAMP
    entity_category: EntityCategory | None = EntityCategory.DIAGNOSTIC


@dataclass(frozen=True, kw_only=True)
class _QualityDescription(ServerSensorDescription):
    state_class: SensorStateClass | None = SensorStateClass.MEASUREMENT
    entity_category: EntityCategory | None = EntityCategory.DIAGNOSTIC
    entity_registry_enabled_default: bool = False


class DataSensor(DataEntity, ServerSensor):
    """An age or a quality of the data."""


def _of_backtest(figure: Callable[[Backtest], float]) -> Callable[[PricesNow], float | None]:
    return lambda prices: figure(prices.answer.backtest) if prices.answer.backtest else None


DATA_SENSORS: Final[tuple[ServerSensorDescription, ...]] = (
    _AgeDescription(
        key="settled_until",
        translation_key="settled_until",
        value_fn=lambda prices: moment(prices.timeline.settled_until),
    ),
    _AgeDescription(
        key="forecast_made_at",
        translation_key="forecast_made_at",
        entity_registry_enabled_default=False,
        value_fn=lambda prices: moment(prices.answer.made_at),
    ),
    _AgeDescription(
        key="data_refreshed",
        translation_key="data_refreshed",
        entity_registry_enabled_default=False,
        value_fn=lambda prices: moment(prices.answer.last_refresh),
    ),
    _QualityDescription(
        key="forecast_error",
        translation_key="forecast_error",
        native_unit_of_measurement=EUR_PER_MWH,
        suggested_display_precision=1,
        value_fn=_of_backtest(lambda backtest: backtest.mae),
        attributes_fn=lambda prices: {"horizon_hours": _of_backtest(lambda backtest: backtest.horizon_h)(prices)},
    ),
    _QualityDescription(
        key="forecast_baseline_error",
        translation_key="forecast_baseline_error",
        native_unit_of_measurement=EUR_PER_MWH,
        suggested_display_precision=1,
        value_fn=_of_backtest(lambda backtest: backtest.baseline_mae),
    ),
    _QualityDescription(
        key="forecast_skill",
        translation_key="forecast_skill",
        native_unit_of_measurement=PERCENTAGE,
        suggested_display_precision=0,
        value_fn=_of_backtest(lambda backtest: round(backtest.skill * _PERCENT, 1)),
    ),
)
