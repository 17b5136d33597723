"""Archives of prices, covariates and observations, and the data in them that were known at an instant.

A forecast gets all its data from a `KnownData`. `Archive.as_of` makes the `KnownData`, and leaves out all data that
became known after the given instant. All instants are integers in unix seconds, UTC. Prices are in EUR/MWh without VAT.
Unknown values are NaN.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import HOUR_S, STEPS, ZONES, SeriesKey, Zone, floor_hour
from tunnihind.price_series import PriceSeries

type Floats = NDArray[np.float64]
type Instants = NDArray[np.int64]

_NEWEST_WEATHER_RUNS: Final = 4
"""For each covariate, `weather_run_instants` looks at this many of the newest weather runs.

A day has four weather runs. Those of 00 and 12 UTC reach further ahead than the other two, so an older weather run may
be in use beside the newest.
"""


class KnownPrice(NamedTuple):
    """One version of a period's price. The period begins at `ts` and lasts `step_s` seconds."""

    zone: Zone
    ts: int
    step_s: int
    known_ts: int
    eur_mwh: float


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """The prices known at an instant, by zone and step.

    A period has a price if its own price was known, or the prices of all its parts at the next shorter step. So a
    quarter has a price only if its own price was known.
    """

    as_of: int
    series: Mapping[SeriesKey, PriceSeries]

    def series_of(self, zone: Zone, step_s: int = HOUR_S) -> PriceSeries:
        """Return one zone's prices at one step, by default hourly. If none is known, the series has length 0."""
        found = self.series.get(SeriesKey(zone, step_s))
        return PriceSeries(zone, step_s, floor_hour(self.as_of), np.empty(0)) if found is None else found


@dataclass(frozen=True, slots=True)
class PriceArchive:
    """Versions of prices, sorted by `known_ts`, the instant at which a version became known.

    Each array holds one value for each version. `zone` holds the index in `ZONES` of each version's zone.
    """

    zone: NDArray[np.int8]
    ts: Instants
    step_s: NDArray[np.int32]
    known_ts: Instants
    eur_mwh: Floats

    @classmethod
    def of(cls, prices: Iterable[KnownPrice]) -> Self:
        """Build the archive. If two versions of a price have the same `known_ts`, the later one in `prices` counts."""
        rows = sorted(prices, key=lambda price: price.known_ts)
        return cls(
            zone=np.array([ZONES.index(row.zone) for row in rows], np.int8),
            ts=np.array([row.ts for row in rows], np.int64),
            step_s=np.array([row.step_s for row in rows], np.int32),
            known_ts=np.array([row.known_ts for row in rows], np.int64),
            eur_mwh=np.array([row.eur_mwh for row in rows], np.float64),
        )

    def as_of(self, instant: int) -> PriceHistory:
        """For each price, return the newest version that was known at `instant`.

        If the prices of all parts of a period are known, the period's price is their mean.
        """
        seen = int(np.searchsorted(self.known_ts, instant, side="right"))
        if seen == 0:
            return PriceHistory(instant, {})
        start = floor_hour(int(self.ts[:seen].min()))
        end = floor_hour(int(self.ts[:seen].max())) + HOUR_S
        series = {one.key: one for step_s in STEPS for one in self._series_of_all_zones(seen, start, end, step_s)}
        for step_s, longer_s in pairwise(sorted(STEPS)):
            for zone in ZONES:
                longer = SeriesKey(zone, longer_s)
                series[longer] = _gap_filled_prices(series[SeriesKey(zone, step_s)].means(longer_s), series[longer])
        return PriceHistory(instant, series)

    def newest_versions(self) -> PriceHistory:
        """Return the newest version of every price, whenever the version became known."""
        return self.as_of(int(self.known_ts[-1]) if self.known_ts.size else 0)

    def _series_of_all_zones(self, seen: int, start_ts: int, end_ts: int, step_s: int) -> Iterator[PriceSeries]:
        """Yield each zone's prices at one step from `start_ts` until `end_ts`.

        Only the first `seen` versions are used. If a price has two versions, the newer one counts.
        """
        grid = np.full((len(ZONES), (end_ts - start_ts) // step_s), np.nan)
        rows = np.flatnonzero(self.step_s[:seen] == step_s)
        grid[self.zone[rows], (self.ts[rows] - start_ts) // step_s] = self.eur_mwh[rows]
        return (PriceSeries(zone, step_s, start_ts, row) for zone, row in zip(ZONES, grid, strict=True))


def _gap_filled_prices(prices: PriceSeries, fallback: PriceSeries) -> PriceSeries:
    filled = np.where(np.isnan(prices.eur_mwh), fallback.eur_mwh, prices.eur_mwh)
    return PriceSeries(prices.zone, prices.step_s, prices.start_ts, filled)


@dataclass(frozen=True, slots=True)
class IssuedSeries:
    """A covariate's hourly forecast, issued at `issued_ts`.

    `values` has shape (hours,). The first value belongs to the hour that begins at `start_ts`. `run_ts` is the instant
    at which the weather run was initialised. If the weather run is unknown, or if no weather model made the values,
    `run_ts` is None.
    """

    issued_ts: int
    start_ts: int
    values: NDArray[np.float32]
    run_ts: int | None = None


@dataclass(frozen=True, slots=True)
class CovariateArchive:
    """The issued forecasts of covariates. `series` maps a covariate's name to its forecasts, oldest first.

    `known_days.quantities` describes the names that the model knows.
    """

    series: Mapping[str, tuple[IssuedSeries, ...]] = field(default_factory=dict)

    def as_of(self, instant: int) -> CovariateArchive:
        """Return the forecasts issued at or before `instant`."""
        seen = {name: forecasts_issued_until(instant, issues) for name, issues in self.series.items()}
        return CovariateArchive({name: issues for name, issues in seen.items() if issues})

    def newest_values(self, name: str, start_ts: int, hours: int, issued_since: int, issued_until: int) -> Floats:
        """For each hour, return the newest value that was issued from `issued_since` to `issued_until`, both included.

        The result has shape (hours,). The first hour begins at `start_ts`. Hours without such a value are NaN.
        """
        values = np.full(hours, np.nan)
        for issue in self.series.get(name, ()):
            offset = (issue.start_ts - start_ts) // HOUR_S
            low, high = max(0, -offset), min(issue.values.size, hours - offset)
            if low < high and issued_since <= issue.issued_ts <= issued_until:
                part = issue.values[low:high]
                np.copyto(values[offset + low : offset + high], part, where=np.isfinite(part))
        return values

    def weather_run_instants(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the instants at which the weather runs in use were initialised, newest first.

        A weather run is in use if, for a covariate in `names`, it is one of the four newest weather runs and reaches
        further ahead than every newer weather run.
        """
        found: set[int] = set()
        for name in names:
            until = 0
            runs = (issue for issue in self.series.get(name, ()) if issue.run_ts is not None)
            for issue in sorted(runs, key=lambda issue: issue.issued_ts, reverse=True)[:_NEWEST_WEATHER_RUNS]:
                end_ts = issue.start_ts + issue.values.size * HOUR_S
                if end_ts > until and issue.run_ts is not None:
                    found.add(issue.run_ts)
                    until = end_ts
        return tuple(sorted(found, reverse=True))


def forecasts_issued_until(instant: int, issues: Iterable[IssuedSeries]) -> tuple[IssuedSeries, ...]:
    """Return the forecasts issued at or before `instant`."""
    return tuple(issue for issue in issues if issue.issued_ts <= instant)


@dataclass(frozen=True, slots=True)
class ObservedSeries:
    """A covariate's hourly observations. The first value belongs to the hour that begins at `start_ts`.

    `values` has shape (hours,). Hours without an observation are NaN.
    """

    start_ts: int
    values: NDArray[np.float32]

    def between(self, start_ts: int, hours: int) -> NDArray[np.float32]:
        """Return the values of `hours` hours from `start_ts` on, shape (hours,)."""
        out = np.full(hours, np.nan, np.float32)
        offset = (self.start_ts - start_ts) // HOUR_S
        low, high = max(0, -offset), min(self.values.size, hours - offset)
        if low < high:
            out[offset + low : offset + high] = self.values[low:high]
        return out


@dataclass(frozen=True, slots=True)
class ObservationArchive:
    """The observations of covariates. `series` maps a covariate's name to its observations.

    An observation counts as known from the end of its hour on, whenever it was fetched or imported.
    """

    series: Mapping[str, ObservedSeries] = field(default_factory=dict)

    def as_of(self, instant: int) -> ObservationArchive:
        """Return the observations of the hours that had ended by `instant`."""
        return ObservationArchive(
            {
                name: ObservedSeries(one.start_ts, one.values[: max(0, (instant - one.start_ts) // HOUR_S)])
                for name, one in self.series.items()
            }
        )


@dataclass(frozen=True, slots=True)
class KnownData:
    """The data known at the instant `as_of`: all that a forecast made at `as_of` may use."""

    as_of: int
    prices: PriceHistory
    covariates: CovariateArchive
    observations: ObservationArchive = field(default_factory=ObservationArchive)


@dataclass(frozen=True, slots=True)
class Archive:
    """Prices, covariates and observations, with the instants at which they became known."""

    prices: PriceArchive
    covariates: CovariateArchive
    observations: ObservationArchive = field(default_factory=ObservationArchive)

    def as_of(self, instant: int) -> KnownData:
        """Return the data that were known at `instant`."""
        prices, covariates = self.prices.as_of(instant), self.covariates.as_of(instant)
        return KnownData(instant, prices, covariates, self.observations.as_of(instant))
