"""The share of the page's sentences about a forecast that came true, and the sentences themselves.

    uv run --no-sync tunnihind backtest --from 2025-01-01 --to 2025-12-31 --forecasts-out FORECASTS.csv
    uv run --no-sync python -m tests.benchmarks.bench_outlook FORECASTS.csv PRICES.csv

PRICES.csv is a file for `tunnihind import prices`, in hours. For each issue, the page is made as visitors had it then,
with the legal VAT. The program prints the shares of sentences that came true. `web/outlook.py` bases its thresholds on
them. With `--sentences en` the program prints all sentences instead.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import fmean
from typing import Final

import click
import numpy as np

from tests.support.api.api_server import hours_view
from tunnihind.api.periods import served_periods
from tunnihind.api.served_data import RUN_HISTORY_S
from tunnihind.core.market import ESTONIA, HOUR_S, SPECIFIED_VAT_RATE, WEEK_S, day_end, delivery_day
from tunnihind.forecast.run import Run
from tunnihind.price_series import PriceSeries
from tunnihind.settings import Settings
from tunnihind.web.display import Display, PricedPeriod, group_by_day, priced_periods, shown_vat
from tunnihind.web.options import LANGUAGES, PageOptions
from tunnihind.web.outlook import HourSpan, day_outlooks, outlook_sentences

NEAR_ZERO_EUR_MWH: Final = 10.0
STANDS_OUT_EUR_MWH: Final = 10.0
STANDS_OUT: Final = 0.15
"""Half of the least relative difference at which the page says that an hour stands out of its day."""

type Prices = Mapping[int, float]


@dataclass(frozen=True)
class View:
    """The page at an issue, by the reader's day."""

    now: int
    days: Mapping[date, Sequence[PricedPeriod]]
    display: Display


def read_prices(path: Path) -> Prices:
    """Return the Estonian prices by hour, EUR/MWh."""
    with path.open() as file:
        return {int(row["ts"]): float(row["ee"]) for row in csv.DictReader(file) if row["ee"]}


def read_runs(path: Path) -> Iterator[Run]:
    """Yield the forecasts of a backtest by their issue."""
    issues = defaultdict[int, list[list[float]]](list)
    with path.open() as file:
        for row in csv.DictReader(file):
            values = [float(row[name]) for name in ("target_ts", "p10", "p50", "p90")]
            issues[int(row["issued_ts"])].append(values)
    for issued, rows in sorted(issues.items()):
        starts, p10, p50, p90 = np.array(sorted(rows)).T
        whole = (np.diff(starts) == HOUR_S).all() and int(starts[0]) == day_end(delivery_day(issued))
        if whole:
            yield Run(issued, "backtest", ESTONIA.zone, HOUR_S, int(starts[0]), p10, p50, p90, inputs={})


def view_of(run: Run, prices: Prices, lang: str) -> View | None:
    """Return the page at the issue of a run, or None if a price of the days before is unknown."""
    known = {ts: prices[ts] for ts in range(run.start_ts - RUN_HISTORY_S, run.start_ts, HOUR_S) if ts in prices}
    if len(known) < RUN_HISTORY_S // HOUR_S:
        return None
    now = run.made_at
    data = hours_view("", PriceSeries.of(ESTONIA.zone, HOUR_S, known), run=run)
    served = served_periods(data, now, Settings(), step_s=HOUR_S, since=now - 2 * WEEK_S)
    options = PageOptions.read({"lang": lang, "vat": "law"})
    display = Display(options, ESTONIA, shown_vat(options, ESTONIA, SPECIFIED_VAT_RATE, now))
    periods = priced_periods(served)
    return View(now, group_by_day(periods, {ts: display.local_day(ts) for ts in periods}), display)


def claims(view: View, prices: Prices) -> Iterator[tuple[int, str, bool]]:
    """Yield the statements on each day's forecast: days ahead, the statement, and whether it came true."""
    show, today = view.display, view.display.local_day(view.now)
    past = [show.shown_price(period) for day, periods in view.days.items() if day < today for period in periods]
    usual, highest = fmean(past), max(past)

    def least(eur_mwh: float) -> float:
        return show.shown_amount(eur_mwh, view.now)

    for one in day_outlooks(view.days, view.now, show):
        hours = view.days[one.day]
        if not all(period.ts in prices for period in hours) or all(period.settled is not None for period in hours):
            continue
        came = {period.ts: show.shown_amount(prices[period.ts], period.ts) for period in hours}
        mean, ahead = fmean(came.values()), (one.day - today).days
        apart = max(least(STANDS_OUT_EUR_MWH), STANDS_OUT * abs(mean))

        def within(spans: Sequence[HourSpan], came: Mapping[int, float] = came) -> list[float]:
            return [price for ts, price in came.items() if any(span.start <= ts < span.end for span in spans)]

        for kind, sign in (("cheap", -1), ("expensive", 1)):
            if found := within(one.cheap if sign < 0 else one.expensive):
                more = sign * (fmean(found) - mean)
                yield ahead, f"{kind}: on that side of the day's mean", more > 0
                yield ahead, f"{kind}: by half of what makes an hour stand out", more > apart
        if one.usual:
            dearer = one.usual in ("expensive", "veryExpensive")
            yield ahead, f"than usual, {'more expensive' if dearer else 'cheaper'}", (mean > usual) is dearer
        if one.near_zero:
            yield ahead, "close to zero on average", fmean(within(one.near_zero)) < least(NEAR_ZERO_EUR_MWH)
        if one.possibly_expensive:
            yield ahead, "maybe very expensive: above all before", max(within(one.possibly_expensive)) > highest
            yield ahead, "maybe very expensive: twice the usual", max(within(one.possibly_expensive)) > 2 * usual


@click.command(help=__doc__)
@click.argument("forecasts", type=click.Path(exists=True, path_type=Path))
@click.argument("prices", type=click.Path(exists=True, path_type=Path))
@click.option("--sentences", "lang", type=click.Choice(LANGUAGES), help="Print the sentences in this language.")
def main(forecasts: Path, prices: Path, lang: str | None) -> None:
    """Print the shares or the sentences."""
    came = read_prices(prices)
    views = [view for run in read_runs(forecasts) if (view := view_of(run, came, lang or "en"))]
    if lang:
        for view in views:
            told = outlook_sentences(day_outlooks(view.days, view.now, view.display), view.days, view.now, view.display)
            click.echo(f"{datetime.fromtimestamp(view.now, UTC):%a %Y-%m-%d %H:%M} UTC  {' '.join(told)}")
        return
    shares = defaultdict[tuple[int, str], list[bool]](list)
    for view in views:
        for ahead, what, is_true in claims(view, came):
            shares[ahead, what].append(is_true)
    click.echo(f"{len(views)} views")
    for (ahead, what), held in sorted(shares.items()):
        click.echo(f"{ahead} days ahead  {what}: {fmean(held):.2f} of {len(held)}")


if __name__ == "__main__":
    main()
