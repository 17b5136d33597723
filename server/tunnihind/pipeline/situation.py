"""Reads from the store where the pipeline stands."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from tunnihind.known import PriceHistory
from tunnihind.market import DAY_S, ZONE, day_end, day_start, delivery_day, hours_of
from tunnihind.pipeline.schedule import (
    CATCH_UP_DAYS,
    CORRECTION_DAYS,
    CovariateNeeds,
    Situation,
    Task,
    Tries,
    next_day,
)
from tunnihind.sources.base import CovariateSource
from tunnihind.store.journal import Journal
from tunnihind.store.rows import Instant
from tunnihind.store.store import Store

YEARS_FILLED: Final = "years of prices filled"

HELD_DAYS: Final = 30
"""For how long a delivery day that failed the gate is asked for again."""

YEAR_LASTS_S: Final = CATCH_UP_DAYS * DAY_S
"""A year that was filled before its end is filled again so long after: a longer stop leaves a gap that the ordinary
fetches no longer reach."""

MONTH_LASTS_S: Final = DAY_S
"""The same of a month of covariates, whose live forecasts can't be had again after any stop."""


def months_filled(source: str) -> str:
    """Return the key under which it is noted which months of a source of covariates are filled."""
    return f"months of {source} filled"


def read_situation(
    store: Store,
    covariate_sources: Sequence[CovariateSource],
    history_start: date,
    model: str,
    tries: Mapping[Task, Tries],
    now: int,
) -> Situation:
    """Return the situation at `now`: history is wanted from `history_start` on, and scores of this `model`.

    Raises StoreError.
    """
    today = delivery_day(now)
    held = store.quarantine.held()
    excused = {case.day for case in held if case.zone == ZONE.lower()} - {today, next_day(now)}
    recent = today - timedelta(days=CATCH_UP_DAYS)
    history = store.prices.archive(day_start(recent), zones=("ee",)).everything()
    run = store.runs.newest(as_of=now)
    return Situation(
        settled_through=settled_through(history, recent, next_day(now), excused),
        stored_ts=store.journal.prices_stored_at(),
        run_made_at=None if run is None else run.made_at,
        scored_ts=store.backtests.scored_at(model),
        held_days=_to_retry((case.day for case in held), today),
        missing_years=_missing_years(store.journal, history_start.year, now),
        covariates={
            source.name: CovariateNeeds(source.cadence, _missing_months(store.journal, source, history_start, now))
            for source in covariate_sources
        },
        tries=tries,
    )


def first_month(source: CovariateSource, history_start: date) -> date:
    """Return the first day of the first calendar month (UTC) that is wanted of a source and that it has."""
    return max(source.history_since, history_start).replace(day=1)


def settled_through(history: PriceHistory, first: date, last: date, excused: Iterable[date] = ()) -> date | None:
    """Return the day up to which every day from the first settled one on is whole; `excused` days need not be."""
    settled = history.settled()
    through: date | None = None
    for offset in range((last - first).days + 1):
        day = first + timedelta(days=offset)
        if all(hour in settled for hour in hours_of(day)) or (through is not None and day in excused):
            through = day
        elif through is not None:
            break
    return through


def _to_retry(held: Iterable[date], today: date) -> tuple[date, ...]:
    """Return the held days that the ordinary window leaves out and that are not too old to hope for."""
    oldest, youngest = today - timedelta(days=HELD_DAYS), today - timedelta(days=CORRECTION_DAYS + 1)
    return tuple(sorted({day for day in held if oldest <= day <= youngest}))


def note_filled(journal: Journal, key: str, chunk: str, at: int) -> None:
    """Note that a chunk of history holds what there was at an instant. Raises StoreError."""
    journal.write(key, {**filled(journal, key), chunk: at})


def forget_filled(journal: Journal, key: str, since_ts: int) -> None:
    """Note that the chunks filled from an instant on are to be filled again. Raises StoreError."""
    journal.write(key, {chunk: at for chunk, at in filled(journal, key).items() if at < since_ts})


def filled(journal: Journal, key: str) -> dict[str, int]:
    """Return when each chunk was last filled."""
    found: dict[str, int] | None = journal.read(key, dict[str, Instant])
    return found or {}


def _is_whole(filled_ts: int | None, end_ts: float, lasts_s: int, now: int) -> bool:
    """Return whether a chunk has no gap: it was filled after its end, or so lately that the rest is being kept up."""
    return filled_ts is not None and filled_ts <= now and (filled_ts >= end_ts or now < filled_ts + lasts_s)


def _missing_years(journal: Journal, first_year: int, now: int) -> tuple[int, ...]:
    """Return the calendar years to be filled, the newest first: a forecast needs those most."""
    filled_at = filled(journal, YEARS_FILLED)
    years = range(delivery_day(now).year, first_year - 1, -1)
    ends = {year: day_end(date(year, 12, 31)) for year in years}
    return tuple(year for year in years if not _is_whole(filled_at.get(str(year)), ends[year], YEAR_LASTS_S, now))


def _missing_months(journal: Journal, source: CovariateSource, history_start: date, now: int) -> tuple[date, ...]:
    """Return the first days of the calendar months (UTC) to be filled, the newest first."""
    filled_at = filled(journal, months_filled(source.name))
    first = first_month(source, history_start)
    missing = []
    end = (datetime.fromtimestamp(now, UTC).date().replace(day=1) + timedelta(days=31)).replace(day=1)
    while end > first:
        month = (end - timedelta(days=1)).replace(day=1)
        end_ts = datetime.combine(end, time(), UTC).timestamp()
        if not _is_whole(filled_at.get(str(month)), end_ts, MONTH_LASTS_S, now):
            missing.append(month)
        end = month
    return tuple(missing)
