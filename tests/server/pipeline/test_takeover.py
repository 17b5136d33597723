"""Prices of a year that prove wrong while the year is being filled, or later."""

from collections.abc import Sequence
from datetime import date

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import pipeline_of
from tests.support.store.stores import hourly, store_quotes
from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.pipeline.schedule import TaskKind
from tunnihind.sources.base import DaySheet
from tunnihind.store.store import Store

NOW = local("2025-03-10 10:00")


def quotes_of(month: int) -> dict[int, float]:
    return estonian_quotes(date(2025, month, 5), date(2025, month, 8))["ee"]


def wrong(quotes: dict[int, float]) -> Quotes:
    return {"ee": {ts: price + 40.0 for ts, price in quotes.items()}}


async def test_a_year_is_filled_again_if_its_prices_are_withdrawn_amid_the_fill(store: Store) -> None:
    february, march = quotes_of(2), quotes_of(3)

    class RightSinceFebruaryIsRequested(ScriptedPrices):
        async def fetch_sheets(self, first: date, last: date) -> Sequence[DaySheet]:
            if first.month < 3:
                self.quotes = {"ee": february | march}
            return await super().fetch_sheets(first, last)

    sources = [
        RightSinceFebruaryIsRequested(quotes, name=name) for name, quotes in (("elering", wrong(march)), ("entsoe", {}))
    ]
    store_quotes(store, wrong(february), NOW - DAY_S, source="elering")
    clock = JumpingClock(NOW, work_s=1)
    pipeline = pipeline_of(store, clock, prices=sources, history_start=date(2025, 1, 1))
    assert await pipeline.catch_up(without=set(TaskKind) - {TaskKind.PRICE_HISTORY})
    assert hourly(store) == february | march


async def test_a_year_is_filled_again_if_the_prices_of_its_fill_prove_wrong_later(store: Store) -> None:
    quotes = quotes_of(2) | quotes_of(3)
    first, second = ScriptedPrices(wrong(quotes), name="elering"), ScriptedPrices({}, name="entsoe")
    clock = JumpingClock(NOW, work_s=1)
    pipeline = pipeline_of(store, clock, prices=[first, second], history_start=date(2025, 1, 1))
    assert await pipeline.catch_up(without=set(TaskKind) - {TaskKind.PRICE_HISTORY})
    first.quotes = second.quotes = {"ee": quotes}
    clock.instant += HOUR_S
    assert await pipeline.catch_up(without=set(TaskKind) - {TaskKind.PRICES, TaskKind.PRICE_HISTORY})
    assert hourly(store) == quotes
