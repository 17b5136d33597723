"""`tunnihind export` of the stored hours and quarters."""

import csv
import json
from collections.abc import Callable
from datetime import date
from io import StringIO
from pathlib import Path

import pytest

from tests.server.cli.conftest import Price, Run, lively
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tests.support.store.pipelines import plain_run, plain_runs
from tests.support.store.stores import HOURS, QUARTERS, utc
from tests.support.upstreams.elering import Quotes
from tunnihind.core.market import HOUR_S, QUARTER_S, QUARTERS_SINCE, delivery_day
from tunnihind.store.store import Store

INSTANT = "2024-04-20T10:00:00Z"


def written(output: str) -> dict[int, list[float]]:
    """Return the numbers of a CSV document by their instant."""
    rows = list(csv.reader(StringIO(output)))
    return {int(ts): [float(cell) for cell in cells] for ts, *cells in rows[1:]}


@pytest.fixture
def quotes(run: Run, tmp_path: Path) -> Quotes:
    """Import the days around the change to quarters. One of these days has 100 quarters."""
    found = made_up_quotes(date(2025, 9, 28), date(2025, 10, 28))
    done = run("import", "prices", str(write_prices(tmp_path / "quarters.csv", found)))
    assert done.exit_code == 0, done.output
    return found


def test_quarters_are_written_as_they_were_imported_and_hours_left_out(run: Run, quotes: Quotes) -> None:
    since = utc(f"{QUARTERS_SINCE}") - 2 * HOUR_S  # Brussels' midnight in summer
    expected = {ts: [prices[ts] for prices in quotes.values()] for ts in quotes["ee"] if ts >= since}
    assert written(run("export", "prices", "--resolution", "15m").stdout) == expected
    assert sum(delivery_day(ts) == date(2025, 10, 26) for ts in expected) == 100


def test_hours_are_written_unless_quarters_are_asked_for(run: Run, quotes: Quotes) -> None:
    hours = run("export", "prices")
    assert hours.stdout == run("export", "prices", "--resolution", "60m").stdout
    prices = written(hours.stdout)
    assert all(later - earlier == HOUR_S for earlier, later in zip(prices, list(prices)[1:], strict=False))
    quarters = written(run("export", "prices", "--resolution", "15m").stdout)
    for hour in (ts for ts in quarters if ts % HOUR_S == 0):
        own = [quarters[hour + n * QUARTER_S] for n in range(4)]
        assert prices[hour] == pytest.approx([sum(zone) / 4 for zone in zip(*own, strict=True)])


def test_both_resolutions_brought_into_another_database_export_the_same(
    run: Run, quotes: Quotes, tmp_path: Path
) -> None:
    other = f"sqlite:///{tmp_path / 'other.db'}"
    exported = {}
    for resolution in ("60m", "15m"):
        exported[resolution] = run("export", "prices", "--resolution", resolution).stdout
        file = tmp_path / f"{resolution}.csv"
        file.write_text(exported[resolution])
        assert run("import", "prices", str(file), "--database-url", other).exit_code == 0
    for resolution, before in exported.items():
        after = run("export", "prices", "--resolution", resolution, "--database-url", other).stdout
        assert after == before


def test_quarters_known_at_an_instant_are_written_in_json_too(run: Run, quotes: Quotes) -> None:
    as_of = "2025-10-05T10:00:00Z"
    said = json.loads(run("export", "prices", "--resolution", "15m", "--format", "json", "--as-of", as_of).stdout)
    prices = {item["ts"]: item["ee"] for item in said["prices"]}
    known_until = utc("2025-10-05T22:00")
    assert prices == {ts: price for ts, price in quotes["ee"].items() if ts in prices}
    assert max(prices) == known_until - QUARTER_S


def test_the_newest_forecast_is_written_in_hours_or_in_quarters(run: Run, store: Store) -> None:
    runs = plain_runs(utc("2025-12-15T10:00"))
    store.runs.add_forecast(runs)
    assert run("export", "forecast").stdout == run("export", "forecast", "--resolution", "60m").stdout
    for one, resolution, name in ((runs.hours, "60m", "hours"), (runs.by_step[QUARTER_S], "15m", "quarters")):
        columns = zip(one.p10.tolist(), one.p50.tolist(), one.p90.tolist(), strict=True)
        expected = dict(zip(one.starts(), map(list, columns), strict=True))
        assert written(run("export", "forecast", "--resolution", resolution).stdout) == expected
        document = json.loads(run("export", "forecast", "--resolution", resolution, "--format", "json").stdout)
        assert document["madeAt"] == one.made_at
        assert {item["ts"]: [item["p10"], item["p50"], item["p90"]] for item in document[name]} == expected


def test_a_past_instants_quarters_average_to_its_hours(
    run: Run, imported: Callable[[Price], None], quick_model: None
) -> None:
    imported(lively)
    hours, quarters = (
        written(run("export", "forecast", "--as-of", INSTANT, "--resolution", resolution).stdout)
        for resolution in ("60m", "15m")
    )
    assert len(quarters) == 4 * len(hours)
    for hour, (_, p50, _) in hours.items():
        assert sum(quarters[hour + n * QUARTER_S][1] for n in range(4)) / 4 == pytest.approx(p50, abs=0.01)


def test_without_a_run_of_quarters_that_is_said(run: Run, store: Store) -> None:
    store.runs.add(plain_run(utc("2025-12-15T10:00")))  # as issued by a version without quarters
    refused = run("export", "forecast", "--resolution", "15m")
    assert refused.exit_code == 1
    assert "there is no forecast of quarters yet: `./run forecast` makes one" in refused.output


def test_a_forecast_that_is_made_by_hand_keeps_its_quarters(
    run: Run, imported: Callable[[Price], None], store: Store, quick_model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(lively)
    monkeypatch.setattr("time.time", lambda: utc("2024-04-20T10:00"))
    done = run("forecast", "--json")
    assert done.exit_code == 0, done.output
    hours, quarters = store.runs.newest(HOURS), store.runs.newest(QUARTERS)
    assert hours is not None
    assert quarters is not None
    assert (quarters.made_at, quarters.start_ts, quarters.end_ts) == (hours.made_at, hours.start_ts, hours.end_ts)


@pytest.mark.parametrize("kind", ["prices", "covariates", "observations"])
def test_an_import_creates_no_folder_that_was_typed_wrongly(run: Run, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "empty.csv"
    headers = {
        "prices": "ts,ee",
        "covariates": "issued_ts,target_ts,ee_wind_mw",
        "observations": "target_ts,ee_wind_mw",
    }
    file.write_text(f"{headers[kind]}\n")
    database = tmp_path / "mistyped" / "tunnihind.db"
    refused = run("import", kind, str(file), "--database-url", f"sqlite:///{database}")
    assert refused.exit_code == 2
    assert f"there is no folder {database.parent}" in refused.output
    assert not database.parent.exists()
    database.parent.mkdir()
    assert run("import", kind, str(file), "--database-url", f"sqlite:///{database}").exit_code == 0
