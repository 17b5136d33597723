"""What electricity costs: now, next, today, tomorrow and beyond."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass

from .const import EUR_PER_KWH
from .entity import PriceEntity
from .prices.levels import Level
from .prices.timeline import Period
from .prices_now import DayPrices, View
from .view_sensor import Attributes, ViewSensor, ViewSensorDescription, times


@dataclass(frozen=True, kw_only=True)
class PriceDescription(ViewSensorDescription):
    """A price per kilowatt-hour: a measurement without a device class, since Home Assistant has none for it."""

    state_class: SensorStateClass | None = SensorStateClass.MEASUREMENT
    native_unit_of_measurement: str | None = EUR_PER_KWH
    suggested_display_precision: int | None = 4


class PriceSensor(PriceEntity, ViewSensor):
    """A price of a period or of a day. The lists are for cards and planners; the recorder has no use for them."""

    _unrecorded_attributes = frozenset({"raw_today", "raw_tomorrow", "raw_forecast", "forecast"})


def _price(period: Period | None) -> float | None:
    return period.price if period else None


def _settled(period: Period | None) -> bool | None:
    return period.settled if period else None


def _lists(view: View) -> Attributes:
    return {
        "settled": _settled(view.current),
        "tomorrow_valid": view.tomorrow_prices is not None,
        "raw_today": view.raw_today,
        "raw_tomorrow": view.raw_tomorrow,
        "raw_forecast": view.raw_forecast,
        "forecast": view.bands,
    }


def _outlook(view: View) -> Attributes:
    if not view.outlook_band:
        return {}
    band = view.outlook_band
    return {
        **times(view.outlook[0], view.outlook[-1]),
        "p10": band.p10,
        "p50": band.p50,
        "p90": band.p90,
        "forecast": view.bands,
    }


def _day_sensors(name: str, prices_of: Callable[[View], DayPrices | None]) -> Iterator[PriceDescription]:
    """Describe a day's average, lowest and highest price, which stay unknown until all of the day is published."""

    def average(view: View) -> float | None:
        prices = prices_of(view)
        return prices.average if prices else None

    def lowest(view: View) -> Period | None:
        prices = prices_of(view)
        return prices.lowest if prices else None

    def highest(view: View) -> Period | None:
        prices = prices_of(view)
        return prices.highest if prices else None

    yield PriceDescription(key=f"average_{name}", translation_key=f"average_{name}", value_fn=average)
    yield _period_sensor(f"lowest_{name}", lowest)
    yield _period_sensor(f"highest_{name}", highest)


def _period_sensor(key: str, period_of: Callable[[View], Period | None]) -> PriceDescription:
    return PriceDescription(
        key=key,
        translation_key=key,
        value_fn=lambda view: _price(period_of(view)),
        attributes_fn=lambda view: times(period_of(view), period_of(view)),
    )


PRICE_SENSORS: Final[tuple[ViewSensorDescription, ...]] = (
    PriceDescription(
        key="current_price",
        translation_key="current_price",
        value_fn=lambda view: _price(view.current),
        attributes_fn=_lists,
    ),
    PriceDescription(
        key="next_price",
        translation_key="next_price",
        value_fn=lambda view: _price(view.next),
        attributes_fn=lambda view: {"settled": _settled(view.next)},
    ),
    ViewSensorDescription(
        key="price_level",
        translation_key="price_level",
        device_class=SensorDeviceClass.ENUM,
        options=list(Level),
        value_fn=lambda view: view.level,
    ),
    ViewSensorDescription(
        key="price_rank",
        translation_key="price_rank",
        state_class=SensorStateClass.MEASUREMENT,
        entity_registry_enabled_default=False,
        value_fn=lambda view: view.rank,
    ),
    *_day_sensors("today", lambda view: view.today_prices),
    *_day_sensors("tomorrow", lambda view: view.tomorrow_prices),
    PriceDescription(
        key="forecast",
        translation_key="forecast",
        value_fn=lambda view: view.outlook_band.p50 if view.outlook_band else None,
        attributes_fn=_outlook,
    ),
)
