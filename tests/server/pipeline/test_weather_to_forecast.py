"""The live path: Open-Meteo's answers, through source, pipeline and store, make the model's forecasts better."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from aiohttp import ClientSession

from tests.support.clocks import StillClock, local
from tests.support.store.pipelines import InProcessModeller, pipeline_of
from tests.support.store.stores import HOURS
from tests.support.upstreams import FakeOpenMeteo
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, iso_utc
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.run import Run
from tunnihind.known import CovariateArchive, Floats
from tunnihind.pipeline.history import needed_history_start
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.pipeline.schedule import TaskKind
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.sources.simulated_market import SimulatedMarket
from tunnihind.store.store import Store
from tunnihind.weather_points import POINTS, VARIABLES, covariate_name

SEED = 4
NAMES = ("lt_west", "lt_kaunas", "fi_raahe")
WHERE = tuple(point for point in POINTS if point.name in NAMES)
"""Fewer points than by default, because the fake server is slow. One of each kind is enough."""
FROM, TO = local("2024-09-30 00:00"), local("2025-03-01 00:00")
MORNINGS = [local(f"2025-01-{day:02} 10:00") for day in (8, 13, 18, 23)]


class PlayedWeather:
    """The simulated weather as Open-Meteo's answer at the clock's time, with errors that grow with the days of lead."""

    def __init__(self, clock: StillClock) -> None:
        self._clock = clock
        self._start_ts = FROM // DAY_S * DAY_S
        ts = np.arange(self._start_ts, TO, HOUR_S, dtype=np.float64)
        market = SimulatedMarket(SEED)
        self._truth: dict[tuple[str, int], list[float]] = {}
        self._errors: dict[tuple[str, int], Floats] = {}
        for number, point in enumerate(WHERE):
            for variable in VARIABLES:
                # A mean of the past hour has the time of the hour's end.
                middle = ts - HOUR_S / 2 if variable.past_hour_mean else ts + HOUR_S / 2
                key = variable.name, number
                self._truth[key] = market.weather(variable, point, middle).tolist()
                daily = market.daily_errors(covariate_name(variable, point), ts, 11)
                self._errors[key] = np.concatenate([np.zeros((1, ts.size)), daily.cumsum(axis=0)])

    def __call__(self, variable: str, point: int, lead_days: int, ts: int) -> float:
        hour = (ts - self._start_ts) // HOUR_S
        days = lead_days or max(0, round((ts - self._clock.now()) / DAY_S))
        truth, error = self._truth[variable, point][hour], float(self._errors[variable, point][min(days, 11), hour])
        if variable == "temperature_2m":
            return round(truth + 0.8 * error, 1)
        return round(truth * float(np.exp(0.12 * error)), 2)


@pytest.fixture
def clock() -> StillClock:
    return StillClock(MORNINGS[0] - DAY_S)


def pipeline_with(weather: OpenMeteo, store: Store, clock: StillClock) -> Pipeline:
    return pipeline_of(
        store,
        clock,
        prices=[SimulatedSource(SEED, clock=clock)],
        weather=[weather],
        modeller=InProcessModeller(store),
        history_start=date(2024, 1, 1),
    )


def errors(run: Run) -> Floats:
    """Return the absolute errors of the next seven days, hour by hour."""
    ts = np.array(run.starts())
    price = SimulatedMarket(SEED).prices(ts + HOUR_S / 2)["ee"]
    found: Floats = np.abs(run.p50 - price)[ts >= run.made_at + 14 * HOUR_S]
    return found


def without_weather(model: TieredForecaster, store: Store, run: Run) -> Run:
    known = store.read_archive(needed_history_start(model, run.made_at)).as_of(run.made_at)
    blind = model.forecast(replace(known, covariates=CovariateArchive()))
    assert blind is not None
    return blind


async def test_weather_from_open_meteo_makes_the_forecasts_of_the_pipeline_better(
    store: Store, clock: StillClock, session: ClientSession
) -> None:
    seeing, blind, model = [], [], TieredForecaster(ESTONIA)
    async with FakeOpenMeteo(PlayedWeather(clock), now=clock.now) as upstream:
        source = OpenMeteo(session, upstream.url, upstream.single_runs_url, points=WHERE, clock=clock)
        source.history_since = date(2024, 10, 1)
        pipeline = pipeline_with(source, store, clock)
        assert await pipeline.catch_up(
            without={TaskKind.FORECAST, TaskKind.SCORES, TaskKind.CLEAN_UP}
        )  # the history comes first
        # Each morning makes two runs from the same store, with the weather and without it.
        for morning in MORNINGS:
            clock.instant = morning
            assert await pipeline.catch_up(without={TaskKind.SCORES, TaskKind.CLEAN_UP})
            run = store.runs.newest(HOURS)
            assert run is not None
            assert run.tier == "weather"
            drivers = {"residual_baltic", "residual_fi", "wind_baltic", "solar_baltic"}
            assert run.inputs["drivers"].keys() == drivers
            assert run.inputs["weatherRuns"] == [iso_utc(morning // DAY_S * DAY_S)]
            seeing.append(errors(run))
            blind.append(errors(without_weather(model, store, run)))
    assert len(set(upstream.runs_asked)) > 100
    assert all("run" in request for request in upstream.requests)
    with_weather, without = (np.concatenate(each).mean() for each in (seeing, blind))
    assert with_weather < 0.75 * without
    wins = sum(one.mean() < other.mean() for one, other in zip(seeing, blind, strict=True))
    assert wins >= len(MORNINGS) - 1
