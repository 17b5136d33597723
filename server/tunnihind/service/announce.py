"""Announces the server on the local network by multicast DNS (RFC 6762, 6763), so that clients find it.

Home Assistant looks for the service type `_tunnihind._tcp`. If a server listens on all addresses, at most one IPv4 and
one IPv6 address are announced, because clients usually can't reach the addresses of tunnels and container bridges.
"""

import logging
import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import Final

from zeroconf import Error as ZeroconfError
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from tunnihind import __version__
from tunnihind.clock import Clock

_LOG: Final = logging.getLogger(__name__)

SERVICE_TYPE: Final = "_tunnihind._tcp.local."
API_MAJOR_VERSION: Final = "v1"

CHECK_ADDRESSES_EVERY_S: Final = 60.0
"""A new network or address is noticed within this many seconds."""

_MULTICAST_GROUPS: Final = {socket.AF_INET: "224.0.0.251", socket.AF_INET6: "ff05::fb"}
"""The groups of multicast DNS to which `_own_address` looks for a route. The IPv6 group is the site-wide group, because
a route to the link-local group needs the name of an interface."""

_MDNS_PORT: Final = 5353

type AddressFinder = Callable[[], Sequence[str]]


class Announcer:
    """Announces the server. When the machine's address changes, the server is announced with the new address."""

    def __init__(self, name: str, instance_id: str, port: int, find_addresses: AddressFinder, clock: Clock) -> None:
        self._name = name
        self._instance_id = instance_id
        self._port = port
        self._find_addresses = find_addresses
        self._clock = clock
        self._addresses: Sequence[str] = ()
        self._zeroconf: AsyncZeroconf | None = None
        self._last_reason: str | None = None

    async def run(self) -> None:
        """Keep the announcement up to date until this task is cancelled. At the end, withdraw the announcement."""
        try:
            while True:
                await self._update_addresses(self._find_addresses())
                await self._clock.sleep(CHECK_ADDRESSES_EVERY_S)
        finally:
            await self._withdraw()

    async def _update_addresses(self, addresses: Sequence[str]) -> None:
        """Announce `addresses` instead of the earlier addresses. If `addresses` is empty, announce nothing."""
        if addresses == self._addresses and self._zeroconf is not None:
            return
        await self._withdraw()
        if not addresses:
            self._log_once(logging.INFO, "this machine has no network now")
            return
        try:
            await self._announce(addresses)
        except (OSError, RuntimeError, ZeroconfError) as error:
            await self._withdraw()
            self._log_once(logging.WARNING, str(error) or type(error).__name__)

    async def _announce(self, addresses: Sequence[str]) -> None:
        """Announce the service on the interfaces that have `addresses`."""
        short_id = self._instance_id[:8]
        info = AsyncServiceInfo(
            SERVICE_TYPE,
            f"{self._name} {short_id}.{SERVICE_TYPE}",
            server=f"tunnihind-{short_id}.local.",
            parsed_addresses=list(addresses),
            port=self._port,
            properties={"id": self._instance_id, "version": __version__, "api": API_MAJOR_VERSION, "path": ""},
        )
        self._zeroconf = AsyncZeroconf(interfaces=list(addresses))
        await (await self._zeroconf.async_register_service(info, allow_name_change=True))
        self._addresses = addresses
        self._last_reason = None
        _LOG.info(
            "announced on the local network as %r at %s, port %d",
            info.get_name(),
            " and ".join(addresses),
            self._port,
        )

    async def _withdraw(self) -> None:
        opened, self._zeroconf = self._zeroconf, None
        if opened is not None:
            await opened.async_close()

    def _log_once(self, level: int, reason: str) -> None:
        """Log why the server is not announced. If the last attempt failed for the same reason, log nothing."""
        if reason != self._last_reason:
            _LOG.log(level, "not announced on the local network (%s): clients need the server's address", reason)
        self._last_reason = reason


async def announce(name: str, instance_id: str, listening_addresses: Sequence[tuple[str, int]], clock: Clock) -> None:
    """Announce a server until this task is cancelled. The announced name begins with `name`.

    `listening_addresses` lists the addresses and ports on which the server listens. If only programs on the server's
    own machine can reach the announced port, do nothing.
    """
    # If the system chose different free ports for IPv4 and IPv6, the first port is announced.
    port = listening_addresses[0][1]
    hosts = [
        host for host, its_port, *_ in listening_addresses if its_port == port and not ip_address(host).is_loopback
    ]
    if hosts:
        await Announcer(name, instance_id, port, lambda: reachable_addresses(hosts), clock).run()


def reachable_addresses(hosts: Iterable[str]) -> list[str]:
    """Return the addresses at which other machines can reach a server that listens on `hosts`.

    `hosts` must contain no loopback address.
    """
    found = (_own_address(host) if ip_address(host).is_unspecified else host for host in hosts)
    return [address for address in found if address is not None]


def _own_address(wildcard: str) -> str | None:
    """Return the address from which the machine sends multicast packets. If there is no network, return None.

    The address has the IP version of `wildcard`.
    """
    family = socket.AF_INET if ip_address(wildcard).version == 4 else socket.AF_INET6  # noqa: PLR2004
    try:
        # For a datagram socket, `connect` only chooses the route and sends nothing.
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((_MULTICAST_GROUPS[family], _MDNS_PORT))
            address: str = probe.getsockname()[0]
            return address
    except OSError:
        return None
