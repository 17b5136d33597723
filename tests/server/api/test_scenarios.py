"""The answers of `GET /api/v1/scenarios`."""

import json
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, RunningServer, make_run, make_view
from tests.support.clocks import StillClock
from tunnihind.api.answers import forecast_response
from tunnihind.api.http.headers import coding_for_field
from tunnihind.api.scenarios import scenarios_response
from tunnihind.api.served_data import ServedData
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import HOUR_S
from tunnihind.settings import Settings

SETTINGS = Settings(public_url="https://tunnihind.example")

cents = st.integers(-50_000, 400_000).map(lambda price: price / 100)


@st.composite
def situations(draw: st.DrawFn) -> tuple[ServedData, int]:
    """Draw a view and an instant: settled or unsettled hours, and any run or none."""
    settled = draw(st.dictionaries(st.integers(-26, 35).map(lambda n: HOUR + n * HOUR_S), cents, max_size=20))
    levels = draw(st.lists(cents.map(lambda price: price / 2), max_size=100))
    run = make_run(levels, made_at=HOUR + draw(st.integers(-900, HOUR_S))) if levels else None
    return make_view(settled, run), HOUR + draw(st.integers(0, 3 * HOUR_S))


@given(situations())
def test_the_paths_are_of_the_forecasts_hours_with_its_percentiles(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    hours, answer = forecast_response(view, now, SETTINGS), scenarios_response(view, now, SETTINGS)
    for name in ("zone", "currency", "now", "made_at", "last_refresh", "free_until", "gated", "docs", "day_ahead"):
        assert getattr(answer, name) == getattr(hours, name)
    assert answer.ts == [hour.ts for hour in hours.forecast]
    assert len(answer.paths) == len(answer.paths_kwh) == (20 if answer.ts else 0)
    assert answer.probability == 0.05
    if answer.ts:
        said = np.array([[hour.p10, hour.p50, hour.p90] for hour in hours.forecast]).T
        assert np.abs(np.percentile(answer.paths, [10, 50, 90], axis=0) - said).max() < 0.0101


@given(situations())
def test_both_units_say_the_same(situation: tuple[ServedData, int]) -> None:
    answer = scenarios_response(*situation, Settings(vat_rate=0.24))
    for path, path_kwh in zip(answer.paths, answer.paths_kwh, strict=True):
        assert path_kwh == [round(price / 1000 * 1.24, 4) + 0.0 for price in path]


def test_a_private_server_serves_the_paths_to_their_end() -> None:
    view = make_view({HOUR: 80.0}, make_run([50.0] * 150))
    whole = scenarios_response(view, HOUR, replace(SETTINGS, full_horizon=True))
    public = scenarios_response(view, HOUR, SETTINGS)
    assert (len(public.ts), len(whole.ts)) == (48, 150)
    assert [path[:48] for path in whole.paths] == public.paths


def test_a_run_without_paths_has_none() -> None:
    answer = scenarios_response(replace(make_view(), scenarios=None), HOUR, SETTINGS)
    assert answer.made_at is not None
    assert (answer.ts, answer.paths, answer.paths_kwh) == ([], [], [])


async def test_served_paths_are_those_of_the_data(server: RunningServer) -> None:
    body = json.loads((await server.ask("/api/v1/scenarios")).body)
    view = server.snapshot.data
    assert body["ts"]
    assert view.scenarios is not None
    assert np.array(body["paths"]).tobytes() == view.scenarios.eur_mwh[:, : len(body["ts"])].tobytes()


def test_the_longest_answer_is_smaller_than_a_page() -> None:
    levels = -1234.56 + np.arange(9 * 24) * 37 % 401 / 7
    snapshot = Snapshot(replace(SETTINGS, full_horizon=True), StillClock(HOUR))
    snapshot.replace_data(make_view({HOUR: 80.0}, make_run(levels.tolist())))
    assert len(snapshot.scenarios_answer("identity").body) < 80_000
    assert len(snapshot.scenarios_answer(coding_for_field("gzip")).body) < 40_000
