"""Computes the household's prices from the server's answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from statistics import fmean
from typing import Any, Final

from ..client.answers import Band, MarketPrices
from ..const import DEFAULT_HOURS_AHEAD
from ..core.levels import Level, level, level_on
from ..core.market import HOUR_S, MARKET_OF_CODE, Market, rounded_price
from ..core.rates import Part
from ..core.tariff import Tariff
from ..plans.outcome import Outcome
from ..plans.saving import average_percentiles
from ..prices.billing import Billing, Resolution, SellingContract
from ..prices.days import Day, day_at, iso_bounds
from ..prices.scale import household_scale
from ..prices.timeline import Period, Timeline, is_cheap, is_day_covered, rank

# `outlook_periods` should cover a whole day, because prices vary with the time of day.
_OUTLOOK_S: Final = 24 * HOUR_S
# `listed_periods` should cover nine days: today, tomorrow and the next seven days. Two hours are added to the nine
# days, because the forecast ends an hour after midnight and the day of the clock change in autumn has 25 hours.
MAX_LISTED_S: Final = (9 * 24 + 2) * HOUR_S
_EMPTY_TIMELINE: Final = Timeline(HOUR_S)


class Timelines:
    """A household's buying and selling prices, kept until `update` gets other arguments.

    `buying` contains the buying prices by billing period. `level_prices` contains the buying prices from which price
    levels, ranks and cheap hours are computed. `selling` contains the selling prices. If the household sells no
    electricity, `selling` is empty. If the server sends only hourly prices, all prices are hourly. `household_scale`
    has the same meaning as in `PricesNow`.
    """

    def __init__(self) -> None:
        self.buying = self.level_prices = self.selling = _EMPTY_TIMELINE
        self.household_scale: tuple[float, ...] = ()
        self._priced_from: tuple[object, ...] | None = None

    def update(
        self,
        answer: MarketPrices,
        tariff: Tariff,
        billing: Billing,
        selling: SellingContract | None,
        price_scale: tuple[float, ...] = (),
    ) -> None:
        """Compute the prices again if an argument has changed since the last call."""
        priced = answer, tariff, billing, selling, price_scale
        if priced == self._priced_from:
            return
        self._priced_from = priced
        hourly_answer = answer.with_hourly_prices()
        hours = timeline_of(hourly_answer, tariff)
        self.buying = timeline_of(answer, tariff) if billing.billed_by is Resolution.QUARTER else hours
        self.level_prices = self.buying if billing.levels_by is Resolution.QUARTER else hours
        listed = _listed_periods(self.buying, answer)
        self.household_scale = household_scale(price_scale, tariff, [period.start for period in listed])
        self.selling = _EMPTY_TIMELINE
        if selling:
            self.selling = timeline_of(answer if selling.resolution is Resolution.QUARTER else hourly_answer, selling)


def timeline_of(answer: MarketPrices, contract: Tariff | SellingContract) -> Timeline:
    """Return the household's buying or selling prices under `contract`.

    A settled price replaces the forecast for its period.
    """

    def period(start: int) -> Period:
        end = start + answer.step_s
        if (settled := answer.settled.get(start)) is not None:
            price = contract.price(settled, start)
            return Period(start, end, price, price, price, settled=True)
        band = answer.forecast[start]
        p10, p50, p90 = (contract.price(eur_mwh, start) for eur_mwh in (band.p10, band.p50, band.p90))
        return Period(start, end, p50, p10, p90, settled=False)

    return Timeline(answer.step_s, map(period, answer.settled.keys() | answer.forecast.keys()))


def _listed_periods(timeline: Timeline, answer: MarketPrices) -> Sequence[Period]:
    midnight = day_at(MARKET_OF_CODE[answer.zone], answer.now).start
    return timeline.periods_between(midnight, midnight + MAX_LISTED_S)


@dataclass(frozen=True)
class DayPriceSummary:
    """The average, lowest and highest published price of one whole day, in EUR/kWh.

    `lowest` and `highest` are the earliest periods with the lowest and the highest price.
    """

    average: float
    lowest: Period
    highest: Period


@dataclass(frozen=True)
class PricesNow:
    """A household's buying or selling prices, and its plans, as of `now` (UTC seconds).

    `outcomes` maps the ids of the plans to the decisions about the plans. `unknown_parts` lists the parts of the buying
    price for which the nearest known rate is used, because `rates.json` has no rate for today. `hours_ahead` is the
    number of hours, from the current period on, whose average price is shown. `price_scale` lists the market prices
    (EUR/MWh) from which the module `card.columns` computes the household prices that separate the card's colours.
    `household_scale` lists these household prices (EUR/kWh) for the periods of `listed_periods`. If the server sends no
    scale, both are empty.
    """

    now: int
    answer: MarketPrices
    timeline: Timeline
    level_prices: Timeline
    cheap_hours: int
    outcomes: Mapping[str, Outcome]
    unknown_parts: tuple[Part, ...] = ()
    hours_ahead: int = DEFAULT_HOURS_AHEAD
    price_scale: tuple[float, ...] = ()
    household_scale: tuple[float, ...] = ()

    @property
    def zone(self) -> Market:
        """The zone of the prices."""
        return MARKET_OF_CODE[self.answer.zone]

    @cached_property
    def current_period(self) -> Period | None:
        """The period at `now`, or None if its price is unknown."""
        return self.timeline.period_at(self.now)

    @cached_property
    def next_period(self) -> Period | None:
        """The period after the current period, or None if the next price is unknown."""
        return self.timeline.period_at(self.now + self.timeline.step_s)

    @cached_property
    def negative_until(self) -> int | None:
        """The time (UTC seconds) until which all prices from the current period on are negative.

        A predicted price counts as negative if its median is negative. If the current price is not negative or not
        known, the value is None.
        """
        until = None
        period = self.current_period
        while period is not None and period.price < 0:
            until = period.end
            period = self.timeline.period_at(until)
        return until

    @cached_property
    def periods_ahead(self) -> Sequence[Period]:
        """The periods of `hours_ahead` hours from the current period on, or an empty sequence if a price is unknown."""
        if self.current_period is None:
            return ()
        periods = self.timeline.periods_between(
            self.current_period.start, self.current_period.start + self.hours_ahead * HOUR_S
        )
        return periods if sum(period.length_s for period in periods) == self.hours_ahead * HOUR_S else ()

    @cached_property
    def today(self) -> Day:
        """The current calendar day in the zone."""
        return day_at(self.zone, self.now)

    @cached_property
    def tomorrow(self) -> Day:
        """The next calendar day in the zone."""
        return day_at(self.zone, self.now, days_later=1)

    @cached_property
    def today_summary(self) -> DayPriceSummary | None:
        """Today's average, lowest and highest price, or None until all of today's prices are published."""
        return self._day_price_summary(self.today)

    @cached_property
    def tomorrow_summary(self) -> DayPriceSummary | None:
        """Tomorrow's average, lowest and highest price, or None until all of tomorrow's prices are published."""
        return self._day_price_summary(self.tomorrow)

    @property
    def rank(self) -> int | None:
        """The rank of the current period of `level_prices` among today's periods.

        The lowest price has rank 1, and equal prices have the same rank. If one of today's prices is unknown, the rank
        is None.
        """
        period = self.level_prices.period_at(self.now)
        return rank(period, self._level_periods_today) if period and self._level_periods_today else None

    @property
    def level(self) -> Level | None:
        """The price level of the current period of `level_prices`, or None if one of today's prices is unknown."""
        period = self.level_prices.period_at(self.now)
        day = sorted(other.price for other in self._level_periods_today)
        return level(period.price, day) if period and day else None

    @property
    def month_level(self) -> Level | None:
        """The price level of the current period of `level_prices` among the server's prices of the last 30 days.

        If the price or the server's scale is unknown, the level is None.
        """
        period = self.level_prices.period_at(self.now)
        return level_on(self.household_scale, period.price) if period and self.household_scale else None

    @property
    def is_cheap(self) -> bool | None:
        """Return whether the current period of `level_prices` is among the `cheap_hours` cheapest hours of today.

        If one of today's prices is unknown, return None.
        """
        period = self.level_prices.period_at(self.now)
        if period is None or not self._level_periods_today:
            return None
        return is_cheap(period, self._level_periods_today, cheap_hours=self.cheap_hours)

    @cached_property
    def predicted_periods(self) -> Sequence[Period]:
        """The current and later periods whose price is a forecast."""
        return tuple(period for period in self.timeline.periods if not period.settled and period.end > self.now)

    @cached_property
    def outlook_periods(self) -> Sequence[Period]:
        """The predicted periods of the 24 hours that begin with the first predicted period."""
        if not self.predicted_periods:
            return ()
        begins = self.predicted_periods[0].start
        return tuple(period for period in self.predicted_periods if period.start < begins + _OUTLOOK_S)

    @cached_property
    def outlook_band(self) -> Band | None:
        """p10, p50 and p90 of the average price in `outlook_periods` (EUR/kWh), or None if no price is predicted."""
        return Band(*average_percentiles(self.outlook_periods)) if self.outlook_periods else None

    @cached_property
    def predicted_bands(self) -> list[dict[str, Any]]:
        """The predicted periods in the format of the function `forecast_bands`."""
        return forecast_bands(self.zone, self.predicted_periods)

    @cached_property
    def listed_periods(self) -> Sequence[Period]:
        """All periods with a price in nine days and two hours from the start of the day of the server's newest answer.

        `listed_periods` changes only when the server sends a new answer, or when the household's fees or contracts
        change.
        """
        return _listed_periods(self.timeline, self.answer)

    def settled_periods_on(self, day: Day) -> tuple[Period, ...]:
        """Return the periods of `day` that have a published price."""
        return tuple(period for period in self.timeline.periods_between(day.start, day.end) if period.settled)

    def _day_price_summary(self, day: Day) -> DayPriceSummary | None:
        periods = self.settled_periods_on(day)
        if not is_day_covered(day, periods):
            return None
        return DayPriceSummary(
            average=rounded_price(fmean(period.price for period in periods)),
            lowest=min(periods, key=lambda period: period.price),
            highest=max(periods, key=lambda period: period.price),
        )

    @cached_property
    def _level_periods_today(self) -> Sequence[Period]:
        """Today's periods in `level_prices`, or an empty sequence if one of today's prices is unknown."""
        periods = self.level_prices.periods_between(self.today.start, self.today.end)
        return periods if is_day_covered(self.today, periods) else ()


# The functions below convert periods to the formats of other programs. All prices are in EUR/kWh.


def prices_in_nord_pool_format(zone: Market, periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return a list of prices in the Nord Pool integration's format, which evcc and Predbat can read.

    The price of a predicted period is the median of the forecast.
    """
    return [{**iso_bounds(zone, period.start, period.end), "value": period.price} for period in periods]


def haeo_points(zone: Market, periods: Iterable[Period], now: int) -> list[dict[str, Any]]:
    """Return a list of prices for the energy optimizer HAEO. Each price is valid until the time of the next price.

    HAEO would fill a hole with the price before it. So the list ends at the first hole after `now` (UTC seconds), and
    begins after earlier holes. HAEO also folds the list into whole days. If the list ended at the time of day at which
    it begins, HAEO would take its last price for its first, so then the last period is left out.

    The last price is listed again at the end of its period. Otherwise, HAEO would not know where this period ends, and
    would draw a line from its price to the first price.
    """
    listed: list[Period] = []
    for period in periods:
        if listed and listed[-1].end < period.start:
            if listed[-1].end > now:
                break
            listed = []
        listed.append(period)
    if listed and (listed[-1].end - listed[0].start) % (24 * HOUR_S) == 0:
        listed.pop()
    bounds = [(period.start, period.price) for period in listed]
    bounds += [(period.end, period.price) for period in listed[-1:]]
    return [{"time": zone.local_time(ts).isoformat(), "value": price} for ts, price in bounds]


def emhass_mapping(periods: Iterable[Period]) -> dict[str, float]:
    """Return the prices in the form that EMHASS reads: a mapping from the start of each period to its price.

    The starts are in UTC, because EMHASS can't read mappings that contain both summer and winter time.
    """
    return {datetime.fromtimestamp(period.start, UTC).isoformat(): period.price for period in periods}


def forecast_bands(zone: Market, periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return a list of the periods with p10, p50 and p90 of their prices.

    The fields `time` and `value` are for programs that can't read percentiles.
    """
    return [
        {
            **(bounds := iso_bounds(zone, period.start, period.end)),
            "time": bounds["start"],
            "value": period.price,
            "p10": period.low,
            "p50": period.price,
            "p90": period.high,
        }
        for period in periods
    ]
