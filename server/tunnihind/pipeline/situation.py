"""Collects the facts that decide which of the pipeline's tasks are due, most of them from the store."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta

from tunnihind.core.market import HOUR_S, Market, SeriesKey, Zone, day_end, day_start, delivery_day
from tunnihind.pipeline.back_fill import FORECAST_WANTED_KEY, missing_parts, missing_years, next_part_at
from tunnihind.pipeline.schedule import (
    CATCH_UP_DAYS,
    CORRECTION_DAYS,
    CovariateSourceSituation,
    Situation,
    Task,
    Tries,
    ZoneSituation,
    next_delivery_day,
)
from tunnihind.pipeline.settler import RETRY_HELD_FOR_DAYS
from tunnihind.price_series import PriceSeries
from tunnihind.sources.base import CovariateSource, ObservationSource, days_between
from tunnihind.store.rows import Instant
from tunnihind.store.store import Store


def read_situation(
    store: Store,
    markets: Sequence[Market],
    covariate_sources: Sequence[CovariateSource],
    history_start: date,
    models: Mapping[Zone, str],
    tries: Mapping[Task, Tries],
    now: int,
    put_off: Collection[tuple[str, date]] = (),
    blocked: Collection[Task] = (),
    observation_sources: Sequence[ObservationSource] = (),
) -> Situation:
    """Read the facts that decide which tasks are due at `now`. Raises StoreError.

    The back-fill fetches no data from before `history_start`. `models` maps each zone to the identity of the zone's
    model. `put_off` contains (name of a source, day) for each day that the back-fill skips now. The tasks in `blocked`
    must not begin now.
    """
    today = delivery_day(now)
    held = store.witnesses.held_back()
    unconfirmed = {zone for zone, _ in store.unconfirmed_days(day_start(today))}
    recent = today - timedelta(days=CATCH_UP_DAYS)
    zones = tuple(market.zone for market in markets)
    settled = store.prices.read_archive(day_start(recent), zones=zones).newest_versions()

    def of_zone(zone: Zone) -> ZoneSituation:
        own = {case.day for case in held if case.zone == zone}
        run = store.runs.newest(SeriesKey(zone, HOUR_S), now)
        excused = own - {today, next_delivery_day(now)}
        return ZoneSituation(
            settled_through=last_day_before_gap(settled.series_of(zone), recent, next_delivery_day(now), excused),
            run_made_at=None if run is None else run.made_at,
            scored_ts=store.backtests.scored_at(models[zone], zone),
            is_in_doubt=any(day >= today for day in own) or zone in unconfirmed,
        )

    return Situation(
        markets[0],
        {zone: of_zone(zone) for zone in zones},
        prices_changed_ts=store.state.prices_changed_at(),
        forecast_wanted_ts=store.state.read(FORECAST_WANTED_KEY, Instant),
        held_days=_days_to_retry((case.day for case in held), today),
        missing_years=missing_years(store.state, history_start.year, now),
        covariates={
            source.name: CovariateSourceSituation(
                source.cadence,
                tuple(
                    part
                    for part in missing_parts(store.state, source, history_start, now)
                    if (source.name, part) not in put_off
                ),
                next_part_at(store.state, source, now),
                has_forecasts=source in covariate_sources,
            )
            for source in (*covariate_sources, *observation_sources)
        },
        tries=tries,
        blocked=blocked,
    )


def last_day_before_gap(settled: PriceSeries, first: date, last: date, excused: Iterable[date] = ()) -> date | None:
    """Return the newest delivery day before the first gap in the settled prices of the days from `first` to `last`.

    A day with missing prices is not a gap if the day is in `excused`, or comes before the first complete day. If no day
    is complete, return None. If no gap follows the first complete day, return `last`.
    """
    through: date | None = None
    for day in days_between(first, last):
        if settled.between(day_start(day), day_end(day)).is_whole or (through is not None and day in excused):
            through = day
        elif through is not None:
            break
    return through


def _days_to_retry(held: Iterable[date], today: date) -> tuple[date, ...]:
    """Return the days in `held` that the task `TaskKind.HELD_DAYS` requests, oldest first.

    The last `CORRECTION_DAYS` days before `today`, and later days, are left out, because ordinary requests for prices
    cover them. Days that are more than `RETRY_HELD_FOR_DAYS` days old are not requested again.
    """
    oldest, youngest = today - timedelta(days=RETRY_HELD_FOR_DAYS), today - timedelta(days=CORRECTION_DAYS + 1)
    return tuple(sorted({day for day in held if oldest <= day <= youngest}))
