"""Sensors for the prices at which the household buys and sells electricity."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass

from ..const import CENTS_PER_KWH, EUR, EUR_PER_KWH
from ..entity import (
    NEXT_SELLING_PRICE,
    SELLING_PRICE,
    Attributes,
    PriceEntity,
    SellingEntity,
    ValueDescription,
    ValueSensor,
)
from ..household.prices_now import DayPrices, PricesNow, points, rates
from ..prices.billing import Billing, Resolution
from ..prices.days import day_at, iso_bounds
from ..prices.timeline import Level, Period, rounded

# The energy optimizer HAEO plans fewer than four days ahead, so the list for HAEO contains at most 384 prices: four
# days of quarter-hours. The list takes about 20 kB.
MAX_POINTS: Final = 4 * 96
_CENTS: Final = 100
_CENT_DECIMALS: Final = 2


def _times(first: Period | None, last: Period | None) -> Attributes:
    """Return the start of `first` and the end of `last` in Tallinn time, or no attributes if one of them is None."""
    if first is None or last is None:
        return {}
    return iso_bounds(first.start, last.end)


@dataclass(frozen=True, kw_only=True)
class PriceDescription(ValueDescription[PricesNow]):
    """The description of a sensor for a price per kilowatt-hour.

    The sensor has no device class, because Home Assistant has none for prices per kilowatt-hour. Only the sensors for
    current prices in EUR/kWh and for today's spread have long-term statistics.
    """

    native_unit_of_measurement: str | None = EUR_PER_KWH
    suggested_display_precision: int | None = 4


class PriceSensor(PriceEntity, ValueSensor[PricesNow]):
    """A sensor for a price, or for a figure computed from prices, such as a day's average or the price level.

    The attributes of some sensors contain lists of prices for dashboard cards and planning programs. Home Assistant's
    recorder doesn't store the lists of prices.
    """

    _unrecorded_attributes = frozenset(
        {"raw_yesterday", "raw_today", "raw_tomorrow", "raw_forecast", "forecast", "rates"}
    )

    @property
    @override
    def subject(self) -> PricesNow:
        return self.prices

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        attributes = super().extra_state_attributes
        if self.entity_description.native_unit_of_measurement != EUR_PER_KWH:
            return attributes
        return {**(attributes or {}), "currency": EUR}


class SellingSensor(SellingEntity, PriceSensor):
    """A sensor for the selling price of the current or the next period."""


def _price(period: Period | None) -> float | None:
    return period.price if period else None


def _cents(period: Period | None) -> float | None:
    return round(period.price * _CENTS, _CENT_DECIMALS) if period else None


def _settled(period: Period | None) -> bool | None:
    return period.settled if period else None


def _lists(prices: PricesNow) -> Attributes:
    return {
        "settled": _settled(prices.current),
        "tomorrow_valid": prices.tomorrow_prices is not None,
        "raw_yesterday": rates(prices.settled_on(day_at(prices.now, days_later=-1))),
        "raw_today": rates(prices.settled_on(prices.today)),
        "raw_tomorrow": rates(prices.settled_on(prices.tomorrow)),
        "raw_forecast": rates(prices.predicted),
        "forecast": prices.bands,
    }


def _outlook(prices: PricesNow) -> Attributes:
    if not prices.outlook_band:
        return {}
    band = prices.outlook_band
    return {
        **_times(prices.outlook[0], prices.outlook[-1]),
        "p10": band.p10,
        "p50": band.p50,
        "p90": band.p90,
        "forecast": prices.bands,
    }


def _spread_today(prices: PricesNow) -> float | None:
    day = prices.today_prices
    return rounded(day.highest.price - day.lowest.price) if day else None


def _average_ahead(prices: PricesNow) -> float | None:
    return rounded(fmean(period.price for period in prices.ahead)) if prices.ahead else None


def _ahead(prices: PricesNow) -> Attributes:
    if not prices.ahead:
        return {"hours": prices.hours_ahead}
    return {
        "hours": prices.hours_ahead,
        **_times(prices.ahead[0], prices.ahead[-1]),
        "settled": all(period.settled for period in prices.ahead),
    }


def _list(prices: PricesNow) -> Attributes:
    return {
        "rates": rates(prices.listed),
        "forecast": points(prices.listed[:MAX_POINTS]),
        # Without the attribute `interpolation_mode`, the energy optimizer HAEO would interpolate between the prices.
        "interpolation_mode": "previous",
    }


def _day_sensors(name: str, day_of: Callable[[PricesNow], DayPrices | None]) -> Iterator[PriceDescription]:
    """Yield the descriptions of the sensors for a day's average, lowest and highest price.

    Until all prices of the day are published, the day's sensors have no value.
    """

    def of_day[Value](figure: Callable[[DayPrices], Value]) -> Callable[[PricesNow], Value | None]:
        return lambda prices: figure(day) if (day := day_of(prices)) else None

    yield PriceDescription(key=f"average_{name}", value_fn=of_day(lambda day: day.average))
    yield _period_sensor(f"lowest_{name}", of_day(lambda day: day.lowest))
    yield _period_sensor(f"highest_{name}", of_day(lambda day: day.highest))


def _period_sensor(key: str, period_of: Callable[[PricesNow], Period | None]) -> PriceDescription:
    return PriceDescription(
        key=key,
        value_fn=lambda prices: _price(period_of(prices)),
        attributes_fn=lambda prices: _times(period_of(prices), period_of(prices)),
    )


def _current_sensor(key: str) -> PriceDescription:
    return PriceDescription(
        key=key,
        state_class=SensorStateClass.MEASUREMENT,
        value_fn=lambda prices: _price(prices.current),
        attributes_fn=_lists,
    )


def _next_sensor(key: str, name: str) -> PriceDescription:
    return PriceDescription(
        key=key,
        translation_key=name,
        value_fn=lambda prices: _price(prices.next),
        attributes_fn=lambda prices: {"settled": _settled(prices.next)},
    )


SELLING_SENSORS: Final = (_current_sensor(SELLING_PRICE), _next_sensor(NEXT_SELLING_PRICE, NEXT_SELLING_PRICE))


def next_price(billing: Billing) -> PriceDescription:
    """Describe the sensor for the price of the next hour or quarter-hour.

    The sensor's name depends on whether the household is billed by the hour or by the quarter. If the billing changes,
    the sensor's name changes when the entry is loaded again.
    """
    by_quarter = billing.billed_by is Resolution.QUARTER
    return _next_sensor("next_price", "next_quarter_price" if by_quarter else "next_price")


PRICE_SENSORS: Final[tuple[ValueDescription[PricesNow], ...]] = (
    _current_sensor("current_price"),
    PriceDescription(
        key="current_price_cents",
        # By default, the sensor is disabled, because Home Assistant's Energy dashboard would read cents as euros.
        native_unit_of_measurement=CENTS_PER_KWH,
        suggested_display_precision=2,
        entity_registry_enabled_default=False,
        value_fn=lambda prices: _cents(prices.current),
    ),
    ValueDescription(
        key="price_level",
        device_class=SensorDeviceClass.ENUM,
        options=list(Level),
        value_fn=lambda prices: prices.level,
    ),
    ValueDescription(
        key="price_rank",
        entity_registry_enabled_default=False,
        value_fn=lambda prices: prices.rank,
    ),
    *_day_sensors("today", lambda prices: prices.today_prices),
    *_day_sensors("tomorrow", lambda prices: prices.tomorrow_prices),
    PriceDescription(
        key="spread_today",
        # The spread (highest price less lowest price) has statistics, because the spreads of past days show how much a
        # battery or a plan could gain.
        state_class=SensorStateClass.MEASUREMENT,
        entity_registry_enabled_default=False,
        value_fn=_spread_today,
    ),
    PriceDescription(
        key="average_ahead",
        entity_registry_enabled_default=False,
        value_fn=_average_ahead,
        attributes_fn=_ahead,
    ),
    PriceDescription(
        key="forecast",
        value_fn=lambda prices: prices.outlook_band.p50 if prices.outlook_band else None,
        attributes_fn=_outlook,
    ),
    PriceDescription(
        key="price_list",
        entity_registry_enabled_default=False,
        value_fn=lambda prices: rounded(fmean(period.price for period in prices.listed)) if prices.listed else None,
        attributes_fn=_list,
    ),
)
