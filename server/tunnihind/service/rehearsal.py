"""The world as it was known on a past day, for `--as-of`: no network, nothing written to the store."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tunnihind.api.served_data import HISTORY_S, ServedData, as_issued, in_quarters, served, served_quarters
from tunnihind.baltic_weather import BalticWeather
from tunnihind.forecast.known import Archive, PriceHistory
from tunnihind.forecast.run import QuarterForecaster, Run, RunPair, issue_instant
from tunnihind.market import ESTONIA, HOUR_S, QUARTER_S, Limits, SeriesKey, delivery_day
from tunnihind.pipeline.history import needed_since
from tunnihind.pipeline.modelling import forecaster
from tunnihind.store.store import Store

BACKCAST_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Shows what was known at `instant` and at the instants that follow it, as far as the archive knows."""

    instant: int
    archive: Archive
    forecaster: QuarterForecaster
    earlier_runs: tuple[Run, ...]
    earlier_quarters: tuple[Run, ...]

    @classmethod
    def of(cls, store: Store, instant: int, limits: Limits = ESTONIA.limits) -> Rehearsal:
        """Prepare a rehearsal from the instant on. Raises StoreError."""
        model = forecaster(limits)  # the back-casts teach it what the first run needs
        archive = store.archive(needed_since(model, instant - HISTORY_S))
        archived, quarters = (
            store.runs.since(SeriesKey(ESTONIA.zone, step_s), instant - HISTORY_S, instant)
            for step_s in (HOUR_S, QUARTER_S)
        )
        missing = list(_missing(archive, archived, instant, model))
        earlier_runs = (*(runs.hours for runs in missing), *archived)
        return cls(instant, archive, model, earlier_runs, (*(runs.quarters for runs in missing), *quarters))

    def runs(self, at: int | None = None) -> RunPair | None:
        """Make the runs of an instant, by default the first."""
        return RunPair.made_by(self.forecaster, self.archive.as_of(self.instant if at is None else at))

    def prices(self, at: int | None = None) -> PriceHistory:
        """Return the prices known at an instant, by default the first."""
        return self.archive.prices.as_of(self.instant if at is None else at)

    def known_since(self, at: int) -> int | None:
        """Return when the newest of the prices known at an instant became known."""
        seen = self.archive.prices.known_ts[self.archive.prices.known_ts <= at]
        return int(seen[-1]) if seen.size else None

    def served_data(self, at: int, runs: tuple[RunPair, ...]) -> ServedData:
        """Return what was known at an instant; `runs` are those made in this rehearsal."""
        known_since, prices = self.known_since(at), self.prices(at)
        settled = served(prices.of(ESTONIA.zone), at)
        quarters = served_quarters(settled, prices.of(ESTONIA.zone, QUARTER_S))
        all_runs = (*self.earlier_runs, *(one.hours for one in runs))
        quarter_runs = (*self.earlier_quarters, *(one.quarters for one in runs))
        newest = runs[-1] if runs else None
        return ServedData(
            version=f"{known_since}-{newest.hours.made_at if newest else None}",
            settled=settled,
            quarters=quarters.prices,
            known_by_hour=quarters.known_by_hour,
            issued=as_issued(all_runs),
            issued_quarters=as_issued(in_quarters(all_runs, quarter_runs)),
            run=newest.hours if newest else None,
            quarter_run=newest.quarters if newest else None,
            scenarios=newest.scenarios if newest else None,
            weather=BalticWeather.of(self.archive.covariates, at),
            last_refresh=known_since,
        )


def _missing(archive: Archive, archived: Iterable[Run], instant: int, model: QuarterForecaster) -> Iterator[RunPair]:
    """Yield what is made once a day for the days that have no run in the store, enough for 14 days of past hours."""
    done = {delivery_day(run.made_at) for run in archived}
    for at in backcast_instants(instant):
        runs = None if delivery_day(at) in done else RunPair.made_by(model, archive.as_of(at))
        if runs is not None:
            yield runs


def backcast_instants(instant: int) -> Iterator[int]:
    """Yield when a server would have made a run on each of the days before an instant, oldest first."""
    today = datetime.fromtimestamp(instant, UTC).date()
    for back in range(BACKCAST_DAYS + 1, -1, -1):
        at = issue_instant(today - timedelta(days=back))
        if at < instant:
            yield at
