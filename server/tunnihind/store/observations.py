"""Stores observations of covariates in blocks of 32 days."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.known import ObservationArchive, ObservedSeries
from tunnihind.store.covariates import FINEST_SCALE, unpack_sound_values
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.packing import pack_covariate_values
from tunnihind.store.rows import EARLIEST, FIRST_PERIOD_TS, PERIODS_END_TS, StoredRow, TableRows, TextWithoutNul
from tunnihind.store.schema import observations as table
from tunnihind.store.state import StateBook

_BLOCK_S: Final = 32 * DAY_S
_BLOCK_HOURS: Final = _BLOCK_S // HOUR_S


class ObservationBook:
    """The stored observations."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _ObservationRow, _named_blocks, database)

    def add(self, observed: Mapping[str, ObservedSeries]) -> int:
        """Store observations, and return the number of new or changed values. Raises StoreError.

        Known values replace the stored values of their hours. All other stored values stay.
        """
        with self._database.writing() as connection:
            added = sum(self._add_series(connection, name, series) for name, series in observed.items())
            if added:
                self._state.record_observation_change()
        return added

    def read_archive(self, since_ts: int = EARLIEST) -> ObservationArchive:
        """Return the observations from `since_ts` on, and up to 32 days before it. Raises StoreError."""
        blocks: dict[str, dict[int, NDArray[np.float32]]] = defaultdict(dict)
        with self._database.reading() as connection:
            for name, start_ts, values in self.rows.read(connection, table.c.start_ts > since_ts - _BLOCK_S):
                blocks[name][start_ts] = values
        return ObservationArchive({name: _joined_blocks(blocks[name]) for name in sorted(blocks)})

    def _add_series(self, connection: Connection, name: str, series: ObservedSeries) -> int:
        end_ts = series.start_ts + series.values.size * HOUR_S
        first = series.start_ts // _BLOCK_S * _BLOCK_S
        is_touched = table.c.name == name, table.c.start_ts >= first, table.c.start_ts < end_ts
        kept = {start_ts: values for _, start_ts, values in self.rows.read(connection, *is_touched)}
        added, changed = 0, []
        for start_ts in range(first, end_ts, _BLOCK_S):
            before = kept.get(start_ts, np.full(_BLOCK_HOURS, np.nan, np.float32))
            given = series.between(start_ts, _BLOCK_HOURS)
            is_new = np.isfinite(given) & (given != before)
            if is_new.any():
                packed, scale = pack_covariate_values(np.where(is_new, given, before))
                changed.append({"name": name, "start_ts": start_ts, "scale": scale, "series": packed})
                added += int(is_new.sum())
        upsert(connection, table, changed)
        return added


class _ObservationRow(StoredRow):
    name: TextWithoutNul
    # The block of the first period begins before it.
    start_ts: Annotated[int, msgspec.Meta(gt=FIRST_PERIOD_TS - _BLOCK_S, lt=PERIODS_END_TS)]
    scale: Annotated[int, msgspec.Meta(ge=0, le=FINEST_SCALE)]
    series: bytes


def _named_blocks(rows: Sequence[_ObservationRow]) -> Iterable[tuple[str, int, NDArray[np.float32]]]:
    """For each row, return the covariate's name, the block's start and its values. Raises ValueError for damage."""
    values = unpack_sound_values([row.series for row in rows], [row.scale for row in rows])
    if any(row.start_ts % _BLOCK_S or some.size != _BLOCK_HOURS for row, some in zip(rows, values, strict=True)):
        raise ValueError("its observations are not those of a block of 32 days")
    return [(row.name, row.start_ts, some) for row, some in zip(rows, values, strict=True)]


def _joined_blocks(blocks: Mapping[int, NDArray[np.float32]]) -> ObservedSeries:
    first = min(blocks)
    joined = np.full((max(blocks) - first) // HOUR_S + _BLOCK_HOURS, np.nan, np.float32)
    for start_ts, values in blocks.items():
        offset = (start_ts - first) // HOUR_S
        joined[offset : offset + _BLOCK_HOURS] = values
    return ObservedSeries(first, joined)
