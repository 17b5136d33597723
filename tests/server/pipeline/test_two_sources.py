"""Prices from two sources, when one of them has none."""

import pytest
from aiohttp import ClientSession

from tests.support.store.ingest_trial import DOWN, NOW, TODAY, TOMORROW, IngestTrial, elering, entsoe, held, two_days
from tests.support.store.stores import hourly, sources_of, unsettled_days
from tests.support.upstreams import FakeElering, FakeEntsoe
from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import QUARTER_S
from tunnihind.errors import SourceError, SourceUnreachable
from tunnihind.store.store import Store


async def test_zeros_that_both_sources_name_are_prices(store: Store) -> None:
    zeros: Quotes = {"ee": dict.fromkeys(two_days()["ee"], 0.0)}
    await IngestTrial(store, ScriptedPrices(zeros), ScriptedPrices(zeros, name="second")).ingest()
    assert set(hourly(store).values()) == {0.0}
    assert held(store) == set()


async def test_with_the_first_source_down_the_second_fills_in(store: Store, session: ClientSession) -> None:
    async with FakeElering(two_days()) as first, FakeEntsoe(two_days()) as second:
        first.fail(times=4)
        added = await IngestTrial(store, elering(session, first), entsoe(session, second)).ingest()
    assert added.new == 2 * 96 * 4
    assert sources_of(store) == {"entsoe"}
    assert store.state.last_refresh() == NOW


async def test_where_the_first_source_is_refused_or_has_nothing_the_second_fills_in(store: Store) -> None:
    first = ScriptedPrices({"ee": dict.fromkeys(estonian_quotes(TODAY, TODAY, QUARTER_S)["ee"], 0.0)})
    second = ScriptedPrices(estonian_quotes(TODAY, TOMORROW, QUARTER_S), name="second")
    await IngestTrial(store, first, second).ingest()
    assert unsettled_days(store, TODAY, TOMORROW) == []
    assert held(store) == {("first", "ee", TODAY, "zeros")}


async def test_with_both_sources_down_the_first_ones_error_is_told(store: Store) -> None:
    first, second = ScriptedPrices({}), ScriptedPrices({}, name="second")
    first.is_down, second.is_down = DOWN, SourceUnreachable("second", "no answer")
    with pytest.raises(SourceError, match="first"):
        await IngestTrial(store, first, second).ingest()
    assert store.state.last_refresh() is None
