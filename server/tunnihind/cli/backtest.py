"""`backtest`: tests the model on past days."""

import csv
from datetime import date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, override

import click
import msgspec
from rich.console import Console

from tunnihind.api.parameters import RESOLUTIONS
from tunnihind.cli.backtest_report import report_document, report_tables
from tunnihind.cli.options import MARKET_OPTIONS, STORE_OPTIONS, ZONE_OPTIONS, WholeNumberType, option, with_settings
from tunnihind.cli.progress import progress_display
from tunnihind.core.market import HOUR_S, day_start
from tunnihind.errors import StoreError
from tunnihind.forecast.run import ISSUE_AT, LEADS, SingleStepForecaster
from tunnihind.forecast.scoring.backtest import BacktestResult
from tunnihind.forecast.scoring.backtest import backtest as walk_forward
from tunnihind.forecast.scoring.report import BacktestReport
from tunnihind.pipeline.history import needed_history_start
from tunnihind.pipeline.modelling import new_forecaster
from tunnihind.settings import Settings, install_advice
from tunnihind.store.store import Store


class _AsciiDateTime(click.DateTime):
    """A date or a time. Python would also accept the digits of other scripts."""

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a date or a time."""
        if not str(value).isascii():
            self.fail(f"{value!r} has other digits than 0 to 9", param, ctx)
        return super().convert(value, param, ctx)


_DAY_TYPE: Final = _AsciiDateTime(formats=["%Y-%m-%d"])
_TABLE_WIDTH: Final = 100
"""Tables may be this many characters wide, even if the terminal is narrower."""


_OUTPUT_FILE: Final = click.Path(dir_okay=False, writable=True, path_type=Path)


def _check_folder(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse an output file whose folder does not exist, before the backtest begins."""
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"the folder {path.parent} does not exist; create it first")
    return path


def _check_plot(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse `--plot` before the backtest begins, if matplotlib or the picture's folder is missing."""
    if path is not None and find_spec("matplotlib") is None:
        raise click.BadParameter(f"a picture needs matplotlib; to install it, {install_advice('plot')}")
    return _check_folder(context, parameter, path)


@click.command()
@click.option("--from", "first", type=_DAY_TYPE, required=True, help="First delivery day to score.")
@click.option("--to", "last", type=_DAY_TYPE, required=True, help="Last delivery day to score.")
@option(
    "issue-at",
    type=_AsciiDateTime(formats=["%H:%M"]),
    default=f"{ISSUE_AT:%H:%M}",
    show_default=True,
    help="Time of day at which each forecast is issued, UTC.",
)
@option(
    "horizon-days",
    type=WholeNumberType(1, LEADS),
    default=LEADS,
    show_default=True,
    help="Score forecasts up to this many days ahead.",
)
@option(
    "resolution",
    type=click.Choice(list(RESOLUTIONS)),
    default="60m",
    show_default=True,
    help="Score hours or quarters. Quarters can be scored from 2025-10-08 on.",
)
@option("json", "as_json", is_flag=True, help="Write JSON. Months are those of delivery days. Hours are in local time.")
@option(
    "plot",
    type=_OUTPUT_FILE,
    callback=_check_plot,
    metavar="FILE.svg",
    help="Draw reliability and error by days ahead. This needs matplotlib.",
)
@option(
    "forecasts-out",
    type=_OUTPUT_FILE,
    callback=_check_folder,
    metavar="FILE.csv",
    help="Write every forecast to a CSV file.",
)
@with_settings(STORE_OPTIONS, ZONE_OPTIONS, MARKET_OPTIONS)
def backtest(
    settings: Settings,
    *,
    first: datetime,
    last: datetime,
    issue_at: datetime,
    horizon_days: int,
    resolution: str,
    as_json: bool,
    plot: Path | None,
    forecasts_out: Path | None,
) -> None:
    """Score the model on past delivery days.

    One forecast is issued on each day. Each forecast uses only the data that were known when it was issued.
    """
    if last < first:
        raise click.UsageError("--to is before --from")
    result = _run_backtest(settings, first.date(), last.date(), issue_at.time(), horizon_days, RESOLUTIONS[resolution])
    if forecasts_out is not None:
        _write_forecasts(result, forecasts_out)
    report = BacktestReport.of(result, settings.market)
    by = "quarter" if resolution == "15m" else "hour"
    title = f"{first.date()} to {last.date()}, by {by}, issued {issue_at:%H:%M} UTC"
    if plot is not None:
        from tunnihind.cli.backtest_picture import save_picture  # noqa: PLC0415  needs an extra

        save_picture(report, title, plot)
    if as_json:
        scored = {"from": str(first.date()), "to": str(last.date()), "resolution": resolution}
        click.echo(msgspec.json.encode({**scored, **report_document(report)}))
    else:
        _print_report(report, title)


def _run_backtest(
    settings: Settings, first: date, last: date, issue_at: time, horizon_days: int, step_s: int
) -> BacktestResult:
    """Run the backtest, and show its progress.

    Raises StoreError if the database can't be read, or if there is nothing to score.
    """
    model = new_forecaster(settings.market)
    with Store(settings.store_url, read_only=True) as store:
        archive = store.read_archive(needed_history_start(model, day_start(first)))
    with progress_display() as show:
        result = walk_forward(
            archive,
            SingleStepForecaster(model, step_s),
            first,
            last,
            issue_at=issue_at,
            horizon_days=horizon_days,
            step_s=step_s,
            progress=lambda done, total: show("backtest, days of issue", done, total),
        )
    if result.scores().n == 0:
        prices = "prices" if step_s == HOUR_S else "prices by the quarter"
        raise StoreError(f"nothing to score from {first} to {last}: are {prices} of these days imported?")
    return result


def _write_forecasts(result: BacktestResult, path: Path) -> None:
    issued = result.forecasts
    columns = (issued.issued_ts, issued.target_ts, issued.p10, issued.p50, issued.p90)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("issued_ts", "target_ts", "p10", "p50", "p90"))
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


def _print_report(report: BacktestReport, title: str) -> None:
    console = Console()
    console.width = max(console.width, _TABLE_WIDTH)
    console.print(f"[bold]{title}[/bold], EUR/MWh", highlight=False)
    for table in report_tables(report):
        console.print()
        console.print(table)
