"""The data from which the API answers."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.store.pipelines import plain_run, quarters_of
from tests.support.store.stores import HOURS, day_range, store_quotes
from tests.support.upstreams.sources import estonian_quotes
from tunnihind.api.served_data import Percentiles, ServedData, issued_forecasts, read_served_data, settled_series
from tunnihind.core.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    QUARTERS_SINCE,
    STEPS,
    Zone,
    day_start,
    floor_hour,
    hourly_prices,
)
from tunnihind.errors import SourceUnreachable
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.known import KnownPrice, PriceArchive
from tunnihind.store.prices import Price
from tunnihind.store.store import Store

HOUR = 1_765_792_800
NOW = HOUR + 600
TODAY = date(2025, 12, 15)


def medians(runs: list[Run]) -> dict[int, float]:
    return {ts: hour.p50 for ts, hour in issued_forecasts(runs).items()}


def test_each_hour_has_what_the_newest_run_before_it_said() -> None:
    runs = [plain_run(HOUR - HOUR_S + 60, median=1.0, hours=5), plain_run(HOUR + 60, median=2.0, hours=2)]
    expected = {HOUR: 1.0, HOUR + HOUR_S: 2.0, HOUR + 2 * HOUR_S: 2.0, HOUR + 3 * HOUR_S: 1.0, HOUR + 4 * HOUR_S: 1.0}
    assert medians(runs) == medians(runs[::-1]) == expected


def test_a_run_made_as_an_hour_begins_was_not_made_before_it() -> None:
    late = Run(HOUR, "test", "ee", HOUR_S, HOUR, *(plain_run(HOUR, median=9.0, hours=2).p50,) * 3, inputs={})
    assert medians([plain_run(HOUR - 1, median=1.0, hours=1), late]) == {HOUR: 1.0, HOUR + HOUR_S: 9.0}


RUNS = st.lists(
    st.builds(plain_run, st.integers(HOUR, HOUR + 5 * DAY_S), median=st.integers(-99, 99), hours=st.integers(1, 50)),
    unique_by=lambda run: run.made_at,
    max_size=6,
)


@given(RUNS)
def test_no_run_says_anything_of_an_hour_that_had_begun_nor_where_a_newer_one_did(runs: list[Run]) -> None:
    issued = issued_forecasts(runs)
    assert list(issued) == sorted({ts for run in runs for ts in run.starts() if ts > run.made_at})
    for ts, hour in issued.items():
        newest = max((run for run in runs if ts in run.starts() and run.made_at < ts), key=lambda run: run.made_at)
        at = (ts - newest.start_ts) // HOUR_S
        assert hour == Percentiles(newest.p10[at], newest.p50[at], newest.p90[at])


def test_an_empty_store_has_an_empty_view(store: Store) -> None:
    view = read_served_data(store, ESTONIA, NOW)
    assert view == ServedData(view.version, ESTONIA, {step_s: view.at_step(step_s) for step_s in STEPS})
    assert not any(view.at_step(step_s).settled for step_s in STEPS)
    assert view.newest_settled_ts is None


def test_what_is_stored_while_the_store_is_read_has_a_version_of_its_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = store.runs.made_since

    def interrupted(*args: Any, **named: Any) -> list[Run]:  # noqa: ANN401  passed on
        store_quotes(store, {"ee": {HOUR + n * QUARTER_S: 1.0 for n in range(4)}}, NOW)
        return since(*args, **named)

    monkeypatch.setattr(store.runs, "made_since", interrupted)
    before = read_served_data(store, ESTONIA, NOW)
    monkeypatch.undo()
    after = read_served_data(store, ESTONIA, NOW)
    assert before.hours.settled != after.hours.settled
    assert before.version != after.version


def test_settled_hours_reach_from_two_weeks_back_to_the_newest_known(store: Store) -> None:
    quotes = estonian_quotes(TODAY - timedelta(days=20), TODAY + timedelta(days=1), QUARTER_S)
    store_quotes(store, quotes, NOW)
    settled = read_served_data(store, ESTONIA, NOW).hours.settled
    assert settled == pytest.approx({ts: p for ts, p in hourly_prices(quotes["ee"]).items() if ts in settled})
    assert min(settled) <= HOUR - 14 * DAY_S
    assert max(settled) == day_start(TODAY + timedelta(days=2)) - HOUR_S
    assert list(settled) == list(range(min(settled), max(settled) + 1, HOUR_S))


@pytest.mark.parametrize("changed", [date(2025, 3, 30), date(2025, 10, 26)])
def test_days_of_a_clock_change_have_all_their_hours(store: Store, changed: date) -> None:
    now = day_start(changed + timedelta(days=3)) + 60
    store_quotes(store, estonian_quotes(changed - timedelta(days=15), changed + timedelta(days=3)), now)
    settled = read_served_data(store, ESTONIA, now).hours.settled
    assert all(ts in settled for ts in range(floor_hour(now) - 14 * DAY_S, floor_hour(now) + HOUR_S, HOUR_S))


def test_only_estonian_hours_are_shown_and_only_whole_ones(store: Store) -> None:
    store_quotes(store, {"fi": {HOUR: 1.0, HOUR + HOUR_S: 2.0}}, NOW)
    store_quotes(store, {"ee": {HOUR + n * QUARTER_S: 10.0 * n for n in range(7)}}, NOW)
    assert read_served_data(store, ESTONIA, NOW).hours.settled == {HOUR: 15.0}


def test_each_settled_hour_has_its_four_quarters(store: Store) -> None:
    quotes = estonian_quotes(TODAY - timedelta(days=3), TODAY + timedelta(days=1), QUARTER_S)["ee"]
    store_quotes(store, {"ee": quotes}, NOW)
    view = read_served_data(store, ESTONIA, NOW)
    assert view.at_step(QUARTER_S).settled == quotes
    assert view.at_step(QUARTER_S).priced_by_hour == frozenset()
    assert view.at_step(QUARTER_S).settled.means(HOUR_S) == view.hours.settled


def test_quarters_carry_their_hour_where_only_that_is_known(store: Store) -> None:
    midnight = day_start(QUARTERS_SINCE)
    days = (QUARTERS_SINCE - timedelta(days=1), QUARTERS_SINCE)
    quotes = {step_s: estonian_quotes(day, day, step_s) for step_s, day in zip((HOUR_S, QUARTER_S), days, strict=True)}
    for one in quotes.values():
        store_quotes(store, one, midnight)
    view = read_served_data(store, ESTONIA, midnight + 60)
    hours = quotes[HOUR_S]["ee"]
    assert view.at_step(QUARTER_S).priced_by_hour == {ts + n * QUARTER_S for ts in hours for n in range(4)}
    assert {ts: view.at_step(QUARTER_S).settled[ts] for ts in view.at_step(QUARTER_S).priced_by_hour} == {
        ts: hours[floor_hour(ts)] for ts in view.at_step(QUARTER_S).priced_by_hour
    }
    assert {ts: price for ts, price in view.at_step(QUARTER_S).settled.items() if ts >= midnight} == quotes[QUARTER_S][
        "ee"
    ]


def test_quarters_of_an_hour_that_is_not_settled_are_held_back_with_it(store: Store) -> None:
    store_quotes(store, {"ee": {HOUR + n * QUARTER_S: 10.0 * n for n in range(7)}}, NOW)
    assert read_served_data(store, ESTONIA, NOW).at_step(QUARTER_S).settled == {
        HOUR + n * QUARTER_S: 10.0 * n for n in range(4)
    }


def test_an_hour_is_never_made_up_of_its_own_price_and_of_quarters(store: Store) -> None:
    store_quotes(store, {"ee": {HOUR: 90.0, HOUR + HOUR_S: 70.0}}, NOW)
    store_quotes(store, {"ee": {HOUR + n * QUARTER_S: 10.0 * n for n in range(7)}}, NOW)
    view = read_served_data(store, ESTONIA, NOW)
    assert view.hours.settled == {HOUR: 15.0, HOUR + HOUR_S: 70.0}
    later = {HOUR + n * QUARTER_S: 70.0 for n in range(4, 8)}
    assert view.at_step(QUARTER_S).settled == {HOUR + n * QUARTER_S: 10.0 * n for n in range(4)} | later
    assert view.at_step(QUARTER_S).priced_by_hour == later.keys()


HOURS_AND_QUARTERS = st.tuples(
    st.dictionaries(st.integers(0, 12), st.integers(-500, 4000)),
    st.dictionaries(st.integers(0, 51), st.integers(-500, 4000)),
)


@given(HOURS_AND_QUARTERS)
def test_the_mean_of_an_hours_quarters_is_its_price(known: tuple[dict[int, int], dict[int, int]]) -> None:
    hours, quarters = known
    archive = PriceArchive.of(
        [
            *(KnownPrice("ee", HOUR + n * HOUR_S, HOUR_S, NOW, price) for n, price in hours.items()),
            *(KnownPrice("ee", HOUR + n * QUARTER_S, QUARTER_S, NOW, price) for n, price in quarters.items()),
        ]
    )
    prices = archive.newest_versions()
    settled, found = (settled_series(prices, "ee", step_s, NOW) for step_s in STEPS)
    assert found.settled.means(HOUR_S) == pytest.approx(settled.settled)
    unknown = [n for n in hours if not quarters.keys() >= set(range(4 * n, 4 * n + 4))]
    assert found.priced_by_hour == {HOUR + n * HOUR_S + q * QUARTER_S for n in unknown for q in range(4)}


def test_the_newest_hour_is_shown_however_old_for_it_decides_what_is_public(store: Store) -> None:
    quotes = estonian_quotes(TODAY - timedelta(days=42), TODAY - timedelta(days=40), QUARTER_S)["ee"]
    last = max(quotes)
    store_quotes(store, {"ee": {**quotes, last + QUARTER_S: 1.0}}, NOW)
    view = read_served_data(store, ESTONIA, NOW)
    assert list(view.hours.settled) == [floor_hour(last)]
    assert view.newest_settled_ts == floor_hour(last)


def test_a_correction_is_shown_though_the_clock_was_set_back_since(store: Store) -> None:
    store_quotes(store, {"ee": {HOUR: 1.0, HOUR + HOUR_S: 2.0}}, NOW)
    store_quotes(store, {"ee": {HOUR: 5.0, HOUR + HOUR_S: 2.0}}, NOW - DAY_S)
    assert read_served_data(store, ESTONIA, NOW - DAY_S + 60).hours.settled == {HOUR: 5.0, HOUR + HOUR_S: 2.0}


def test_two_weeks_of_hours_have_the_forecast_that_was_made_before_them(store: Store) -> None:
    for n in range(16, -1, -1):
        store.runs.add(plain_run(NOW - n * DAY_S, median=float(n), hours=48))
    view = read_served_data(store, ESTONIA, NOW)
    assert view.hours.run is not None
    assert view.hours.run.made_at == NOW
    past = range(HOUR - 14 * DAY_S, HOUR + HOUR_S, HOUR_S)
    assert {ts: view.hours.issued[ts].p50 for ts in past} == {ts: float((HOUR - ts) // DAY_S + 1) for ts in past}


def test_what_was_issued_comes_back_to_the_last_bit(store: Store) -> None:
    store.runs.add(plain_run(NOW - HOUR_S, median=0.1 + 0.2, hours=1))
    assert read_served_data(store, ESTONIA, NOW).hours.issued == {HOUR: Percentiles(-9.7, 0.3, 10.3)}


def test_each_quarter_has_what_the_newest_run_before_it_said(store: Store) -> None:
    older, newer = plain_run(NOW - HOUR_S, median=1.0), plain_run(NOW, median=2.0)
    for run in (older, newer):
        store.runs.add(run, quarters_of(run))
    view = read_served_data(store, ESTONIA, NOW)
    assert [view.at_step(QUARTER_S).issued[HOUR + n * QUARTER_S].p50 for n in range(8)] == [-2, 0, 2, 4, -1, 1, 3, 5]
    newest = view.at_step(QUARTER_S).run
    assert newest is not None
    assert (newest.made_at, newest.step_s) == (NOW, QUARTER_S)
    assert newest.p50.tolist()[:4] == [-1, 1, 3, 5]


def test_a_run_without_quarters_counts_for_its_hours_quarters(store: Store) -> None:
    # This version made the first and the third run. A version without quarters made the second.
    for n, median in enumerate((1.0, 2.0, 3.0)):
        run = plain_run(NOW - (2 - n) * HOUR_S, median=median)
        store.runs.add(*([run] if median == 2.0 else [run, quarters_of(run)]))
    view = read_served_data(store, ESTONIA, NOW)
    first = HOUR - HOUR_S
    assert [view.at_step(QUARTER_S).issued[first + n * QUARTER_S].p50 for n in range(12)] == [
        -2,
        0,
        2,
        4,
        2,
        2,
        2,
        2,
        0,
        2,
        4,
        6,
    ]
    earlier = read_served_data(store, ESTONIA, NOW - HOUR_S).at_step(QUARTER_S).run
    assert earlier is not None
    assert earlier.p50.tolist() == [2.0] * 96


def test_runs_of_hours_alone_are_shown_as_ever_beside_runs_of_quarters(store: Store) -> None:
    run = plain_run(NOW - 30 * DAY_S)
    store.runs.add(run, quarters_of(run))
    view = read_served_data(store, ESTONIA, NOW)
    assert view.hours.run is not None
    assert view.hours.run.step_s == HOUR_S
    quarters = view.at_step(QUARTER_S).run
    assert quarters is not None
    assert quarters.p50.tolist()[:4] == [47.0, 49.0, 51.0, 53.0]
    assert view.at_step(QUARTER_S).issued == {}


def test_runs_of_the_future_are_not_shown_after_the_clock_was_set_back(store: Store) -> None:
    store.runs.add(plain_run(NOW - HOUR_S, median=1.0, hours=1))
    store.runs.add(plain_run(NOW + DAY_S, median=9.0))
    view = read_served_data(store, ESTONIA, NOW)
    assert view.hours.run is not None
    assert view.hours.run.made_at == NOW - HOUR_S
    assert view.hours.issued == {HOUR: Percentiles(-9.0, 1.0, 11.0)}


def test_a_run_of_last_month_is_still_the_newest_there_is(store: Store) -> None:
    store.runs.add(plain_run(NOW - 30 * DAY_S))
    view = read_served_data(store, ESTONIA, NOW)
    assert view.hours.run is not None
    assert view.hours.run.made_at == NOW - 30 * DAY_S
    assert view.hours.issued == {}


def test_the_version_changes_with_prices_runs_and_score_and_with_nothing_else(store: Store) -> None:
    def version() -> str:
        return read_served_data(store, ESTONIA, NOW).version

    # Each of the three writes changes the version.
    versions = [version()]
    store_quotes(store, estonian_quotes(TODAY, TODAY), NOW)
    versions.append(version())
    store.runs.add(plain_run(NOW))
    versions.append(version())
    store.runs.store_backtest_score(HOURS, BacktestScore(20.0, 40.0, 0.5, 24))
    versions.append(version())
    assert len(set(versions)) == 4
    # Repeated prices, a refresh and a failure do not change the version.
    store_quotes(store, estonian_quotes(TODAY, TODAY), NOW + 60)
    store.state.record_refresh(NOW)
    store.health.record_failure("first", NOW, SourceUnreachable("first", "down"))
    assert version() == versions[-1]
    assert read_served_data(store, ESTONIA, NOW).last_refresh == NOW
    assert read_served_data(store, ESTONIA, NOW).hours.backtest == BacktestScore(20.0, 40.0, 0.5, 24)


def test_a_store_opened_for_reading_gives_the_same_view(store: Store) -> None:
    for day in day_range(TODAY - timedelta(days=3), 4):
        store_quotes(store, estonian_quotes(day, day), NOW)
    with Store(str(store.database), read_only=True) as reader:
        assert read_served_data(reader, ESTONIA, NOW) == read_served_data(store, ESTONIA, NOW)


def test_another_market_is_served_its_own_zone(store: Store) -> None:
    levels: tuple[tuple[Zone, float], ...] = (("ee", 10.0), ("lv", 20.0))
    prices = [Price(zone, HOUR + n * QUARTER_S, QUARTER_S, price + n) for zone, price in levels for n in range(4)]
    store.prices.add(prices, source="a", seen_ts=NOW)
    store.runs.add(plain_run(NOW))
    view = read_served_data(store, replace(ESTONIA, zone="lv"), NOW)
    assert view.hours.settled == {HOUR: 21.5}
    assert view.at_step(QUARTER_S).settled == {HOUR + n * QUARTER_S: 20.0 + n for n in range(4)}
    assert view.hours.run is None
