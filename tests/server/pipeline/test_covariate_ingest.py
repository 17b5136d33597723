"""Weather and other covariates, from their sources into the store."""

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest

from tests.support.clocks import JumpingClock, StillClock, local
from tests.support.store.pipelines import RecordingObserver, StubModeller, live, pipeline_of
from tests.support.upstreams import FakeOpenMeteo
from tests.support.upstreams.sources import ScriptedPrices, ScriptedWeather, estonian_quotes
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, Market, floor_hour, utc_midnight
from tunnihind.errors import SourceRefused, SourceUnreachable
from tunnihind.forecast.run import Runs
from tunnihind.known import IssuedSeries
from tunnihind.pipeline.covariate_ingest import CovariateIngest
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.sources.base import days_between
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.upstream import open_session
from tunnihind.store.store import Store
from tunnihind.weather_points import POINTS

NOW = local("2025-12-15 10:00")
MONTH, TODAY = date(2025, 12, 1), date(2025, 12, 15)
DOWN = SourceUnreachable("weather", "no answer within 30 s")


def ingest_of(store: Store) -> CovariateIngest:
    return CovariateIngest(store, ESTONIA, JumpingClock(NOW), RecordingObserver())


def kept(store: Store, name: str) -> tuple[IssuedSeries, ...]:
    return store.covariates.read_archive().series.get(name, ())


async def test_the_newest_forecast_is_kept_as_issued_now(store: Store) -> None:
    source = ScriptedWeather()
    await ingest_of(store).ingest(source)
    (issue,) = kept(store, source.covariate)
    assert (issue.issued_ts, issue.start_ts, issue.values.size) == (NOW, floor_hour(NOW), 48)


@pytest.mark.parametrize(
    ("month", "last"),
    [
        (date(2025, 12, 1), date(2025, 12, 15)),
        (date(2025, 11, 1), date(2025, 11, 30)),
        (date(2024, 2, 1), date(2024, 2, 29)),
        (date(2024, 12, 1), date(2024, 12, 31)),
    ],
)
async def test_a_month_is_asked_for_to_its_end_or_to_today(store: Store, month: date, last: date) -> None:
    source = ScriptedWeather()
    await ingest_of(store).fill_part(source, month, TODAY)
    assert source.asked == [(month, last)]


async def test_a_month_filled_again_grows_and_nothing_is_doubled(store: Store) -> None:
    ingest, source = ingest_of(store), ScriptedWeather()
    await ingest.fill_part(source, MONTH, date(2025, 12, 3))
    await ingest.fill_part(source, MONTH, TODAY)
    assert [issue.start_ts for issue in kept(store, source.covariate)] == [
        utc_midnight(day) for day in days_between(MONTH, TODAY)
    ]


async def test_a_source_that_fails_has_no_other_asked_more_often(store: Store) -> None:
    clock = JumpingClock(NOW, nap_s=300)
    down, up = ScriptedWeather("down"), ScriptedWeather("up")
    down.is_down = DOWN
    pipeline = pipeline_of(store, clock, prices=[ScriptedPrices({})], weather=[down, up])
    await live(pipeline, clock, NOW + 12 * HOUR_S)
    assert len(kept(store, up.covariate)) == len(up.asked_at) == 5
    assert len(down.asked_at) > 12 * HOUR_S / down.cadence.longest_retry_s


async def test_a_source_that_answers_again_goes_on_at_its_cadence(store: Store) -> None:
    clock = JumpingClock(NOW, nap_s=60)
    weather = ScriptedWeather()
    weather.errors.extend([DOWN, DOWN])
    await live(pipeline_of(store, clock, prices=[ScriptedPrices({})], weather=[weather]), clock, NOW + 4 * HOUR_S)
    waits = [late - early for early, late in pairwise(weather.asked_at)]
    assert waits == [60, 120, 3 * HOUR_S]


async def test_a_source_that_keeps_failing_its_history_has_no_other_asked_again(store: Store) -> None:
    clock = JumpingClock(NOW, nap_s=60)
    down, up = ScriptedWeather("down"), ScriptedWeather("up")
    down.is_down = SourceRefused("down", "HTTP 401", status=401)
    pipeline = pipeline_of(
        store, clock, prices=[ScriptedPrices({})], weather=[down, up], history_start=date(2025, 11, 1)
    )
    await live(pipeline, clock, NOW + 3 * HOUR_S)
    assert up.asked == [(MONTH, TODAY), (date(2025, 11, 1), date(2025, 11, 30))]
    assert len(down.asked) > 2


async def test_a_covariate_that_the_forecast_does_not_use_is_told_once(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    ingest = ingest_of(store)
    for _ in range(2):
        await ingest.ingest(ScriptedWeather())
        await ingest.ingest(ScriptedWeather(point="nowhere"))
    (told,) = caplog.messages
    unused = "weather gives covariates that the forecast does not use: wind_speed_100m@nowhere"
    assert told.startswith(f"{unused}; the forecast uses ")


class SlowWeather(ScriptedWeather):
    """A source that answers only when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.was_cancelled = False

    async def newest_forecasts(self, now: int) -> Mapping[str, IssuedSeries]:
        self.asked_at.append(now)
        try:
            await self.let.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return await super().newest_forecasts(now)


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.pipeline.pipeline.WAIT_FOR_COVARIATES_S", 0)


@pytest.mark.usefixtures("no_wait")
async def test_a_source_that_does_not_answer_keeps_neither_prices_nor_forecasts_waiting(store: Store) -> None:
    clock, modeller = JumpingClock(NOW, nap_s=300), StubModeller()
    prices = ScriptedPrices(estonian_quotes(TODAY - timedelta(days=20), TODAY), clock=clock)
    weather = SlowWeather()
    pipeline = pipeline_of(store, clock, prices=[prices], weather=[weather], modeller=modeller)
    await live(pipeline, clock, NOW + 2 * HOUR_S)
    assert len(prices.asked) >= 3
    assert len(modeller.made_at) >= 3
    assert weather.asked_at == [NOW]
    assert weather.was_cancelled


@pytest.mark.usefixtures("no_wait")
async def test_one_pass_ends_only_when_the_slowest_source_has_answered(store: Store) -> None:
    weather = SlowWeather()

    class Modeller(StubModeller):
        async def runs(self, market: Market, as_of: int) -> Runs:
            weather.let.set()
            return await super().runs(market, as_of)

    prices = ScriptedPrices(estonian_quotes(TODAY - timedelta(days=20), TODAY))
    pipeline = pipeline_of(store, JumpingClock(NOW), prices=[prices], weather=[weather], modeller=Modeller())
    assert await pipeline.catch_up()
    assert len(kept(store, weather.covariate)) == 1


async def test_old_days_whose_archive_was_thinned_are_not_filled_in_again_every_day(store: Store) -> None:
    clock = JumpingClock(NOW)
    source, ingest = ScriptedWeather(), CovariateIngest(store, ESTONIA, clock, RecordingObserver())
    for live_ts in range(utc_midnight(MONTH), utc_midnight(TODAY), 3 * HOUR_S):
        store.covariates.add({source.covariate: [IssuedSeries(live_ts, live_ts, np.zeros(48, np.float32))]})
    await ingest.fill_part(source, MONTH, TODAY)
    clock.instant += 14 * DAY_S
    assert delete_superfluous(store, int(clock.now())) > 0
    before = store.covariates.change_and_row_counts()
    await ingest.fill_part(source, MONTH, TODAY)
    assert store.covariates.change_and_row_counts() == before
    assert delete_superfluous(store, int(clock.now())) == 0


async def test_a_days_run_comes_over_the_wire_and_is_kept_with_its_name(store: Store) -> None:
    clock = StillClock(NOW)
    async with FakeOpenMeteo() as server, open_session("") as session:
        source = OpenMeteo(session, server.url, server.single_runs_url, points=POINTS[:2], clock=clock)
        assert await CovariateIngest(store, ESTONIA, clock, RecordingObserver()).fill_part(source, MONTH, TODAY)
    (issue,) = kept(store, f"temperature_2m@{POINTS[1].name}")
    assert issue.run_ts == issue.start_ts == utc_midnight(MONTH)
    assert (issue.issued_ts, issue.values.size) == (utc_midnight(MONTH) + 6 * HOUR_S, 240)
    assert issue.values[29] == pytest.approx(5 + 0.1)
