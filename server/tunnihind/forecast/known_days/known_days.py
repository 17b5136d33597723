"""Turns the known data into the inputs of a point model: prices, season, and fresh covariates."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.known import CovariateArchive, Known
from tunnihind.forecast.known_days.drivers import Drivers, by_delivery_day, make_drivers
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.price_state import PriceState
from tunnihind.forecast.known_days.quantities import quantity
from tunnihind.forecast.known_days.season import Season, SeasonCache
from tunnihind.forecast.known_days.vintages import (
    NEXT_DAY_AGES,
    NEXT_DAY_S,
    WEEK_AGES,
    Singles,
    VintageCache,
    issue_instants,
    newest_issue,
    reach_s,
    without_passing_runs,
)
from tunnihind.forecast.run import LEADS
from tunnihind.market import DAY_S, HOUR_S, Market, day_end, day_start, delivery_day
from tunnihind.price_series import PriceSeries

MOST_STALE_DAYS: Final = 7
"""The age in days at which weather forecasts are not used any more.

Such forecasts contain no information about the coming days.
"""
_LATE_DAYS: Final = 14
"""The number of days among which the newest complete day is searched."""


@dataclass(frozen=True, slots=True)
class Covariate:
    """A covariate that the model can read.

    The newest forecast of the covariate was issued at `issued_ts`. The last hour of this forecast begins at
    `reaches_ts`.
    """

    name: str
    issued_ts: int
    reaches_ts: int
    is_imputed: bool


@dataclass(frozen=True, slots=True)
class KnownDays:
    """The data known at an instant, on a grid of delivery days.

    `newest` is the row of the newest delivery day with all prices known. `today` is the row of the instant's delivery
    day. `stale_days` is the number of whole days since the newest weather forecast was issued. `weather_runs` holds the
    initialisation instants of the weather runs in use.
    """

    grid: DayGrid
    newest: int
    today: int
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
        known: Known,
        market: Market,
        first: date,
        newest: date,
        vintages: VintageCache,
        seasons: SeasonCache,
        fit_until: date,
    ) -> KnownDays | None:
        """Arrange the known data from day `first` on. Return None if no price is known before today.

        `newest` is the newest delivery day with all prices known. `vintages` and `seasons` keep results for later
        calls. Regressions on past covariates use the days up to `fit_until`.
        """
        today = delivery_day(known.as_of)
        first = max(first, _first_priced_day(known.prices.of(market.zone)))
        if today <= first:
            return None
        grid = DayGrid.between(first, max(newest, today) + timedelta(days=LEADS + 1))
        seen = _read_covariates(known, grid, grid.index(today), vintages)
        drivers = make_drivers(seen.far, seen.near, grid.index(today), grid.index(fit_until))
        used = {member for members in drivers.members.values() for member in members}
        return cls(
            grid=grid,
            newest=grid.index(newest),
            today=grid.index(today),
            prices=PriceState.of(known.prices, grid, market),
            season=seasons.of(grid, market),
            drivers=drivers,
            stale_days=seen.stale_days,
            covariates=tuple(one for one in seen.covariates if one.name in used),
            weather_runs=seen.archive.newest_runs(used),
            ignored=tuple(sorted(set(known.covariates.series) - used)),
        )

    @property
    def lag(self) -> int:
        """The number of days from today to the newest settled day.

        The lag is 0 before the auction and 1 after the auction.
        """
        return min(max(self.newest - self.today, 0), 1)


@dataclass(frozen=True, slots=True)
class _Seen:
    """Vintages by name: `far` (issue days, ages, 24) and `near` (delivery days, 24)."""

    far: dict[str, Singles]
    near: dict[str, Singles]
    stale_days: int
    covariates: list[Covariate]
    archive: CovariateArchive


def _read_covariates(known: Known, grid: DayGrid, today: int, vintages: VintageCache) -> _Seen:
    """Return the vintages of all readable covariates with a recent forecast."""
    issues = {
        name: without_passing_runs(found, known.as_of)
        for name, found in known.covariates.series.items()
        if quantity(name) is not None
    }
    newest = {name: ts for name in sorted(issues) if (ts := newest_issue(issues[name])) is not None}
    age_days = {name: (known.as_of - ts) // DAY_S for name, ts in newest.items()}
    read = [name for name, age in age_days.items() if age < MOST_STALE_DAYS]
    far_names = {name for name in read if reach_s(issues[name]) > NEXT_DAY_S}
    stale_days = min((age_days[name] for name in far_names), default=0)
    near_names = [name for name in read if name not in far_names]
    archive = CovariateArchive(issues)
    seen = _Seen({}, {}, stale_days, [], archive)
    for names, ages, stale in ((near_names, NEXT_DAY_AGES, 0), (sorted(far_names), WEEK_AGES, stale_days)):
        instants = issue_instants(grid, known.as_of, today, stale)
        for name, vintage in vintages.of(names, archive, grid, instants, ages, stale).items():
            if names is near_names:
                seen.near[name] = by_delivery_day(vintage[:, 0])
            else:
                if age_days[name] > stale_days:
                    vintage[today] = np.nan  # an estimate from other covariates is better than an old value
                seen.far[name] = vintage
            seen.covariates.append(_covariate(name, newest[name], vintage[today], ages, int(grid.starts[today])))
    seen.covariates.sort(key=lambda one: one.name)
    return seen


def newest_whole_day(prices: PriceSeries) -> date | None:
    """Return the newest delivery day whose prices are all known. Return None if the last 14 days have no such day."""
    newest = prices.newest_day
    for back in range(_LATE_DAYS if newest is not None else 0):
        day = newest - timedelta(days=back) if newest is not None else None
        if day is not None and prices.between(day_start(day), day_end(day)).is_whole:
            return day
    return None


def _first_priced_day(prices: PriceSeries) -> date:
    return delivery_day(next(iter(prices)))


def _covariate(name: str, issued_ts: int, today: Singles, ages: range, today_ts: int) -> Covariate:
    """Describe a covariate by today's vintage (ages, 24). Every day counts as 24 hours, even at a clock change."""
    ahead = [(ages[age], hour) for age, hour in np.argwhere(np.isfinite(today)).tolist() if ages[age] >= 1]
    last_age, last_hour = ahead[-1] if ahead else (0, 0)
    return Covariate(name, issued_ts, today_ts + last_age * DAY_S + last_hour * HOUR_S, is_imputed=not ahead)
