"""A trial in which sources give prices of 15 and 16 December 2025 to a store, at a time that the test sets."""

from datetime import date, timedelta

from aiohttp import ClientSession

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import RecordingObserver, plain_run
from tests.support.store.stores import whole_day
from tests.support.upstreams import FakeElering, FakeEntsoe
from tests.support.upstreams.elering import Quotes, flat_quotes
from tests.support.upstreams.entsoe import TOKEN
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, ZONES, day_start
from tunnihind.errors import SourceUnreachable
from tunnihind.pipeline.back_fill import YEARS_FILLED_KEY, record_filled_part
from tunnihind.pipeline.price_ingest import PriceIngest
from tunnihind.sources.base import PriceSource
from tunnihind.sources.elering import EleringPrices
from tunnihind.sources.entsoe import EntsoePlatform, EntsoePrices
from tunnihind.store.prices import AddedCounts
from tunnihind.store.store import Store

TODAY = date(2025, 12, 15)
TOMORROW = TODAY + timedelta(days=1)
NOW = local("2025-12-15 14:05")
TAKEOVER_FIRST = TODAY - timedelta(days=2)
DOWN = SourceUnreachable("first", "no answer within 60 s")


class IngestTrial:
    """A store that takes in prices of some sources, at a time that the test sets."""

    def __init__(self, store: Store, *sources: PriceSource, now: int = NOW, patience_s: float = 30.0) -> None:
        self.clock = JumpingClock(now)
        self.observer = RecordingObserver()
        self.changes = 0
        self._ingest = PriceIngest(store, [ESTONIA], sources, self.clock, self.observer, patience_s=patience_s)

    async def ingest(self, first: date = TODAY, last: date = TOMORROW, *, after_s: int = 0) -> AddedCounts:
        self.clock.instant += after_s
        return await self._ingest.ingest(first, last, self._changed)

    async def finish(self) -> None:
        """Wait for the sources that have not answered yet."""
        await self._ingest.finish()

    async def close(self) -> None:
        """Stop waiting for sources."""
        await self._ingest.close()

    def _changed(self) -> None:
        self.changes += 1


def elering(session: ClientSession, server: FakeElering) -> EleringPrices:
    return EleringPrices(session, f"{server.url}/api")


def entsoe(session: ClientSession, server: FakeEntsoe) -> EntsoePrices:
    return EntsoePrices(EntsoePlatform(session, f"{server.url}/api", TOKEN), ZONES)


def two_days(*, level: float = 50.0) -> Quotes:
    return flat_quotes(TODAY, TOMORROW, QUARTER_S, level=level)


def changed(quotes: Quotes, hours: int, by: float, day: date = TODAY) -> Quotes:
    """Return other quotes for the first hours of a day."""
    end = day_start(day) + hours * HOUR_S
    return {
        zone: {ts: price + by if day_start(day) <= ts < end else price for ts, price in prices.items()}
        for zone, prices in quotes.items()
    }


def held(store: Store) -> set[tuple[str, str, date, str]]:
    return {(case.source, case.zone, case.day, case.reason) for case in store.witnesses.held_back()}


def takeover_quotes() -> Quotes:
    """Return the right quotes of `takeover_trial`."""
    return estonian_quotes(TAKEOVER_FIRST, TOMORROW)


def takeover_trial(store: Store) -> IngestTrial:
    """Return a trial in which two sources are right."""
    return IngestTrial(store, *(ScriptedPrices(takeover_quotes(), name=name) for name in ("elering", "entsoe")))


async def fill_with_wrong_prices(store: Store) -> None:
    """Fill two years from one source that is wrong."""
    quotes: Quotes = {"ee": {ts: price + 40.0 for ts, price in takeover_quotes()["ee"].items()}}
    await IngestTrial(store, ScriptedPrices(quotes, name="elering")).ingest(TAKEOVER_FIRST, TOMORROW)
    store.prices.add(whole_day(TODAY - timedelta(days=400), zones=("ee",)), source="elering", seen_ts=NOW)
    store.runs.add(plain_run(NOW))
    for year in ("2024", "2025"):
        record_filled_part(store.state, YEARS_FILLED_KEY, year, NOW + 1)
