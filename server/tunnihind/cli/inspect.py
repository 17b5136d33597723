"""`status` and `openapi`: commands that only show something."""

import json as json_module
import time
from dataclasses import asdict

import click

from tunnihind.api.openapi.document import openapi_document
from tunnihind.cli.options import AS_OF, SERVER, STORE, option, with_settings
from tunnihind.cli.status import describe, read_status
from tunnihind.settings import Settings
from tunnihind.store.store import Store


@click.command()
@with_settings(SERVER)
def openapi(settings: Settings) -> None:
    """Print the OpenAPI description of the API."""
    click.echo(json_module.dumps(openapi_document(settings), indent=2, ensure_ascii=False))


@click.command()
@option("json", is_flag=True, help="Write JSON.")
@with_settings(STORE, AS_OF)
def status(settings: Settings, *, json: bool, as_of: int | None) -> None:
    """Show how far prices and forecast reach, how old they are, and what has gone wrong."""
    now = int(time.time()) if as_of is None else as_of
    with Store(settings.store_url, read_only=True) as store:
        found = read_status(store, now, is_past=as_of is not None)
    if json:
        click.echo(json_module.dumps(asdict(found), default=str, indent=2))
        return
    for line in describe(found):
        click.echo(line)
