"""Price history from a file."""

import gzip
import tracemalloc
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.files.conftest import Write
from tunnihind.core.market import HOUR_S, QUARTER_S, ZONES, PriceLimits, day_end, day_start, hours_of
from tunnihind.errors import ImportFileError
from tunnihind.files.price_file import PriceFile, read_prices
from tunnihind.store.prices import Price

HOUR = 1_765_753_200
"""2025-12-14T23:00Z, the first hour of delivery day 2025-12-15."""

NEXT = HOUR + HOUR_S


def row(ts: int, *prices: object) -> str:
    return ",".join(map(str, (ts, *prices)))


def day_rows(day: date, step_s: int) -> list[str]:
    return [row(ts, n) for n, ts in enumerate(range(day_start(day), day_end(day), step_s))]


def refusal(file: Path) -> tuple[int, str, str]:
    with pytest.raises(ImportFileError) as caught:
        read_prices(file)
    error = caught.value
    assert error.file == file.name
    assert str(error).startswith(f"{file.name}, line {error.line}, column {error.column}: ")
    return error.line, error.column, error.problem


def prices(found: PriceFile) -> list[Price]:
    return [price for part in found.price_batches() for price in part]


def steps(found: PriceFile) -> list[int]:
    return [price.step_s for price in prices(found)]


def test_hours_of_all_zones_are_read_with_empty_cells_as_unknown(write: Write) -> None:
    found = read_prices(write("ts,ee,lv,lt,fi", row(HOUR, 1.5, "", -2, 0), row(NEXT, "", "", "", " ")))
    assert prices(found) == [
        Price("ee", HOUR, HOUR_S, 1.5),
        Price("lt", HOUR, HOUR_S, -2.0),
        Price("fi", HOUR, HOUR_S, 0.0),
    ]
    assert (found.row_count, found.empty_cell_count) == (2, 5)


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize(
    "lines",
    [
        [b"\xef\xbb\xbfts,ee\n1765753200,1.5\n"],
        [b"ts,ee\r\n1765753200,1.5\r\n"],
        [b"ts,ee\n1765753200,1.5"],
        ["ee,ts", "1.5,1765753200"],
        [" TS , Ee ", " 1765753200 , 1.5 "],
        ["ts,ee", "", "1765753200,1.5", "", ""],
        ['"ts","ee"', '"1765753200","1.5"'],
        ["ts,ee", "1765753200,15e-1"],
    ],
)
def test_the_same_row_may_be_written_in_many_ways(write: Write, lines: list[str | bytes], gzipped: bool) -> None:
    assert prices(read_prices(write(*lines, gzipped=gzipped))) == [Price("ee", HOUR, HOUR_S, 1.5)]


@pytest.mark.parametrize(
    ("header", "column", "problem"),
    [
        ("ts,price", "price", "not a known column; expected ts and any of ee, lv, lt, fi"),
        ("ts,ee,se3", "se3", "not a known column"),
        ("ts,ee,ee", "ee", "two columns have this name"),
        ("ts,ts,ee", "ts", "two columns have this name"),
        ("ee,lv", "ts", "missing"),
        ("ts", "ee", "no column with prices"),
        ("ts,ee,", "3", "no name"),
        ("ts;ee", "ts;ee", "not a known column"),
        ("", "1", "the first line is empty"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(write: Write, header: str, column: str, problem: str) -> None:
    line, where, said = refusal(write(header, row(HOUR, 1)))
    assert (line, where) == (1, column)
    assert problem in said


@pytest.mark.parametrize(
    ("bad", "column", "problem"),
    [
        (row(HOUR * 1000, 1), "ts", "milliseconds? divide by 1000"),
        ("1765756800.5,1", "ts", "not a whole number of unix seconds"),
        ("1.7657568e9,1", "ts", "not a whole number"),
        ("2025-12-15T00:00:00Z,1", "ts", "not a whole number"),
        (",1", "ts", "'' is not a whole number"),
        ("1_765_756_800,1", "ts", "not a whole number"),
        ("١٧٦٥٧٥٦٨٠٠,1", "ts", "not a whole number"),
        ("nan,1", "ts", "not a whole number"),
        (row(-HOUR, 1), "ts", "is not a time between the years 2000 and 2100"),
        ("0,1", "ts", "is not a time"),
        ("9" * 400 + ",1", "ts", "is not a time"),
        ("9" * 5000 + ",1", "ts", "not a whole number"),
        (row(NEXT + 1, 1), "ts", "a multiple of 900"),
        (row(HOUR, 1), "ts", "is already in line 2"),
        (row(NEXT, "nan"), "ee", "not a number; leave the cell empty"),
        (row(NEXT, "-inf"), "ee", "not a number"),
        (row(NEXT, "1e999"), "ee", "not a number"),
        (row(NEXT, "n/a"), "ee", "'n/a' is not a number"),
        (row(NEXT, "1_0"), "ee", "'1_0' is not a number"),
        (row(NEXT, "١٠"), "ee", "is not a number"),
        (row(NEXT, "1 0"), "ee", "'1 0' is not a number"),
        (row(NEXT, "10\u00a0"), "ee", "is not a number"),
        (row(NEXT, '"1,5"'), "ee", "'1,5' is not a number"),
        (row(NEXT, "1\x00"), "ee", "is not a number"),
        (row(NEXT, 4000.01), "ee", "4000.01 EUR/MWh is outside the market's limits of -500 to 4000"),
        (row(NEXT, -500.01), "ee", "outside the market's limits"),
        (str(NEXT), "ts", "the line has 1 cells, the header 2"),
        (row(NEXT, 1, 5), "ts", "the line has 3 cells, the header 2"),
        (" ", "ts", "the line has 1 cells, the header 2"),
        (row(NEXT, '"1'), "1", "the rest of the file can't be read: unexpected end of data"),
        (row(NEXT, '"1"2'), "1", "the rest of the file can't be read"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused_where_it_stands(
    write: Write, bad: str, column: str, problem: str
) -> None:
    line, where, said = refusal(write("ts,ee", row(HOUR, 1), "", bad))
    assert (line, where) == (4, column)
    assert problem in said


def test_a_cell_of_any_length_makes_a_short_message(write: Write) -> None:
    for bad in (row(NEXT, "x" * 100_000), "9" * 4000 + ",1"):
        assert len(refusal(write("ts,ee", bad))[2]) < 150


def test_the_limits_are_the_operator_s(write: Write) -> None:
    file = write("ts,ee", row(HOUR, 5000), row(NEXT, -501))
    assert read_prices(file, PriceLimits(-600, 5000)).price_count == 2
    with pytest.raises(ImportFileError, match=r"line 2, column ee: 5000 EUR/MWh .* -600 to 4999"):
        read_prices(file, PriceLimits(-600, 4999))


@pytest.mark.parametrize("gzipped", [False, True])
def test_bytes_that_are_no_text_are_reported_in_their_line(write: Write, gzipped: bool) -> None:
    good = [row(HOUR + n * HOUR_S, n) for n in range(1000)]
    line, _, said = refusal(write("ts,ee", *good, b"1776000000,1\xff\n", *good, gzipped=gzipped))
    assert line == 1002
    assert "utf-8" in said


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_another_encoding_is_refused_in_the_first_line(write: Write, encoding: str) -> None:
    assert refusal(write(f"ts,ee\n{row(HOUR, 1)}\n".encode(encoding)))[0] == 1


def test_an_empty_file_is_refused(write: Write) -> None:
    assert refusal(write())[::2] == (1, "the first line is empty; it must name the columns")
    assert refusal(write(gzipped=True))[0] == 1


def test_a_file_with_only_a_header_holds_nothing(write: Write) -> None:
    found = read_prices(write("ts,ee"))
    assert (found.row_count, found.price_count, found.empty_cell_count, prices(found)) == (0, 0, 0, [])


PACKED = gzip.compress("\n".join(["ts,ee", *day_rows(date(2025, 12, 15), QUARTER_S)]).encode())


@pytest.mark.parametrize(
    "content",
    [
        PACKED[: len(PACKED) // 3],
        PACKED[:-3],
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00" + b"\xff" * 60,
        PACKED[:-5] + bytes([PACKED[-5] ^ 1]) + PACKED[-4:],
    ],
    ids=["cut in the middle", "cut at the end", "only the first bytes", "garbage", "wrong checksum"],
)
def test_a_damaged_gzip_file_is_refused(write: Write, content: bytes) -> None:
    assert "the rest of the file can't be read" in refusal(write(content))[2]


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    assert "can't be opened: No such file" in refusal(tmp_path / "absent.csv")[2]
    assert "can't be opened: Is a directory" in refusal(tmp_path)[2]


def test_rows_may_come_in_any_order(write: Write) -> None:
    rows = day_rows(date(2025, 12, 15), QUARTER_S)
    in_order, shuffled = (prices(read_prices(write("ts,ee", *lines))) for lines in (rows, rows[::-2] + rows[::2]))
    assert in_order == shuffled
    assert [price.ts for price in in_order] == sorted(price.ts for price in in_order)


def test_a_file_of_many_years_takes_little_memory(write: Write) -> None:
    rows, first = 20_000, day_start(date(2025, 10, 1))
    file = write("ts,ee,lv,lt,fi", *(row(first + n * QUARTER_S, n % 90, 1.5, 2, "") for n in range(rows)), gzipped=True)
    tracemalloc.start()
    found = read_prices(file)
    assert sum(len(part) for part in found.price_batches()) == found.price_count == 3 * rows
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * rows


def test_of_a_row_writtentwice_far_apart_both_lines_are_named(write: Write) -> None:
    line, _, said = refusal(write("ts,ee", row(NEXT, 1), row(HOUR, 1), row(NEXT, 1)))
    assert (line, said) == (4, f"{NEXT} is already in line 2")


@pytest.mark.parametrize(("day", "hours"), [(date(2025, 3, 30), 23), (date(2025, 10, 26), 25)])
@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
def test_days_of_23_and_25_hours_are_read_whole(write: Write, day: date, hours: int, step_s: int) -> None:
    found = read_prices(write("ts,ee", *day_rows(day, step_s)))
    assert [price.ts for price in prices(found)] == list(range(hours_of(day)[0], day_end(day), step_s))
    assert found.price_count * step_s == hours * HOUR_S
    assert set(steps(found)) == {step_s}


QUARTERS = day_rows(date(2025, 12, 15), QUARTER_S)


def holed(rows: list[str]) -> list[str]:
    return rows[:3] + rows[5:]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            day_rows(date(2025, 10, 1), QUARTER_S) + day_rows(date(2025, 9, 30), HOUR_S),
            [HOUR_S] * 24 + [QUARTER_S] * 96,
        ),
        (day_rows(date(2025, 9, 30), HOUR_S) + day_rows(date(2025, 10, 1), HOUR_S), [HOUR_S] * 48),
        (holed(day_rows(date(2025, 9, 29), HOUR_S)) + QUARTERS, [HOUR_S] * 22 + [QUARTER_S] * 96),
        (holed(day_rows(date(2025, 12, 14), HOUR_S)) + QUARTERS, [HOUR_S] * 22 + [QUARTER_S] * 96),
        (QUARTERS[::2], [QUARTER_S] * 48),
        ([row(HOUR, 1)], [HOUR_S]),
        ([row(day_start(date(2025, 12, 14)), 1), *QUARTERS], [QUARTER_S] * 97),
        ([row(day_start(date(2025, 9, 1)), 1), *QUARTERS], [HOUR_S] + [QUARTER_S] * 96),
    ],
    ids=[
        "hours, then quarters, as the market",
        "hours after the market has turned to quarters",
        "hours with holes before quarters",
        "hours with holes among quarters",
        "quarters with holes",
        "a lone row",
        "a lone row on a day that traded quarters",
        "a lone row on a day that traded hours",
    ],
)
def test_rows_are_hours_or_quarters_by_their_distances_and_their_day(
    write: Write, rows: list[str], expected: list[int]
) -> None:
    assert steps(read_prices(write("ts,ee", *rows))) == expected


@pytest.mark.parametrize("offset", [QUARTER_S, 2 * QUARTER_S])
def test_hours_off_the_full_hour_are_refused(write: Write, offset: int) -> None:
    rows = [row(HOUR + n * HOUR_S + offset, n) for n in range(3)]
    line, column, said = refusal(write("ts,ee", *rows))
    assert (line, column) == (2, "ts")
    assert "not on the hour" in said


def lines_of(prices: Iterable[Price]) -> list[str]:
    by_ts: dict[int, dict[str, float]] = {}
    for price in prices:
        by_ts.setdefault(price.ts, {})[price.zone] = price.eur_mwh
    return [row(ts, *(cells.get(zone, "") for zone in ZONES)) for ts, cells in by_ts.items()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.dictionaries(st.tuples(st.integers(0, 47), st.sampled_from(ZONES)), st.floats(-500, 4000), min_size=1),
    gzipped=st.booleans(),
)
def test_what_was_written_comes_back_to_the_last_bit(
    write: Write, values: dict[tuple[int, str], float], gzipped: bool
) -> None:
    written = [Price(zone, HOUR + n * HOUR_S, HOUR_S, value) for (n, zone), value in values.items()]  # type: ignore[arg-type]
    found = read_prices(write("ts,ee,lv,lt,fi", *lines_of(written), gzipped=gzipped))
    assert sorted(prices(found)) == sorted(written)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=200), start=st.sampled_from([b"", b"ts,ee\n", b"ts,ee\n1765753200,1\n", b"\x1f\x8b\x08"])
)
def test_any_bytes_are_read_or_refused(write: Write, start: bytes, content: bytes) -> None:
    assert_read_or_refused(write(start + content))


_CELL = st.one_of(
    st.sampled_from(["", "1765753200", "1765756800", "nan", "1e5", '"', "0x1", "１", "1_0", "-0", "\x00", "\r"]),
    st.integers().map(str),
    st.floats().map(repr),
    st.text(max_size=5),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.lists(_CELL, min_size=1, max_size=3).map(",".join)), gzipped=st.booleans())
def test_any_cells_are_read_or_refused(write: Write, rows: list[str], gzipped: bool) -> None:
    lines = (line.encode(errors="surrogatepass") + b"\n" for line in rows)
    assert_read_or_refused(write("ts,ee", *lines, gzipped=gzipped))


def assert_read_or_refused(file: Path) -> None:
    try:
        found = read_prices(file)
    except ImportFileError:
        return
    assert all(-500 <= price.eur_mwh <= 4000 and price.ts % price.step_s == 0 for price in prices(found))
