"""Observations from a file."""

from pathlib import Path

import numpy as np
import pytest

from tests.server.files.conftest import Write
from tunnihind.core.market import HOUR_S
from tunnihind.errors import ImportFileError
from tunnihind.files.observation_file import read_observations

HOUR = 1_765_756_800
NOW = HOUR + 3 * HOUR_S
NAN = float("nan")


def refusal(file: Path) -> tuple[int, str, str]:
    with pytest.raises(ImportFileError) as caught:
        read_observations(file, NOW)
    return caught.value.line, caught.value.column, caught.value.problem


def test_rows_in_any_order_make_a_series_for_each_name_with_gaps_unknown(write: Write) -> None:
    rows = [f"{HOUR + 2 * HOUR_S},3,", f"{HOUR},1.5,-2", f"{HOUR},1.5,"]
    found = read_observations(write("target_ts,ee_wind_mw,temperature_2m@ee_tartu", *rows, gzipped=True), NOW)
    assert (found.row_count, found.value_count, found.empty_cell_count) == (3, 4, 2)
    wind, temperature = found.series["ee_wind_mw"], found.series["temperature_2m@ee_tartu"]
    np.testing.assert_array_equal(wind.values, np.array([1.5, NAN, 3], np.float32))
    assert (wind.start_ts, temperature.start_ts, temperature.values.tolist()) == (HOUR, HOUR, [-2.0])


def test_a_file_without_values_has_no_series(write: Write) -> None:
    assert read_observations(write("target_ts,ee_wind_mw"), NOW).series == {}


@pytest.mark.parametrize(
    ("lines", "line", "column", "problem"),
    [
        (["ee_wind_mw"], 1, "target_ts", "the column is missing"),
        (["target_ts"], 1, "target_ts", "there is no column with values"),
        (["target_ts,issued_ts,ee_wind_mw"], 1, "issued_ts", "not a covariate's name"),
        (["target_ts,ee_wind_mw", f"{HOUR + 900},1"], 2, "target_ts", "must be a multiple of 3600"),
        (["target_ts,ee_wind_mw", f"{HOUR},1", f"{NOW},1"], 3, "target_ts", "has not ended, so nothing of it was"),
        (["target_ts,ee_wind_mw", f"{HOUR},x"], 2, "ee_wind_mw", "'x' is not a number"),
        (["target_ts,ee_wind_mw", f"{HOUR},1e39"], 2, "ee_wind_mw", "1e+39 is higher than any possible value"),
        (["target_ts,ee_wind_mw", f"{HOUR},1", f"{HOUR},2"], 3, "ee_wind_mw", "another value for the same hour: 2"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_column(
    write: Write, lines: list[str], line: int, column: str, problem: str
) -> None:
    found = refusal(write(*lines))
    assert found[:2] == (line, column)
    assert problem in found[2]


def test_the_hour_that_ends_now_is_observed(write: Write) -> None:
    assert read_observations(write("target_ts,ee_wind_mw", f"{NOW - HOUR_S},1"), NOW).value_count == 1
