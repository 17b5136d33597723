"""The settled and forecast periods that are served, by the hour and by the quarter."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, make_run, make_view, with_series
from tests.support.store.pipelines import quarters_of
from tunnihind.api.answers import forecast_response, series_response
from tunnihind.api.periods import ServedPeriods, served_periods
from tunnihind.api.served_data import ServedData, issued_forecasts, runs_at_step
from tunnihind.core.market import HOUR_S, QUARTER_S, floor_hour
from tunnihind.forecast.run import Run
from tunnihind.settings import Settings

SETTINGS = Settings()


def view_of(settled: dict[int, float], *runs: Run, quarter_runs: tuple[Run, ...] = ()) -> ServedData:
    """Return a view of settled hours and of runs, oldest first."""
    view = make_view(settled, *runs[-1:], quarter_run=next(iter(quarter_runs[::-1]), None))
    issued_quarters = issued_forecasts(runs_at_step(runs[::-1], quarter_runs[::-1], QUARTER_S))
    return with_series(with_series(view, issued=issued_forecasts(runs)), QUARTER_S, issued=issued_quarters)


def quarters_at(view: ServedData, now: int, *, since: int | None = None, full: bool = False) -> ServedPeriods:
    start = now - now % QUARTER_S if since is None else since
    return served_periods(view, now, Settings(full_horizon=full), step_s=QUARTER_S, since=start)


def medians(periods: ServedPeriods) -> dict[int, float]:
    return {ts: percentiles.p50 for ts, percentiles in periods.forecast.items()}


OLDER = make_run([1.0, 2.0, 3.0], start=HOUR, made_at=HOUR - 300)
NEWER = make_run([20.0, 30.0], start=HOUR + HOUR_S, made_at=HOUR + 300)


def test_quarters_of_the_hour_that_runs_are_forecast_as_the_last_run_before_it_said() -> None:
    view = view_of({HOUR: 5.0}, OLDER, NEWER, quarter_runs=(quarters_of(OLDER), quarters_of(NEWER)))
    now = HOUR + QUARTER_S
    found = {ts: p50 for ts, p50 in medians(quarters_at(view, now)).items() if ts > now}
    assert list(found) == list(range(now + QUARTER_S, HOUR + 3 * HOUR_S, QUARTER_S))
    assert list(found.values())[:6] == [2.0, 4.0, 17.0, 19.0, 21.0, 23.0]


def test_without_an_earlier_run_the_forecast_begins_with_the_newest() -> None:
    view = view_of({HOUR: 5.0}, NEWER)
    assert next(iter(medians(quarters_at(view, HOUR + 600)))) == HOUR + HOUR_S


@pytest.mark.parametrize("late", [0, 612], ids=["at the hour", "within the hour"])
def test_all_four_quarters_of_the_last_public_hour_are_served(late: int) -> None:
    now = HOUR + late
    # The prices are settled so far ahead that the public window ends 72 h from now, within an hour.
    for settled, last_hour in (({HOUR: 1.0}, HOUR + 48 * HOUR_S), ({HOUR + 35 * HOUR_S: 1.0}, HOUR + 72 * HOUR_S)):
        view = view_of(settled, make_run([9.0] * 120))
        assert forecast_response(view, now, SETTINGS).forecast[-1].ts == last_hour
        assert max(medians(quarters_at(view, now))) == last_hour + 3 * QUARTER_S


def test_the_full_horizon_reaches_to_the_end_of_the_run() -> None:
    view = view_of({HOUR: 1.0}, make_run([9.0] * 120))
    public, full = (medians(quarters_at(view, HOUR, full=full)) for full in (False, True))
    assert max(public) < forecast_response(view, HOUR, SETTINGS).free_until + HOUR_S
    assert full.items() > public.items()
    assert max(full) == HOUR + 120 * HOUR_S + 3 * QUARTER_S


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(replace(quarters_of(OLDER), start_ts=OLDER.start_ts + QUARTER_S), id="later"),
        pytest.param(replace(quarters_of(OLDER), made_at=OLDER.made_at + 1), id="of another instant"),
        pytest.param(quarters_of(make_run([1.0, 2.0], start=HOUR)), id="shorter"),
        pytest.param(quarters_of(make_run([], start=HOUR)), id="empty"),
        pytest.param(quarters_of(OLDER, (-3.0, -1.0, 1.0, 3.06)), id="of other medians"),
        pytest.param(quarters_of(make_run([1.0, 2.0, 3.0], start=HOUR), (0.0,)), id="of too few quarters"),
    ],
)
def test_stored_quarters_that_disagree_with_their_hours_give_way_to_them(stored: Run) -> None:
    (served,) = runs_at_step([OLDER], [stored], QUARTER_S)
    assert served.is_identical_to(quarters_of(OLDER, (0.0,) * 4))


def test_of_quarters_made_at_the_same_instant_those_count_that_go_with_the_hours() -> None:
    other = make_run([5.0, 6.0, 7.0], start=HOUR, made_at=OLDER.made_at)
    found = runs_at_step([OLDER, other], [quarters_of(other), quarters_of(OLDER)], QUARTER_S)
    assert [run.p50.tolist() for run in found] == [quarters_of(run).p50.tolist() for run in (OLDER, other)]


@pytest.mark.parametrize("step_s", [QUARTER_S, HOUR_S])
def test_what_was_forecast_of_the_past_is_served_though_nothing_has_been_settled_for_days(step_s: int) -> None:
    run = make_run(map(float, range(120)))
    view = view_of({HOUR: 1.0}, run, quarter_runs=(quarters_of(run),))
    now = HOUR + 60 * HOUR_S + QUARTER_S
    said = served_periods(view, now, SETTINGS, step_s=step_s, since=HOUR).forecast
    assert forecast_response(view, now, SETTINGS).free_until < floor_hour(now)
    assert [*said] == [*range(HOUR + HOUR_S, now + 1, step_s)]
    past = [point.ts for point in series_response(view, now, SETTINGS).forecast]
    assert [ts for ts in said if not ts % HOUR_S] == past


@given(st.integers(-HOUR_S, 4 * HOUR_S), st.integers(-8, 8))
def test_periods_ascend_from_the_first_that_is_asked_for(later: int, first: int) -> None:
    view = view_of({HOUR + n * HOUR_S: 1.0 for n in range(4)}, OLDER, NEWER, quarter_runs=(quarters_of(NEWER),))
    since = HOUR + first * QUARTER_S
    found = quarters_at(view, HOUR + later, since=since)
    for starts in ([*found.settled], [*found.forecast]):
        assert starts == sorted(starts)
        assert all(ts >= since for ts in starts)
