"""Reads a file of observations with the columns `target_ts,NAME[,NAME...]`."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tunnihind.core.market import HOUR_S
from tunnihind.files.covariate_file import TARGET, covariate_names, covariate_value
from tunnihind.files.table import open_table
from tunnihind.known import ObservedSeries


@dataclass(frozen=True, slots=True)
class ObservationFile:
    """The content of a file of observations: its series by name, and counts of its rows, values and empty cells."""

    row_count: int
    value_count: int
    empty_cell_count: int
    series: Mapping[str, ObservedSeries]


def read_observations(path: Path, now: float) -> ObservationFile:
    """Read a whole file of observations. `now` is the present time in unix seconds.

    Raises ImportFileError if the file is unreadable or invalid, or if an hour had not ended by `now`.
    """
    values: dict[str, dict[int, float]] = defaultdict(dict)
    rows = empty = 0
    with open_table(path) as table:
        names = covariate_names(table, (TARGET,))
        for row in table.rows():
            rows += 1
            target = row.instant(TARGET, HOUR_S)
            if target + HOUR_S > now:
                raise row.error(TARGET, f"the hour {target} has not ended, so nothing of it was observed")
            for name in names:
                value = covariate_value(row, name)
                if value is None:
                    empty += 1
                elif values[name].setdefault(target, value) != value:
                    raise row.error(name, f"an earlier line has another value for the same hour: {value:g}")
    series = {name: _observed_series(by_target) for name, by_target in sorted(values.items())}
    return ObservationFile(rows, rows * len(names) - empty, empty, series)


def _observed_series(by_target: Mapping[int, float]) -> ObservedSeries:
    start = min(by_target)
    values = np.full((max(by_target) - start) // HOUR_S + 1, np.nan, np.float32)
    values[(np.array([*by_target]) - start) // HOUR_S] = [*by_target.values()]
    return ObservedSeries(start, values)
