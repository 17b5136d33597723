"""`serve` and `ingest`: the commands that can run the pipeline."""

import asyncio
import logging
import sys
from collections.abc import Coroutine
from typing import Any, Final

import click

from tunnihind.cli.options import AS_OF_OPTIONS, SERVER_OPTIONS, SOURCES_OPTIONS, STORE_OPTIONS, option, with_settings
from tunnihind.cli.progress import progress_display
from tunnihind.core.market import iso_utc
from tunnihind.settings import COMMAND, Settings

_LOG: Final = logging.getLogger(__name__)


@click.command()
@option("demo", is_flag=True, help="Serve a simulated market, without network, and store nothing.")
@option("no-pipeline", is_flag=True, help="Only serve the data in the database. Another server fetches them.")
@with_settings(STORE_OPTIONS, SERVER_OPTIONS, SOURCES_OPTIONS, AS_OF_OPTIONS)
def serve(settings: Settings, *, demo: bool, no_pipeline: bool, as_of: int | None) -> None:
    """Serve the API and the pages, and keep the prices and the forecast up to date."""
    if demo and (no_pipeline or as_of is not None):
        raise click.UsageError("--demo can't be combined with --no-pipeline or --as-of")
    # Import only the modules that the chosen mode needs. Without the modules of the forecast, a replica starts in half
    # the time.
    if as_of is not None:
        _LOG.info("rehearsing %s without network; nothing is stored", iso_utc(as_of))
        from tunnihind.service.past_day import serve_rehearsal  # noqa: PLC0415

        with progress_display() as show:
            _run_coroutine(serve_rehearsal(settings, as_of, show))
    elif no_pipeline:
        from tunnihind.service.replica import serve_replica  # noqa: PLC0415

        _run_coroutine(serve_replica(settings))
    else:
        from tunnihind.service.live import serve_demo, serve_live  # noqa: PLC0415

        with progress_display() as show:
            _run_coroutine((serve_demo if demo else serve_live)(settings, show))


@click.command()
@with_settings(STORE_OPTIONS, SOURCES_OPTIONS)
def ingest(settings: Settings) -> None:
    """Run the pipeline once: fetch missing data, make forecasts, and exit."""
    from tunnihind.service.live import ingest_once  # noqa: PLC0415  as above

    with progress_display() as show:
        if not _run_coroutine(ingest_once(settings, show)):
            raise click.ClickException(
                "not everything could be fetched, or no forecast could be made: see the log above, and "
                f"`{COMMAND} status`"
            )


def _run_coroutine[Result](work: Coroutine[Any, Any, Result]) -> Result:
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop  # noqa: PLC0415  not on every platform

    return uvloop.run(work)
