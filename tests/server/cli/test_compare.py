"""`tunnihind compare` with files of consumption, on imported prices."""

import json
from pathlib import Path

import pytest

from tests.server.cli.conftest import Run
from tests.support.store.stores import utc
from tunnihind.core.market import QUARTER_S


@pytest.fixture
def imported_quarters(run: Run, tmp_path: Path) -> None:
    """Import 50 EUR/MWh for October 2025, but 10, 20, 30 and 60 for the quarters after midnight on 3 October."""
    file = tmp_path / "prices.csv"
    odd = dict(zip(range(utc("2025-10-02T21:00"), utc("2025-10-02T22:00"), QUARTER_S), (10, 20, 30, 60), strict=True))
    starts = range(utc("2025-10-01T22:00"), utc("2025-10-31T23:00"), QUARTER_S)
    file.write_text("ts,ee\n" + "".join(f"{ts},{odd.get(ts, 50)}\n" for ts in starts))
    assert run("import", "prices", str(file)).exit_code == 0


def use_file(folder: Path, *rows: str, header: str = "time,kWh") -> str:
    file = folder / "use.csv"
    file.write_text("\n".join([header, *rows, ""]))
    return str(file)


@pytest.mark.usefixtures("imported_quarters")
def test_the_json_has_the_sums_of_all_and_of_each_month(run: Run, tmp_path: Path) -> None:
    """A time without a zone is Estonian: midnight of 3 October is 21:00 UTC."""
    file = use_file(tmp_path, "2025-10-03T00:00,2", "2025-10-03T01:00,1")
    found = run("compare", file, "--margin", "0.5", "--fixed", "8", "--json")
    assert found.exit_code == 0, found.output
    # 2 kWh * (3.0 + 0.5) + 1 kWh * (5.0 + 0.5) = 12.5 c -> 0.155 EUR, and 24 c -> 0.2976 EUR, with 24% VAT
    bills = {"kwh": 3.0, "spot": 0.15, "fixed": 0.3}
    assert json.loads(found.stdout) == {**bills, "months": [{"month": "2025-10", **bills}]}


@pytest.mark.usefixtures("imported_quarters")
def test_all_contracts_with_their_monthly_fees(run: Run, tmp_path: Path) -> None:
    """100 kWh at 5 + 0.5 c, at 8 c, half and half, and at 4 c at most, with 1 or 2 EUR a month and 24% VAT."""
    terms = ["--margin", "0.5", "--monthly", "1", "--fixed", "8", "--fixed-monthly", "2", "--half", "--cap", "4"]
    file = use_file(tmp_path, "2025-10-05T12:00Z,100")
    bills = {"kwh": 100.0, "spot": 8.06, "fixed": 12.4, "half": 9.61, "capped": 6.2}
    found = json.loads(run("compare", file, *terms, "--json").stdout)
    assert found == {**bills, "months": [{"month": "2025-10", **bills}]}
    shown = run("compare", file, *terms).stdout
    [whole] = [line.split()[1::2] for line in shown.splitlines() if " all " in line]
    assert whole == ["all", "100.0", "8.06", "8.06", "12.40", "12.40", "9.61", "9.61", "6.20", "6.20"]


@pytest.mark.parametrize("term", [["--half"], ["--fixed-monthly", "2"]])
def test_terms_of_a_fixed_price_need_one(run: Run, tmp_path: Path, term: list[str]) -> None:
    found = run("compare", use_file(tmp_path, "2025-10-05T12:00Z,100"), *term)
    assert found.exit_code == 2
    assert f"{term[0]}: " in found.output
    assert "give --fixed too" in found.output


def test_a_negative_price_counts_as_zero_if_the_contract_says_so(run: Run, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    hours = range(utc("2025-10-04T22:00"), utc("2025-10-05T22:00"), QUARTER_S)
    prices.write_text("ts,ee\n" + "".join(f"{ts},-20\n" for ts in hours))
    assert run("import", "prices", str(prices)).exit_code == 0
    file = use_file(tmp_path, "2025-10-05T12:00Z,100")
    bills = [
        json.loads(run("compare", file, "--margin", "1", "--json", *more).stdout)["spot"]
        for more in ([], ["--zero-below"])
    ]
    assert bills == [-1.24, 1.24]


@pytest.mark.usefixtures("imported_quarters")
def test_without_a_fixed_price_its_sums_are_null(run: Run, tmp_path: Path) -> None:
    found = json.loads(run("compare", use_file(tmp_path, "2025-10-05T00:00Z,100"), "--json").stdout)
    assert found == {
        "kwh": 100.0,
        "spot": 6.2,
        "fixed": None,
        "months": [{"month": "2025-10", "kwh": 100.0, "spot": 6.2, "fixed": None}],
    }


@pytest.mark.usefixtures("imported_quarters")
@pytest.mark.parametrize(("billed_by", "spot"), [("hour", 3.72), ("quarter", 7.44)])
def test_quarters_are_billed_by_the_hour_or_by_the_quarter(
    run: Run, tmp_path: Path, billed_by: str, spot: float
) -> None:
    rows = [f"2025-10-03T00:{minute:02},{kwh}" for minute, kwh in ((0, 0), (15, 0), (30, 0), (45, 100))]
    found = run("compare", use_file(tmp_path, *rows), "--billed-by", billed_by, "--json")
    assert json.loads(found.stdout)["spot"] == spot


@pytest.mark.usefixtures("imported_quarters")
def test_a_package_adds_all_fees_to_both_prices(run: Run, tmp_path: Path) -> None:
    file = use_file(tmp_path, "2025-10-05T12:00Z,100")
    bills = [
        json.loads(run("compare", file, "--fixed", "9", "--json", *more).stdout)
        for more in ([], ["--package", "vork_1"])
    ]
    plain, whole = bills
    assert whole["spot"] - plain["spot"] == pytest.approx(whole["fixed"] - plain["fixed"])
    assert whole["spot"] - plain["spot"] > 7.72 * 1.24


@pytest.mark.usefixtures("imported_quarters")
def test_a_month_without_prices_is_left_out_and_named(run: Run, tmp_path: Path) -> None:
    found = run("compare", use_file(tmp_path, "2025-10-05T12:00Z,1", "2025-12-05T12:00Z,1"), "--json")
    assert [month["month"] for month in json.loads(found.stdout)["months"]] == ["2025-10"]
    assert "left out, because market prices are missing: 2025-12" in found.stderr


@pytest.mark.usefixtures("imported_quarters")
def test_the_table_shows_each_month_and_all(run: Run, tmp_path: Path) -> None:
    shown = run("compare", use_file(tmp_path, "2025-10-05T12:00Z,100"), "--fixed", "8").stdout
    assert [line.split()[1::2] for line in shown.splitlines() if "100.0" in line] == [
        ["2025-10", "100.0", "6.20", "6.20", "9.92", "9.92"],
        ["all", "100.0", "6.20", "6.20", "9.92", "9.92"],
    ]


@pytest.mark.usefixtures("imported_quarters")
def test_the_repeated_hour_of_autumn_counts_twice(run: Run, tmp_path: Path) -> None:
    rows = [f"2025-10-26T0{hour}:00,1" for hour in (2, 3, 3, 4)]
    assert json.loads(run("compare", use_file(tmp_path, *rows), "--json").stdout)["kwh"] == 4.0


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["2025-10-05T12:00,1", "2025-10-05T12:00,2"], "line 3, column time: 2025-10-05T12:00 is already in line 2"),
        (["2025-03-30T03:30,1"], "line 2, column time: 2025-03-30T03:30 does not exist: the clocks go forward"),
        (["2025-10-05T12:10,1"], "line 2, column time: 2025-10-05T12:10 is not the start of an hour or of a quarter"),
        (["2025-10-05T12:30,1"], "line 2, column time: the time is not on the hour"),
        (["5.10.2025 12:00,1"], "line 2, column time: '5.10.2025 12:00' is not a time"),
        (["2025-10-05T12:00,x"], "line 2, column kwh: 'x' is not a number"),
        (["2025-10-05T12:00,-1"], "line 2, column kwh: -1 is less than nothing"),
        (["2025-10-05T12:00,"], "column kwh: the file has no consumption"),
    ],
)
def test_an_invalid_row_is_named(run: Run, tmp_path: Path, rows: list[str], problem: str) -> None:
    found = run("compare", use_file(tmp_path, *rows))
    assert found.exit_code == 1
    assert problem in found.stderr


def test_a_meter_may_have_changed_from_hours_to_quarters(run: Run, tmp_path: Path, imported_quarters: None) -> None:
    rows = ["2025-10-02T23:00,4", *(f"2025-10-03T00:{minute:02},1" for minute in (0, 15, 30, 45))]
    found = json.loads(run("compare", use_file(tmp_path, *rows), "--billed-by", "quarter", "--json").stdout)
    assert (found["kwh"], found["spot"]) == (8.0, round((4 * 5 + 4 * 3) * 1.24 / 100, 2))


def test_packages_are_estonian(run: Run, tmp_path: Path) -> None:
    found = run("compare", use_file(tmp_path, "2025-10-05T12:00,1"), "--package", "vork_1", "--zone", "fi")
    assert found.exit_code == 2
    assert "packages are Estonian" in found.output
