"""Price history from a file: `ts,ee[,lv,lt,fi]`, hours or quarters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise
from math import inf
from pathlib import Path
from typing import Final

from tunnihind.errors import ImportFileError
from tunnihind.files.table import Row, Table, open_table
from tunnihind.market import ESTONIA, HOUR_S, QUARTER_S, ZONES, Limits, Zone, delivery_day, market_time_unit
from tunnihind.store.prices import Price

_TS: Final = "ts"


@dataclass(frozen=True, slots=True)
class PriceFile:
    """A file's prices, and how many of its cells were empty."""

    rows: int
    empty_cells: int
    prices: Sequence[Price]


@dataclass(frozen=True, slots=True)
class _Line:
    ts: int
    row: Row
    prices: tuple[tuple[Zone, float], ...]


def read_prices(path: Path, limits: Limits = ESTONIA.limits) -> PriceFile:
    """Read a whole price file. Raises ImportFileError at the first nonsense, so that nothing of it is stored."""
    with open_table(path) as table:
        zones = _zones(table)
        lines = [_line(row, zones, limits) for row in table.rows()]
    lines.sort(key=lambda line: line.ts)
    for earlier, later in pairwise(lines):
        if earlier.ts == later.ts:
            raise later.row.error(_TS, f"{later.ts} stands in line {earlier.row.line} already")
    steps = _with_steps(path.name, lines)
    prices = [Price(zone, line.ts, step_s, price) for line, step_s in steps for zone, price in line.prices]
    return PriceFile(len(lines), len(lines) * len(zones) - len(prices), prices)


def _zones(table: Table) -> tuple[Zone, ...]:
    for column in table.columns:
        if column != _TS and column not in ZONES:
            raise table.refuse(column, f"not a known column; expected ts and any of {', '.join(ZONES)}")
    if _TS not in table.columns:
        raise table.refuse(_TS, "the column is missing: it holds the start of the period in unix seconds UTC")
    zones = tuple(zone for zone in ZONES if zone in table.columns)
    if not zones:
        raise table.refuse(ESTONIA.zone, "there is no column with prices")
    return zones


def _line(row: Row, zones: Sequence[Zone], limits: Limits) -> _Line:
    prices = []
    for zone in zones:
        price = row.number(zone)
        if price is None:
            continue
        if not limits.floor <= price <= limits.cap:
            allowed = f"{limits.floor:g} to {limits.cap:g}"
            raise row.error(zone, f"{price:g} EUR/MWh is outside the market's limits of {allowed}")
        prices.append((zone, price))
    return _Line(row.instant(_TS), row, tuple(prices))


def _with_steps(file: str, lines: Sequence[_Line]) -> list[tuple[_Line, int]]:
    """Tell hours from quarters by their spacing.

    A file of quarters may begin with days of hours (the market changed on 2025-10-01), so each delivery day is
    judged by the two rows that are closest. Lone rows among quarters are what was traded on their day.
    """
    are_hours = _closest(lines) >= HOUR_S
    result = []
    for day, group in groupby(lines, key=lambda line: delivery_day(line.ts)):
        rows = list(group)
        step = HOUR_S if are_hours else _step_of_day(day, rows)
        result += [(_aligned(file, line, step), step) for line in rows]
    return result


def _step_of_day(day: date, lines: Sequence[_Line]) -> int:
    closest = _closest(lines)
    if closest == HOUR_S:
        return HOUR_S
    return QUARTER_S if closest < HOUR_S else market_time_unit(day)


def _closest(lines: Sequence[_Line]) -> float:
    """Return the least distance between two rows in seconds, infinite where there are no two."""
    return min((later.ts - earlier.ts for earlier, later in pairwise(lines)), default=inf)


def _aligned(file: str, line: _Line, step_s: int) -> _Line:
    if line.ts % step_s:
        raise ImportFileError(file, line.row.line, _TS, f"{line.ts} is off the full hour, and its neighbours are hours")
    return line
