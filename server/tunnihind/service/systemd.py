"""Reports the server's state to the service manager, with the `sd_notify` protocol of systemd."""

import os
import socket
from contextlib import suppress
from typing import Final

from tunnihind.api.health import Troubles
from tunnihind.clock import Clock

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
_ALIVE: Final = "WATCHDOG=1"


def notify_manager(state: str) -> None:
    """Send a state to the service manager. Without the environment variable `NOTIFY_SOCKET`, do nothing."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_manager:
        # In `NOTIFY_SOCKET`, @ stands for the zero byte with which an abstract socket's name begins.
        to_manager.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


async def feed_watchdog(troubles: Troubles, clock: Clock) -> None:
    """Twice per watchdog period, report that the server is alive, so that systemd does not restart it.

    While the server is stuck, report nothing. If systemd has set no watchdog period for this process, return at once.
    """
    wait_us = os.environ.get("WATCHDOG_USEC")
    if not wait_us or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return
    while True:
        if not troubles.stuck:
            notify_manager(_ALIVE)
        await clock.sleep(int(wait_us) / 1e6 / 2)
