"""From what is known to what the model looks at: which covariates it can use, how fresh and far-reaching they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.daily import DayGrid
from tunnihind.forecast.intervals import LEADS
from tunnihind.forecast.model.drivers import MIN_ISSUE_DAYS, Drivers, make_drivers
from tunnihind.forecast.model.inputs import FarDriver, Inputs
from tunnihind.forecast.model.next_day import NextDayScale, usable
from tunnihind.forecast.model.price_state import PriceState
from tunnihind.forecast.model.quantities import quantity
from tunnihind.forecast.model.replay import era_start, history_start
from tunnihind.forecast.model.season import Season
from tunnihind.forecast.model.vintage_book import VintageBook
from tunnihind.forecast.model.vintages import (
    NEXT_DAY_AGES,
    NEXT_DAY_S,
    WEEK_AGES,
    Singles,
    issue_instants,
    newest_issue,
    reach_s,
)
from tunnihind.known import Floats, Known, PriceHistory
from tunnihind.market import DAY_S, HOUR_S, day_end, day_start, delivery_day

MOST_STALE_DAYS: Final = 7
"""Weather that is older says nothing about the days to come."""
_LATE_DAYS: Final = 14
"""How far back the newest whole day is looked for."""


@dataclass(frozen=True, slots=True)
class Covariate:
    """One covariate that the model can read: when its newest forecast was issued, and the last hour it is known for."""

    name: str
    issued_ts: int
    reaches_ts: int
    is_imputed: bool


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known, ready for the model.

    `newest` is the row of the newest delivery day whose Estonian prices are all known, `today` that of `as_of`;
    `stale_days` the whole days since the newest weather was issued. `season` and `prices` are laid on `grid`.
    """

    grid: DayGrid
    newest: int
    today: int
    era_row: int
    prices: PriceState
    season: Season
    drivers: Drivers
    stale_days: int
    covariates: tuple[Covariate, ...]
    ignored: tuple[str, ...]

    @property
    def lag(self) -> int:
        """By how many days the newest settled day is past today: 0 before the auction and 1 after it."""
        return min(max(self.newest - self.today, 0), 1)

    def inputs(self, lag: int) -> Inputs:
        """Return the inputs of models whose newest settled day is `lag` days past the day of issue.

        A driver that is not known for the first day to forecast is left out: a model that leans on it would go astray.
        """
        far = {name: values for name, values in self.drivers.far.items() if self._knows_next_day(values)}
        target = self.today + 1
        near = {name: v for name, v in self.drivers.near.items() if lag == 0 and np.isfinite(v[target]).all()}
        near = near if usable(frozenset(near)) else {}
        return Inputs(
            grid=self.grid,
            prices=self.prices,
            season=self.season,
            lag=lag if far else 0,  # without weather of that age there is nothing for it to tell apart
            far={name: FarDriver.of(values) for name, values in far.items()},
            near=near,
            scale=NextDayScale.fitted(self._until_frozen(near)) if near else None,
        )

    def _knows_next_day(self, values: Floats) -> bool:
        return bool(np.isfinite(values[self.today, 2]).sum() > 0)

    def _until_frozen(self, near: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the drivers up to the era's start, or to where enough days of each are known."""
        known = np.isfinite(np.stack(list(near.values()))).all(axis=(0, 2))
        enough = int(np.argmax(known)) + MIN_ISSUE_DAYS
        return {name: values[: max(self.era_row, enough) + 1] for name, values in near.items()}


class Eyes:
    """Sees what is known; remembers how the covariates of past days looked."""

    def __init__(self) -> None:
        self._vintages = VintageBook()

    def see(self, known: Known) -> Sight | None:
        """Return what the model can look at; None where no recent Estonian day is known whole."""
        newest, today = newest_whole_day(known.prices), delivery_day(known.as_of)
        if newest is None:
            return None
        first = max(history_start(newest), _first_priced_day(known.prices))
        if today <= first:
            return None
        grid = DayGrid.between(first, max(newest, today) + timedelta(days=LEADS + 1))
        seen = self._covariates(known, grid, grid.index(today))
        drivers = make_drivers(seen.far, seen.near)
        used = {member for members in drivers.members.values() for member in members}
        return Sight(
            grid=grid,
            newest=grid.index(newest),
            today=grid.index(today),
            era_row=grid.index(era_start(newest)),
            prices=PriceState.of(known.prices, grid),
            season=Season.of(grid),
            drivers=drivers,
            stale_days=seen.stale_days,
            covariates=tuple(one for one in seen.covariates if one.name in used),
            ignored=tuple(sorted(set(known.covariates.series) - used)),
        )

    def _covariates(self, known: Known, grid: DayGrid, today: int) -> _Seen:
        """Return the vintages of all covariates that the model can read and that are not too old."""
        issues = {name: found for name, found in known.covariates.series.items() if quantity(name) is not None}
        newest = {name: ts for name in sorted(issues) if (ts := newest_issue(issues[name])) is not None}
        age_days = {name: (known.as_of - ts) // DAY_S for name, ts in newest.items()}
        read = [name for name, age in age_days.items() if age < MOST_STALE_DAYS]
        far_names = {name for name in read if reach_s(issues[name]) > NEXT_DAY_S}
        stale_days = min((age_days[name] for name in far_names), default=0)
        seen = _Seen({}, {}, stale_days, [])
        for name in read:
            is_near = name not in far_names
            stale, ages = (0, NEXT_DAY_AGES) if is_near else (stale_days, WEEK_AGES)
            instants = issue_instants(grid, known.as_of, today, stale)
            vintage = self._vintages.of(name, known.covariates, grid, instants, ages, stale)
            if not is_near and age_days[name] > stale_days:
                vintage[today] = np.nan  # silent while others speak: better imputed from these than old
            if is_near:
                seen.near[name] = by_delivery_day(vintage)
            else:
                seen.far[name] = vintage
            seen.covariates.append(_covariate(name, newest[name], vintage[today], ages, int(grid.starts[today])))
        return seen


@dataclass(frozen=True, slots=True)
class _Seen:
    """Vintages by name, `far` (issue days, ages, 24) and `near` (delivery days, 24)."""

    far: dict[str, Singles]
    near: dict[str, Singles]
    stale_days: int
    covariates: list[Covariate]


def newest_whole_day(prices: PriceHistory) -> date | None:
    """Return the newest delivery day whose Estonian prices are all known, None where there is none of late."""
    newest = prices.newest_settled_day()
    for back in range(_LATE_DAYS if newest is not None else 0):
        day = newest - timedelta(days=back) if newest is not None else None
        if day is not None and not np.isnan(prices.between("ee", day_start(day), day_end(day))).any():
            return day
    return None


def by_delivery_day(vintage: Singles) -> Singles:
    """Return next-day forecasts by the day that they are of: (issue days, 1, 24) -> (issue days + 1, 24)."""
    return np.concatenate([np.full((1, vintage.shape[-1]), np.nan, np.float32), vintage[:, 0]])


def _first_priced_day(prices: PriceHistory) -> date:
    known = np.flatnonzero(~np.isnan(prices.of("ee")))
    return delivery_day(prices.start_ts + int(known[0]) * HOUR_S)


def _covariate(name: str, issued_ts: int, today: Singles, ages: range, today_ts: int) -> Covariate:
    """Describe a covariate by today's vintage (ages, 24); the hours of DST days are counted as 24."""
    ahead = [(ages[age], hour) for age, hour in np.argwhere(np.isfinite(today)).tolist() if ages[age] >= 1]
    last_age, last_hour = ahead[-1] if ahead else (0, 0)
    return Covariate(name, issued_ts, today_ts + last_age * DAY_S + last_hour * HOUR_S, is_imputed=not ahead)
