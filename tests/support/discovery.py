"""Somebody else on the network, who looks for servers as Home Assistant does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from zeroconf import ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from tunnihind.service.announce import SERVICE_TYPE

_PATIENCE_S = 20.0


class Neighbour:
    """Hears of every server on the network that comes or goes."""

    def __init__(self, network: AsyncZeroconf) -> None:
        self._network = network
        self._news: asyncio.Queue[tuple[ServiceStateChange, str]] = asyncio.Queue()

    def hear(self, *, state_change: ServiceStateChange, name: str, **_: Any) -> None:  # noqa: ANN401  zeroconf's own
        if state_change is not ServiceStateChange.Updated:
            self._news.put_nowait((state_change, name))

    async def hears_of(self, instance: str) -> tuple[ServiceStateChange, str]:
        """Return the next that comes or goes with this in its name: there may be servers of others around."""
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                change, name = await self._news.get()
                if instance in name:
                    return change, name

    async def ask_for(self, name: str) -> AsyncServiceInfo:
        """Return where a server is, and what is said of it."""
        found = await self._network.async_get_service_info(SERVICE_TYPE, name)
        assert found is not None, f"nobody answers for {name}"
        return found


@asynccontextmanager
async def neighbour_on(addresses: Sequence[str]) -> AsyncIterator[Neighbour]:
    """Be on the network that this machine has these addresses in."""
    network = AsyncZeroconf(interfaces=list(addresses))
    neighbour = Neighbour(network)
    browser = AsyncServiceBrowser(network.zeroconf, SERVICE_TYPE, handlers=[neighbour.hear])
    try:
        yield neighbour
    finally:
        await browser.async_cancel()
        await network.async_close()
