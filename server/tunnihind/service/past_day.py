"""Serves a past day with the data known then. The server's clock starts at an instant of that day."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tunnihind.api.metrics import Metrics
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock, RehearsalClock
from tunnihind.core.market import floor_hour
from tunnihind.forecast.run import Runs
from tunnihind.service.application import ServedZone
from tunnihind.service.background import run_in_background
from tunnihind.service.rehearsal import Rehearsal
from tunnihind.service.site import open_site, wait_until_stopped
from tunnihind.settings import Settings
from tunnihind.store.copying import ShowProgress
from tunnihind.store.store import Store
from tunnihind.web.summary import PageContext

CHECK_HOUR_EVERY_S: Final = 10.0


class RehearsedZone:
    """Makes a market's runs as the rehearsed time passes, and updates the snapshot. Runs are kept only in memory."""

    def __init__(self, rehearsal: Rehearsal, snapshot: Snapshot) -> None:
        self._rehearsal = rehearsal
        self.snapshot = snapshot
        self._runs: tuple[Runs, ...] = ()
        self._updated_for: tuple[int, int | None] | None = None
        self.page_context = PageContext()

    async def update(self, now: int) -> None:
        """Make new runs, and update the snapshot and the page's weather.

        If neither the hour nor the known prices have changed since the last call, do nothing.
        """
        seen = floor_hour(now), self._rehearsal.newest_price_arrival_ts(now)
        if seen == self._updated_for:
            return
        runs = await asyncio.to_thread(self._rehearsal.make_runs, now)
        self._runs = self._runs if runs is None else (*self._runs, runs)
        self.page_context = PageContext(self._rehearsal.weather_at(now))
        self.snapshot.replace_data(self._rehearsal.served_data(now, self._runs))
        self._updated_for = seen


async def serve_rehearsal(settings: Settings, instant: int, show: ShowProgress) -> None:
    """Serve a rehearsal that starts at `instant`, until a stop signal. Raises SettingsError, StoreError."""
    with Store(settings.store_url, read_only=True) as store:
        clock = RehearsalClock(instant)
        rehearsed_zones: list[RehearsedZone] = []
        archive = None
        for market in settings.markets:
            rehearsal = await asyncio.to_thread(Rehearsal.of, store, instant, market, archive, show)
            archive = rehearsal.archive
            rehearsed_zones.append(RehearsedZone(rehearsal, Snapshot(settings.for_zone(market.zone), clock)))
            await rehearsed_zones[-1].update(instant)
        # An announced rehearsal would attract the real server's clients, because both servers have the same identity.
        site = open_site(
            replace(settings, announce=False),
            [_served_zone(store, rehearsed, clock) for rehearsed in rehearsed_zones],
            clock,
            instance_id=store.state.instance_id(),
            metrics=Metrics(),
            pipeline_expected=False,
            mode="rehearsal",
        )
        async with site as stopping, run_in_background(_update_zones(rehearsed_zones, clock)):
            await wait_until_stopped(stopping)


def _served_zone(store: Store, rehearsed: RehearsedZone, clock: Clock) -> ServedZone:
    zone = rehearsed.snapshot.market.zone
    return ServedZone(
        snapshot=rehearsed.snapshot,
        read_prices=lambda start, end: store.prices.read_archive(start, end, zones=(zone,)).as_of(int(clock.now())),
        page_context=lambda: rehearsed.page_context,
    )


async def _update_zones(rehearsed_zones: Sequence[RehearsedZone], clock: Clock) -> None:
    while True:
        await clock.sleep(CHECK_HOUR_EVERY_S)
        for rehearsed in rehearsed_zones:
            await rehearsed.update(int(clock.now()))
