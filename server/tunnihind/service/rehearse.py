"""The server on a past day: its clock starts at the given instant and runs on."""

import asyncio
import logging
from dataclasses import replace
from typing import Final

from tunnihind.api.metrics import Metrics
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock, RehearsalClock
from tunnihind.forecast.run import Runs
from tunnihind.market import floor_hour, iso_utc
from tunnihind.service.background import background
from tunnihind.service.rehearsal import Rehearsal
from tunnihind.service.site import open_site, until_stopped
from tunnihind.settings import Settings
from tunnihind.store.store import Store
from tunnihind.web.summary import Surroundings

_LOG: Final = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 10.0


class Player:
    """Makes, in memory, the runs that a server would have made as the rehearsed day goes on."""

    def __init__(self, rehearsal: Rehearsal, snapshot: Snapshot, clock: Clock) -> None:
        self._rehearsal = rehearsal
        self._snapshot = snapshot
        self._clock = clock
        self._runs: tuple[Runs, ...] = ()
        self._seen: tuple[int, int | None] | None = None
        self.surroundings = Surroundings()

    async def play(self, now: int) -> None:
        """Make runs and show them, if the hour or the known prices have changed."""
        seen = floor_hour(now), self._rehearsal.known_since(now)
        if seen == self._seen:
            return
        runs = await asyncio.to_thread(self._rehearsal.runs, now)
        self._runs = self._runs if runs is None else (*self._runs, runs)
        self.surroundings = Surroundings(self._rehearsal.weather(now))
        self._snapshot.show(self._rehearsal.served_data(now, self._runs))
        self._seen = seen

    async def run(self) -> None:
        """Follow the clock until cancelled."""
        while True:
            await self._clock.sleep(LOOK_AGAIN_S)
            await self.play(int(self._clock.now()))


async def serve_rehearsal(settings: Settings, instant: int) -> None:
    """Serve what was known at the instant until the process is asked to end. Raises SettingsError, StoreError."""
    market = settings.market
    with Store(settings.store_url, read_only=True) as store:
        rehearsal = await asyncio.to_thread(Rehearsal.of, store, instant, market)
        clock = RehearsalClock(instant)
        snapshot = Snapshot(market, settings, clock)
        player = Player(rehearsal, snapshot, clock)
        await player.play(instant)
        _LOG.info("rehearsing %s: no network, nothing is written", iso_utc(instant))
        # It has the identity of today's server: if announced, that server's clients would connect to a past day.
        site = open_site(
            replace(settings, announce=False),
            snapshot,
            clock,
            instance_id=store.state.instance_id(),
            read_prices=lambda start, end: store.prices.archive(start, end, zones=(market.zone,)).as_of(
                int(clock.now())
            ),
            metrics=Metrics(),
            pipeline_expected=False,
            mode="rehearsal",
            surroundings=lambda: player.surroundings,
        )
        async with site as stopping, background(player.run()):
            await until_stopped(stopping)
