"""Starts and stops the web server, and waits for a stop signal."""

import asyncio
import errno
import logging
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Final

from aiohttp import web

from tunnihind.api.metrics import Metrics
from tunnihind.api.models.service import Mode
from tunnihind.api.server import MAX_CONNECTIONS, Runner
from tunnihind.clock import Clock
from tunnihind.errors import SettingsError
from tunnihind.service.announce import announce
from tunnihind.service.application import SERVICE_NAME, ServedZone, create_app, zone_instance_id
from tunnihind.service.background import run_in_background
from tunnihind.service.systemd import READY, STOPPING, feed_watchdog, notify_manager
from tunnihind.settings import Settings

_LOG: Final = logging.getLogger(__name__)

_SHUTDOWN_S: Final = 10.0
_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

MAX_DESCRIPTORS: Final = 65_536
_RESERVED_DESCRIPTORS: Final = 256
"""At most this many file descriptors are kept for the database, the sources and the model's process."""


@asynccontextmanager
async def open_site(
    settings: Settings,
    zones: Sequence[ServedZone],
    clock: Clock,
    *,
    instance_id: str | None,
    metrics: Metrics,
    pipeline_expected: bool,
    mode: Mode = "live",
) -> AsyncIterator[asyncio.Event]:
    """While this context is open, serve `zones` on the host and port of the settings.

    If `settings.announce` is false or `instance_id` is None, the server is not announced on the local network. Once the
    yielded event is set, `/readyz` fails, and each answer closes its connection. If the event is set when the context
    ends, the server first answers requests for another `drain_seconds` seconds, so that a load balancer can switch to
    another server. A second stop signal ends this time early. Raises SettingsError if the server can't listen on the
    host and port.
    """
    stopping = asyncio.Event()
    app = create_app(
        settings,
        zones,
        clock,
        instance_id=instance_id,
        metrics=metrics,
        pipeline_expected=pipeline_expected,
        mode=mode,
        stopping=stopping,
    )
    name = SERVICE_NAME if mode == "live" else f"{SERVICE_NAME} {mode}"
    access_log = logging.getLogger("tunnihind.access") if settings.access_log else None
    runner = Runner(
        app, most_connections=_raise_connection_limit(), access_log=access_log, shutdown_timeout=_SHUTDOWN_S
    )
    await runner.setup()
    try:
        await _listen_on_port(runner, settings)
        _LOG.info("answering at %s", settings.base_url)
        if settings.full_horizon and not settings.is_private:
            _LOG.warning(
                "--full-horizon is for a private server, but %s looks public. Everybody who reaches the server also "
                "gets the forecast past freeUntil",
                settings.base_url,
            )
        announcing = (
            run_in_background(announce(name, zone_instance_id(instance_id, settings.market), runner.addresses, clock))
            if settings.announce and instance_id is not None
            else nullcontext()
        )
        async with run_in_background(feed_watchdog(zones[0].snapshot.troubles, clock)):
            notify_manager(READY)
            async with announcing:
                yield stopping
            # Without a stop signal, only the temporary site of `opening.wait_for_store` ends, and the server continues.
            if stopping.is_set():
                notify_manager(STOPPING)
                if settings.drain_seconds:
                    await _drain(settings.drain_seconds)
    finally:
        await runner.cleanup()


def _raise_connection_limit() -> int:
    """Raise the limit of open file descriptors where possible, and return how many connections the limit allows."""
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    import resource  # noqa: PLC0415  not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    return max_connections_within(MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft)


def max_connections_within(descriptors: int) -> int:
    """Return the number of client connections that `descriptors` file descriptors allow, at most `MAX_CONNECTIONS`.

    Half of the descriptors, but at most `_RESERVED_DESCRIPTORS`, are kept for other uses.
    """
    return min(max(descriptors - _RESERVED_DESCRIPTORS, descriptors // 2), MAX_CONNECTIONS)


async def wait_until_stopped(stopping: asyncio.Event) -> None:
    """Set `stopping` at SIGINT or SIGTERM, and wait until it is set."""
    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, stopping.set)
    try:
        await stopping.wait()
    except asyncio.CancelledError:
        for number in _STOP_SIGNALS:
            loop.remove_signal_handler(number)
        raise
    _LOG.info("stopping")


async def _drain(seconds: float) -> None:
    _LOG.info("answering for another %g s, so that a load balancer can switch to other servers", seconds)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wait_until_stopped(asyncio.Event())


async def _listen_on_port(runner: Runner, settings: Settings) -> None:
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"port {settings.port} is taken by another program: choose another port with --port"
        else:
            message = f"can't listen on host {settings.host}, port {settings.port}: {error.strerror or error}"
        raise SettingsError(message) from error
