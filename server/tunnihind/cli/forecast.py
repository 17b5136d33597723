"""`forecast`: makes a forecast run and shows it."""

import time
from collections.abc import Iterator
from json import dumps
from typing import Any, Final

import click
from rich.console import Console, RenderableType
from rich.table import Table

from tunnihind.cli.options import AS_OF_OPTIONS, MARKET_OPTIONS, STORE_OPTIONS, ZONE_OPTIONS, option, with_settings
from tunnihind.core.market import HOUR_S, MARKETS, iso_utc
from tunnihind.errors import NothingToForecast
from tunnihind.forecast.run import Run
from tunnihind.pipeline.modelling import make_runs
from tunnihind.settings import COMMAND, Settings
from tunnihind.store.store import Store

_DRAWING_WIDTH: Final = 34


def run_document(run: Run) -> dict[str, Any]:
    """Return the document that `forecast --json` and `export forecast --format json` print."""
    periods = [dict(zip(("ts", "p10", "p50", "p90"), row, strict=True)) for row in run_rows(run)]
    name = "hours" if run.step_s == HOUR_S else "quarters"
    return {"madeAt": run.made_at, "tier": run.tier, "inputs": run.inputs, name: periods}


def run_rows(run: Run) -> Iterator[tuple[int, float, float, float]]:
    """Yield the start (unix seconds), p10, p50 and p90 (EUR/MWh) of each period."""
    yield from zip(run.starts(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)


def run_table(run: Run) -> RenderableType:
    """Return a table of a run's hours in the zone's local time. Each row shows the percentiles and draws them."""
    market = MARKETS[run.zone]
    table = Table(title=f"EUR/MWh without VAT, {market.adjective} time", box=None, pad_edge=False)
    for name in ("hour", "p10", "p50", "p90"):
        table.add_column(name, justify="right")
    low, high = min(0.0, float(run.p10.min())), float(run.p90.max())
    table.add_column(f"{low:.0f} to {high:.0f}")
    for ts, p10, p50, p90 in run_rows(run):
        hour = f"{market.local_time(ts):%a %d.%m. %H:%M}"
        table.add_row(hour, f"{p10:.2f}", f"{p50:.2f}", f"{p90:.2f}", _drawn_interval(p10, p50, p90, low, high))
    return table


def issue_and_input_lines(run: Run) -> Iterator[str]:
    """Yield lines about a run's issue, tier and inputs."""
    inputs = run.inputs
    yield f"made at {iso_utc(run.made_at)} by tier {run.tier}"
    yield f"  prices      {', '.join(inputs['zones'])} of {inputs['firstDay']} to {inputs['lastDay']}"
    for covariate in inputs.get("covariates", ()):
        reach = f"{covariate['reachH']:g} h ahead{', imputed' if covariate['imputed'] else ''}"
        yield f"  covariate   {covariate['name']}, {covariate['ageH']:g} h old, {reach}"
    if inputs.get("weatherRuns"):
        yield f"  weather     from the runs of {', '.join(inputs['weatherRuns'])}"
    if inputs.get("ignored"):
        yield f"  left out    {', '.join(inputs['ignored'])}"
    if inputs.get("observedDays"):
        yield f"  far days    moved toward the price level of {inputs['observedDays']} days of observed weather"
    yield f"  p10 to p90  from the errors of {inputs['errorDays']} days"


def _drawn_interval(p10: float, p50: float, p90: float, low: float, high: float) -> str:
    """Draw the interval as a line, and p50 as a mark. The scale begins at `low` and ends at `high`."""
    at = [round((price - low) / max(high - low, 1e-9) * (_DRAWING_WIDTH - 1)) for price in (p10, p50, p90)]
    line = [" "] * _DRAWING_WIDTH
    line[at[0] : at[2] + 1] = "─" * (at[2] - at[0] + 1)
    line[at[1]] = "●"
    return "".join(line)


@click.command()
@option("json", is_flag=True, help="Write JSON.")
@with_settings(STORE_OPTIONS, ZONE_OPTIONS, MARKET_OPTIONS, AS_OF_OPTIONS)
def forecast(settings: Settings, *, json: bool, as_of: int | None) -> None:
    """Make a forecast run, store it and print it.

    With --as-of, the run is made from the data known at the given instant, and nothing is stored.
    """
    try:
        run = _run_as_of(settings, as_of) if as_of is not None else _store_new_run(settings)
    except NothingToForecast as error:
        advice = f"fetch newer prices with `{COMMAND} ingest`, or `{COMMAND} import prices FILE`"
        raise click.ClickException(f"no forecast can be made: {error}; {advice}") from error
    if json:
        click.echo(dumps(run_document(run)))
        return
    Console().print(run_table(run))
    for line in issue_and_input_lines(run):
        click.echo(line)


def _run_as_of(settings: Settings, instant: int) -> Run:
    with Store(settings.store_url, read_only=True) as store:
        return make_runs(store, instant, settings.market).hours


def _store_new_run(settings: Settings) -> Run:
    with Store(settings.store_url) as store:
        runs = make_runs(store, int(time.time()), settings.market)
        store.runs.add_forecast(runs)
        return runs.hours
