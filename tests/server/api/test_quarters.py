"""The quarters that are served, and the answers of `GET /api/v1/quarters`."""

import re
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, make_run, make_view, with_series
from tests.support.store.pipelines import quarters_of
from tunnihind.api.answers import forecast_response, quarters_response, series_response
from tunnihind.api.models.price_answers import QuartersResponse
from tunnihind.api.periods import ServedPeriods, served_periods
from tunnihind.api.served_data import Percentiles, ServedData, issued_forecasts, runs_at_step
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, QUARTERS_SINCE, day_start, floor_hour
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.settings import Settings

SETTINGS = Settings(public_url="https://tunnihind.example")
RUN = make_run([50.0 + n % 24 for n in range(140)])
SCORE = BacktestScore(24.8, 51.2, 0.515, 24)

cents = st.integers(-50_000, 400_000).map(lambda price: price / 100)


@st.composite
def situations(draw: st.DrawFn) -> tuple[ServedData, int]:
    """Draw a view and an instant: known or unknown hours and quarters, negative prices, and any run or none."""
    now = HOUR + draw(st.integers(0, 3 * HOUR_S))
    places = st.integers(-4 * 26, 4 * 35)
    hours = draw(st.dictionaries(places.map(lambda n: HOUR + n // 4 * HOUR_S), cents, max_size=30))
    whole = draw(st.sets(places.map(lambda n: HOUR + n // 4 * HOUR_S), max_size=30))
    quarters = {ts + n * QUARTER_S: draw(cents) for ts in whole for n in range(4)}
    levels = draw(st.lists(cents.map(lambda price: price / 2), max_size=140))
    run = make_run(levels, made_at=HOUR + draw(st.integers(-900, 3 * HOUR_S))) if levels else None
    within = draw(st.lists(st.integers(-3000, 3000).map(lambda price: price / 100), min_size=3, max_size=3))
    shape = (*within, -sum(within))
    view = make_view(hours, run, quarters=quarters, quarter_run=quarters_of(run, shape) if run else None)
    issued = draw(st.dictionaries(places, cents, max_size=60))
    said = {HOUR + n * QUARTER_S: Percentiles(p50 - 1, p50, p50 + 1) for n, p50 in issued.items()}
    return with_series(with_series(view, backtest=SCORE), QUARTER_S, issued=said), now


@given(situations())
def test_what_is_not_of_quarters_is_exactly_the_forecasts(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    hours, quarters = (answer(view, now, SETTINGS) for answer in (forecast_response, quarters_response))
    for name in ("zone", "currency", "now", "made_at", "last_refresh", "free_until", "gated", "docs"):
        assert getattr(quarters, name) == getattr(hours, name)


@given(situations())
def test_the_means_of_quarters_are_the_hours_of_the_forecast(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    hours, quarters = forecast_response(view, now, SETTINGS), quarters_response(view, now, SETTINGS)
    settled = {quarter.ts: quarter.eur_mwh for quarter in quarters.day_ahead}
    medians = {quarter.ts: quarter.p50 for quarter in quarters.forecast}
    for hour in hours.day_ahead:
        if hour.ts >= now:
            assert hour.eur_mwh == pytest.approx(
                sum(settled[hour.ts + n * QUARTER_S] for n in range(4)) / 4, abs=0.0101
            )
    for point in hours.forecast:
        assert point.p50 == pytest.approx(sum(medians[point.ts + n * QUARTER_S] for n in range(4)) / 4, abs=0.0101)
    assert {floor_hour(ts) for ts in settled} == {hour.ts for hour in hours.day_ahead}
    assert {floor_hour(ts) for ts in medians} - {floor_hour(now)} == {point.ts for point in hours.forecast}


@given(situations(), st.integers(0, 99))
def test_lists_ascend_from_the_current_quarter_or_from_the_history_asked_for(
    situation: tuple[ServedData, int], days: int
) -> None:
    view, now = situation
    current = now - now % QUARTER_S
    since = current - min(days, 14) * DAY_S
    answer = quarters_response(view, now, SETTINGS, days)
    assert [quarter.ts for quarter in answer.day_ahead] == [ts for ts in view.at_step(QUARTER_S).settled if ts >= since]
    starts = [quarter.ts for quarter in answer.forecast]
    assert starts == sorted(set(starts))
    assert [ts for ts in starts if ts <= now] == [
        ts for ts in sorted(view.at_step(QUARTER_S).issued) if days and since <= ts <= now
    ]
    assert all(ts < answer.free_until + HOUR_S for ts in starts)
    for quarter in answer.forecast:
        if quarter.ts <= now:
            said = view.at_step(QUARTER_S).issued[quarter.ts]
            assert (quarter.p10, quarter.p50, quarter.p90) == pytest.approx(said)


@given(situations())
def test_an_answer_decodes_strictly_and_its_percentiles_never_cross(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    answer = quarters_response(view, now, SETTINGS, 14)
    body = msgspec.json.encode(answer)
    assert msgspec.json.decode(body, type=QuartersResponse) == answer
    assert not re.search(rb"-0\.0+[,}]|NaN|Infinity", body)
    assert all(quarter.p10 <= quarter.p50 <= quarter.p90 for quarter in answer.forecast)
    for settled in answer.day_ahead:
        assert settled.eur_kwh == round(settled.eur_mwh / 1000 * 1.22, 4)


@given(situations(), st.integers(0, 899), st.sampled_from([0, 2]))
def test_within_a_quarter_only_now_and_a_moving_free_until_change(
    situation: tuple[ServedData, int], second: int, days: int
) -> None:
    view, now = situation
    start = now - now % QUARTER_S
    shown = [
        msgspec.structs.replace(quarters_response(view, at, SETTINGS, days), now=0, free_until=0)
        for at in (start, start + second)
    ]
    assert shown[0] == shown[1]


def test_quarters_are_marked_hourly_up_to_the_day_from_which_they_are_traded() -> None:
    midnight = day_start(QUARTERS_SINCE)
    before = {midnight - n * HOUR_S: 10.0 * n for n in range(1, 4)}
    view = make_view(before, quarters={midnight + n * QUARTER_S: float(n) for n in range(8)})
    answer = quarters_response(view, midnight, SETTINGS, days=1)
    assert [(quarter.eur_mwh, quarter.hourly) for quarter in answer.day_ahead] == [
        *((price, True) for price in (30.0, 20.0, 10.0) for _ in range(4)),
        *((float(n), False) for n in range(8)),
    ]


def test_the_backtest_is_that_of_quarters() -> None:
    view = with_series(make_view(), backtest=SCORE)
    assert quarters_response(view, HOUR, SETTINGS).backtest is None
    answer = quarters_response(
        with_series(view, QUARTER_S, backtest=BacktestScore(30.0, 60.0, 0.5, 24)), HOUR, SETTINGS
    )
    assert answer.backtest is not None
    assert (answer.backtest.mae, answer.backtest.baseline_mae, answer.backtest.skill) == (30.0, 60.0, 0.5)


def test_the_full_horizon_adds_what_lies_past_free_until_and_changes_nothing_else() -> None:
    view = make_view({HOUR: 1.0}, RUN, quarter_run=quarters_of(RUN))
    public, full = (
        quarters_response(view, HOUR + 60, Settings(public_url=SETTINGS.public_url, full_horizon=is_full))
        for is_full in (False, True)
    )
    assert full.forecast[: len(public.forecast)] == public.forecast
    assert full.forecast[-1].ts == RUN.end_ts - QUARTER_S > public.free_until + HOUR_S
    assert msgspec.structs.replace(full, forecast=public.forecast) == public
    assert public.gated


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
