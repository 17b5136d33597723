"""`forecast` and `backtest`: the model at work and under test."""

import csv
import json
import math
import time
from dataclasses import asdict
from datetime import date, datetime
from datetime import time as clock_time
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from tunnihind.cli.options import AS_OF, STORE, option, with_settings
from tunnihind.cli.progress import shown_progress
from tunnihind.cli.runs import document, drawing
from tunnihind.errors import StoreError
from tunnihind.forecast.backtest import BacktestResult
from tunnihind.forecast.backtest import backtest as walk_forward
from tunnihind.forecast.run import Run
from tunnihind.forecast.scores import Scores
from tunnihind.market import day_start, iso_utc
from tunnihind.pipeline.modelling import MEMORY_S, forecaster, make_run
from tunnihind.rehearsal import Rehearsal
from tunnihind.settings import Settings
from tunnihind.store.store import Store

_COLUMNS: Final = ("MAE", "naive", "skill", "coverage", "below", "above", "pinball", "Winkler", "width")
_DAY: Final = click.DateTime(formats=["%Y-%m-%d"])


@click.command()
@option("json", is_flag=True, help="Write JSON.")
@with_settings(STORE, AS_OF)
def forecast(settings: Settings, *, json: bool, as_of: int | None) -> None:
    """Make a forecast run now, keep it and print it; with --as-of nothing is kept."""
    run = _rehearsed(settings, as_of) if as_of is not None else _made_now(settings)
    if run is None:
        raise StoreError("no price is known yet: fetch some with `tunnihind ingest`, or `tunnihind import prices FILE`")
    if json:
        click.echo(_json(document(run)))
        return
    console = Console()
    console.print(drawing(run))
    console.print(f"made at {iso_utc(run.made_at)} by tier [bold]{run.tier}[/bold] from {_json(run.inputs)}")


def _rehearsed(settings: Settings, instant: int) -> Run | None:
    with Store(settings.store_url, read_only=True) as store:
        return Rehearsal.of(store, instant).run()


def _made_now(settings: Settings) -> Run | None:
    with Store(settings.store_url) as store:
        run = make_run(store, int(time.time()))
        if run is not None:
            store.runs.add(run)
        return run


@click.command()
@option("from", "first", type=_DAY, required=True, help="First delivery day to score.")
@option("to", "last", type=_DAY, required=True, help="Last delivery day to score.")
@option("issue-at", type=click.DateTime(formats=["%H:%M"]), default="09:00", show_default=True, help="UTC.")
@option("horizon-days", type=click.IntRange(1, 7), default=7, show_default=True)
@option("json", is_flag=True, help="Write JSON.")
@option("forecasts-out", type=click.Path(dir_okay=False, path_type=Path), help="Write every forecast to a CSV file.")
@with_settings(STORE)
def backtest(
    settings: Settings,
    *,
    first: datetime,
    last: datetime,
    issue_at: datetime,
    horizon_days: int,
    json: bool,
    forecasts_out: Path | None,
) -> None:
    """Score the model on past delivery days: one forecast a day, each seeing only what was known then."""
    if last < first:
        raise click.UsageError("--to lies before --from")
    with Store(settings.store_url, read_only=True) as store:
        archive = store.archive(day_start(first.date()) - MEMORY_S)
    with shown_progress() as progress:
        result = walk_forward(
            archive,
            forecaster(),
            first.date(),
            last.date(),
            issue_at=issue_at.time(),
            horizon_days=horizon_days,
            progress=lambda done, total: progress.show("backtest", done, total),
        )
    if result.scores().n == 0:
        raise StoreError(f"nothing to score from {first.date()} to {last.date()}: are prices of these days imported?")
    if forecasts_out is not None:
        _write(result, forecasts_out)
    _report(result, as_json=json, first=first.date(), last=last.date(), issue_at=issue_at.time())


def _write(result: BacktestResult, path: Path) -> None:
    issued = result.forecasts
    columns = (issued.issued_ts, issued.target_ts, issued.p10, issued.p50, issued.p90)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("issued_ts", "target_ts", "p10", "p50", "p90"))
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def _report(result: BacktestResult, *, as_json: bool, first: date, last: date, issue_at: clock_time) -> None:
    by_lead, overall = result.by_lead(), result.scores()
    if as_json:
        leads = {str(lead): _camel(scores) for lead, scores in by_lead.items()}
        click.echo(_json({"from": str(first), "to": str(last), "leads": leads, "overall": _camel(overall)}))
        return
    table = Table(title=f"{first} to {last}, issued {issue_at:%H:%M} UTC, EUR/MWh", box=None, pad_edge=False)
    for name in (
        "days ahead",
        "n",
        "MAE",
        "naive",
        "skill",
        "coverage",
        "below",
        "above",
        "pinball",
        "Winkler",
        "width",
    ):
        table.add_column(name, justify="right")
    for label, scores in (*by_lead.items(), ("all", overall)):
        table.add_row(str(label), *_cells(scores))
    Console().print(table)


def _cells(scores: Scores) -> list[str]:
    shares = [scores.skill, scores.coverage80, scores.below10, scores.above90]
    return [
        str(scores.n),
        f"{scores.mae:.2f}",
        f"{scores.baseline_mae:.2f}",
        *(f"{share:.3f}" for share in shares),
        f"{scores.pinball:.2f}",
        f"{scores.winkler80:.1f}",
        f"{scores.width:.1f}",
    ]


def _camel(scores: Scores) -> dict[str, Any]:
    """Return scores by their names in JSON, which has no word for NaN but null."""
    return {_to_camel(name): None if math.isnan(value) else value for name, value in asdict(scores).items()}


def _to_camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _json(value: Any) -> str:  # noqa: ANN401  any JSON document
    return json.dumps(value)
