"""Covariates from a file, as they were issued."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.files.conftest import Write
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.errors import ImportFileError
from tunnihind.files.covariate_file import CovariateFile, read_covariates

ISSUE = 1_765_753_321
"""An issue may have any second: 2025-12-14T23:02:01Z."""

HOUR = ISSUE // HOUR_S * HOUR_S + HOUR_S
NAN = float("nan")


def row(*cells: object) -> str:
    return ",".join(map(str, cells))


def refusal(file: Path) -> tuple[int, str, str]:
    with pytest.raises(ImportFileError) as caught:
        read_covariates(file)
    assert caught.value.file == file.name
    return caught.value.line, caught.value.column, caught.value.problem


def values(found: CovariateFile, name: str) -> list[tuple[int, int, list[float]]]:
    return [(one.issued_ts, one.start_ts, one.values.tolist()) for one in found.series[name]]


def test_rows_of_one_issue_make_one_series_with_gaps_unknown(write: Write) -> None:
    rows = [row(ISSUE, HOUR + 2 * HOUR_S, 3), row(ISSUE, HOUR, 1.5), row(ISSUE + 60, HOUR, 0)]
    found = read_covariates(write("issued_ts,target_ts,ee_wind_mw", *rows))
    (first, second) = values(found, "ee_wind_mw")
    np.testing.assert_array_equal(first[2], [1.5, NAN, 3.0])
    assert (first[:2], second) == ((ISSUE, HOUR), (ISSUE + 60, HOUR, [0.0]))
    assert all(one.run_ts is None and one.values.dtype == np.float32 for one in found.series["ee_wind_mw"])


def test_empty_cells_are_unknown_and_counted(write: Write) -> None:
    header = "issued_ts,target_ts,ee_load_da_mw,se3_solar_mw,wind_speed_100m@ee_west"
    found = read_covariates(write(header, row(ISSUE, HOUR, 1, "", -2), row(ISSUE, HOUR + HOUR_S, "", "", "")))
    assert (found.row_count, found.value_count, found.empty_cell_count, found.late_count) == (2, 2, 4, 0)
    assert sorted(found.series) == ["ee_load_da_mw", "wind_speed_100m@ee_west"]


def test_what_was_issued_after_its_hour_began_is_kept_and_counted_as_late(write: Write) -> None:
    rows = [row(ISSUE, target, 1) for target in (HOUR - 2 * HOUR_S, HOUR - HOUR_S, HOUR)]
    found = read_covariates(write("issued_ts,target_ts,ee_wind_mw", *rows, row(HOUR, HOUR, 1)))
    assert (found.value_count, found.late_count) == (4, 2)
    assert [one[1] for one in values(found, "ee_wind_mw")] == [HOUR - 2 * HOUR_S, HOUR]


def test_a_row_given_twice_is_fine_while_it_says_the_same(write: Write) -> None:
    again = [row(ISSUE, HOUR, 1.5), row(ISSUE, HOUR, ""), row(ISSUE, HOUR, "1.50")]
    assert values(read_covariates(write("issued_ts,target_ts,ee_wind_mw", *again)), "ee_wind_mw")[0][2] == [1.5]
    line, column, said = refusal(write("issued_ts,target_ts,ee_wind_mw", *again, row(ISSUE, HOUR, 1.6)))
    assert (line, column) == (5, "ee_wind_mw")
    assert "another value for the same issue and target" in said


@pytest.mark.parametrize(
    ("header", "column", "problem"),
    [
        ("target_ts,ee_wind_mw", "issued_ts", "missing"),
        ("issued_ts,ee_wind_mw", "target_ts", "missing"),
        ("ts,ee", "issued_ts", "missing"),
        ("issued_ts,target_ts", "target_ts", "no column with values"),
        ("issued_ts,target_ts,ee_wind_mw,ee_wind_mw", "ee_wind_mw", "two columns have this name"),
        ("issued_ts,target_ts,wind", "wind", "not a covariate's name; valid names are ee_wind_mw"),
        ("issued_ts,target_ts,ee_price_mw", "ee_price_mw", "not a covariate's name"),
        ("issued_ts,target_ts,ee_wind_gw", "ee_wind_gw", "not a covariate's name"),
        ("issued_ts,target_ts,wind@", "wind@", "not a covariate's name"),
        ("issued_ts,target_ts,a@b@c", "a@b@c", "not a covariate's name"),
        ("issued_ts,target_ts,", "3", "no name"),
        ("", "1", "the first line is empty"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(write: Write, header: str, column: str, problem: str) -> None:
    line, where, said = refusal(write(header, row(ISSUE, HOUR, 1)))
    assert (line, where) == (1, column)
    assert problem in said


@pytest.mark.parametrize(
    ("bad", "column", "problem"),
    [
        (row(ISSUE, HOUR + 900, 1), "target_ts", "a multiple of 3600"),
        (row(ISSUE, HOUR * 1000, 1), "target_ts", "milliseconds?"),
        (row(ISSUE * 1000, HOUR, 1), "issued_ts", "milliseconds?"),
        (row("", HOUR, 1), "issued_ts", "not a whole number"),
        (row(ISSUE, "", 1), "target_ts", "not a whole number"),
        (row(ISSUE, HOUR + 61 * DAY_S, 1), "target_ts", "more than 60 days from its issue"),
        (row(ISSUE, HOUR - 61 * DAY_S, 1), "target_ts", "more than 60 days from its issue"),
        (row(ISSUE, HOUR, "nan"), "ee_wind_mw", "not a number"),
        (row(ISSUE, HOUR, "inf"), "ee_wind_mw", "not a number"),
        (row(ISSUE, HOUR, "strong"), "ee_wind_mw", "'strong' is not a number"),
        (row(ISSUE, HOUR, "1e39"), "ee_wind_mw", "1e+39 is higher than any possible value"),
        (row(ISSUE, HOUR, "-4e38"), "ee_wind_mw", "higher than any possible value"),
        (row(ISSUE, HOUR), "issued_ts", "the line has 2 cells, the header 3"),
        (row(ISSUE, HOUR, 1, 1), "issued_ts", "the line has 4 cells, the header 3"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused_where_it_stands(
    write: Write, bad: str, column: str, problem: str
) -> None:
    line, where, said = refusal(write("issued_ts,target_ts,ee_wind_mw", row(ISSUE, HOUR, 1), bad))
    assert (line, where) == (3, column)
    assert problem in said


def test_a_file_with_only_a_header_holds_nothing(write: Write) -> None:
    assert read_covariates(write("issued_ts,target_ts,ee_wind_mw")) == CovariateFile(0, 0, 0, 0, {})


_CELL = st.one_of(
    st.sampled_from(["", str(ISSUE), str(HOUR), str(HOUR + HOUR_S), "nan", "1e38", "1e39", '"', "\x00"]),
    st.integers().map(str),
    st.floats().map(repr),
    st.text(max_size=5),
)
_ROW = st.tuples(st.just(str(ISSUE)), st.just(str(HOUR)) | _CELL, _CELL) | st.lists(_CELL, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(_ROW.map(",".join)), gzipped=st.booleans())
def test_any_cells_are_read_or_refused(write: Write, rows: list[str], gzipped: bool) -> None:
    lines = (line.encode(errors="surrogatepass") + b"\n" for line in rows)
    try:
        found = read_covariates(write("issued_ts,target_ts,ee_wind_mw", *lines, gzipped=gzipped))
    except ImportFileError:
        return
    assert not any(np.isinf(one.values).any() for series in found.series.values() for one in series)
