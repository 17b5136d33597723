"""The announcement of a server to clients on the network, here on the loopback interface."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from zeroconf import ServiceStateChange

from tests.support.clocks import StillClock
from tests.support.machine.discovery import DiscoveryClient, discovery_client
from tunnihind import __version__
from tunnihind.service.announce import SERVICE_TYPE, Announcer, announce, reachable_addresses
from tunnihind.service.background import run_in_background

ID = uuid.uuid4().hex
"""A new id for each run. The tests must not see other servers on the network."""

NAME = f"Tunnihind {ID[:8]}.{SERVICE_TYPE}"
PATIENCE_S = 20.0
NOBODYS = "203.0.113.7"
"""An address for documentation, which no machine has (RFC 5737)."""

type Said = Callable[[], list[str]]

ADDED, REMOVED = ServiceStateChange.Added, ServiceStateChange.Removed


class HeldClock(StillClock):
    """A clock on which a sleep lasts until the test ends it."""

    def __init__(self) -> None:
        super().__init__(0)
        self._asleep = asyncio.Event()
        self._awake = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self._asleep.set()
        self._awake.clear()
        await self._awake.wait()
        self._asleep.clear()

    async def look_again(self) -> None:
        """End the sleep, and wait for the next one."""
        await self._asleep.wait()
        self._asleep.clear()
        self._awake.set()
        await self._asleep.wait()


@pytest.fixture
async def network() -> AsyncIterator[DiscoveryClient]:
    async with discovery_client(["127.0.0.1"]) as somebody:
        yield somebody


@asynccontextmanager
async def announced(
    addresses: Sequence[str] = ("127.0.0.1",), *, port: int = 8080, clock: HeldClock | None = None
) -> AsyncIterator[None]:
    """Announce a server at these addresses. A test may change the list, as a machine's addresses change."""
    announcer = Announcer("Tunnihind", ID, port, lambda: list(addresses), clock or HeldClock())
    async with run_in_background(announcer.run()):
        yield


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Said:
    """Return a function that returns the server's log lines."""
    caplog.set_level(logging.INFO, logger="tunnihind")
    return lambda: [record.message for record in caplog.records if record.name.startswith("tunnihind")]


async def test_a_client_finds_who_answers_where_and_what_until_the_end(network: DiscoveryClient) -> None:
    async with announced(port=18080):
        assert await network.next_change(ID[:8]) == (ADDED, NAME)
        found = await network.service_info(NAME)
    assert (found.parsed_addresses(), found.port) == (["127.0.0.1"], 18080)
    assert found.decoded_properties == {"id": ID, "version": __version__, "api": "v1", "path": ""}
    assert await network.next_change(ID[:8]) == (REMOVED, NAME)


async def test_another_address_is_announced_in_place_of_the_old_one(network: DiscoveryClient) -> None:
    addresses, clock = ["127.0.0.1"], HeldClock()
    async with announced(addresses, clock=clock):
        assert await network.next_change(ID[:8]) == (ADDED, NAME)
        addresses[:] = ["127.0.0.2"]
        await clock.look_again()
        assert [await network.next_change(ID[:8]), await network.next_change(ID[:8])] == [
            (REMOVED, NAME),
            (ADDED, NAME),
        ]
        assert (await network.service_info(NAME)).parsed_addresses() == ["127.0.0.2"]


async def test_an_address_that_stays_is_announced_once(network: DiscoveryClient, said: Said) -> None:
    clock = HeldClock()
    async with announced(clock=clock):
        await clock.look_again()
        await clock.look_again()
    assert said() == [f"announced on the local network as 'Tunnihind {ID[:8]}' at 127.0.0.1, port 8080"]


@pytest.mark.parametrize(("unusable", "why"), [([], "this machine has no network now)"), ([NOBODYS], "")])
# The library closes its socket if it can't join a network.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_an_announcement_that_fails_is_said_once_and_tried_again(
    network: DiscoveryClient, said: Said, unusable: list[str], why: str
) -> None:
    addresses, clock = unusable.copy(), HeldClock()
    async with announced(addresses, clock=clock):
        await clock.look_again()
        await clock.look_again()
        [line] = said()
        assert line.startswith(f"not announced on the local network ({why}")
        addresses[:] = ["127.0.0.1"]
        await clock.look_again()
        assert await network.next_change(ID[:8]) == (ADDED, NAME)


async def test_two_servers_of_one_identity_are_both_found(network: DiscoveryClient) -> None:
    async with announced(port=8080):
        assert await network.next_change(ID[:8]) == (ADDED, NAME)
        async with announced(port=8081):
            second = f"Tunnihind {ID[:8]}-2.{SERVICE_TYPE}"
            assert await network.next_change(ID[:8]) == (ADDED, second)
            assert ((await network.service_info(NAME)).port, (await network.service_info(second)).port) == (8080, 8081)


@pytest.mark.parametrize("bound", [[("127.0.0.1", 8080)], [("127.0.0.1", 8080), ("::1", 8080, 0, 0)]])
async def test_a_server_that_only_its_own_machine_reaches_is_not_announced(bound: list[Any]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await announce("Tunnihind", ID, bound, HeldClock())


def test_a_server_is_reached_at_the_addresses_it_listens_on() -> None:
    assert reachable_addresses(["192.0.2.77", "2001:db8::77"]) == ["192.0.2.77", "2001:db8::77"]


def test_one_that_listens_on_all_is_reached_at_the_machine_s_own_where_it_has_any() -> None:
    for address in reachable_addresses(["0.0.0.0", "::"]):  # noqa: S104  what a server listens on by default
        assert address not in {"0.0.0.0", "::", "127.0.0.1", "::1"}  # noqa: S104
