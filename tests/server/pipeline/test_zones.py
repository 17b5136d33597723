"""Several zones in one pipeline: each is forecast, and a fault of one zone changes nothing in another."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import InProcessModeller, live, pipeline_of
from tests.support.store.stores import hourly
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.sources import ScriptedPrices
from tunnihind.core.market import ESTONIA, FINLAND, HOUR_S, Market, SeriesKey, Zone, day_start
from tunnihind.forecast.identity import model_identity
from tunnihind.pipeline.modelling import PastForecasts
from tunnihind.pipeline.schedule import TaskKind
from tunnihind.store.store import Store

pytestmark = pytest.mark.usefixtures("quick_model")

TODAY = date(2025, 12, 15)
TOMORROW = TODAY + timedelta(days=1)
START = local("2025-12-15 13:30")

type Prices = Mapping[int, float]


def late(prices: Prices) -> Prices:
    return {ts: price for ts, price in prices.items() if ts < day_start(TOMORROW)}


def with_a_hole(prices: Prices) -> Prices:
    return {ts: price for ts, price in prices.items() if ts != day_start(TOMORROW) + 5 * HOUR_S}


def zeros(prices: Prices) -> Prices:
    return {ts: 0.0 if ts >= day_start(TOMORROW) else price for ts, price in prices.items()}


def an_hour_early(prices: Prices) -> Prices:
    return {ts: prices.get(ts + HOUR_S, price) for ts, price in prices.items()}


async def outcome(store: Store, served: Zone, spoilt: Zone, spoil: Callable[[Prices], Prices] | None) -> object:
    """Return a zone's prices and the times of its forecasts, after an afternoon with wrong prices of another zone."""
    clock = JumpingClock(START, nap_s=600)
    source = ScriptedPrices(flat_quotes(TODAY - timedelta(days=10), TOMORROW, HOUR_S), clock=clock)
    pipeline = pipeline_of(store, clock, prices=[source], markets=(ESTONIA, FINLAND))
    await pipeline.catch_up(without={TaskKind.SCORES})
    if spoil is not None:
        source.quotes = {**source.quotes, spoilt: dict(spoil(source.quotes[spoilt]))}
    await live(pipeline, clock, START + HOUR_S)
    runs = store.runs.made_since(SeriesKey(served, HOUR_S), 0)
    return hourly(store, served), [run.made_at for run in runs]


@pytest.mark.parametrize("spoil", [late, with_a_hole, zeros, an_hour_early])
@pytest.mark.parametrize(("served", "spoilt"), [("ee", "fi"), ("fi", "ee")])
async def test_what_is_wrong_with_one_zone_changes_nothing_in_another(
    tmp_path: Path, served: Zone, spoilt: Zone, spoil: Callable[[Prices], Prices]
) -> None:
    with Store(f"sqlite:///{tmp_path / 'well.db'}") as well, Store(f"sqlite:///{tmp_path / 'ill.db'}") as ill:
        expected = await outcome(well, served, spoilt, None)
        assert await outcome(ill, served, spoilt, spoil) == expected
        # If the wrong prices had been accepted, the test would prove nothing.
        assert hourly(ill, spoilt) != hourly(well, spoilt)


async def test_each_zone_is_forecast_and_scored_by_itself(store: Store) -> None:
    clock = JumpingClock(START, nap_s=600)
    source = ScriptedPrices(flat_quotes(TODAY - timedelta(days=10), TOMORROW, HOUR_S), clock=clock)
    pipeline = pipeline_of(store, clock, prices=[source], modeller=InProcessModeller(store), markets=(FINLAND, ESTONIA))
    assert await pipeline.catch_up()
    medians = {}
    for market in (FINLAND, ESTONIA):
        run = store.runs.newest(SeriesKey(market.zone, HOUR_S))
        assert run is not None
        medians[market.zone] = float(run.p50.mean())
        assert store.backtests.scored_at(model_identity(market), market.zone) is not None
    # The quotes of the first and the last zone differ by 30 EUR/MWh.
    assert medians["fi"] == pytest.approx(medians["ee"] + 30, abs=1)


class SlowModeller(InProcessModeller):
    """Takes longer for each part of the scores than the pipeline waits, and notes the requests that come meanwhile."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.scored: list[Zone] = []
        self._scoring = 0

    async def forecast_past_days(self, market: Market, as_of: int) -> PastForecasts:
        self.scored.append(market.zone)
        self._scoring += 1
        for _ in range(100):
            await asyncio.sleep(0)
        assert self._scoring == 1
        self._scoring -= 1
        return await super().forecast_past_days(market, as_of)


async def test_a_zone_is_scored_to_the_end_before_the_next_one_begins(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tunnihind.pipeline.pipeline.WAIT_FOR_MODEL_S", 0.0)
    clock = JumpingClock(START, nap_s=600)
    source = ScriptedPrices(flat_quotes(TODAY - timedelta(days=10), TOMORROW, HOUR_S), clock=clock)
    modeller = SlowModeller(store)
    assert await pipeline_of(store, clock, prices=[source], modeller=modeller, markets=(FINLAND, ESTONIA)).catch_up()
    assert modeller.scored == sorted(modeller.scored, reverse=True)
    assert {*modeller.scored} == {"fi", "ee"}
