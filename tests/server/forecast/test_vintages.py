from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.core.market import DAY_S, HOUR_S, day_start, delivery_day
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.vintages import (
    NEXT_DAY_AGES,
    WEEK_AGES,
    Floats32,
    VintageFrame,
    issue_instants,
    longest_reach_s,
    newest_issue_instant,
    vintages,
    vintages_by_name,
    without_superseded_weather_runs,
)
from tunnihind.known import CovariateArchive, IssuedSeries
from tunnihind.pipeline.retention import covariate_cutoff_instants, is_midnight_run, superfluous_instants

FIRST = date(2025, 3, 20)
GRID = DayGrid.between(FIRST, FIRST + timedelta(days=30))
TODAY = 12
AS_OF = day_start(FIRST + timedelta(days=TODAY)) + 9 * HOUR_S
INSTANTS = issue_instants(GRID, AS_OF, TODAY)


def issue(issued_ts: int, start_ts: int, *values: float) -> IssuedSeries:
    return IssuedSeries(issued_ts, start_ts, np.array(values, np.float32))


def hour_of(row: int, hour: int) -> int:
    """Return the start of an hour of a day with 24 hours."""
    return int(GRID.starts[row]) + hour * HOUR_S


def seen(*issues: IssuedSeries, rows: range = range(TODAY + 1), ages: range = WEEK_AGES) -> Floats32:
    found: Floats32
    (found,) = vintages([issues], VintageFrame.of(GRID, INSTANTS, rows, ages))
    return found


def test_past_days_look_at_their_clock_and_today_at_the_instant_of_the_forecast() -> None:
    assert [ts % DAY_S for ts in INSTANTS[:-1]] == [9 * HOUR_S] * TODAY
    assert INSTANTS[-1] == AS_OF
    assert (issue_instants(GRID, AS_OF, TODAY, stale_days=2)[:-1] == INSTANTS[:-1] - 2 * DAY_S).all()


def test_a_vintage_holds_the_newest_forecast_issued_by_its_instant_and_none_later() -> None:
    target = hour_of(6, 5)
    old, new = issue(int(INSTANTS[4]) - 60, target, 1.0), issue(int(INSTANTS[4]) + 60, target, 2.0)
    found = seen(old, new)
    assert np.isnan(found[3]).all()
    assert found[4, 6 - 4 + 1, 5] == 1.0
    assert found[5, 6 - 5 + 1, 5] == 2.0
    assert np.isfinite(found).sum() == 4  # issue days 4 to 7: on day 7 it is yesterday


def newest_known(issues: tuple[IssuedSeries, ...], ts: int, instant: int) -> float:
    """Return the newest forecast of an hour at an instant, by a search through all issues."""
    newest, value = -1, np.nan
    for one in issues:
        hour = (ts - one.start_ts) // HOUR_S
        is_known = 0 <= hour < one.values.size and np.isfinite(one.values[hour])
        if is_known and newest <= one.issued_ts <= min(instant, ts):
            newest, value = one.issued_ts, float(one.values[hour])
    return value


@given(seed=st.integers(0, 10_000))
def test_the_sweep_finds_what_looking_at_every_forecast_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at = int(GRID.starts[0]) + HOUR_S * rng.integers(-48, TODAY * 24, 12)
    issues = tuple(issue(int(ts), int(ts + HOUR_S * rng.integers(-30, 30)), *rng.normal(size=90)) for ts in sorted(at))
    for one in issues:
        one.values[rng.random(one.values.size) < 0.2] = np.nan
    row = int(rng.integers(0, TODAY + 1))
    every = np.arange(GRID.starts[0], GRID.starts[-1], HOUR_S).tolist()
    known = np.array([newest_known(issues, ts, int(INSTANTS[row])) for ts in every], np.float32)
    expected = GRID.arrange_filled(known)[max(0, row - 1) : row + 10]
    found = seen(*issues, rows=range(row, row + 1))[0]
    assert np.array_equal(found[11 - len(expected) :] if row == 0 else found, expected, equal_nan=True)


def test_the_hour_that_the_spring_day_lacks_is_between_its_neighbours() -> None:
    row = GRID.row_of(date(2025, 3, 30))
    start = int(GRID.starts[row])
    found = seen(issue(start - DAY_S, start, 10.0, 20.0, 40.0), rows=range(row - 1, row))
    assert found[0, 2, :4].tolist() == [10.0, 20.0, 30.0, 40.0]


def test_a_next_day_covariate_has_one_age() -> None:
    found = seen(issue(hour_of(4, 8), hour_of(5, 0), *range(24)), ages=NEXT_DAY_AGES)
    assert found.shape == (TODAY + 1, 1, 24)
    assert found[4, 0].tolist() == list(range(24))


def test_how_fresh_and_how_far_reaching_forecasts_are() -> None:
    start = hour_of(3, 0)
    issues = (issue(start - 3600, start, 1.0, 2.0), issue(start + 9 * HOUR_S, start, 1.0, 2.0))
    assert newest_issue_instant(issues) == start - 3600
    assert newest_issue_instant(()) is None
    assert newest_issue_instant((*issues, issue(start - 60, start, np.nan))) == start - 3600
    assert longest_reach_s(issues) == 2 * HOUR_S


@given(
    seed=st.integers(0, 1000), covariates=st.integers(2, 10), other=st.sampled_from(["the same", "lacks one", "later"])
)
def test_covariates_that_were_issued_together_are_what_each_is_alone(seed: int, covariates: int, other: str) -> None:
    rng = np.random.default_rng(seed)
    at = sorted(int(INSTANTS[0]) // HOUR_S * HOUR_S + int(hour) * HOUR_S for hour in rng.integers(0, TODAY * 24, 15))
    headers = [(ts, ts + int(rng.integers(-3, 5)) * HOUR_S, int(rng.integers(1, 200))) for ts in at]
    # The second covariate is issued with the others, or lacks an issue, or is issued a day after the others.
    second = {
        "the same": headers,
        "lacks one": headers[1:],
        "later": [(issued + DAY_S, start, hours) for issued, start, hours in headers],
    }[other]

    def values(hours: int) -> list[float]:
        return [float("nan") if rng.random() < 0.2 else float(rng.normal()) for _ in range(hours)]

    series = {
        f"{number}_mw": tuple(
            issue(issued, start, *values(hours)) for issued, start, hours in (second if number == 1 else headers)
        )
        for number in range(covariates)
    }
    archive = CovariateArchive(series)
    frame = VintageFrame.of(GRID, INSTANTS, range(TODAY + 1), WEEK_AGES)
    together = vintages_by_name(series, archive, frame)
    for name in series:
        assert together[name].tobytes() == vintages_by_name([name], archive, frame)[name].tobytes()


def weather_runs(days: int, *, delays: Sequence[int] = (300,)) -> tuple[IssuedSeries, ...]:
    """Return four runs a day from the day of `AS_OF` on. Each is known 6 hours and a delay after its initialisation."""
    first = AS_OF // DAY_S * DAY_S
    values = np.random.default_rng(0)
    return tuple(
        IssuedSeries(
            run_ts + 6 * HOUR_S + delays[number % len(delays)],
            run_ts,
            values.random(240 if run_ts % (12 * HOUR_S) == 0 else 145).astype(np.float32),
            run_ts=run_ts,
        )
        for number, run_ts in enumerate(range(first, first + days * DAY_S, 6 * HOUR_S))
    )


@pytest.mark.parametrize("delays", [(300,), (300, 4 * HOUR_S, 0, 60), (4 * HOUR_S, 300)])
@pytest.mark.parametrize("hour", [1, 8, 10, 13, 20])
def test_what_past_days_see_does_not_change_when_old_runs_are_deleted(delays: Sequence[int], hour: int) -> None:
    issues = weather_runs(30, delays=delays)
    as_of = AS_OF // DAY_S * DAY_S + 28 * DAY_S + hour * HOUR_S
    known = tuple(issue for issue in issues if issue.issued_ts <= as_of)
    old = [issue.issued_ts for issue in known if issue.issued_ts < as_of - 14 * DAY_S]
    gone = superfluous_instants(old, covariate_cutoff_instants)
    thinned = tuple(issue for issue in known if issue.issued_ts not in gone or is_midnight_run(issue.run_ts))
    assert len(thinned) < len(known)
    grid = DayGrid.between(delivery_day(AS_OF), delivery_day(AS_OF) + timedelta(days=38))
    today = grid.row_of(delivery_day(as_of))
    instants = issue_instants(grid, as_of, today)
    frame = VintageFrame.of(grid, instants, range(today + 1), WEEK_AGES)
    before, after = vintages([without_superseded_weather_runs(some, as_of) for some in (known, thinned)], frame)
    np.testing.assert_array_equal(before, after)


def test_runs_since_the_last_look_are_all_seen_and_series_of_no_run_are_left_alone() -> None:
    issues = weather_runs(5)
    evening = issues[-1].issued_ts
    kept = without_superseded_weather_runs(issues, evening)
    assert [issue.run_ts for issue in kept[-4:]] == [issue.run_ts for issue in issues[-4:]]
    assert len(kept) == 4 + 4
    nameless = tuple(replace(issue, run_ts=None) for issue in issues)
    assert without_superseded_weather_runs(nameless, evening) == nameless
