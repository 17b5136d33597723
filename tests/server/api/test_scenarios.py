"""The answers of `GET /api/v1/scenarios`."""

import json
from dataclasses import replace
from datetime import date, timedelta
from io import BytesIO
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import documents
from tests.support.api.api_server import HOUR, RunningServer, make_run, make_view
from tests.support.clocks import StillClock
from tunnihind.api.answers import forecast_response
from tunnihind.api.http.headers import coding_for_field
from tunnihind.api.models.price_answers import CheapestHours
from tunnihind.api.scenarios import scenarios_response
from tunnihind.api.served_data import ServedData
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
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


def brute_force(view: ServedData, now: int, settings: Settings) -> dict[str, list[list[float]]]:
    """Return p10, p50 and p90 by day, from all choices of 1 to 3 hours and by numpy's order beyond them."""
    answer = scenarios_response(view, now, settings)
    known = {hour.ts: hour.eur_mwh for hour in answer.day_ahead}
    paths = [{**dict(zip(answer.ts, path, strict=True)), **known} for path in answer.paths or [[]]]
    found = {}
    days = {view.market.local_time(ts).date() for ts in paths[0] if ts > now}
    for day in sorted(days):
        hours = [*range(view.market.midnight(day), view.market.midnight(day + timedelta(days=1)), HOUR_S)]
        ahead = [ts for ts in hours if ts > now]
        if any(ts not in paths[0] for ts in ahead):
            continue
        by_count = []
        for count in range(1, min(8, len(ahead)) + 1):
            if count <= 3:
                means = [
                    min(sum(path[ts] for ts in some) / count for some in combinations(ahead, count)) for path in paths
                ]
            else:
                means = [np.sort([path[ts] for ts in ahead])[:count].mean() for path in paths]
            by_count.append(np.percentile(means, [10, 50, 90]))
        found[day.isoformat()] = np.array(by_count).T.tolist()
    return found


def check_cheapest_hours(view: ServedData, now: int, settings: Settings = SETTINGS) -> list[CheapestHours]:
    """Check the prices of the cheapest hours by brute force."""
    listed = scenarios_response(view, now, settings).cheapest_hours
    expected = brute_force(view, now, settings)
    assert [one.day for one in listed] == [*expected]
    settled = {hour.ts for hour in scenarios_response(view, now, settings).day_ahead}
    for one in listed:
        end = view.market.midnight(date.fromisoformat(one.day) + timedelta(days=1))
        if settled.issuperset(ts for ts in range(now - now % HOUR_S + HOUR_S, end, HOUR_S)):
            assert one.p10 == one.p50 == one.p90
        for percentile, computed in zip((one.p10, one.p50, one.p90), expected[one.day], strict=True):
            assert len(percentile) == len(computed)
            assert np.abs(np.array(percentile) - computed).max() < 0.00501
    return listed


@settings(max_examples=20)
@given(situations())
def test_cheapest_hours_are_those_of_each_path(situation: tuple[ServedData, int]) -> None:
    check_cheapest_hours(*situation, replace(SETTINGS, full_horizon=True))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2025-10-26", 25)])
def test_cheapest_hours_of_a_day_on_which_clocks_change(day: str, hours: int) -> None:
    start = ESTONIA.midnight(date.fromisoformat(day))
    # The cheapest hours are the day's first and last.
    medians = [1.0, *([50.0] * (hours - 2)), 2.0]
    run = make_run([80.0, *medians, 90.0], start=start - HOUR_S, made_at=start - 2 * HOUR_S)
    view = make_view({start - 2 * HOUR_S: 80.0}, run)
    (listed,) = (one for one in check_cheapest_hours(view, start - 2 * HOUR_S) if one.day == day)
    assert listed.p50[0] < 2 < listed.p90[1] < 50


def test_the_day_after_the_last_whole_day_has_no_cheapest_hours() -> None:
    midnight = ESTONIA.midnight(date(2025, 12, 16))
    view = make_view({HOUR: 80.0}, make_run([50.0] * ((midnight - HOUR) // HOUR_S)))
    assert [one.day for one in check_cheapest_hours(view, HOUR)] == ["2025-12-15"]


def test_an_hour_of_quarters_counts_with_their_mean() -> None:
    midnight = ESTONIA.midnight(date(2025, 12, 16))
    quarters = {ts: 10.0 * (1 + ts % HOUR_S // QUARTER_S) for ts in range(HOUR, midnight, QUARTER_S)}
    (listed,) = check_cheapest_hours(make_view(quarters=quarters), HOUR)
    assert listed == CheapestHours(day="2025-12-15", p10=[25.0] * 8, p50=[25.0] * 8, p90=[25.0] * 8)


def test_only_the_hours_to_come_count_today() -> None:
    midnight = ESTONIA.midnight(date(2025, 12, 16))
    view = make_view({ts: float(n) for n, ts in enumerate(range(HOUR, midnight, HOUR_S))})
    (listed,) = check_cheapest_hours(view, midnight - 3 * HOUR_S - 1)
    assert listed.p50 == [9.0, 9.5, 10.0]
    assert check_cheapest_hours(view, midnight - HOUR_S) == []


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


def test_the_guides_example_of_paths_takes_three_hours_without_a_published_price(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    view = make_view({HOUR + n * HOUR_S: 80.0 for n in range(5)}, make_run([50.0] * 20))
    answer = scenarios_response(view, HOUR, SETTINGS)
    means = sorted(sum(path[4:7]) / 3 for path in answer.paths)
    assert means[2] < means[-3]
    monkeypatch.setattr("urllib.request.urlopen", lambda _: BytesIO(msgspec.json.encode(answer)))
    [example] = [code for code in documents.blocks("python") if "api/v1/scenarios" in code]
    exec(example, {})  # noqa: S102  our own guide
    assert capsys.readouterr().out == f"{means[2]:.2f} to {means[-3]:.2f} EUR/MWh\n"
