"""A household's prices, made from the server's answer, as of one quarter of an hour."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from statistics import fmean
from typing import Any, Final

from ..const import DEFAULT_HOURS_AHEAD
from ..plans.outcome import Outcome
from ..plans.saving import average_band
from ..prices.billing import Billing, Resolution, SellingContract
from ..prices.days import Day, day_at, iso_bounds, local
from ..prices.rates import Part
from ..prices.tariff import Tariff
from ..prices.timeline import HOUR_S, Level, Period, Timeline, is_cheap, is_whole, level, rank, rounded
from ..server.answers import Band, ForecastAnswer

# A shorter outlook says little. The hours after it are in the list of prices.
OUTLOOK_S: Final = 24 * HOUR_S
# Today, tomorrow and seven days of forecast, which end an hour after midnight. Autumn adds an hour. The quarters take
# 77 kB.
MOST_LISTED_S: Final = (9 * 24 + 2) * HOUR_S
_NOTHING: Final = Timeline(HOUR_S)


class Timelines:
    """A household's prices, made again only when the answer or a contract has changed.

    `paid` has the periods by which the household is billed. `levels` has the periods whose prices are compared with the
    day's prices. `sold` has the prices that the household gets; it is empty if the household sells nothing.
    """

    def __init__(self) -> None:
        self.paid = self.levels = self.sold = _NOTHING
        self._priced_from: tuple[ForecastAnswer, Tariff, Billing, SellingContract | None] | None = None

    def update(self, answer: ForecastAnswer, tariff: Tariff, billing: Billing, selling: SellingContract | None) -> None:
        """Make the prices from the answer and these contracts."""
        priced = answer, tariff, billing, selling
        if priced == self._priced_from:
            return
        self._priced_from = priced
        in_hours = answer.in_hours()
        hours = timeline_of(in_hours, tariff)
        self.paid = timeline_of(answer, tariff) if billing.billed_by is Resolution.QUARTER else hours
        self.levels = self.paid if billing.levels_by is Resolution.QUARTER else hours
        self.sold = _NOTHING
        if selling:
            self.sold = timeline_of(answer if selling.resolution is Resolution.QUARTER else in_hours, selling)


def timeline_of(answer: ForecastAnswer, contract: Tariff | SellingContract) -> Timeline:
    """Return the prices that the household pays or gets. A settled price replaces its forecast."""

    def period(start: int) -> Period:
        end = start + answer.step_s
        if (settled := answer.settled.get(start)) is not None:
            price = contract.price(settled, start)
            return Period(start, end, price, price, price, settled=True)
        band = answer.forecast[start]
        p10, p50, p90 = (contract.price(eur_mwh, start) for eur_mwh in (band.p10, band.p50, band.p90))
        return Period(start, end, p50, p10, p90, settled=False)

    return Timeline(answer.step_s, map(period, answer.settled.keys() | answer.forecast.keys()))


@dataclass(frozen=True)
class DayPrices:
    """One whole day's published prices, EUR/kWh. If several are equally cheap, the first counts."""

    average: float
    lowest: Period
    highest: Period


@dataclass(frozen=True)
class PricesNow:
    """The prices as of `now` (UTC seconds), and the outcomes of the plans, by subentry.

    `timeline` has the periods by which the household is billed. `levels` has the periods whose prices are compared with
    the day's prices. They are the periods of `timeline`, or whole hours, so that devices don't switch every quarter of
    an hour. `unknown_parts` are the parts of the price for which the table has no rate today. For these parts, the
    prices use the last known rate. The average price ahead covers `hours_ahead` hours from the current period on.
    `scale` has the market prices, EUR/MWh, that separate the colours from cheap to expensive. Prices at which a
    household sells have the same type.
    """

    now: int
    answer: ForecastAnswer
    timeline: Timeline
    levels: Timeline
    cheap_hours: int
    outcomes: Mapping[str, Outcome]
    unknown_parts: tuple[Part, ...] = ()
    hours_ahead: int = DEFAULT_HOURS_AHEAD
    scale: tuple[float, ...] = ()

    @cached_property
    def current(self) -> Period | None:
        """The current period."""
        return self.timeline.at(self.now)

    @cached_property
    def next(self) -> Period | None:
        """The period after the current one."""
        return self.timeline.at(self.now + self.timeline.step_s)

    @cached_property
    def negative_until(self) -> int | None:
        """The end of the present run of negative prices, UTC seconds. Forecasts count by their median.

        None if the current price is not negative.
        """
        until = None
        period = self.current
        while period is not None and period.price < 0:
            until = period.end
            period = self.timeline.at(until)
        return until

    @cached_property
    def ahead(self) -> Sequence[Period]:
        """The periods of `hours_ahead` hours from the current period on; empty while a price is missing."""
        if self.current is None:
            return ()
        periods = self.timeline.between(self.current.start, self.current.start + self.hours_ahead * HOUR_S)
        return periods if sum(period.length_s for period in periods) == self.hours_ahead * HOUR_S else ()

    @cached_property
    def today(self) -> Day:
        """The current Tallinn day."""
        return day_at(self.now)

    @cached_property
    def tomorrow(self) -> Day:
        """The Tallinn day after the current one."""
        return day_at(self.now, days_later=1)

    @cached_property
    def today_prices(self) -> DayPrices | None:
        """Today's published prices, once all are known."""
        return self._published(self.today)

    @cached_property
    def tomorrow_prices(self) -> DayPrices | None:
        """Tomorrow's published prices, once all are known."""
        return self._published(self.tomorrow)

    @property
    def rank(self) -> int | None:
        """The rank of the current hour, or quarter, among today's periods; 1 is the cheapest."""
        period = self.levels.at(self.now)
        return rank(period, self._today_whole) if period and self._today_whole else None

    @property
    def level(self) -> Level | None:
        """The level of the current hour, or quarter: its fifth of today's prices."""
        period = self.levels.at(self.now)
        return level(period, self._today_whole) if period and self._today_whole else None

    @property
    def is_cheap(self) -> bool | None:
        """Whether the current hour, or quarter, is among today's cheap ones."""
        period = self.levels.at(self.now)
        if period is None or not self._today_whole:
            return None
        return is_cheap(period, self._today_whole, cheap_hours=self.cheap_hours)

    @cached_property
    def predicted(self) -> Sequence[Period]:
        """The periods that are not published yet, from the current one on."""
        return tuple(period for period in self.timeline.periods if not period.settled and period.end > self.now)

    @cached_property
    def outlook(self) -> Sequence[Period]:
        """The first 24 hours that are not published yet, or fewer if the server sends fewer."""
        if not self.predicted:
            return ()
        begins = self.predicted[0].start
        return tuple(period for period in self.predicted if period.start < begins + OUTLOOK_S)

    @cached_property
    def outlook_band(self) -> Band | None:
        """Percentiles of the outlook's average price, EUR/kWh."""
        return Band(*average_band(self.outlook)) if self.outlook else None

    @cached_property
    def bands(self) -> list[dict[str, Any]]:
        """The predicted periods with all three percentiles."""
        return bands(self.predicted)

    @cached_property
    def listed(self) -> Sequence[Period]:
        """All known periods since the midnight before the newest answer. They change only with an answer."""
        midnight = day_at(self.answer.now).start
        return self.timeline.between(midnight, midnight + MOST_LISTED_S)

    def settled_on(self, day: Day) -> tuple[Period, ...]:
        """Return the day's published periods."""
        return tuple(period for period in self.timeline.between(day.start, day.end) if period.settled)

    def _published(self, day: Day) -> DayPrices | None:
        periods = self.settled_on(day)
        if not is_whole(day, periods):
            return None
        return DayPrices(
            average=rounded(fmean(period.price for period in periods)),
            lowest=min(periods, key=lambda period: period.price),
            highest=max(periods, key=lambda period: period.price),
        )

    @cached_property
    def _today_whole(self) -> Sequence[Period]:
        """Today's periods to compare, published or predicted; empty while a period is missing."""
        periods = self.levels.between(self.today.start, self.today.end)
        return periods if is_whole(self.today, periods) else ()


# Prices in the formats of other programs, EUR/kWh as the household pays them.


def rates(periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return the list that Nord Pool's integrations, evcc and Predbat read. A forecast period has its median."""
    return [{**iso_bounds(period.start, period.end), "value": period.price} for period in periods]


def points(periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return the list that HAEO reads. Each price is valid from its time until the next price's time."""
    return [{"time": local(period.start).isoformat(), "value": period.price} for period in periods]


def mapping(periods: Iterable[Period]) -> dict[str, float]:
    """Return the mapping that EMHASS reads: prices by their start.

    The start is in UTC, because EMHASS can't mix two offsets.
    """
    return {datetime.fromtimestamp(period.start, UTC).isoformat(): period.price for period in periods}


def bands(periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return forecast periods with all percentiles. Planners that know no percentiles read `time` and `value`."""
    return [
        {
            **(bounds := iso_bounds(period.start, period.end)),
            "time": bounds["start"],
            "value": period.price,
            "p10": period.low,
            "p50": period.price,
            "p90": period.high,
        }
        for period in periods
    ]
