"""Reads a file of hourly or quarter-hour prices. The columns are `ts` and at least one of `ee`, `lv`, `lt` and `fi`."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from math import inf, isnan, nan
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import (
    HARMONISED_LIMITS,
    HOUR_S,
    QUARTER_S,
    ZONES,
    PriceLimits,
    Zone,
    day_end,
    delivery_day,
    market_time_unit,
)
from tunnihind.errors import ImportFileError
from tunnihind.files.table import CsvRow, CsvTable, open_table
from tunnihind.known import Floats, Instants
from tunnihind.store.prices import Price

_TS: Final = "ts"
_ROWS_PER_BATCH: Final = 5000


@dataclass(frozen=True, slots=True, eq=False)
class PriceFile:
    """The rows of a price file in chronological order.

    `ts` (rows,) holds the start of each period in unix seconds UTC, and `step_s` (rows,) the period's length in
    seconds. `eur_mwh` (rows, zones) holds the prices, with NaN for an empty cell.
    """

    zones: tuple[Zone, ...]
    ts: Instants
    step_s: NDArray[np.int32]
    eur_mwh: Floats

    @property
    def row_count(self) -> int:
        """The number of rows, without the header and blank lines."""
        return self.ts.size

    @property
    def price_count(self) -> int:
        """The number of prices of all zones together."""
        return int(np.isfinite(self.eur_mwh).sum())

    @property
    def empty_cell_count(self) -> int:
        """The number of cells without a price, of all zones together."""
        return self.eur_mwh.size - self.price_count

    def price_batches(self) -> Iterator[list[Price]]:
        """Yield lists of prices in chronological order. Each list holds the prices of at most 5,000 rows."""
        for first in range(0, self.row_count, _ROWS_PER_BATCH):
            part = slice(first, first + _ROWS_PER_BATCH)
            rows = zip(self.ts[part].tolist(), self.step_s[part].tolist(), self.eur_mwh[part].tolist(), strict=True)
            yield [
                Price(zone, ts, step_s, price)
                for ts, step_s, prices in rows
                for zone, price in zip(self.zones, prices, strict=True)
                if not isnan(price)
            ]


def read_prices(path: Path, limits: PriceLimits = HARMONISED_LIMITS) -> PriceFile:
    """Read a whole price file.

    Raises ImportFileError if the file is unreadable or invalid, or if a price is outside `limits`.
    """
    with open_table(path) as table:
        zones = _zone_columns(table)
        lines, starts, cells = array("q"), array("q"), array("d")
        for row in table.rows():
            cells.extend(_cell_price(row, zone, limits) for zone in zones)
            starts.append(row.instant(_TS))
            lines.append(row.line)
    ts = np.frombuffer(starts, np.int64)
    order = np.argsort(ts, kind="stable")
    ts, line = ts[order], np.frombuffer(lines, np.int64)[order]
    step_s = _row_steps(ts)
    if (twice := np.flatnonzero(np.diff(ts) == 0)).size:
        earlier, later = line[twice[0]], line[twice[0] + 1]
        raise ImportFileError(path.name, int(later), _TS, f"{ts[twice[0]]} is already in line {earlier}")
    if (off := np.flatnonzero(ts % step_s)).size:
        problem = f"{ts[off[0]]} is not on the hour, but the prices of this day are hourly"
        raise ImportFileError(path.name, int(line[off[0]]), _TS, problem)
    return PriceFile(zones, ts, step_s, np.frombuffer(cells, np.float64).reshape(-1, len(zones))[order])


def _zone_columns(table: CsvTable) -> tuple[Zone, ...]:
    for column in table.columns:
        if column != _TS and column not in ZONES:
            raise table.header_error(column, f"not a known column; expected ts and any of {', '.join(ZONES)}")
    if _TS not in table.columns:
        raise table.header_error(_TS, "the column is missing: it holds the start of the period in unix seconds UTC")
    zones = tuple(zone for zone in ZONES if zone in table.columns)
    if not zones:
        raise table.header_error(ZONES[0], "there is no column with prices")
    return zones


def _cell_price(row: CsvRow, zone: Zone, limits: PriceLimits) -> float:
    """Return a zone's price in a row, or NaN if the cell is empty. Raises ImportFileError."""
    price = row.number(zone)
    if price is None:
        return nan
    if not limits.floor <= price <= limits.cap:
        allowed = f"{limits.floor:g} to {limits.cap:g}"
        raise row.error(zone, f"{price:g} EUR/MWh is outside the market's limits of {allowed}")
    return price


def _row_steps(ts: Instants) -> NDArray[np.int32]:
    """Return the step of each row in seconds. The rows must be in chronological order.

    If all rows of the file are at least an hour apart, every step is an hour. Otherwise, each delivery day has its own
    step, because the market changed from hours to quarters on 2025-10-01. If two rows of the day are less than an hour
    apart, the step is a quarter. If the closest rows are exactly an hour apart, the step is an hour. In all other
    cases, the step is the day's market time unit.
    """
    steps = np.full(ts.size, HOUR_S, np.int32)
    if _shortest_gap_s(ts) >= HOUR_S:
        return steps
    first = 0
    while first < ts.size:
        day = delivery_day(int(ts[first]))
        last = int(np.searchsorted(ts, day_end(day)))
        steps[first:last] = _step_of_day(day, ts[first:last])
        first = last
    return steps


def _step_of_day(day: date, ts: Instants) -> int:
    closest = _shortest_gap_s(ts)
    if closest == HOUR_S:
        return HOUR_S
    return QUARTER_S if closest < HOUR_S else market_time_unit(day)


def _shortest_gap_s(ts: Instants) -> float:
    """Return the shortest time in seconds between two rows. If there are fewer than two rows, return infinity."""
    return float(np.diff(ts).min()) if ts.size > 1 else inf
