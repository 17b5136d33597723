"""A running pipeline on days of publication, with prices on time, late, and missing."""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

import pytest
from aiohttp import ClientSession

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import StubModeller, live, pipeline_of
from tests.support.store.stores import hourly, store_quotes
from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, delivery_day, publication_time
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.sources.elering import EleringPrices
from tunnihind.store.store import Store

pytestmark = pytest.mark.usefixtures("quick_model")

MINUTE = 60
TODAY = date(2025, 12, 15)
TOMORROW = TODAY + timedelta(days=1)


class PublicationDay:
    """A server that has run since 13:30 with today's prices. Tomorrow's prices come at a given time."""

    def __init__(self, store: Store, published: str, today: date = TODAY, *, nap_s: float = 30) -> None:
        self.today = today
        self.store = store
        quotes = estonian_quotes(today - timedelta(days=3), today + timedelta(days=2))
        self.clock = JumpingClock(local(f"{today} 13:30"), nap_s=nap_s)
        known = {ts: price for ts, price in quotes["ee"].items() if delivery_day(ts) <= today}
        store_quotes(store, {"ee": known}, int(self.clock.instant) - DAY_S)
        self.source = ScriptedPrices(quotes, clock=self.clock)
        self.source.published[today + timedelta(days=1)] = local(published)
        self.modeller = StubModeller()
        self.pipeline: Pipeline = pipeline_of(store, self.clock, prices=[self.source], modeller=self.modeller)

    async def until(self, time: str) -> None:
        await live(self.pipeline, self.clock, local(time))

    def asked_between(self, start: str, end: str) -> list[float]:
        return [at for at in self.source.asked_at if local(start) <= at < local(end)]

    def settled_at(self) -> int | None:
        """Return the time at which the last of tomorrow's prices was stored."""
        tomorrow = self.today + timedelta(days=1)
        rows = zip(self.store.prices.read_archive().ts, self.store.prices.read_archive().known_ts, strict=True)
        return max((int(known) for ts, known in rows if delivery_day(int(ts)) == tomorrow), default=None)


def gaps(instants: list[float]) -> Iterator[float]:
    return (late - early for early, late in pairwise(instants))


@pytest.mark.parametrize("today", [TODAY, date(2026, 7, 15)])
async def test_prices_on_time_are_there_in_a_minute_and_then_requests_are_few(store: Store, today: date) -> None:
    publication = PublicationDay(store, f"{today} 14:00:20", today)
    await publication.until(f"{today} 14:10")
    publication.clock.nap_s = 300
    await publication.until(f"{today} 17:00")
    published = local(f"{today} 14:00:20")
    assert publication.settled_at() is not None
    assert published <= (publication.settled_at() or 0) <= published + MINUTE
    assert list(gaps(publication.asked_between(f"{today} 13:46", f"{today} 14:01"))) == [MINUTE] * 14
    assert len(publication.asked_between(f"{today} 14:02", f"{today} 17:00")) == 2
    # Yesterday and today are requested too. They are settled, so they show whether an answer is off.
    assert publication.source.asked[3] == (today - timedelta(days=1), today + timedelta(days=1))


async def test_new_prices_bring_a_new_forecast_and_else_there_is_one_an_hour(store: Store) -> None:
    publication = PublicationDay(store, "2025-12-15 14:00:20")
    await publication.until("2025-12-15 14:10")
    publication.clock.nap_s = 300
    await publication.until("2025-12-15 17:00")
    settled = publication.settled_at() or 0
    made = publication.modeller.made_at
    assert any(settled <= at <= settled + 30 for at in made)
    assert [at for at in made if at % HOUR_S < 30] == [local(f"2025-12-15 {hour}:00") for hour in range(14, 18)]
    assert len(made) == 6


async def test_late_prices_are_there_in_a_quarter_of_an_hour_with_few_requests(store: Store) -> None:
    publication = PublicationDay(store, "2025-12-15 16:40", nap_s=60)
    publication.clock.instant = local("2025-12-15 15:20")
    await publication.until("2025-12-15 17:10")
    assert local("2025-12-15 16:40") <= (publication.settled_at() or 0) <= local("2025-12-15 16:55")
    assert min(gaps(publication.asked_between("2025-12-15 15:30", "2025-12-15 16:40"))) >= 15 * MINUTE


async def test_prices_that_come_only_the_next_morning_are_waited_for_all_night(store: Store) -> None:
    publication = PublicationDay(store, "2025-12-16 08:20", nap_s=300)
    publication.clock.instant = local("2025-12-15 15:29:30")
    await publication.until("2025-12-16 09:00")
    assert local("2025-12-16 08:20") <= (publication.settled_at() or 0) <= local("2025-12-16 08:40")
    assert max(gaps(publication.source.asked_at)) <= 20 * MINUTE
    # Through the night, hourly runs forecast all hours that are not settled.
    assert {at // HOUR_S for at in publication.modeller.made_at} >= set(
        range(local("2025-12-15 16:00") // HOUR_S, local("2025-12-16 09:00") // HOUR_S)
    )


async def test_over_the_wire_todays_auction_comes_at_its_time(store: Store, session: ClientSession) -> None:
    clock = JumpingClock(local("2025-12-15 13:50"))
    quotes = flat_quotes(TODAY - timedelta(days=3), TOMORROW, QUARTER_S)
    async with FakeElering(quotes, now=clock.now) as server:
        source = EleringPrices(session, f"{server.url}/api")
        await live(pipeline_of(store, clock, prices=[source]), clock, local("2025-12-15 14:00"))
    assert max(hourly(store)) == max(quotes["ee"]) // HOUR_S * HOUR_S
    archive = store.prices.read_archive()
    assert archive.as_of(publication_time(TOMORROW) - 1).series_of("ee").newest_day == TODAY
    assert archive.as_of(publication_time(TOMORROW) + MINUTE).series_of("ee").newest_day == TOMORROW


@pytest.mark.parametrize(
    ("night", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25)], ids=["spring", "autumn"]
)
async def test_the_nights_of_the_clock_change_need_no_more_asking_than_others(
    store: Store, night: date, hours: int
) -> None:
    before = night - timedelta(days=1)
    publication = PublicationDay(store, f"{before} 14:00", before, nap_s=600)
    await publication.until(f"{before} 22:00")
    asked = len(publication.source.asked)
    await publication.until(f"{night} 12:00")
    # Half a day on Estonian clocks has an hour less or more.
    assert len(publication.source.asked) - asked == 14 + hours - 24
    assert sum(delivery_day(hour) == night for hour in hourly(store)) == hours
