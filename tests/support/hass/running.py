"""A fresh Home Assistant that runs within a context."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.hass.api import HassApi
from tests.support.hass.configuration import write_configuration
from tests.support.hass.process import HassProcess
from tests.support.machine.processes import free_port
from tests.support.machine.shifted_clock import ShiftedClock

UNHEARD = Path(__file__).with_name("stub_libraries")
"""The folder of stubs for two libraries that would need a compiler."""


@asynccontextmanager
async def fresh_hass(
    folder: Path, clock: ShiftedClock | None = None, *, discovery: bool = False
) -> AsyncIterator[HassApi]:
    """Run a Home Assistant with a new owner. The context fails if Home Assistant does not end on request."""
    port = free_port()
    write_configuration(folder, port, discovery=discovery)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(UNHEARD)}
    environment["PYTHONWARNINGS"] = "default"  # deprecations too
    process = HassProcess(folder, environment | (clock.environment if clock else {}), port)
    api = HassApi(process)
    try:
        process.start()
        await api.until_up()
        await api.onboard()
        await api.until_running()
        yield api
        if process.is_running():
            await process.stop()
    finally:
        process.clear_away()
