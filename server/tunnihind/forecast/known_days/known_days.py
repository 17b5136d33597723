"""Arranges the known data from which columns are computed: prices, calendar, the sun's elevation and drivers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import numpy as np

from tunnihind.core.market import DAY_S, HOUR_S, Market, day_end, day_start, delivery_day
from tunnihind.forecast.known_days.drivers import (
    Drivers,
    grouped_covariate_names,
    make_drivers,
    shifted_to_delivery_day,
)
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.price_state import PriceState
from tunnihind.forecast.known_days.quantities import parse_quantity
from tunnihind.forecast.known_days.season import Season, SeasonCache
from tunnihind.forecast.known_days.vintages import (
    NEXT_DAY_AGES,
    NEXT_DAY_REACH_S,
    WEEK_AGES,
    Floats32,
    VintageFrame,
    issue_instants,
    longest_reach_s,
    newest_issue_instant,
    vintages_by_name,
    without_superseded_weather_runs,
)
from tunnihind.forecast.run import LEADS
from tunnihind.known import CovariateArchive, KnownData
from tunnihind.price_series import PriceSeries

_STALE_AFTER_DAYS: Final = 7
"""If a covariate's newest forecast is at least this many days old, the covariate is not used."""
_SEARCHED_DAYS: Final = 14
"""`newest_whole_day` searches at most this many days, back from the newest known price."""


@dataclass(frozen=True, slots=True)
class Covariate:
    """A covariate that a driver uses. Its newest forecast was issued at `issued_ts`.

    `reaches_ts` is the start of the last hour with a value in today's vintage. This start is computed as if every day
    had 24 hours. If the vintage has no value from tomorrow on, `is_imputed` is true and `reaches_ts` is the start of
    today.
    """

    name: str
    issued_ts: int
    reaches_ts: int
    is_imputed: bool


@dataclass(frozen=True, slots=True)
class KnownDays:
    """The data known at an instant, arranged on a day grid.

    `newest_row` is the row of the newest delivery day whose prices are all known. `today_row` is the row of the
    delivery day at that instant. `stale_days` is the number of whole days since the newest forecast of the covariates
    that reach several days ahead, or 0 if no such forecast is less than 7 days old. `weather_runs` holds the instants
    at which the weather runs in use were initialised. `ignored` holds the names of the covariates that no driver uses.
    """

    grid: DayGrid
    newest_row: int
    today_row: int
    prices: PriceState
    season: Season
    drivers: Drivers
    stale_days: int
    covariates: tuple[Covariate, ...]
    weather_runs: tuple[int, ...]
    ignored: tuple[str, ...]

    @classmethod
    def of(
        cls,
        known: KnownData,
        market: Market,
        first: date,
        newest: date,
        seasons: SeasonCache,
        fit_until: date,
    ) -> KnownDays | None:
        """Arrange the known data on a day grid.

        The grid begins on `first` or on the first day with a known price, whichever is later. If the grid would not
        begin before today, return None. `newest` is the newest delivery day whose prices are all known. The regressions
        of `make_drivers` use the days up to `fit_until`, or more days if those are too few.
        """
        today = delivery_day(known.as_of)
        first = max(first, _first_priced_day(known.prices.series_of(market.zone)))
        if today <= first:
            return None
        grid = DayGrid.between(first, max(newest, today) + timedelta(days=LEADS + 1))
        fresh = _FreshCovariates.of(known, grid, grid.row_of(today))
        drivers = make_drivers(fresh.far_vintages(), fresh.near_vintages(), grid.row_of(today), grid.row_of(fit_until))
        used = {member for members in drivers.members.values() for member in members}
        return cls(
            grid=grid,
            newest_row=grid.row_of(newest),
            today_row=grid.row_of(today),
            prices=PriceState.of(known.prices, grid, market),
            season=seasons.of(grid, market),
            drivers=drivers,
            stale_days=fresh.stale_days,
            covariates=fresh.descriptions(used),
            weather_runs=fresh.archive.weather_run_instants(used),
            ignored=tuple(sorted(set(known.covariates.series) - used)),
        )

    @property
    def issue_lag(self) -> int:
        """1 if all of tomorrow's prices are known, otherwise 0."""
        return min(max(self.newest_row - self.today_row, 0), 1)


@dataclass(frozen=True, slots=True)
class _FreshCovariates:
    """The covariates whose names the model knows and whose newest forecast is less than 7 days old.

    `issued` maps each covariate's name to the issue time of its newest forecast, in unix seconds. `far_names` holds the
    names of the covariates whose forecasts reach several days ahead.
    """

    as_of: int
    grid: DayGrid
    today_row: int
    archive: CovariateArchive
    issued: Mapping[str, int]
    far_names: frozenset[str]

    @classmethod
    def of(cls, known: KnownData, grid: DayGrid, today_row: int) -> Self:
        issues = {
            name: without_superseded_weather_runs(found, known.as_of)
            for name, found in sorted(known.covariates.series.items())
            if parse_quantity(name) is not None
        }
        newest = {name: ts for name in issues if (ts := newest_issue_instant(issues[name])) is not None}
        issued = {name: ts for name, ts in newest.items() if (known.as_of - ts) // DAY_S < _STALE_AFTER_DAYS}
        far_names = frozenset(name for name in issued if longest_reach_s(issues[name]) > NEXT_DAY_REACH_S)
        return cls(known.as_of, grid, today_row, CovariateArchive(issues), issued, far_names)

    @property
    def stale_days(self) -> int:
        """The whole days since the newest forecast of any covariate in `far_names`, or 0 if `far_names` is empty."""
        return min((self._age_days(name) for name in self.far_names), default=0)

    def far_vintages(self) -> Iterator[dict[str, Floats32]]:
        """For each group of `far_names` (see `grouped_covariate_names`), yield the vintages (issue days, ages, 24)."""
        for names in grouped_covariate_names(self.far_names):
            yield self._vintages(names, range(self.today_row + 1), is_far=True)

    def near_vintages(self) -> dict[str, Floats32]:
        """Return the next-day vintages (delivery days, 24) of the covariates in `issued` but not in `far_names`."""
        found = self._vintages(self.issued.keys() - self.far_names, range(self.today_row + 1), is_far=False)
        return {name: shifted_to_delivery_day(vintage[:, 0]) for name, vintage in found.items()}

    def descriptions(self, names: Iterable[str]) -> tuple[Covariate, ...]:
        today, far = range(self.today_row, self.today_row + 1), self.far_names.intersection(names)
        vintages = self._vintages(far, today, is_far=True) | self._vintages(set(names) - far, today, is_far=False)
        return tuple(self._description(name, vintages[name][0]) for name in sorted(vintages))

    def _vintages(self, names: Iterable[str], rows: range, *, is_far: bool) -> dict[str, Floats32]:
        """Return the vintages of the named covariates, each of shape (rows, ages, 24). The last row must be today's.

        If `is_far` is true and a covariate's newest forecast is more than `stale_days` whole days old, today's vintage
        is NaN, because an estimate from the other covariates is better than such an old forecast.
        """
        ages, stale_days = (WEEK_AGES, self.stale_days) if is_far else (NEXT_DAY_AGES, 0)
        instants = issue_instants(self.grid, self.as_of, self.today_row, stale_days)
        by_name = vintages_by_name(names, self.archive, VintageFrame.of(self.grid, instants, rows, ages))
        for name, vintage in by_name.items():
            if is_far and self._age_days(name) > self.stale_days:
                vintage[-1] = np.nan
        return by_name

    def _age_days(self, name: str) -> int:
        return (self.as_of - self.issued[name]) // DAY_S

    def _description(self, name: str, todays_vintage: Floats32) -> Covariate:
        """Describe a covariate whose vintage of today is `todays_vintage` (ages, 24)."""
        ages = WEEK_AGES if name in self.far_names else NEXT_DAY_AGES
        ahead = [(ages[age], hour) for age, hour in np.argwhere(np.isfinite(todays_vintage)).tolist() if ages[age] >= 1]
        last_age, last_hour = ahead[-1] if ahead else (0, 0)
        reaches_ts = int(self.grid.starts[self.today_row]) + last_age * DAY_S + last_hour * HOUR_S
        return Covariate(name, self.issued[name], reaches_ts, is_imputed=not ahead)


def newest_whole_day(prices: PriceSeries) -> date | None:
    """Return the newest delivery day with all prices known.

    If no price is known, or if each of the 14 days up to the newest known price is incomplete, return None.
    """
    newest = prices.newest_day
    if newest is None:
        return None
    days = (newest - timedelta(days=back) for back in range(_SEARCHED_DAYS))
    return next((day for day in days if prices.between(day_start(day), day_end(day)).is_whole), None)


def _first_priced_day(prices: PriceSeries) -> date:
    return delivery_day(next(iter(prices)))
