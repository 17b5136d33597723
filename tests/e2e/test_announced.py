"""A server found on the network, by a client that searches like Home Assistant."""

import re
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from aiohttp import ClientSession
from zeroconf import ServiceStateChange

from tests.support.machine.discovery import DiscoveryClient, discovery_client
from tests.support.machine.processes import Launch, Server, Tunnihind
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tunnihind.service.announce import SERVICE_TYPE, reachable_addresses

EVERYWHERE = "0.0.0.0"  # noqa: S104  the default; there is nothing of anybody's on the servers of these tests


@pytest.fixture
async def network() -> AsyncIterator[DiscoveryClient]:
    addresses = reachable_addresses([EVERYWHERE])
    if not addresses:
        pytest.skip("needs a network, if only one of this machine alone")
    async with discovery_client(addresses) as somebody:
        yield somebody


async def announced_name(server: Server) -> str:
    """Return the announced name from the server's log."""
    await server.until_logged("INFO announced on the local network as ")
    [name] = re.findall(r"announced on the local network as '(.*?)'", server.log)
    return f"{name}.{SERVICE_TYPE}"


async def test_a_server_is_found_where_it_really_listens_until_it_stops(
    launch: Launch, network: DiscoveryClient
) -> None:
    server = launch("--demo", "--host", EVERYWHERE, "--port", "0")
    name = await announced_name(server)
    assert name.startswith("Tunnihind demo ")
    assert await network.next_change(name) == (ServiceStateChange.Added, name)
    found = await network.service_info(name)
    [address] = found.parsed_addresses()
    async with ClientSession() as session, session.get(f"http://{address}:{found.port}/api/about") as response:
        about = await response.json()
    assert found.decoded_properties == {"id": about["instanceId"], "version": about["version"], "api": "v1", "path": ""}
    assert await server.terminate() == 0
    assert await network.next_change(name) == (ServiceStateChange.Removed, name)


async def test_a_past_day_and_a_server_told_to_be_quiet_are_not_announced(
    launch: Launch, network: DiscoveryClient, tunnihind: Tunnihind, tmp_path: Path
) -> None:
    prices = write_prices(tmp_path / "prices.csv", made_up_quotes(date(2025, 12, 1), date(2025, 12, 15)))
    assert (await tunnihind("import", "prices", str(prices))).status == 0
    for quiet in (
        ("--as-of", "2025-12-15T10:00:00Z", "--host", EVERYWHERE),
        ("--no-pipeline", "--no-announce", "--host", EVERYWHERE),
        ("--no-pipeline", "--host", "127.0.0.1"),
    ):
        await launch(*quiet).until("/healthz", lambda reply: reply.status == 200)
    server = launch("--no-pipeline", "--host", EVERYWHERE)
    name = await announced_name(server)
    # All have one identity, so a second announced server would need another name.
    assert name == f"Tunnihind {(await server.get('/api/about')).json()['instanceId'][:8]}.{SERVICE_TYPE}"
    assert (await network.service_info(name)).port == int(server.url.rpartition(":")[2])
