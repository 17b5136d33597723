"""A past day, shown with the data known then, from an imported history that goes on past this day."""

import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.support.clocks import StillClock
from tests.support.markets.runs import run_with
from tests.support.store.pipelines import plain_run, quarters_of
from tests.support.store.stores import HOURS, store_quotes, utc
from tests.support.upstreams.elering import Quotes
from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.core.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    STEPS,
    PriceLimits,
    day_end,
    day_start,
    delivery_day,
    floor_hour,
    hourly_prices,
    publication_time,
)
from tunnihind.forecast.run import Run
from tunnihind.known import IssuedSeries
from tunnihind.service.rehearsal import Rehearsal
from tunnihind.settling.sheet import HeldReason, checked_prices
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.store.store import Store
from tunnihind.web.weather import region_sun_covariate_names, region_wind_covariate_names

pytestmark = pytest.mark.usefixtures("quick_model")

FIRST, LAST = date(2025, 8, 1), date(2025, 11, 9)
LATER = 1_800_000_000
TODAY = date(2025, 11, 5)
NOW = utc("2025-11-05 10:00")


def backcasts(store: Store, instant: int) -> list[Run]:
    """Return the past runs of a rehearsal that the store does not have."""
    kept = {run.made_at for run in store.runs.made_since(HOURS, 0)}
    return [run for run in Rehearsal.of(store, instant, ESTONIA).earlier_runs[HOUR_S] if run.made_at not in kept]


COVARIATE = "ee_wind_mw"


@pytest.fixture(scope="module")
async def quotes() -> dict[int, Quotes]:
    """Return a hundred days of simulated quotes by their step. Clocks change within them, and quarters begin."""
    by_step: dict[int, Quotes] = {}
    for sheet in await SimulatedSource(clock=StillClock(LATER)).fetch_sheets(FIRST, LAST):
        if sheet.zone in {"ee", "fi"}:
            assert not isinstance(checked_prices(sheet, PriceLimits(-500, 4000)), HeldReason)
            step_s = (day_end(sheet.day) - day_start(sheet.day)) // len(sheet.quotes)
            by_step.setdefault(step_s, {}).setdefault(sheet.zone, {}).update(dict(sheet.quotes))
    return by_step


@pytest.fixture(scope="module")
def imported(quotes: dict[int, Quotes], empty_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database into which the quotes were imported long after their days."""
    path = Path(shutil.copy(empty_database, tmp_path_factory.mktemp("imported") / "tunnihind.db"))
    with Store(f"sqlite:///{path}") as store:
        for some in quotes.values():
            store_quotes(store, some, LATER, source="import")
        for n in range(40):
            at = NOW + (n - 20) * 6 * HOUR_S
            store.covariates.add({COVARIATE: [IssuedSeries(at, at, np.full(48, n, np.float32))]})
    return path


@pytest.fixture
def history(imported: Path, tmp_path: Path) -> Iterator[Store]:
    """Return a copy of the imported history, for tests that add to it."""
    with Store(f"sqlite:///{shutil.copy(imported, tmp_path / 'history.db')}") as store:
        yield store


@pytest.fixture
def reader(imported: Path) -> Iterator[Store]:
    """Return the imported history for reading."""
    with Store(f"sqlite:///{imported}", read_only=True) as store:
        yield store


def bits(run: Run | None) -> object:
    return run and (
        run.made_at,
        run.tier,
        run.start_ts,
        *(p.tobytes() for p in (run.p10, run.p50, run.p90)),
        run.inputs,
    )


def picture(rehearsal: Rehearsal, at: int = NOW) -> object:
    """Return everything that a rehearsal shows at an instant, in a form that can be compared to the last bit."""
    runs = rehearsal.make_runs(at)
    view = rehearsal.served_data(at, () if runs is None else (runs,))
    issues = rehearsal.archive.as_of(at).covariates.series
    covariates = {name: [(one.issued_ts, one.values.tobytes()) for one in series] for name, series in issues.items()}
    return (
        view.version,
        view.hours.settled,
        view.hours.issued,
        view.last_refresh,
        view.hours.backtest,
        bits(view.hours.run),
        covariates,
    )


def view_at(store: Store, instant: int) -> ServedData:
    rehearsal = Rehearsal.of(store, instant, ESTONIA)
    runs = rehearsal.make_runs(instant)
    return rehearsal.served_data(instant, () if runs is None else (runs,))


def test_settled_prices_are_the_imported_ones_that_were_out_by_then(reader: Store, quotes: dict[int, Quotes]) -> None:
    view = view_at(reader, NOW)
    quarters = hourly_prices(quotes[900]["ee"])
    settled = range(NOW - 30 * DAY_S, day_end(TODAY), HOUR_S)
    assert list(view.hours.settled) == list(settled)
    assert view.hours.settled == pytest.approx({ts: quarters[ts] for ts in settled})
    assert view.last_refresh == publication_time(TODAY)


@pytest.mark.parametrize(
    "instant",
    [
        "2025-11-05 00:00",
        "2025-11-05 08:00",
        "2025-11-05 08:59:59",
        "2025-11-05 09:00",
        "2025-11-05 09:00:01",
        "2025-11-05 10:00",
        "2025-11-05 22:30",
        "2025-11-05 23:30",
        # Two weeks after the clock change, and in the night of the change.
        "2025-11-08 23:59:59",
        "2025-10-26 00:30",
    ],
)
def test_two_weeks_of_past_hours_have_a_forecast_without_a_hole(reader: Store, instant: str) -> None:
    now = utc(instant)
    past = view_at(reader, now).hours.issued
    wanted = range(floor_hour(now) - 14 * DAY_S, floor_hour(now) + HOUR_S, HOUR_S)
    assert [ts for ts in wanted if ts not in past] == []


def test_runs_of_the_archive_leave_no_hole_whenever_they_were_made(history: Store) -> None:
    # The server was first started in an evening, then stopped for a week, and started again before midnight.
    for at in ("2025-10-21 22:40", "2025-10-22 05:00", "2025-10-29 23:50", "2025-11-05 03:00"):
        history.runs.add(plain_run(utc(at), hours=30))
    past = view_at(history, NOW).hours.issued
    assert [ts for ts in range(NOW - 14 * DAY_S, NOW + HOUR_S, HOUR_S) if ts not in past] == []


def test_past_hours_have_what_was_forecast_the_morning_before(reader: Store) -> None:
    runs = {delivery_day(run.made_at): run for run in backcasts(reader, NOW)}
    assert [utc(f"{day} 09:00") for day in runs] == [run.made_at for run in runs.values()]
    assert list(runs)[-1] == TODAY
    run = runs[TODAY - timedelta(days=3)]
    past = view_at(reader, NOW).hours.issued
    for ts in range(run.made_at + HOUR_S, run.made_at + DAY_S + HOUR_S, HOUR_S):
        at = (ts - run.start_ts) // HOUR_S
        assert past[ts] == Percentiles(run.p10[at], run.p50[at], run.p90[at])


def test_runs_of_the_archive_are_shown_exactly_as_issued(history: Store) -> None:
    made_at = NOW - 2 * DAY_S + 60
    run = run_with(np.array([[-1.23], [4.56], [7.89]]) + np.arange(48), made_at=made_at, tier="other")
    history.runs.add(run)
    past = view_at(history, NOW).hours.issued
    # The run holds until the back-cast of the next morning, because the day already has a run.
    for n in range(22):
        assert past[run.start_ts + n * HOUR_S] == Percentiles(run.p10[n], run.p50[n], run.p90[n])
    assert past[run.start_ts + 23 * HOUR_S] != Percentiles(run.p10[23], run.p50[23], run.p90[23])
    assert delivery_day(made_at) not in {delivery_day(one.made_at) for one in backcasts(history, NOW)}


def test_quarters_are_shown_as_issued_where_they_were_and_as_their_hour_elsewhere(history: Store) -> None:
    with_quarters, without = plain_run(NOW - 2 * DAY_S + 60), plain_run(NOW - 4 * DAY_S + 60, median=70.0)
    history.runs.add(with_quarters, quarters_of(with_quarters))
    history.runs.add(without)
    view = view_at(history, NOW)
    said = [view.at_step(QUARTER_S).issued[with_quarters.start_ts + n * QUARTER_S].p50 for n in range(4)]
    assert said == [47.0, 49.0, 51.0, 53.0]
    assert [view.at_step(QUARTER_S).issued[without.start_ts + n * QUARTER_S].p50 for n in range(4)] == [70.0] * 4
    run = view.at_step(QUARTER_S).run
    assert run is not None
    assert (run.made_at, run.step_s) == (NOW, QUARTER_S)


def test_runs_made_after_the_instant_are_ignored_even_once_the_clock_passes_them(history: Store) -> None:
    before = [picture(Rehearsal.of(history, NOW, ESTONIA), at) for at in (NOW, NOW + 6 * HOUR_S)]
    history.runs.add(plain_run(NOW + 1, median=999.0))
    history.runs.add(plain_run(NOW + 5 * HOUR_S, median=999.0))
    assert [picture(Rehearsal.of(history, NOW, ESTONIA), at) for at in (NOW, NOW + 6 * HOUR_S)] == before


def test_tomorrows_prices_become_known_at_five_to_one_in_brussels(reader: Store) -> None:
    rehearsal = Rehearsal.of(reader, NOW, ESTONIA)
    published = utc("2025-11-05 11:55")
    views = [rehearsal.served_data(at, ()) for at in (published - 1, published)]
    assert [view.newest_settled_ts for view in views] == [day_end(TODAY) - HOUR_S, day_end(TODAY) + 23 * HOUR_S]
    assert [view.last_refresh for view in views] == [publication_time(TODAY), published]
    assert views[0].version != views[1].version


def test_as_the_clock_runs_on_its_own_runs_become_the_past(reader: Store) -> None:
    rehearsal = Rehearsal.of(reader, NOW, ESTONIA)
    runs = tuple(made for n in range(3) if (made := rehearsal.make_runs(NOW + n * HOUR_S)) is not None)
    view = rehearsal.served_data(NOW + 2 * HOUR_S + 60, runs)
    assert ({HOUR_S: view.hours.run, QUARTER_S: view.at_step(QUARTER_S).run}, view.scenarios) == runs[-1]
    for n, made in enumerate(runs[:2], start=1):
        hours, quarters = made.hours, made.by_step[QUARTER_S]
        ts = NOW + n * HOUR_S
        assert view.hours.issued[ts] == Percentiles(hours.p10[0], hours.p50[0], hours.p90[0])
        for row in range(4):
            said = Percentiles(quarters.p10[row], quarters.p50[row], quarters.p90[row])
            assert view.at_step(QUARTER_S).issued[ts + row * QUARTER_S] == said


def spoil_the_future(store: Store, after: int) -> None:
    """Replace every price, correction and covariate that became known after an instant by noise."""
    noise = np.random.default_rng(7)
    with store.database.writing() as connection:
        rows = connection.exec_driver_sql("SELECT zone, ts FROM prices WHERE known_ts > ?", (after,)).all()
        for zone, ts in rows:
            key = (float(noise.uniform(-500, 4000)), zone, ts, after)
            connection.exec_driver_sql("UPDATE prices SET eur_mwh = ? WHERE zone = ? AND ts = ? AND known_ts > ?", key)
        connection.exec_driver_sql("DELETE FROM covariates WHERE issued_ts > ?", (after,))
    store.covariates.add({COVARIATE: [IssuedSeries(after + 1, after, noise.uniform(0, 9, 99).astype(np.float32))]})


def test_nothing_that_came_later_can_be_seen(history: Store) -> None:
    corrected: Quotes = {"ee": {day_start(TODAY) + n * 900: -77.0 for n in range(40)}}
    store_quotes(history, corrected, NOW + 600)
    before = picture(Rehearsal.of(history, NOW, ESTONIA))
    spoil_the_future(history, NOW)
    assert picture(Rehearsal.of(history, NOW, ESTONIA)) == before
    # The noise is shown when the clock has passed its publication.
    at = NOW + 3 * HOUR_S
    assert max(Rehearsal.of(history, NOW, ESTONIA).served_data(at, ()).hours.settled.values()) > 1000


def test_no_back_cast_sees_what_came_after_it(history: Store) -> None:
    sixth = utc(f"{TODAY - timedelta(days=10)} 09:00")
    before = [bits(run) for run in backcasts(history, NOW)]
    spoil_the_future(history, sixth)
    after = [bits(run) for run in backcasts(history, NOW)]
    assert after[:6] == before[:6]
    assert after[6] != before[6]


def test_a_store_that_knew_nothing_then_shows_nothing(history: Store, store: Store) -> None:
    for empty, instant in ((store, NOW), (history, utc("2020-01-01 00:00"))):
        view = view_at(empty, instant)
        assert view == ServedData(
            view.version, ESTONIA, {step_s: ServedData("", ESTONIA).at_step(step_s) for step_s in STEPS}
        )


def test_a_history_that_begins_a_few_days_before_has_back_casts_from_then_on(history: Store) -> None:
    instant = day_start(FIRST + timedelta(days=3)) + 10 * HOUR_S
    view = view_at(history, instant)
    assert view.hours.run is not None
    assert min(view.hours.settled) == day_start(FIRST)
    assert min(view.hours.issued) == utc(f"{FIRST} 10:00")


def test_the_weather_is_that_which_had_been_forecast_by_then(history: Store) -> None:
    names = (*region_wind_covariate_names(ESTONIA), *region_sun_covariate_names(ESTONIA))
    for at, speed in ((NOW - HOUR_S, 4.0), (NOW + HOUR_S, 20.0)):
        issue = IssuedSeries(at, floor_hour(NOW), np.full(48, speed, np.float32))
        history.covariates.add(dict.fromkeys(names, (issue,)))
    rehearsal = Rehearsal.of(history, NOW, ESTONIA)
    winds = [rehearsal.weather_at(at) for at in (NOW - 2 * HOUR_S, NOW, NOW + HOUR_S)]
    assert [weather and weather.wind.tolist() for weather in winds] == [None, [4.0] * 48, [20.0] * 48]
