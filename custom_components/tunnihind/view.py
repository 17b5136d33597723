"""What the entities show: the household's prices as they stand in one quarter of an hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Final

from .answers import Band, ForecastAnswer
from .plans.outcome import Outcome
from .plans.saving import average_band
from .prices.days import Day, day_at, iso_bounds
from .prices.levels import Level, is_cheap, level, rank
from .prices.timeline import HOUR_S, Hour, Timeline, rounded

# The first day that is not published yet: a forecast of less says little, one of more is the list's business.
OUTLOOK_S: Final = 24 * HOUR_S


@dataclass(frozen=True)
class DayPrices:
    """The published prices of one whole day: average, and the first of its cheapest and dearest hours, EUR/kWh."""

    average: float
    lowest: Hour
    highest: Hour


@dataclass(frozen=True)
class View:
    """One look at everything that is known. `now` is in UTC seconds; `outcomes` are the plans', by subentry."""

    now: int
    answer: ForecastAnswer
    timeline: Timeline
    cheap_hours: int
    outcomes: Mapping[str, Outcome]

    @cached_property
    def hour(self) -> Hour | None:
        """The current hour."""
        return self.timeline.at(self.now)

    @cached_property
    def next_hour(self) -> Hour | None:
        """The hour after the current one."""
        return self.timeline.at(self.now + HOUR_S)

    @cached_property
    def today(self) -> Day:
        """The current Tallinn day."""
        return day_at(self.now)

    @cached_property
    def tomorrow(self) -> Day:
        """The Tallinn day after."""
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
        """The current hour's place among today's, 1 being the cheapest."""
        return rank(self.hour, self._today_whole) if self.hour and self._today_whole else None

    @property
    def level(self) -> Level | None:
        """The fifth of today's hours that the current hour is in."""
        return level(self.hour, self._today_whole) if self.hour and self._today_whole else None

    @property
    def is_cheap(self) -> bool | None:
        """Whether the current hour is one of today's cheap ones."""
        if self.hour is None or not self._today_whole:
            return None
        return is_cheap(self.hour, self._today_whole, cheap_hours=self.cheap_hours)

    @cached_property
    def predicted(self) -> Sequence[Hour]:
        """The hours that are forecast and not published, from the current one on."""
        return tuple(hour for hour in self.timeline.hours if not hour.settled and hour.end > self.now)

    @cached_property
    def outlook(self) -> Sequence[Hour]:
        """The first 24 hours that are not published yet, or as many of them as the server tells."""
        if not self.predicted:
            return ()
        begins = self.predicted[0].start
        return tuple(hour for hour in self.predicted if hour.start < begins + OUTLOOK_S)

    @cached_property
    def outlook_band(self) -> Band | None:
        """Percentiles of the outlook's average price, EUR/kWh."""
        return Band(*average_band(self.outlook)) if self.outlook else None

    @cached_property
    def raw_today(self) -> list[dict[str, Any]]:
        """Today's published prices, in the shape that other integrations and cards read."""
        return [_raw(hour) for hour in self._settled(self.today)]

    @cached_property
    def raw_tomorrow(self) -> list[dict[str, Any]]:
        """Tomorrow's published prices, in the same shape."""
        return [_raw(hour) for hour in self._settled(self.tomorrow)]

    @cached_property
    def raw_forecast(self) -> list[dict[str, Any]]:
        """The medians of the predicted hours, in the same shape."""
        return [_raw(hour) for hour in self.predicted]

    @cached_property
    def bands(self) -> list[dict[str, Any]]:
        """The predicted hours with all three percentiles."""
        return [_band(hour) for hour in self.predicted]

    def _settled(self, day: Day) -> tuple[Hour, ...]:
        return tuple(hour for hour in self.timeline.between(day.start, day.end) if hour.settled)

    def _published(self, day: Day) -> DayPrices | None:
        hours = self._settled(day)
        if len(hours) < day.hours:
            return None
        return DayPrices(
            average=rounded(fmean(hour.price for hour in hours)),
            lowest=min(hours, key=lambda hour: hour.price),
            highest=max(hours, key=lambda hour: hour.price),
        )

    @cached_property
    def _today_whole(self) -> Sequence[Hour]:
        """Today's hours, published or predicted; none at all as long as one is missing."""
        hours = self.timeline.between(self.today.start, self.today.end)
        return hours if len(hours) == self.today.hours else ()


def _raw(hour: Hour) -> dict[str, Any]:
    return {**iso_bounds(hour.start, hour.end), "value": hour.price}


def _band(hour: Hour) -> dict[str, Any]:
    return {**iso_bounds(hour.start, hour.end), "p10": hour.low, "p50": hour.price, "p90": hour.high}
