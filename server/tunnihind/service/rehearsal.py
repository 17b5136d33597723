"""Makes the served data of a rehearsal (`serve --as-of`) from stored data alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from tunnihind.api.served_data import (
    RUN_HISTORY_S,
    ServedData,
    issued_forecasts,
    runs_at_step,
    settled_series,
)
from tunnihind.core.market import HOUR_S, STEPS, Market, SeriesKey, delivery_day
from tunnihind.forecast.run import FullForecaster, Run, Runs, issue_instant
from tunnihind.known import Archive
from tunnihind.pipeline.history import needed_history_start
from tunnihind.pipeline.modelling import new_forecaster
from tunnihind.store.copying import ShowProgress
from tunnihind.store.store import Store
from tunnihind.web.weather import RegionWeather

_PAST_RUN_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The forecaster of one market for a rehearsal, and the data from which the market's answers are made.

    `archive` also holds data that became known after the rehearsal's start. `earlier_runs` maps each step in seconds to
    the stored and newly made runs that were issued up to the start. None of these runs was issued before the UTC day
    that is 15 days before the start.
    """

    archive: Archive
    forecaster: FullForecaster
    earlier_runs: Mapping[int, tuple[Run, ...]]

    @classmethod
    def of(
        cls,
        store: Store,
        instant: int,
        market: Market,
        archive: Archive | None = None,
        show: ShowProgress = lambda *_: None,
    ) -> Rehearsal:
        """Collect a market's data for a rehearsal that starts at `instant`, and make missing runs. Raises StoreError.

        Several markets can share one `archive`. If `archive` is None, it is read from the store. `show` is told of each
        run.
        """
        # One forecaster makes all new runs, because a forecaster keeps what it has learnt.
        model = new_forecaster(market)
        since = instant - RUN_HISTORY_S
        archive = archive or store.read_archive(needed_history_start(model, since))
        archived = {step_s: store.runs.made_since(SeriesKey(market.zone, step_s), since, instant) for step_s in STEPS}
        missing = list(_missing_runs(archive, archived[HOUR_S], instant, model, show))
        earlier = {step_s: (*(runs.by_step[step_s] for runs in missing), *archived[step_s]) for step_s in STEPS}
        return cls(archive, model, earlier)

    def make_runs(self, at: int) -> Runs | None:
        """Make the runs and scenarios from the data that were known at `at`.

        If no price of the market's zone was known, or if the newest was for a day more than 7 days ago, return None.
        """
        return Runs.made_by(self.forecaster, self.archive.as_of(at))

    def weather_at(self, at: int) -> RegionWeather | None:
        """Return the forecast of wind and sun known at `at` (see `RegionWeather.of`), or None if there is none."""
        return RegionWeather.of(self.archive.covariates, self.forecaster.market, at)

    def newest_price_arrival_ts(self, at: int) -> int | None:
        """Return the newest instant, up to `at`, at which a price of any zone became known.

        If no price was known, return None.
        """
        seen = self.archive.prices.known_ts[self.archive.prices.known_ts <= at]
        return int(seen[-1]) if seen.size else None

    def served_data(self, at: int, runs: tuple[Runs, ...]) -> ServedData:
        """Return the data to serve at `at`. `runs` lists the runs made since the rehearsal's start, oldest first."""
        market, prices = self.forecaster.market, self.archive.prices.as_of(at)
        known_ts = self.newest_price_arrival_ts(at)
        newest = runs[-1] if runs else None
        by_step = {
            step_s: (*earlier, *(one.by_step[step_s] for one in runs)) for step_s, earlier in self.earlier_runs.items()
        }
        return ServedData(
            version=f"{known_ts}-{newest.hours.made_at if newest else None}",
            market=market,
            series={
                step_s: replace(
                    settled_series(prices, market.zone, step_s, at),
                    issued=issued_forecasts(runs_at_step(by_step[HOUR_S], kept, step_s)),
                    run=newest.by_step[step_s] if newest else None,
                )
                for step_s, kept in by_step.items()
            },
            scenarios=newest.scenarios if newest else None,
            last_refresh=known_ts,
        )


def _missing_runs(
    archive: Archive, archived: Iterable[Run], instant: int, model: FullForecaster, show: ShowProgress
) -> Iterator[Runs]:
    """Make a run at each of the `daily_issue_instants`, except on delivery days on which a stored run was issued.

    The runs are made so that answers contain past forecasts. Instants at which no run can be made are left out.
    """
    done = {delivery_day(run.made_at) for run in archived}
    instants = [*daily_issue_instants(instant)]
    for number, at in enumerate(instants, start=1):
        runs = None if delivery_day(at) in done else Runs.made_by(model, archive.as_of(at))
        if runs is not None:
            yield runs
        show(f"making past forecasts for {model.market.code}", number, len(instants))


def daily_issue_instants(instant: int) -> Iterator[int]:
    """Yield the instants of 09:00 UTC on the UTC day of `instant` and on the 15 days before, oldest first.

    Only instants before `instant` are yielded.
    """
    today = datetime.fromtimestamp(instant, UTC).date()
    for back in range(_PAST_RUN_DAYS + 1, -1, -1):
        at = issue_instant(today - timedelta(days=back))
        if at < instant:
            yield at
