"""Sensors that show until when prices are published, when data were updated, and how good past forecasts were."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass
from homeassistant.const import PERCENTAGE, EntityCategory

from ..client.answers import Backtest, PlanScore
from ..const import EUR_PER_MWH
from ..coordinator import TunnihindCoordinator
from ..entity import AlwaysAvailableEntity, Attributes, PolledEntity, ValueDescription, ValueSensor, utc_datetime
from ..household.prices_now import PricesNow


class DiagnosticSensor(AlwaysAvailableEntity, ValueSensor[PricesNow]):
    """A sensor for an instant, such as the end of the published prices, or for a figure from the backtest."""

    @property
    @override
    def subject(self) -> PricesNow:
        return self.prices


def _time_description(
    key: str, instant: Callable[[PricesNow], datetime | None], *, enabled_by_default: bool = False
) -> ValueDescription[PricesNow]:
    return ValueDescription(
        key=key,
        device_class=SensorDeviceClass.TIMESTAMP,
        entity_category=EntityCategory.DIAGNOSTIC,
        entity_registry_enabled_default=enabled_by_default,
        value_fn=instant,
    )


def _quality_description[Subject](
    key: str,
    unit: str,
    value_fn: Callable[[Subject], float | None],
    attributes_fn: Callable[[Subject], Attributes] | None = None,
    *,
    decimals: int = 0,
) -> ValueDescription[Subject]:
    return ValueDescription(
        key=key,
        native_unit_of_measurement=unit,
        suggested_display_precision=decimals,
        state_class=SensorStateClass.MEASUREMENT,
        entity_category=EntityCategory.DIAGNOSTIC,
        entity_registry_enabled_default=False,
        value_fn=value_fn,
        attributes_fn=attributes_fn,
    )


def _backtest_value_fn(figure: Callable[[Backtest], float]) -> Callable[[PricesNow], float | None]:
    return lambda prices: figure(prices.answer.backtest) if prices.answer.backtest else None


def _percent(share: float) -> float:
    return round(share * 100, 1)


DIAGNOSTIC_SENSORS: Final[tuple[ValueDescription[PricesNow], ...]] = (
    _time_description(
        "settled_until", lambda prices: utc_datetime(prices.timeline.settled_until), enabled_by_default=True
    ),
    _time_description("forecast_made_at", lambda prices: utc_datetime(prices.answer.made_at)),
    _time_description("data_refreshed", lambda prices: utc_datetime(prices.answer.last_refresh)),
    _quality_description(
        "forecast_error",
        EUR_PER_MWH,
        _backtest_value_fn(lambda backtest: backtest.mae),
        lambda prices: {"horizon_hours": _backtest_value_fn(lambda backtest: backtest.horizon_h)(prices)},
        decimals=1,
    ),
    _quality_description(
        "forecast_baseline_error", EUR_PER_MWH, _backtest_value_fn(lambda backtest: backtest.baseline_mae), decimals=1
    ),
    _quality_description("forecast_skill", PERCENTAGE, _backtest_value_fn(lambda backtest: _percent(backtest.skill))),
)


def _score_attributes(score: PlanScore) -> Attributes:
    return {
        "days": score.scored_days,
        "last_weeks_prices": _percent(score.baseline_share),
        "within_a_week": None if score.week_share is None else _percent(score.week_share),
        "boiler_euros_a_year": score.boiler_eur_a_year,
        "boiler_euros_possible": score.ideal_boiler_eur_a_year,
    }


FORECAST_SAVING: Final[ValueDescription[PlanScore]] = _quality_description(
    "forecast_saving", PERCENTAGE, lambda score: _percent(score.next_day_share), _score_attributes
)


class ForecastSavingSensor(PolledEntity, AlwaysAvailableEntity, ValueSensor[PlanScore]):
    """A sensor for the saving of plans that follow the forecast, in percent of the greatest possible saving."""

    def __init__(self, coordinator: TunnihindCoordinator) -> None:
        super().__init__(coordinator, FORECAST_SAVING)
        self._score: PlanScore | None = None

    @property
    @override
    def subject(self) -> PlanScore | None:
        return self._score

    @override
    async def async_request_data(self) -> None:
        self._score = await self.coordinator.client.plan_score()
