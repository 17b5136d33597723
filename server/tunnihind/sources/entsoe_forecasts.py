"""ENTSO-E's day-ahead forecasts of load (document A65), and of wind and solar power (A69).

The series consist of hourly means in MW, and have names like `ee_wind_da_mw`. Wind power is the sum of offshore wind
(B18) and onshore wind (B19).

A forecast from `newest_forecasts` counts as issued at the instant of the request. A forecast from `archived_forecasts`
counts as issued at the deadline for its publication, because the platform does not give the time of publication.
Regulation (EU) 543/2013 sets the deadlines on the day before the delivery day: two hours before gate closure for load
(article 6(2)(b)), and 18:00 Brussels time for wind and solar power (article 14(2)(d)). The platform keeps only the last
version of each forecast, so an archived forecast may be a little better than the version that was known at the
deadline.
"""

import logging
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final

import numpy as np

from tunnihind.core.market import DELIVERY_TZ, HOUR_S, day_end, day_start, delivery_day, floor_hour, gate_closure
from tunnihind.errors import BadAnswer, RateLimited, SourceError, SourceRefused
from tunnihind.known import IssuedSeries
from tunnihind.sources.base import BackFillPace, Cadence, day_ranges, days_between
from tunnihind.sources.entsoe import AREA_CODES, EntsoePlatform
from tunnihind.sources.entsoe_xml import SOURCE, Period, TimeSeries, series_of_lowest_positions

_LOG: Final = logging.getLogger(__name__)

type HourlyMeans = dict[int, float]

_MAX_DAYS: Final = 30
_LARGEST_MW: Final = 100_000.0
_SOLAR_TYPE: Final = "B16"
_WIND_TYPES: Final = ("B18", "B19")

_LOAD_BEFORE_GATE_CLOSURE_S: Final = 2 * HOUR_S
_WIND_AND_SOLAR_DEADLINE: Final = time(18, 0)


class EntsoeForecasts:
    """ENTSO-E as a source of covariates."""

    name = "entsoe-forecasts"
    cadence = Cadence(every_s=3 * HOUR_S)
    back_fill = BackFillPace(by="month")
    history_since = date(2015, 1, 5)
    """The day on which the platform opened."""

    def __init__(self, platform: EntsoePlatform, zones: Sequence[str]) -> None:
        self._platform = platform
        self._zones = zones
        self.covariate_names = frozenset(
            _series_name(zone, kind) for zone in zones for kind in ("load", "wind", "solar")
        )

    def has_news(self, _now: int, /) -> bool:
        """Return True, because the platform updates its forecasts without notice."""
        return True

    async def newest_forecasts(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the forecasts for today's and tomorrow's delivery days, with the issue `now`. Raises SourceError."""
        today = delivery_day(now)
        tomorrow = today + timedelta(days=1)
        found = await self._fetch_hourly_means(today, tomorrow)
        return {name: _issued_series(means, now, day_start(today), day_end(tomorrow)) for name, means in found.items()}

    async def archived_forecasts(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return the last version of each forecast for the delivery days from `first` to `last`. Raises SourceError."""
        issued_series: dict[str, list[IssuedSeries]] = defaultdict(list)
        for start, end in day_ranges(first, last, _MAX_DAYS):
            for name, means in (await self._fetch_hourly_means(start, end)).items():
                for day in days_between(start, end):
                    issued = _issued_series(means, publication_deadline(name, day), day_start(day), day_end(day))
                    if not np.isnan(issued.values).all():
                        issued_series[name].append(issued)
        return dict(issued_series)

    async def _fetch_hourly_means(self, first: date, last: date) -> dict[str, HourlyMeans]:
        """Return the hourly means of each series, by the name of the series.

        Series without readable values are left out. Raises SourceError if the platform can't be reached or limits
        requests, or if every request is refused or gets an unreadable answer.
        """
        found: dict[str, HourlyMeans] = {}
        errors: list[SourceError] = []
        for zone in self._zones:
            for read in (self._fetch_load, self._fetch_wind_and_solar):
                try:
                    found |= await read(zone, first, last)
                except RateLimited:
                    raise
                except (SourceRefused, BadAnswer) as error:
                    errors.append(error)
        if errors and not found:
            raise errors[0]
        return {name: means for name, means in found.items() if means}

    async def _fetch_load(self, zone: str, first: date, last: date) -> dict[str, HourlyMeans]:
        query = {"documentType": "A65", "processType": "A01", "outBiddingZone_Domain": AREA_CODES[zone]}
        name = _series_name(zone, "load")
        series = await self._platform.time_series(query, first, last)
        return {name: hourly_means(series, name, self._platform.warn_once)}

    async def _fetch_wind_and_solar(self, zone: str, first: date, last: date) -> dict[str, HourlyMeans]:
        query = {"documentType": "A69", "processType": "A01", "in_Domain": AREA_CODES[zone]}
        by_type: dict[str | None, list[TimeSeries]] = defaultdict(list)
        for one in await self._platform.time_series(query, first, last):
            by_type[one.get("psrType")].append(one)
        wind_name, solar_name, warn = _series_name(zone, "wind"), _series_name(zone, "solar"), self._platform.warn_once
        wind = [hourly_means(by_type[psr_type], wind_name, warn) for psr_type in _WIND_TYPES if psr_type in by_type]
        return {
            wind_name: _hourly_sums(wind),
            solar_name: hourly_means(by_type[_SOLAR_TYPE], solar_name, warn),
        }


def _series_name(zone: str, kind: str) -> str:
    return f"{zone}_{kind}_da_mw"


def publication_deadline(name: str, day: date) -> int:
    """Return the instant by which the forecast `name` for a delivery day must be published."""
    if "_load_" in name:
        return gate_closure(day) - _LOAD_BEFORE_GATE_CLOSURE_S
    return int(datetime.combine(day - timedelta(days=1), _WIND_AND_SOLAR_DEADLINE, DELIVERY_TZ).timestamp())


def hourly_means(
    series: Iterable[TimeSeries], what: str = "forecasts", warn: Callable[[str], None] = _LOG.warning
) -> HourlyMeans:
    """Return hourly means in MW, by the start of the hour. `what` names the series for `series_of_lowest_positions`.

    Each mean comes from the finest resolution at which all values of the hour are known. Hours without such a
    resolution are left out. Negative values, and values above `_LARGEST_MW`, count as unknown. Raises BadAnswer if the
    values aren't in megawatts.
    """
    periods: list[Period] = []
    for one in series_of_lowest_positions(series, what, warn):
        unit = one.get("quantity_Measure_Unit.name")
        if unit != "MAW":
            raise BadAnswer(SOURCE, f"a TimeSeries has quantity_Measure_Unit.name {unit}, not MAW")
        periods += one.periods
    means: HourlyMeans = {}
    for period in sorted(periods, key=lambda period: -period.step_s):
        by_hour: dict[int, list[float]] = defaultdict(list)
        for ts, megawatts in period.known_values():
            if 0 <= megawatts <= _LARGEST_MW:
                by_hour[floor_hour(ts)].append(megawatts)
        whole = HOUR_S // period.step_s
        means |= {hour: math.fsum(values) / whole for hour, values in by_hour.items() if len(values) == whole}
    return means


def _hourly_sums(parts: Sequence[HourlyMeans]) -> HourlyMeans:
    """Return the sum of `parts` for each hour.

    Hours that are missing from one of `parts` are left out, because their sums would be too low.
    """
    if not parts:
        return {}
    hours = set(parts[0]).intersection(*parts[1:])
    return {hour: math.fsum(part[hour] for part in parts) for hour in hours}


def _issued_series(means: HourlyMeans, issued_ts: int, start_ts: int, end_ts: int) -> IssuedSeries:
    values = [means.get(hour, math.nan) for hour in range(start_ts, end_ts, HOUR_S)]
    return IssuedSeries(issued_ts, start_ts, np.array(values, np.float32))
