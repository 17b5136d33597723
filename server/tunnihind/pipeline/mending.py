"""Has what is damaged in the database fetched again, as far as there is somebody to ask."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Final

from tunnihind.market import delivery_day
from tunnihind.pipeline.back_fill import YEARS_FILLED, filled, months_filled
from tunnihind.sources.base import CovariateSource
from tunnihind.store.rows import END_HOUR, FIRST_HOUR, Cells
from tunnihind.store.store import Store

_HOURS: Final = range(FIRST_HOUR, END_HOUR)


def mend(store: Store, covariate_sources: Sequence[CovariateSource]) -> None:
    """Delete the damaged prices and covariates, and let the back-fill take their chunks of history for missing.

    What nobody can tell again, such as past runs, stays where it is, named in the log and left out. Raises StoreError.
    """
    _forget(store, YEARS_FILLED, store.prices.remove_damaged(), _year, key="ts")
    series = store.covariates.remove_damaged()
    for source in covariate_sources:
        _forget(store, months_filled(source.name), series, _month, key="start_ts")
    store.name_damaged()


def _forget(store: Store, fact: str, removed: Iterable[Cells], chunk_of: Callable[[int], str], *, key: str) -> None:
    """Forget that the chunks of removed rows were filled; all chunks where it is not to be known which it was."""
    instants = [cells[key] for cells in removed]
    if not instants:
        return
    kept = filled(store.journal, fact)
    if all(isinstance(instant, int) and instant in _HOURS for instant in instants):
        lost = {chunk_of(instant) for instant in instants}
        store.journal.write(fact, {chunk: at for chunk, at in kept.items() if chunk not in lost})
    else:
        store.journal.write(fact, {})


def _year(ts: int) -> str:
    return str(delivery_day(ts).year)


def _month(ts: int) -> str:
    day: date = datetime.fromtimestamp(ts, UTC).date()
    return str(day.replace(day=1))
