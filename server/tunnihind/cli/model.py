"""`forecast`: the model at work."""

import time
from json import dumps

import click
from rich.console import Console

from tunnihind.cli.options import AS_OF, MARKET, STORE, option, with_settings
from tunnihind.cli.runs import document, drawing, origin
from tunnihind.errors import NothingToForecast
from tunnihind.forecast.run import Run
from tunnihind.pipeline.modelling import make_runs
from tunnihind.settings import Settings
from tunnihind.store.store import Store


@click.command()
@option("json", is_flag=True, help="Write JSON.")
@with_settings(STORE, MARKET, AS_OF)
def forecast(settings: Settings, *, json: bool, as_of: int | None) -> None:
    """Make a forecast run now, keep it and print it; with --as-of nothing is kept."""
    try:
        run = _rehearsed(settings, as_of) if as_of is not None else _made_now(settings)
    except NothingToForecast as error:
        advice = "fetch newer ones with `tunnihind ingest`, or `tunnihind import prices FILE`"
        raise click.ClickException(f"no forecast can be made: {error}; {advice}") from error
    if json:
        click.echo(dumps(document(run)))
        return
    Console().print(drawing(run))
    for line in origin(run):
        click.echo(line)


def _rehearsed(settings: Settings, instant: int) -> Run:
    with Store(settings.store_url, read_only=True) as store:
        return make_runs(store, instant, settings.market).hours


def _made_now(settings: Settings) -> Run:
    with Store(settings.store_url) as store:
        runs = make_runs(store, int(time.time()), settings.market)
        store.runs.add_pair(runs)
        return runs.hours
