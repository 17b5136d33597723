"""Sensors for the prices at which the household buys and sells electricity, and for a price's level and rank."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass

from ..const import CENTS_PER_KWH, EUR, EUR_PER_KWH
from ..coordinator import TunnihindCoordinator
from ..core.cheapest_hours import CheapestPrice, cheapest_hours_by_day
from ..core.levels import Level
from ..core.market import HOUR_S, Market, rounded_price
from ..entity import (
    NEXT_SELLING_PRICE,
    SELLING_PRICE,
    Attributes,
    PolledEntity,
    PriceEntity,
    SellingEntity,
    ValueDescription,
    ValueSensor,
)
from ..household.prices_now import DayPriceSummary, PricesNow, haeo_points, prices_in_nord_pool_format
from ..prices.billing import Billing, Resolution
from ..prices.days import day_at, iso_bounds
from ..prices.timeline import Period

# The list for the energy optimizer HAEO has at most 384 points: 383 prices, and the end of the last price. The list
# takes about 20 kB, and covers not quite four days of quarter-hours.
MAX_HAEO_POINTS: Final = 4 * 96
_CENTS: Final = 100
_CENT_DECIMALS: Final = 2


def _bounds_attributes(zone: Market, first: Period | None, last: Period | None) -> Attributes:
    """Return the start of `first` and the end of `last` in the zone's time, or no attributes if one of them is None."""
    if first is None or last is None:
        return {}
    return iso_bounds(zone, first.start, last.end)


@dataclass(frozen=True, kw_only=True)
class PriceDescription(ValueDescription[PricesNow]):
    """The description of a sensor for a price per kilowatt-hour.

    The sensor has no device class, because Home Assistant has none for prices per kilowatt-hour. Among the sensors for
    prices, only those for current prices in EUR/kWh and for today's spread have long-term statistics.
    """

    native_unit_of_measurement: str | None = EUR_PER_KWH
    suggested_display_precision: int | None = 4


class PriceSensor(PriceEntity, ValueSensor[PricesNow]):
    """A sensor for a price, or for a value computed from prices, such as a day's average or the price level.

    The attributes of some sensors contain lists of prices for dashboard cards and planning programs. Home Assistant's
    recorder doesn't store the lists of prices.
    """

    _unrecorded_attributes = frozenset(
        {"raw_yesterday", "raw_today", "raw_tomorrow", "raw_forecast", "forecast", "rates", "cheapest_hours"}
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


def _is_settled(period: Period | None) -> bool | None:
    return period.settled if period else None


def _current_price_attributes(prices: PricesNow) -> Attributes:
    return {
        "settled": _is_settled(prices.current_period),
        "tomorrow_valid": prices.tomorrow_summary is not None,
        "raw_yesterday": prices_in_nord_pool_format(
            prices.zone, prices.settled_periods_on(day_at(prices.zone, prices.now, days_later=-1))
        ),
        "raw_today": prices_in_nord_pool_format(prices.zone, prices.settled_periods_on(prices.today)),
        "raw_tomorrow": prices_in_nord_pool_format(prices.zone, prices.settled_periods_on(prices.tomorrow)),
        "raw_forecast": prices_in_nord_pool_format(prices.zone, prices.predicted_periods),
        "forecast": prices.predicted_bands,
    }


def _forecast_attributes(prices: PricesNow) -> Attributes:
    if not prices.outlook_band:
        return {}
    band = prices.outlook_band
    return {
        **_bounds_attributes(prices.zone, prices.outlook_periods[0], prices.outlook_periods[-1]),
        "p10": band.p10,
        "p50": band.p50,
        "p90": band.p90,
        "forecast": prices.predicted_bands,
    }


def _spread_today(prices: PricesNow) -> float | None:
    day = prices.today_summary
    return rounded_price(day.highest.price - day.lowest.price) if day else None


def _average_ahead(prices: PricesNow) -> float | None:
    return rounded_price(fmean(period.price for period in prices.periods_ahead)) if prices.periods_ahead else None


def _average_ahead_attributes(prices: PricesNow) -> Attributes:
    if not prices.periods_ahead:
        return {"hours": prices.hours_ahead}
    return {
        "hours": prices.hours_ahead,
        **_bounds_attributes(prices.zone, prices.periods_ahead[0], prices.periods_ahead[-1]),
        "settled": all(period.settled for period in prices.periods_ahead),
    }


def _price_list_attributes(prices: PricesNow) -> Attributes:
    return {
        "rates": prices_in_nord_pool_format(prices.zone, prices.listed_periods),
        "forecast": haeo_points(prices.zone, prices.listed_periods[: MAX_HAEO_POINTS - 1], prices.answer.now),
        # Without the attribute `interpolation_mode`, the energy optimizer HAEO would interpolate between the prices.
        "interpolation_mode": "previous",
    }


def _day_descriptions(name: str, day_of: Callable[[PricesNow], DayPriceSummary | None]) -> Iterator[PriceDescription]:
    """Yield the descriptions of the sensors for a day's average, lowest and highest price.

    Until all prices of the day are published, the day's sensors have no value.
    """

    def of_day[Value](figure: Callable[[DayPriceSummary], Value]) -> Callable[[PricesNow], Value | None]:
        return lambda prices: figure(day) if (day := day_of(prices)) else None

    yield PriceDescription(key=f"average_{name}", value_fn=of_day(lambda day: day.average))
    yield _period_description(f"lowest_{name}", of_day(lambda day: day.lowest))
    yield _period_description(f"highest_{name}", of_day(lambda day: day.highest))


def _period_description(key: str, period_of: Callable[[PricesNow], Period | None]) -> PriceDescription:
    return PriceDescription(
        key=key,
        value_fn=lambda prices: _price(period_of(prices)),
        attributes_fn=lambda prices: _bounds_attributes(prices.zone, period_of(prices), period_of(prices)),
    )


def _current_description(key: str) -> PriceDescription:
    return PriceDescription(
        key=key,
        state_class=SensorStateClass.MEASUREMENT,
        value_fn=lambda prices: _price(prices.current_period),
        attributes_fn=_current_price_attributes,
    )


def _next_period_description(key: str, name: str) -> PriceDescription:
    return PriceDescription(
        key=key,
        translation_key=name,
        value_fn=lambda prices: _price(prices.next_period),
        attributes_fn=lambda prices: {"settled": _is_settled(prices.next_period)},
    )


SELLING_SENSORS: Final = (
    _current_description(SELLING_PRICE),
    _next_period_description(NEXT_SELLING_PRICE, NEXT_SELLING_PRICE),
)


def next_price_description(billing: Billing) -> PriceDescription:
    """Describe the sensor for the price of the next hour or quarter-hour.

    The sensor's name depends on whether the household is billed by the hour or by the quarter. If the billing changes,
    the sensor's name changes when the entry is loaded again.
    """
    by_quarter = billing.billed_by is Resolution.QUARTER
    return _next_period_description("next_price", "next_quarter_price" if by_quarter else "next_price")


PRICE_SENSORS: Final[tuple[ValueDescription[PricesNow], ...]] = (
    _current_description("current_price"),
    PriceDescription(
        key="current_price_cents",
        # By default, the sensor is disabled, because Home Assistant's Energy dashboard would read cents as euros.
        native_unit_of_measurement=CENTS_PER_KWH,
        suggested_display_precision=2,
        entity_registry_enabled_default=False,
        value_fn=lambda prices: _cents(prices.current_period),
    ),
    ValueDescription(
        key="price_level",
        device_class=SensorDeviceClass.ENUM,
        options=list(Level),
        value_fn=lambda prices: prices.level,
    ),
    ValueDescription(
        key="price_level_month",
        device_class=SensorDeviceClass.ENUM,
        options=list(Level),
        entity_registry_enabled_default=False,
        value_fn=lambda prices: prices.month_level,
    ),
    ValueDescription(
        key="price_rank",
        entity_registry_enabled_default=False,
        value_fn=lambda prices: prices.rank,
    ),
    *_day_descriptions("today", lambda prices: prices.today_summary),
    *_day_descriptions("tomorrow", lambda prices: prices.tomorrow_summary),
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
        attributes_fn=_average_ahead_attributes,
    ),
    PriceDescription(
        key="price_list",
        entity_registry_enabled_default=False,
        value_fn=lambda prices: (
            rounded_price(fmean(period.price for period in prices.listed_periods)) if prices.listed_periods else None
        ),
        attributes_fn=_price_list_attributes,
    ),
)

_FORECAST: Final = PriceDescription(
    key="forecast",
    value_fn=lambda prices: prices.outlook_band.p50 if prices.outlook_band else None,
    attributes_fn=_forecast_attributes,
)


class ForecastSensor(PolledEntity, PriceSensor):
    """A sensor for the average price of the first 24 hours of the forecast.

    The attribute `cheapest_hours` lists the prices of the cheapest hours of each day ahead. Servers without price paths
    don't send the data for it, so the attribute is absent then.
    """

    def __init__(self, coordinator: TunnihindCoordinator) -> None:
        super().__init__(coordinator, _FORECAST)
        self._price_paths: Mapping[int, Sequence[float]] = {}

    @override
    async def async_request_data(self) -> None:
        self._price_paths = await self.coordinator.client.price_paths(self.prices.zone)

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        cheapest = {"cheapest_hours": self._cheapest_hours()} if self._price_paths else {}
        return {**(super().extra_state_attributes or {}), **cheapest}

    def _cheapest_hours(self) -> list[dict[str, Any]]:
        """Return p10, p50 and p90 of the average price of each day's 1 to 8 cheapest hours, in EUR/kWh.

        The cheapest hours are those of the household's prices, because fees may differ by hour. So the percentiles
        can't be computed from the market prices in the server's field `cheapestHours`.
        """
        prices, tariff = self.prices, self.coordinator.tariff
        expected = {
            start: [tariff.price(eur_mwh, start) for eur_mwh in on_paths]
            for start, on_paths in self._price_paths.items()
        }
        hours = prices.timeline.with_step(HOUR_S).periods
        settled = {period.start: [period.price] for period in hours if period.settled}
        first = prices.now - prices.now % HOUR_S + HOUR_S
        by_day = cheapest_hours_by_day({**expected, **settled}, first, prices.zone.time_zone)
        return [
            {"day": day.isoformat()}
            | {name: [rounded_price(getattr(price, name)) for price in found] for name in CheapestPrice._fields}
            for day, found in by_day.items()
        ]
