"""Reads a covariate file with the columns `issued_ts,target_ts,NAME[,NAME...]`."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from tunnihind.core.market import HOUR_S
from tunnihind.files.table import CsvRow, CsvTable, open_table
from tunnihind.known import IssuedSeries

_ISSUED: Final = "issued_ts"
TARGET: Final = "target_ts"
_NAME_PATTERN: Final = re.compile(r"[a-z]{2}[0-9]?_(load|wind|solar)(_da)?_mw|[a-z][a-z0-9_]*@[a-z][a-z0-9_]*")
_LONGEST_HOURS: Final = 24 * 60
"""The longest accepted time between an issue and a target, in hours. Without this limit, a mistyped instant could make
a series of 100 years."""
_LARGEST_VALUE: Final = float(np.finfo(np.float32).max)

type _Values = dict[tuple[str, int], dict[int, float]]


@dataclass(frozen=True, slots=True)
class CovariateFile:
    """The content of a covariate file: its series by name, and counts of its rows, values and empty cells.

    `late_count` is the number of values that were issued after their hour had begun. The store keeps these values, but
    no forecast uses them.
    """

    row_count: int
    value_count: int
    late_count: int
    empty_cell_count: int
    series: Mapping[str, Sequence[IssuedSeries]]


def read_covariates(path: Path) -> CovariateFile:
    """Read a whole covariate file. Raises ImportFileError if the file is unreadable or invalid."""
    with open_table(path) as table:
        names = covariate_names(table, (_ISSUED, TARGET))
        rows, empty, values = _read_values(table, names)
    series: dict[str, list[IssuedSeries]] = defaultdict(list)
    for (name, issued), by_target in sorted(values.items()):
        series[name].append(_issued_series(issued, by_target))
    late = sum(target < issued for (_, issued), by_target in values.items() for target in by_target)
    return CovariateFile(rows, rows * len(names) - empty, late, empty, series)


def covariate_names(table: CsvTable, instants: Sequence[str]) -> list[str]:
    """Return the names of the columns with values. `instants` names the other columns, which must be there.

    Raises ImportFileError.
    """
    for column in instants:
        if column not in table.columns:
            raise table.header_error(column, "the column is missing")
    names = [name for name in table.columns if name not in instants]
    if not names:
        raise table.header_error(TARGET, "there is no column with values")
    for name in names:
        if not _NAME_PATTERN.fullmatch(name):
            raise table.header_error(
                name,
                "not a covariate's name; valid names are ee_wind_mw, lv_load_da_mw and wind_speed_100m@ee_west, for "
                "example",
            )
    return names


def _read_values(table: CsvTable, names: Sequence[str]) -> tuple[int, int, _Values]:
    rows = empty = 0
    values: _Values = defaultdict(dict)
    for row in table.rows():
        rows += 1
        issued, target = row.instant(_ISSUED, 1), row.instant(TARGET, HOUR_S)
        if abs(target - issued) > _LONGEST_HOURS * HOUR_S:
            raise row.error(TARGET, f"{target} is more than {_LONGEST_HOURS // 24} days from its issue {issued}")
        for name in names:
            value = covariate_value(row, name)
            if value is None:
                empty += 1
                continue
            if values[name, issued].setdefault(target, value) != value:
                raise row.error(name, f"an earlier line has another value for the same issue and target: {value:g}")
    return rows, empty, values


def covariate_value(row: CsvRow, name: str) -> float | None:
    """Return the value in a covariate's cell, or None if the cell is empty. Raises ImportFileError."""
    value = row.number(name)
    if value is not None and abs(value) > _LARGEST_VALUE:
        raise row.error(name, f"{value:g} is higher than any possible value")
    return value


def _issued_series(issued_ts: int, by_target: Mapping[int, float]) -> IssuedSeries:
    start = min(by_target)
    values = np.full((max(by_target) - start) // HOUR_S + 1, np.nan, np.float32)
    for target, value in by_target.items():
        values[(target - start) // HOUR_S] = value
    return IssuedSeries(issued_ts, start, values)
