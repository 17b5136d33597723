"""Runs tasks of the server in the background."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

_LOG: Final = logging.getLogger(__name__)


@asynccontextmanager
async def run_in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """While this context is open, run `work` as a task. An error in `work` is logged, and the server continues."""
    task = asyncio.create_task(work)
    task.add_done_callback(log_error)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


def log_error(task: asyncio.Task[None]) -> None:
    """If an error ended a task, log the error as a bug."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("background work has ended because of a bug; please report the bug", exc_info=error)
