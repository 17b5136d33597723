"""Serves a past day with the data known then. The server's clock starts at an instant of that day."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tunnihind.api.metrics import Metrics
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock, RehearsalClock
from tunnihind.forecast.run import Runs
from tunnihind.market import floor_hour, iso_utc
from tunnihind.service.application import ServedZone
from tunnihind.service.background import background
from tunnihind.service.rehearsal import Rehearsal
from tunnihind.service.site import open_site, until_stopped
from tunnihind.settings import Settings
from tunnihind.store.store import Store
from tunnihind.web.summary import PageContext

_LOG: Final = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 10.0


class Player:
    """Makes a market's runs as the rehearsed time passes, and updates the snapshot. Runs are kept only in memory."""

    def __init__(self, rehearsal: Rehearsal, snapshot: Snapshot) -> None:
        self._rehearsal = rehearsal
        self.snapshot = snapshot
        self._runs: tuple[Runs, ...] = ()
        self._seen: tuple[int, int | None] | None = None
        self.page_context = PageContext()

    async def play(self, now: int) -> None:
        """If the hour or the known prices have changed since the last call, make new runs and update the snapshot."""
        seen = floor_hour(now), self._rehearsal.known_since(now)
        if seen == self._seen:
            return
        runs = await asyncio.to_thread(self._rehearsal.runs, now)
        self._runs = self._runs if runs is None else (*self._runs, runs)
        self.page_context = PageContext(self._rehearsal.weather(now))
        self.snapshot.show(self._rehearsal.served_data(now, self._runs))
        self._seen = seen


async def serve_rehearsal(settings: Settings, instant: int) -> None:
    """Serve a rehearsal that starts at `instant`, until a stop signal. Raises SettingsError, StoreError."""
    with Store(settings.store_url, read_only=True) as store:
        clock = RehearsalClock(instant)
        players: list[Player] = []
        archive = None
        for market in settings.markets:
            rehearsal = await asyncio.to_thread(Rehearsal.of, store, instant, market, archive)
            archive = rehearsal.archive
            players.append(Player(rehearsal, Snapshot(settings.for_zone(market.zone), clock)))
            await players[-1].play(instant)
        _LOG.info("rehearsing %s without network; nothing is stored", iso_utc(instant))
        # An announced rehearsal would attract the real server's clients, because both servers have the same identity.
        site = open_site(
            replace(settings, announce=False),
            [_served(store, player, clock) for player in players],
            clock,
            instance_id=store.state.instance_id(),
            metrics=Metrics(),
            pipeline_expected=False,
            mode="rehearsal",
        )
        async with site as stopping, background(_play(players, clock)):
            await until_stopped(stopping)


def _served(store: Store, player: Player, clock: Clock) -> ServedZone:
    zone = player.snapshot.market.zone
    return ServedZone(
        snapshot=player.snapshot,
        read_prices=lambda start, end: store.prices.read_archive(start, end, zones=(zone,)).as_of(int(clock.now())),
        page_context=lambda: player.page_context,
    )


async def _play(players: Sequence[Player], clock: Clock) -> None:
    while True:
        await clock.sleep(LOOK_AGAIN_S)
        for player in players:
            await player.play(int(clock.now()))
