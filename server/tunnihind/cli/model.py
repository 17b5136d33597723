"""`forecast`: the model at work."""

import time
from json import dumps

import click
from rich.console import Console

from tunnihind.cli.options import AS_OF, MARKET, STORE, option, with_settings
from tunnihind.cli.runs import document, drawing, origin
from tunnihind.errors import StoreError
from tunnihind.forecast.run import Run
from tunnihind.pipeline.modelling import make_runs
from tunnihind.settings import Settings
from tunnihind.store.store import Store


@click.command()
@option("json", is_flag=True, help="Write JSON.")
@with_settings(STORE, MARKET, AS_OF)
def forecast(settings: Settings, *, json: bool, as_of: int | None) -> None:
    """Make a forecast run now, keep it and print it; with --as-of nothing is kept."""
    run = _rehearsed(settings, as_of) if as_of is not None else _made_now(settings)
    if run is None:
        raise StoreError("no price is known yet: fetch some with `tunnihind ingest`, or `tunnihind import prices FILE`")
    if json:
        click.echo(dumps(document(run)))
        return
    Console().print(drawing(run))
    for line in origin(run):
        click.echo(line)


def _rehearsed(settings: Settings, instant: int) -> Run | None:
    with Store(settings.store_url, read_only=True) as store:
        runs = make_runs(store, instant, settings.limits)
        return None if runs is None else runs.hours


def _made_now(settings: Settings) -> Run | None:
    with Store(settings.store_url) as store:
        runs = make_runs(store, int(time.time()), settings.limits)
        if runs is None:
            return None
        store.runs.add_pair(runs)
        return runs.hours
