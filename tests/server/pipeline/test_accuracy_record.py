"""The record of a month's forecasts: what it says, when it is written, and that it is written once."""

import csv
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from io import StringIO

import numpy as np
import pytest
from sqlalchemy import delete

from tests.support.clocks import StillClock
from tests.support.markets.runs import run_with
from tests.support.store.pipelines import pipeline_of
from tests.support.store.stores import whole_day
from tunnihind.core.market import DELIVERY_TZ, HOUR_S, day_start, delivery_day, hours_of
from tunnihind.forecast.run import Run
from tunnihind.pipeline.accuracy_record import write_due_records
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.pipeline.schedule import TaskKind
from tunnihind.sources.base import days_between
from tunnihind.store.schema import accuracy_records
from tunnihind.store.store import Store

OCTOBER, NOVEMBER = date(2025, 10, 1), date(2025, 11, 1)
"""October ends with a day of 25 hours in its last week."""
NEXT_WEEK = date(2025, 11, 8)
FIRST_PRICE = OCTOBER - timedelta(days=21)


def at(day: date, hour: int, minute: int = 0) -> int:
    """Return an instant of a UTC day."""
    return int(datetime.combine(day, time(hour, minute), UTC).timestamp())


def run_at(made_at: int, *, days: int = 8) -> Run:
    """Return a run whose median depends on the run and the hour, until the end of a delivery day."""
    start = made_at // HOUR_S * HOUR_S + HOUR_S
    end = day_start(delivery_day(made_at) + timedelta(days=days))
    hours = np.arange(start, end, HOUR_S) // HOUR_S
    median = hours % 31 + made_at % 977 / 10
    return run_with(np.stack([median - 9, median, median + 11]), made_at=made_at, start_ts=start)


def price(ts: int) -> float:
    """Return an hour's price; some lie outside each interval, and some are negative."""
    return float(ts // HOUR_S % 47 * 3 - 20)


def store_prices(store: Store, first: date, last: date, *, seen_ts: int | None = None) -> None:
    for day in days_between(first, last):
        prices = whole_day(day, zones=("ee",), price=lambda n, day=day: price(day_start(day) + n * HOUR_S))  # type: ignore[misc]
        store.prices.add(prices, source="test", seen_ts=seen_ts or day_start(day) - 11 * HOUR_S)


def store_runs(store: Store, made_at: Iterable[int]) -> None:
    store.runs.add(*map(run_at, made_at))


def has_october(store: Store) -> bool:
    # The first forecasts also give September a record.
    return "2025-10" in store.records.months("ee")


def issue_days(first: date = OCTOBER - timedelta(days=7), last: date = NOVEMBER) -> Iterable[date]:
    return days_between(first, last)


@pytest.fixture
def october(store: Store) -> Store:
    """Return a store with the forecasts and prices of October, and prices until a week later."""
    store_prices(store, FIRST_PRICE, NEXT_WEEK)
    store_runs(store, (at(day, hour, minute) for day in issue_days() for hour, minute in [(8, 59), (9, 0), (9, 40)]))
    return store


def rows_of(store: Store, name: str, month: str = "2025-10") -> list[dict[str, str]]:
    record = store.records.find("ee", month)
    assert record is not None
    return [*csv.DictReader(StringIO(record.files[name].decode()))]


def test_every_hour_and_day_ahead_has_the_first_run_from_nine_on(october: Store) -> None:
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1))
    found = rows_of(october, "2025-10.csv")
    expected = []
    for day in days_between(OCTOBER, date(2025, 10, 31)):
        for ahead in range(1, 8):
            run = run_at(at(day - timedelta(days=ahead), 9))
            for ts in hours_of(day):
                hour = (ts - run.start_ts) // HOUR_S
                expected.append(
                    {
                        "zone": "ee",
                        "deliveryDay": str(day),
                        "daysAhead": str(ahead),
                        "madeAt": f"{day - timedelta(days=ahead)}T09:00:00Z",
                        "startsAt": datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                        "p10": f"{run.p10[hour]:.2f}",
                        "p50": f"{run.p50[hour]:.2f}",
                        "p90": f"{run.p90[hour]:.2f}",
                    }
                )
    assert len(found) == 7 * (31 * 24 + 1)
    assert found == expected


def test_the_scores_are_the_means_over_the_files_own_hours(october: Store) -> None:
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1))
    forecasts, scores = rows_of(october, "2025-10.csv"), rows_of(october, "2025-10-scores.csv")
    assert [row["daysAhead"] for row in scores] == [*"1234567"]
    for row in scores:
        mine = [one for one in forecasts if one["daysAhead"] == row["daysAhead"]]
        actual = [price(int(datetime.fromisoformat(one["startsAt"]).timestamp())) for one in mine]
        errors = [abs(float(one["p50"]) - paid) for one, paid in zip(mine, actual, strict=True)]
        inside = [float(one["p10"]) <= paid <= float(one["p90"]) for one, paid in zip(mine, actual, strict=True)]
        assert (row["hours"], row["forecastHours"], row["scoredHours"]) == ("745", "745", "745")
        assert float(row["mae"]) == pytest.approx(sum(errors) / 745, abs=0.0051)
        assert float(row["coverage80"]) == pytest.approx(sum(inside) / 745, abs=0.00051)


def test_no_price_is_in_the_files(october: Store) -> None:
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1))
    assert set(rows_of(october, "2025-10.csv")[0]) == {
        *("zone", "deliveryDay", "daysAhead", "madeAt", "startsAt", "p10", "p50", "p90")
    }
    assert len(rows_of(october, "2025-10-scores.csv")) == 7


def test_a_day_without_a_forecast_in_time_is_said_to_have_none(store: Store) -> None:
    lacking = date(2025, 10, 10)
    gate = int(datetime.combine(lacking, time(12), DELIVERY_TZ).timestamp())
    store_prices(store, FIRST_PRICE, NEXT_WEEK)
    store_runs(store, (at(day, 9, 5) for day in issue_days() if day != lacking))
    store_runs(store, [at(lacking, 8, 59), gate, gate + HOUR_S])
    write_due_records(store, ("ee",), at(NEXT_WEEK, 1))
    empty = [row for row in rows_of(store, "2025-10.csv") if not row["madeAt"]]
    assert {(row["deliveryDay"], row["daysAhead"]) for row in empty} == {
        (str(lacking + timedelta(days=ahead)), str(ahead)) for ahead in range(1, 8)
    }
    assert {row["p10"] + row["p50"] + row["p90"] for row in empty} == {""}
    assert {row["forecastHours"] for row in rows_of(store, "2025-10-scores.csv")} == {str(745 - 24)}


def test_a_shorter_run_has_no_forecast_of_the_days_it_does_not_cover(store: Store) -> None:
    store_prices(store, FIRST_PRICE, NEXT_WEEK)
    store.runs.add(*(run_at(at(day, 9), days=3) for day in issue_days()))
    write_due_records(store, ("ee",), at(NEXT_WEEK, 1))
    counts = [row["forecastHours"] for row in rows_of(store, "2025-10-scores.csv")]
    assert counts == ["745", "745", *"00000"]
    assert rows_of(store, "2025-10-scores.csv")[6]["mae"] == ""


def test_the_first_month_is_that_of_the_first_forecast_and_a_month_off_is_not_left_out(store: Store) -> None:
    store_prices(store, FIRST_PRICE, date(2026, 1, 8))
    store_runs(store, (at(day, 9) for day in issue_days(date(2025, 10, 20), date(2025, 10, 25))))
    write_due_records(store, ("ee",), at(date(2026, 1, 8), 1))
    assert store.records.months("ee") == ("2025-10", "2025-11", "2025-12")
    assert rows_of(store, "2025-10-scores.csv")[0]["forecastHours"] == str(24 * 5 + 25)
    assert {row["madeAt"] for row in rows_of(store, "2025-12.csv", "2025-12")} == {""}
    assert {row["forecastHours"] for row in rows_of(store, "2025-12-scores.csv", "2025-12")} == {"0"}


def test_march_has_the_hour_less_of_its_day_of_23_hours(store: Store) -> None:
    store_prices(store, date(2026, 2, 1), date(2026, 4, 8))
    store_runs(store, (at(day, 9, 1) for day in issue_days(date(2026, 2, 28), date(2026, 4, 1))))
    write_due_records(store, ("ee",), at(date(2026, 4, 8), 1))
    assert {row["hours"] for row in rows_of(store, "2026-03-scores.csv", "2026-03")} == {"743"}
    assert len(rows_of(store, "2026-03.csv", "2026-03")) == 7 * 743


@pytest.mark.parametrize(
    ("settled_through", "now", "is_written"),
    [
        (date(2025, 11, 7), at(date(2025, 11, 7), 22), False),
        (date(2025, 11, 8), at(date(2025, 11, 7), 22), False),
        (date(2025, 11, 8), at(date(2025, 11, 7), 23), True),
        # A clock that is a year ahead brings no prices of that year.
        (date(2025, 10, 31), at(date(2026, 11, 8), 12), False),
        # A clock that has fallen back sees prices of days that have not come.
        (date(2025, 11, 20), at(date(2025, 10, 8), 12), False),
    ],
    ids=["too early", "prices ahead", "a week later", "clock ahead", "clock behind"],
)
def test_a_record_waits_for_a_week_by_the_clock_and_by_the_prices(
    store: Store, settled_through: date, now: int, is_written: bool
) -> None:
    store_prices(store, FIRST_PRICE, settled_through)
    store_runs(store, (at(day, 9) for day in issue_days()))
    write_due_records(store, ("ee",), now)
    assert has_october(store) is is_written


def test_missing_prices_are_waited_for_and_then_counted(store: Store) -> None:
    missing = date(2025, 10, 12)
    store_prices(store, FIRST_PRICE, missing - timedelta(days=1))
    store_prices(store, missing + timedelta(days=1), date(2025, 12, 7))
    store_runs(store, (at(day, 9) for day in issue_days()))
    write_due_records(store, ("ee",), at(date(2025, 12, 7), 12))
    assert not has_october(store)
    store_prices(store, date(2025, 12, 8), date(2025, 12, 8))
    write_due_records(store, ("ee",), at(date(2025, 12, 8), 12))
    # The hours of the day, and the same hours a week later, which lack their baseline.
    scored = {row["scoredHours"] for row in rows_of(store, "2025-10-scores.csv")}
    assert scored == {str(745 - 48)}


def test_a_month_waits_for_the_back_fill_of_its_year(october: Store) -> None:
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1), missing_years=(2025,))
    assert not has_october(october)
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1), missing_years=(2024,))
    assert has_october(october)


def test_nothing_that_comes_later_changes_a_record(october: Store) -> None:
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1))
    before = october.records.find("ee", "2025-10")
    october.prices.add(whole_day(date(2025, 10, 15), zones=("ee",)), source="import", seen_ts=at(NEXT_WEEK, 2))
    store_runs(october, [at(date(2025, 10, 14), 9)])
    write_due_records(october, ("ee",), at(NEXT_WEEK, 3))
    assert october.records.find("ee", "2025-10") == before


def test_each_zone_has_its_own_record(october: Store) -> None:
    write_due_records(october, ("lv", "ee"), at(NEXT_WEEK, 1))
    assert has_october(october)
    assert october.records.months("lv") == ()


async def test_the_pipeline_writes_due_records_before_it_deletes_old_runs(october: Store) -> None:
    clock = StillClock(at(NEXT_WEEK, 1))
    pipeline = pipeline_of(october, clock, prices=[])
    await pipeline.catch_up(without=set(TaskKind) - {TaskKind.RECORDS, TaskKind.CLEAN_UP})
    assert has_october(october)


def test_the_runs_of_a_record_outlive_a_server_that_stood_still(october: Store) -> None:
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1))
    expected = october.records.find("ee", "2025-10")
    assert expected is not None
    with october.database.writing() as connection:
        connection.execute(delete(accuracy_records))
    assert delete_superfluous(october, at(date(2026, 6, 1), 1)) > 0
    write_due_records(october, ("ee",), at(NEXT_WEEK, 1))
    assert october.records.find("ee", "2025-10") == expected
