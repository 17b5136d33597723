"""`compare`: computes what past consumption would cost now, at the market price and at a fixed price."""

import time
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from rich.console import Console
from rich.table import Table

from tunnihind.api.served_data import ServedSeries
from tunnihind.cli.options import STORE_OPTIONS, ZONE_OPTIONS, NumberType, option, with_settings
from tunnihind.core.comparison import NO_PACKAGE, Bills, Comparison, Offer, compare_contracts, fees_today
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, rounded_market_price
from tunnihind.core.rates import NETWORK_RATES, Package, rate_table_of
from tunnihind.files.use_file import read_use
from tunnihind.settings import Settings
from tunnihind.store.store import Store

_CENTS: Final = 100
_BILLED_BY: Final = {"hour": HOUR_S, "quarter": QUARTER_S}


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option(
    "package",
    type=click.Choice([NO_PACKAGE, *(package.value for package in NETWORK_RATES)]),
    default=NO_PACKAGE,
    show_default=True,
    help="Network package. It adds the network, balancing and state fees to both prices.",
)
@option(
    "margin",
    type=NumberType(),
    default=0.0,
    show_default=True,
    help="Supplier's margin on the market price, c/kWh without VAT.",
)
@option("fixed", type=NumberType(), help="A fixed price to compare with, c/kWh without VAT.")
@option(
    "billed-by",
    type=click.Choice(list(_BILLED_BY)),
    default="hour",
    show_default=True,
    help="Bill by hourly or by quarter-hour prices. Before October 2025 all prices are hourly.",
)
@option("json", "as_json", is_flag=True, help="Write JSON.")
@with_settings(STORE_OPTIONS, ZONE_OPTIONS)
def compare(
    settings: Settings,
    *,
    file: Path,
    package: str,
    margin: float,
    fixed: float | None,
    billed_by: str,
    as_json: bool,
) -> None:
    """Show what past consumption would cost now, by month.

    FILE is a CSV file with the columns time,kWh, by the hour or by the quarter. A time without a zone is local. The
    market prices are those of the file's months. The fees and VAT are today's. Monthly fees are not included. Sums are
    in euros with VAT. A month that lacks a market price is left out.
    """
    market = settings.market
    if package != NO_PACKAGE and not rate_table_of(market).packages:
        raise click.UsageError(f"--package: the network packages are Estonian; zone {market.zone} has none")
    use = read_use(file, market)
    step_s = _BILLED_BY[billed_by]
    with Store(settings.store_url, read_only=True) as store:
        archive = store.prices.read_archive(min(use.kwh) - DAY_S, max(use.kwh) + DAY_S, zones=(market.zone,))
    history = archive.newest_versions()
    served = ServedSeries.of(history.series_of(market.zone), history.series_of(market.zone, step_s))
    comparison = compare_contracts(
        use.kwh,
        use.step_s,
        # The same rounding as in the API, from which the page gets its prices.
        {ts: rounded_market_price(price) for ts, price in served.settled.items()},
        fees_today(
            market,
            Package.OWN if package == NO_PACKAGE else Package(package),
            market.local_time(time.time()).date(),
        ),
        Offer(margin=margin / _CENTS, fixed=None if fixed is None else fixed / _CENTS),
        billed_s=step_s,
    )
    if comparison.months_without_price:
        click.echo(
            f"left out, because market prices are missing: {', '.join(comparison.months_without_price)}", err=True
        )
    if as_json:
        click.echo(msgspec.json.encode(_document(comparison)))
    else:
        Console().print(_table(comparison))


def _document(comparison: Comparison) -> dict[str, Any]:
    months = [{"month": month, **_rounded(bills)} for month, bills in comparison.months.items()]
    return {**_rounded(comparison.total), "months": months}


def _rounded(bills: Bills) -> dict[str, float | None]:
    fixed = None if bills.fixed is None else round(bills.fixed, 2) + 0.0
    return {"kwh": round(bills.kwh, 3), "spot": round(bills.spot, 2) + 0.0, "fixed": fixed}


def _table(comparison: Comparison) -> Table:
    table = Table(title="EUR with VAT; on average c/kWh")
    table.add_column("month")
    for name in ("kWh", "spot", "on average", "fixed", "on average"):
        table.add_column(name, justify="right")
    for month, bills in comparison.months.items():
        table.add_row(month, *_cells(bills))
    table.add_section()
    table.add_row("all", *_cells(comparison.total))
    return table


def _cells(bills: Bills) -> list[str]:
    cells = [f"{bills.kwh:.1f}"]
    for sum_eur in (bills.spot, bills.fixed):
        cells.append("-" if sum_eur is None else f"{sum_eur:.2f}")
        cells.append("-" if sum_eur is None or not bills.kwh else f"{_CENTS * sum_eur / bills.kwh:.2f}")
    return cells
