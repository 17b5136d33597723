"""A client that looks for servers on the local network (mDNS), as Home Assistant does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from zeroconf import ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from tunnihind.service.announce import SERVICE_TYPE

_PATIENCE_S = 20.0


class DiscoveryClient:
    """A client that notes every server that appears on the network or leaves it."""

    def __init__(self, network: AsyncZeroconf) -> None:
        self._network = network
        self._news: asyncio.Queue[tuple[ServiceStateChange, str]] = asyncio.Queue()

    def on_change(self, *, state_change: ServiceStateChange, name: str, **_: Any) -> None:  # noqa: ANN401  zeroconf's own
        if state_change is not ServiceStateChange.Updated:
            self._news.put_nowait((state_change, name))

    async def next_change(self, instance: str) -> tuple[ServiceStateChange, str]:
        """Return the next server that appears or leaves and has this text in its name. Skip other servers."""
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                change, name = await self._news.get()
                if instance in name:
                    return change, name

    async def service_info(self, name: str) -> AsyncServiceInfo:
        """Return a server's address and its announced properties."""
        found = await self._network.async_get_service_info(SERVICE_TYPE, name)
        assert found is not None, f"nobody answers for {name}"
        return found


@asynccontextmanager
async def discovery_client(addresses: Sequence[str]) -> AsyncIterator[DiscoveryClient]:
    """Listen on the networks that belong to these addresses of this machine."""
    network = AsyncZeroconf(interfaces=list(addresses))
    client = DiscoveryClient(network)
    browser = AsyncServiceBrowser(network.zeroconf, SERVICE_TYPE, handlers=[client.on_change])
    try:
        yield client
    finally:
        await browser.async_cancel()
        await network.async_close()
