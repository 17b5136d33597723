"""Tells systemd, or another service manager that speaks `sd_notify`, that the server is there, lives on, or stops."""

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
    """Tell the service manager, if there is one that wants to know (`NOTIFY_SOCKET`)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    # Whoever does not listen has nothing to know.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_manager:
        # A name that begins with @ is in the abstract namespace of Linux.
        to_manager.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


async def keep_watchdog_calm(troubles: Troubles, clock: Clock) -> None:
    """Say that the server lives, twice in the time that the watchdog waits, unless only a restart can help."""
    wait_us = os.environ.get("WATCHDOG_USEC")
    if not wait_us or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return
    while True:
        if not troubles.stuck:
            notify(ALIVE)
        await clock.sleep(int(wait_us) / 1e6 / 2)
