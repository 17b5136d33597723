"""`compare`: computes what past consumption would cost now, at the market price and at a fixed price."""

import time
from collections.abc import Sequence
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
@option("monthly", type=NumberType(), default=0.0, help="Monthly fee with the market price, EUR without VAT.")
@option("zero-below", is_flag=True, help="The contract counts a negative market price as zero.")
@option("fixed", type=NumberType(), help="A fixed price to compare with, c/kWh without VAT.")
@option("fixed-monthly", type=NumberType(), default=0.0, help="Monthly fee with the fixed price, EUR without VAT.")
@option(
    "half", is_flag=True, help="Compare a contract half and half: half of the use has the fixed price. Needs --fixed."
)
@option(
    "cap", type=NumberType(), help="Compare a contract whose price, with the margin, has this cap, c/kWh without VAT."
)
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
    monthly: float,
    zero_below: bool,
    fixed: float | None,
    fixed_monthly: float,
    half: bool,
    cap: float | None,
    billed_by: str,
    as_json: bool,
) -> None:
    """Show what past consumption would cost now, by month.

    FILE is a CSV file with the columns time,kWh, by the hour or by the quarter. A time without a zone is local. The
    market prices are those of the file's months. The fees and VAT are today's. The network's monthly fees are not
    included. Sums are in euros with VAT. A month that lacks a market price is left out.
    """
    market = settings.market
    if package != NO_PACKAGE and not rate_table_of(market).packages:
        raise click.UsageError(f"--package: the network packages are Estonian; zone {market.zone} has none")
    if half and fixed is None:
        raise click.UsageError("--half: half of the use has the fixed price, so give --fixed too")
    if fixed_monthly and fixed is None:
        raise click.UsageError("--fixed-monthly: this fee belongs to the fixed price, so give --fixed too")
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
            negative_price_is_zero=zero_below,
        ),
        Offer(
            margin=margin / _CENTS,
            spot_monthly=monthly,
            fixed=None if fixed is None else fixed / _CENTS,
            fixed_monthly=fixed_monthly,
            cap=None if cap is None else cap / _CENTS,
        ),
        billed_s=step_s,
    )
    if comparison.months_without_price:
        click.echo(
            f"left out, because market prices are missing: {', '.join(comparison.months_without_price)}", err=True
        )
    contracts = ["spot", "fixed", *(["half"] if half else []), *([] if cap is None else ["capped"])]
    if as_json:
        click.echo(msgspec.json.encode(_document(comparison, contracts)))
    else:
        Console().print(_table(comparison, contracts))


def _document(comparison: Comparison, contracts: Sequence[str]) -> dict[str, Any]:
    months = [{"month": month, **_rounded(bills, contracts)} for month, bills in comparison.months.items()]
    return {**_rounded(comparison.total, contracts), "months": months}


def _rounded(bills: Bills, contracts: Sequence[str]) -> dict[str, float | None]:
    sums = {name: getattr(bills, name) for name in contracts}
    return {
        "kwh": round(bills.kwh, 3),
        **{name: None if eur is None else round(eur, 2) + 0.0 for name, eur in sums.items()},
    }


def _table(comparison: Comparison, contracts: Sequence[str]) -> Table:
    table = Table(title="EUR with VAT; on average c/kWh")
    table.add_column("month")
    for name in ("kWh", *(column for contract in contracts for column in (contract, "on average"))):
        table.add_column(name, justify="right")
    for month, bills in comparison.months.items():
        table.add_row(month, *_cells(bills, contracts))
    table.add_section()
    table.add_row("all", *_cells(comparison.total, contracts))
    return table


def _cells(bills: Bills, contracts: Sequence[str]) -> list[str]:
    cells = [f"{bills.kwh:.1f}"]
    for name in contracts:
        sum_eur = getattr(bills, name)
        cells.append("-" if sum_eur is None else f"{sum_eur:.2f}")
        cells.append("-" if sum_eur is None or not bills.kwh else f"{_CENTS * sum_eur / bills.kwh:.2f}")
    return cells
