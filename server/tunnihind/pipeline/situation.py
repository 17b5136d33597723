"""Reads from the store what decides which tasks are due."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta

from tunnihind.market import HOUR_S, Market, SeriesKey, day_end, day_start, delivery_day
from tunnihind.pipeline.back_fill import FILLED_UP, missing_parts, missing_years, next_part_at
from tunnihind.pipeline.schedule import (
    CATCH_UP_DAYS,
    CORRECTION_DAYS,
    CovariateNeeds,
    Situation,
    Task,
    Tries,
    next_day,
)
from tunnihind.price_series import PriceSeries
from tunnihind.settling.settling import HELD_DAYS
from tunnihind.sources.base import CovariateSource
from tunnihind.store.rows import Instant
from tunnihind.store.store import Store


def read_situation(
    store: Store,
    market: Market,
    covariate_sources: Sequence[CovariateSource],
    history_start: date,
    model: str,
    tries: Mapping[Task, Tries],
    now: int,
    put_off: Collection[tuple[str, date]] = (),
    under_way: Collection[Task] = (),
) -> Situation:
    """Return the situation at `now`, for a history from `history_start` on and the scores of `model`.

    Parts of a source's history that are `put_off` are not to be filled now. Tasks that are `under_way` are not due.
    Raises StoreError.
    """
    today = delivery_day(now)
    held = store.witnesses.held()
    own = {case.day for case in held if case.zone == market.zone}
    excused = own - {today, next_day(now)}
    unconfirmed = store.unconfirmed(day_start(today))
    recent = today - timedelta(days=CATCH_UP_DAYS)
    settled = store.prices.archive(day_start(recent), zones=(market.zone,)).everything().of(market.zone)
    run = store.runs.newest(SeriesKey(market.zone, HOUR_S), now)
    return Situation(
        market,
        settled_through=settled_through(settled, recent, next_day(now), excused),
        stored_ts=store.state.prices_stored_at(),
        filled_up_ts=store.state.read(FILLED_UP, Instant),
        run_made_at=None if run is None else run.made_at,
        scored_ts=store.backtests.scored_at(model, market.zone),
        held_days=_to_retry((case.day for case in held), today),
        is_in_doubt=any(day >= today for day in own) or market.zone in {zone for zone, _ in unconfirmed},
        missing_years=missing_years(store.state, history_start.year, now),
        covariates={
            source.name: CovariateNeeds(
                source.cadence,
                tuple(
                    part
                    for part in missing_parts(store.state, source, history_start, now)
                    if (source.name, part) not in put_off
                ),
                next_part_at(store.state, source, now),
            )
            for source in covariate_sources
        },
        tries=tries,
        under_way=under_way,
    )


def settled_through(settled: PriceSeries, first: date, last: date, excused: Iterable[date] = ()) -> date | None:
    """Return the last day of the first stretch of whole days; `excused` days within it need not be whole."""
    through: date | None = None
    for offset in range((last - first).days + 1):
        day = first + timedelta(days=offset)
        if settled.between(day_start(day), day_end(day)).is_whole or (through is not None and day in excused):
            through = day
        elif through is not None:
            break
    return through


def _to_retry(held: Iterable[date], today: date) -> tuple[date, ...]:
    """Return the held days that the ordinary questions leave out and that are not too old."""
    oldest, youngest = today - timedelta(days=HELD_DAYS), today - timedelta(days=CORRECTION_DAYS + 1)
    return tuple(sorted({day for day in held if oldest <= day <= youngest}))
