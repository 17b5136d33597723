"""`import` stores the data of a file. `export` writes data to standard output."""

import csv
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from tunnihind.api.parameters import RESOLUTIONS
from tunnihind.cli.forecast import run_document, run_rows
from tunnihind.cli.options import AS_OF_OPTIONS, MARKET_OPTIONS, STORE_OPTIONS, ZONE_OPTIONS, option, with_settings
from tunnihind.core.market import HOUR_S, ZONES, SeriesKey
from tunnihind.errors import StoreError
from tunnihind.files.covariate_file import read_covariates
from tunnihind.files.observation_file import read_observations
from tunnihind.files.price_file import read_prices
from tunnihind.forecast.known_days.quantities import KNOWN_NAMES, unknown_covariate_names
from tunnihind.known import PriceHistory
from tunnihind.pipeline.modelling import make_runs
from tunnihind.settings import COMMAND, Settings
from tunnihind.store.address import parse_address
from tunnihind.store.prices import IMPORTED, AddedCounts
from tunnihind.store.store import Store

_INPUT_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_RESOLUTION_OPTION = option(
    "resolution", type=click.Choice(list(RESOLUTIONS)), default="60m", show_default=True, help="Hours or quarters."
)
_FORMAT_OPTION = option(
    "format", type=click.Choice(["csv", "json"]), default="csv", show_default=True, help="Output format."
)


@click.group("import")
def import_() -> None:
    """Import prices, covariates or observations from a CSV file, plain or gzipped."""


@import_.command("prices")
@click.argument("file", type=_INPUT_FILE)
@with_settings(STORE_OPTIONS, MARKET_OPTIONS)
def import_prices(settings: Settings, *, file: Path) -> None:
    """Import hourly or quarter-hour prices in EUR/MWh without VAT.

    The columns are ts and one or more of ee,lv,lt,fi. The column ts contains the start of each period in unix seconds
    UTC. An empty cell means an unknown price. If a line is invalid, the whole file is refused.
    """
    found = read_prices(file, settings.limits)
    with _store_to_fill(settings) as store:
        seen_ts = int(time.time())
        parts = (store.prices.add(batch, source=IMPORTED, seen_ts=seen_ts) for batch in found.price_batches())
        added = sum(parts, AddedCounts())
    click.echo(f"{file.name}: {found.row_count} rows read, {found.price_count} prices in them")
    click.echo(f"  stored:  {added.stored_count} ({added.new} new, {added.corrected} corrections)")
    click.echo(f"  skipped: {added.unchanged} already known, {found.empty_cell_count} empty cells")


@import_.command("covariates")
@click.argument("file", type=_INPUT_FILE)
@with_settings(STORE_OPTIONS)
def import_covariates(settings: Settings, *, file: Path) -> None:
    """Import forecasts of wind, sun, temperature or load, exactly as they were issued.

    The columns are issued_ts,target_ts,NAME[,NAME...]. Instants are unix seconds UTC. NAME is
    <zone>_<load|wind|solar>[_da]_mw or <variable>@<point>. The command lists each NAME that the price forecast can't
    use. An empty cell means an unknown value. If a line is invalid, the whole file is refused.
    """
    found = read_covariates(file)
    with _store_to_fill(settings) as store:
        added = store.covariates.add(found.series)
    click.echo(f"{file.name}: {found.row_count} rows read, {found.value_count} values in them")
    click.echo(f"  stored:  {added} values of {', '.join(found.series) or 'nothing'}")
    click.echo(f"  skipped: {found.value_count - added} already known, {found.empty_cell_count} empty cells")
    if found.late_count:
        click.echo(f"  kept, but not as forecasts: {found.late_count} values issued after their hour had begun")
    if unknown := unknown_covariate_names(found.series):
        click.echo(f"  kept, but not used by the forecast: {', '.join(unknown)}; it uses {KNOWN_NAMES}")


@import_.command("observations")
@click.argument("file", type=_INPUT_FILE)
@with_settings(STORE_OPTIONS)
def import_observations(settings: Settings, *, file: Path) -> None:
    """Import observed wind, sun, temperature or load, from which the forecast learns the price of cold weeks.

    The columns are target_ts,NAME[,NAME...]. The column target_ts contains the start of each hour in unix seconds UTC.
    NAME is the name of a covariate whose forecasts are stored too, as in `import covariates`. An empty cell means an
    unknown value. If a line is invalid, the whole file is refused.
    """
    found = read_observations(file, time.time())
    with _store_to_fill(settings) as store:
        added = store.observations.add(found.series)
    click.echo(f"{file.name}: {found.row_count} rows read, {found.value_count} values in them")
    click.echo(f"  stored:  {added} observations of {', '.join(found.series) or 'nothing'}")
    click.echo(f"  skipped: {found.value_count - added} already known, {found.empty_cell_count} empty cells")
    if unknown := unknown_covariate_names(found.series):
        click.echo(f"  kept, but not used by the forecast: {', '.join(unknown)}; it uses {KNOWN_NAMES}")


@click.group()
def export() -> None:
    """Write prices or the forecast to standard output."""


def _store_to_fill(settings: Settings) -> Store:
    """Open the store, and create it if needed. Raises StoreError, and UsageError for an address typed wrongly.

    An address on the command line may be typed wrongly. So a folder that it names is not created.
    """
    path = parse_address(settings.store_url).database
    is_typed = click.get_current_context().get_parameter_source("database_url") is ParameterSource.COMMANDLINE
    if is_typed and path and not (folder := Path(path).parent).exists():
        raise click.UsageError(f"--database-url: there is no folder {folder}; create it if this is not a mistake")
    return Store(settings.store_url)


@export.command("prices")
@_FORMAT_OPTION
@_RESOLUTION_OPTION
@with_settings(STORE_OPTIONS, AS_OF_OPTIONS)
def export_prices(settings: Settings, *, format: str, resolution: str, as_of: int | None) -> None:  # noqa: A002  the option's name
    """Write the known hourly or quarter-hour prices in EUR/MWh without VAT.

    The columns are ts,ee,lv,lt,fi. If all quarters of an hour are known, the hour's price is their mean. The market has
    had quarter-hour prices since delivery day 2025-10-01.
    """
    with Store(settings.store_url, read_only=True) as store:
        archive = store.prices.read_archive()
    history = archive.newest_versions() if as_of is None else archive.as_of(as_of)
    periods = _price_rows(history, RESOLUTIONS[resolution])
    columns = ("ts", *ZONES)
    if format == "json":
        click.echo(json.dumps({"prices": [dict(zip(columns, period, strict=True)) for period in periods]}))
    else:
        _write_csv(columns, periods)


@export.command("forecast")
@_FORMAT_OPTION
@_RESOLUTION_OPTION
@with_settings(STORE_OPTIONS, ZONE_OPTIONS, MARKET_OPTIONS, AS_OF_OPTIONS)
def export_forecast(settings: Settings, *, format: str, resolution: str, as_of: int | None) -> None:  # noqa: A002  the option's name
    """Write the newest stored forecast run in EUR/MWh without VAT.

    The columns are ts,p10,p50,p90. The run may reach beyond the public window. With --as-of, a run is made from the
    data known at the given instant, and is not stored.
    """
    step_s = RESOLUTIONS[resolution]
    with Store(settings.store_url, read_only=True) as store:
        runs = None if as_of is None else make_runs(store, as_of, settings.market)
        run = store.runs.newest(SeriesKey(settings.market.zone, step_s)) if runs is None else runs.by_step[step_s]
    if run is None:
        what = "forecast" if step_s == HOUR_S else "forecast of quarters"
        raise StoreError(f"there is no {what} yet: `{COMMAND} forecast` makes one")
    if format == "json":
        click.echo(json.dumps(run_document(run)))
    else:
        _write_csv(("ts", "p10", "p50", "p90"), run_rows(run))


def _price_rows(history: PriceHistory, step_s: int) -> list[Sequence[float | None]]:
    by_zone = [dict(history.series_of(zone, step_s)) for zone in ZONES]
    instants = sorted(set().union(*by_zone))
    return [(ts, *(prices.get(ts) for prices in by_zone)) for ts in instants]


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[float | None]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
