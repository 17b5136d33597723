"""What was known at an instant: prices with their publication time, covariates as they were issued.

The store fills these archives, the forecast reads them through `as_of` and can see nothing newer.
All instants are integer unix seconds UTC, prices EUR/MWh without VAT, unknown values NaN.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.market import HOUR_S, QUARTER_S, ZONES, Zone, delivery_day, floor_hour

type Floats = NDArray[np.float64]
type Instants = NDArray[np.int64]

_QUARTERS_PER_HOUR: Final = HOUR_S // QUARTER_S


class KnownPrice(NamedTuple):
    """One version of one price: an hour's or a quarter's, told apart by `step_s`."""

    zone: Zone
    ts: int
    step_s: int
    known_ts: int
    eur_mwh: float


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """Hourly prices as known at an instant: an hour exists when it is whole, from quarters or as an hour.

    `hourly` has shape (zones, hours) in the order of `ZONES`; column 0 is the hour at `start_ts`.
    """

    as_of: int
    start_ts: int
    hourly: Floats

    def of(self, zone: Zone) -> Floats:
        """Return one zone's hours, shape (hours,), EUR/MWh."""
        row: Floats = self.hourly[ZONES.index(zone)]
        return row

    def between(self, zone: Zone, start_ts: int, end_ts: int) -> Floats:
        """Return the hours of [start_ts, end_ts), NaN where unknown or outside the history."""
        hours = max(0, (end_ts - start_ts) // HOUR_S)
        window = np.full(hours, np.nan)
        offset = (start_ts - self.start_ts) // HOUR_S
        low, high = max(0, offset), min(self.hourly.shape[1], offset + hours)
        if low < high:
            window[low - offset : high - offset] = self.of(zone)[low:high]
        return window

    def settled(self, zone: Zone = "ee") -> dict[int, float]:
        """Return the known hours by their start."""
        prices = self.of(zone)
        known = np.flatnonzero(~np.isnan(prices))
        return {self.start_ts + int(i) * HOUR_S: float(prices[i]) for i in known}

    def newest_settled_hour(self, zone: Zone = "ee") -> int | None:
        """Return the start of the latest known hour, None where nothing is known."""
        known = np.flatnonzero(~np.isnan(self.of(zone)))
        return self.start_ts + int(known[-1]) * HOUR_S if known.size else None

    def newest_settled_day(self, zone: Zone = "ee") -> date | None:
        """Return the delivery day of the latest known hour."""
        newest = self.newest_settled_hour(zone)
        return None if newest is None else delivery_day(newest)


@dataclass(frozen=True, slots=True)
class PriceArchive:
    """Every version of every price, in the order in which they became known; all arrays of one length."""

    zone: NDArray[np.int8]
    ts: Instants
    step_s: NDArray[np.int32]
    known_ts: Instants
    eur_mwh: Floats

    @classmethod
    def of(cls, prices: Iterable[KnownPrice]) -> Self:
        """Build the archive; of two versions known at one instant the one given later wins."""
        rows = sorted(prices, key=lambda price: price.known_ts)
        return cls(
            zone=np.array([ZONES.index(row.zone) for row in rows], np.int8),
            ts=np.array([row.ts for row in rows], np.int64),
            step_s=np.array([row.step_s for row in rows], np.int32),
            known_ts=np.array([row.known_ts for row in rows], np.int64),
            eur_mwh=np.array([row.eur_mwh for row in rows], np.float64),
        )

    def as_of(self, instant: int) -> PriceHistory:
        """Return the hourly prices known at `instant`, the newest version of each."""
        seen = int(np.searchsorted(self.known_ts, instant, side="right"))
        if seen == 0:
            return PriceHistory(instant, floor_hour(instant), np.full((len(ZONES), 0), np.nan))
        start = floor_hour(int(self.ts[:seen].min()))
        hours = (floor_hour(int(self.ts[:seen].max())) - start) // HOUR_S + 1
        by_hour = self._grid(seen, start, hours, HOUR_S)
        by_quarter = self._grid(seen, start, hours * _QUARTERS_PER_HOUR, QUARTER_S)
        # Summed by hand: numpy's mean over an axis of four takes eight times as long.
        first, second, third, fourth = (by_quarter[:, n::_QUARTERS_PER_HOUR] for n in range(_QUARTERS_PER_HOUR))
        means = (first + second + third + fourth) / _QUARTERS_PER_HOUR
        return PriceHistory(instant, start, np.where(np.isnan(means), by_hour, means))

    def everything(self) -> PriceHistory:
        """Return the newest version of every price, whatever the clock says."""
        return self.as_of(int(self.known_ts[-1]) if self.known_ts.size else 0)

    def _grid(self, seen: int, start_ts: int, periods: int, step_s: int) -> Floats:
        """Lay the versions of one step on a (zones, periods) grid; later versions overwrite earlier ones."""
        grid = np.full((len(ZONES), periods), np.nan)
        rows = np.flatnonzero(self.step_s[:seen] == step_s)
        grid[self.zone[rows], (self.ts[rows] - start_ts) // step_s] = self.eur_mwh[rows]
        return grid


@dataclass(frozen=True, slots=True)
class IssuedSeries:
    """A covariate's hourly values as they were forecast.

    With `lead_s` 0 all values were issued together at `issued_ts`. Otherwise (the Previous Runs of a weather
    service) each was issued `lead_s` before its own hour, and `issued_ts` is the first one's issue.
    `values` has shape (hours,), the first for the hour at `start_ts`.
    """

    issued_ts: int
    start_ts: int
    values: NDArray[np.float32]
    lead_s: int = 0


@dataclass(frozen=True, slots=True)
class CovariateArchive:
    """Covariates by name, `<variable>@<point>` or `<zone>_<load|wind|solar>[_da]_mw`, oldest issue first."""

    series: Mapping[str, tuple[IssuedSeries, ...]] = field(default_factory=dict)

    def as_of(self, instant: int) -> CovariateArchive:
        """Return what had been issued at `instant`."""
        seen = {name: tuple(_issued_until(instant, issues)) for name, issues in self.series.items()}
        return CovariateArchive({name: issues for name, issues in seen.items() if issues})


def _issued_until(instant: int, issues: Iterable[IssuedSeries]) -> Iterable[IssuedSeries]:
    for issue in issues:
        if issue.issued_ts > instant:
            continue
        if issue.lead_s == 0:
            yield issue
            continue
        hours = (instant + issue.lead_s - issue.start_ts) // HOUR_S + 1
        if hours >= issue.values.size:
            yield issue
            continue
        yield IssuedSeries(issue.issued_ts, issue.start_ts, issue.values[:hours], issue.lead_s)


@dataclass(frozen=True, slots=True)
class Known:
    """All that a forecast may look at."""

    as_of: int
    prices: PriceHistory
    covariates: CovariateArchive


@dataclass(frozen=True, slots=True)
class Archive:
    """All that has ever become known, to be looked at as of any instant."""

    prices: PriceArchive
    covariates: CovariateArchive

    def as_of(self, instant: int) -> Known:
        """Return the world as it was known at `instant`."""
        return Known(instant, self.prices.as_of(instant), self.covariates.as_of(instant))
