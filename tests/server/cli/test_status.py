from dataclasses import replace
from pathlib import Path

from tests.support.store.stores import DAY, series, whole_day
from tunnihind.cli.inspect import read_status, status_lines
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S
from tunnihind.store.store import Store

NOW = 1_765_792_800


def test_the_size_counts_what_is_still_in_the_log_beside_the_file(store: Store, database: Path) -> None:
    log = database.with_name(f"{database.name}-wal")
    before = read_status(store, ESTONIA, NOW, is_past=False).database_bytes
    store.state.write("something that takes room", "x" * 100_000)
    assert log.stat().st_size > 100_000
    after = read_status(store, ESTONIA, NOW, is_past=False).database_bytes
    assert before is not None
    assert after is not None
    assert after - before > 100_000


def test_it_says_how_good_the_weather_forecasts_of_each_lead_turned_out(store: Store) -> None:
    mornings = [NOW - NOW % DAY_S - back * DAY_S + 6 * HOUR_S for back in range(40)]
    # The forecast temperature grows by a tenth of a degree with each hour of lead. So two issues with a day between
    # them differ by 2.4 degrees.
    issues = [
        series(start, [(start // HOUR_S + hour) % 24 + hour / 10 for hour in range(240)], start_ts=start - 6 * HOUR_S)
        for start in mornings
    ]
    store.covariates.add({"temperature_2m@ee_tallinn": issues})
    status = read_status(store, ESTONIA, NOW, is_past=False)
    (line,) = (line for line in status_lines(status) if line.startswith("weather"))
    assert line == (
        "weather     temperature_2m, 1 to 7 days ahead: correlation (error, °C) 1.00 (2.4), 1.00 (4.8), 1.00 (7.2), "
        "1.00 (9.6), 1.00 (12.0), 1.00 (14.4), 1.00 (16.8); 29 days compared with the newest forecast"
    )


def test_a_past_status_has_no_line_about_a_refresh_that_came_later(store: Store) -> None:
    store.state.record_refresh(NOW)
    before, after = (read_status(store, ESTONIA, now, is_past=True) for now in (NOW - 1, NOW + 60))
    assert "refreshed" not in "".join(status_lines(before, is_past=True))
    assert "refreshed   1 min ago" in [*status_lines(after, is_past=True)]
    assert "refreshed   never" in [*status_lines(replace(before, last_refresh=None))]


def test_it_names_the_served_zones_without_a_price(store: Store) -> None:
    store.prices.add(whole_day(DAY, zones=("ee",)), source="elering", seen_ts=NOW)
    assert not any(line.startswith("missing") for line in status_lines(read_status(store, ESTONIA, NOW, is_past=False)))
    store.state.record_served_zones(("ee", "lt"))
    lines = [*status_lines(read_status(store, ESTONIA, NOW, is_past=False))]
    assert "missing     no source has given a price of LT yet" in lines
