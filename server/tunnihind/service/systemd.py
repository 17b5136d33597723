"""Reports that the server is ready, alive or stopping, to systemd or another service manager with `sd_notify`."""

import os
import socket
from contextlib import suppress
from typing import Final

from tunnihind.api.health import Troubles
from tunnihind.clock import Clock

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
ALIVE: Final = "WATCHDOG=1"


def notify(state: str) -> None:
    """Send a state to the service manager, if there is one (`NOTIFY_SOCKET`)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    # If nobody listens, nothing is lost.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_manager:
        # A name that begins with @ is in the abstract namespace of Linux.
        to_manager.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


async def feed_watchdog(troubles: Troubles, clock: Clock) -> None:
    """Report that the server is alive, twice in each period of the watchdog, unless only a restart helps."""
    wait_us = os.environ.get("WATCHDOG_USEC")
    if not wait_us or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return
    while True:
        if not troubles.stuck:
            notify(ALIVE)
        await clock.sleep(int(wait_us) / 1e6 / 2)
