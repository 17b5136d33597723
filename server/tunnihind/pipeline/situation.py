"""Reads from the store where the pipeline stands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from tunnihind.known import PriceHistory
from tunnihind.market import ZONE, day_start, delivery_day, hours_of
from tunnihind.pipeline.schedule import CATCH_UP_DAYS, CORRECTION_DAYS, Job, Situation, Tries, next_day
from tunnihind.store.journal import Journal
from tunnihind.store.store import Store

YEARS_DONE: Final = "years of prices filled"
MONTHS_DONE: Final = "months of weather filled"

HELD_DAYS: Final = 30
"""For how long a delivery day that failed the gate is asked for again."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back history is wanted: the first year of prices, and the first month of weather if there is any."""

    first_year: int
    first_month: date | None


def read_situation(store: Store, reach: Reach, tries: Mapping[Job, Tries], now: int) -> Situation:
    """Return the situation at `now`. Raises StoreError."""
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
        held_days=_to_retry((case.day for case in held), today),
        missing_years=_missing_years(store.journal, reach.first_year, now),
        missing_months=() if reach.first_month is None else _missing_months(store.journal, reach.first_month, now),
        has_weather=reach.first_month is not None,
        tries=tries,
    )


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


def note_done(journal: Journal, key: str, chunk: str) -> None:
    """Note that a chunk of history needs no more filling. Raises StoreError."""
    journal.write(key, sorted({*_done(journal, key), chunk}))


def _done(journal: Journal, key: str) -> set[str]:
    found = journal.read(key)
    return {str(chunk) for chunk in found} if isinstance(found, list) else set()


def _missing_years(journal: Journal, first_year: int, now: int) -> tuple[int, ...]:
    """Return the calendar years still to be filled, the newest first: a forecast needs those most."""
    done = _done(journal, YEARS_DONE)
    return tuple(year for year in range(delivery_day(now).year, first_year - 1, -1) if str(year) not in done)


def _missing_months(journal: Journal, first: date, now: int) -> tuple[date, ...]:
    done = _done(journal, MONTHS_DONE)
    months = []
    month = datetime.fromtimestamp(now, UTC).date().replace(day=1)
    while month >= first:
        if str(month) not in done:
            months.append(month)
        month = (month - timedelta(days=1)).replace(day=1)
    return tuple(months)
