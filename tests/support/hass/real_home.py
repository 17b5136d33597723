"""A home with a Home Assistant and a Tunnihind server, on one clock that a test may move."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import pytest

from tests.support.hass.api import HassApi, Json, State
from tests.support.hass.running import fresh_hass
from tests.support.machine.processes import PATIENCE_S, Reply, Server, free_port, server_environment
from tests.support.machine.shifted_clock import ShiftedClock, library
from tunnihind.core.market import HOUR_S, floor_hour

APPROACH_S = 6
"""Before an instant, a test sets the clock this much early: a reload of the integration takes a tenth of a second."""
LEFT_S = 2
"""The part of that time that is left for the test's last check before the instant."""
AT_ONCE_S = 15
"""The time that a busy machine may take for the events of an instant. The integration polls the server once a
minute."""


class RealHome:
    """A home, and the actions of a test in it."""

    def __init__(self, hass: HassApi, clock: ShiftedClock, folder: Path, zones: str = "ee") -> None:
        self.hass = hass
        self.clock = clock
        self.server: Server
        self._folder = folder
        self._zones = zones
        self._port = free_port()
        self._servers: list[Server] = []

    async def start_server(self) -> None:
        """Start the server on its earlier port, and wait until all of its data is there."""
        home = self._folder / f"server-{len(self._servers)}"
        home.mkdir()
        environment = server_environment(home, home / "unused.db") | self.clock.environment
        # The integration uses the legal VAT. With the same rate, the server shows the same prices.
        self.server = Server(
            ["--demo", "--vat-rate", "0.24", "--zones", self._zones], environment, self._port, home / "log", wrapper=()
        )
        self._servers.append(self.server)
        await self.server.until("/api/v1/forecast", is_whole, say="prices and a forecast")

    async def add_integration(self, zone: str = "ee") -> None:
        """Connect the integration with a zone of the server by the steps of its flow."""
        choice = [{"zone": zone}] if "," in self._zones else []
        outcome = await self.hass.flow("tunnihind", {"url": self.server.url}, *choice)
        assert outcome["type"] == "create_entry", outcome

    async def add_plan(self, name: str, hours: int, *, deadline: str, earliest: str | None = None) -> None:
        """Add a plan in one piece on published prices by the steps of its flow."""
        bounds = {"deadline": deadline} | ({"earliest": earliest} if earliest else {})
        outcome = await self.hass.flow(
            [(await self.entry())["entry_id"], "plan"],
            {
                "name": name,
                "duration": {"hours": hours},
                "pieces": {"split": "one_piece"},
                "when": bounds | {"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "days": 1},
                "prices": {"horizon": "published"},
            },
            kind="subentries/flow",
        )
        assert outcome["type"] == "create_entry", outcome

    async def entry(self) -> Json:
        [entry] = await self.hass.command("config_entries/get", domain="tunnihind")
        return entry

    async def until_loaded(self) -> None:
        """Wait until the integration shows prices."""
        await self.until_shows("current_price", lambda state: state.state not in {"unavailable", "unknown"})

    async def reload(self) -> None:
        """Reload the integration and its timers, because running timers keep to the old time after the clock is set."""
        entry = await self.entry()
        await self.hass.post(f"/api/config/config_entries/entry/{entry['entry_id']}/reload")

    async def come_to(self, instant: float) -> None:
        """Set the clock to some seconds before an instant, or to more seconds if the reload takes too long."""
        for approach_s in (APPROACH_S, 2 * APPROACH_S, 3 * APPROACH_S):
            self.clock.jump(round(instant - approach_s - self.clock.now()))
            await self.reload()
            await self.until_loaded()
            if self.clock.now() < instant - LEFT_S:
                return
        pytest.fail("this machine is too slow: the instant has all but passed")

    async def restart_home_assistant(self, *, later: float) -> None:
        """Stop Home Assistant, and start it again at a later time of the clock."""
        await self.hass.process.stop()
        self.clock.jump(round(later))
        self.hass.process.start()
        await self.hass.until_running()

    async def entity(self, key: str) -> str:
        """Return the id of the entity with a key, in any language of Home Assistant."""
        entities = await self.hass.command("config/entity_registry/list")
        [found] = [
            each["entity_id"] for each in entities if each["platform"] == "tunnihind" and each["translation_key"] == key
        ]
        return str(found)

    async def shows(self, key: str) -> State:
        """Return the state of the entity of a key."""
        state = await self.hass.state(await self.entity(key))
        assert state is not None
        return state

    async def until_shows(
        self, key: str, holds: Callable[[State], object], *, within: float = PATIENCE_S, say: str = ""
    ) -> State:
        return await self.hass.until_state(await self.entity(key), holds, within=within, say=say)

    def clear_away(self) -> None:
        for server in self._servers:
            server.clear_away()

    @classmethod
    @asynccontextmanager
    async def inhabited(cls, folder: Path, instant: str | None = None, *, zones: str = "ee") -> AsyncIterator[Self]:
        """Return a fresh home with a running server, the integration and its entities, by default at the present.

        The server has these zones, and the integration's entry is of the first.
        """
        if (found := library()) is None:
            pytest.skip("needs a clock that can be shifted: Debian's package libfaketime")
        clock = ShiftedClock(found, folder / "clock")
        if instant:
            clock.set(instant)
        (hass_folder := folder / "hass").mkdir()
        async with fresh_hass(hass_folder, clock) as hass:
            real_home = cls(hass, clock, folder, zones)
            try:
                await real_home.start_server()
                await real_home.add_integration()
                await real_home.until_loaded()
                yield real_home
            finally:
                real_home.clear_away()


def is_whole(reply: Reply) -> bool:
    """Return whether the server has settled prices and a forecast."""
    body = reply.json()
    return bool(body["dayAhead"] and body["forecast"])


def next_hour(now: float) -> int:
    """Return the start of the next hour."""
    return floor_hour(now) + HOUR_S
