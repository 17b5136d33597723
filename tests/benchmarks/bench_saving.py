"""The reliability of the stated uncertainty of a plan's saving on real forecasts, and the source of its figures.

    uv run --no-sync tunnihind backtest --from 2024-07-01 --to 2025-12-31 --horizon-days 4 --forecasts-out FORECASTS.csv
    uv run --no-sync python -m tests.benchmarks.bench_saving FORECASTS.csv PRICES.csv --from 2025-07-01 --to 2025-12-31

PRICES.csv is a file for `tunnihind import prices`, in hours. The program prints the share of realised savings between
p10 and p90. It also prints how often waiting paid, by the stated chance.

With `--fit` it prints the correlation of two hours' errors by the hours between them, and the best rule of two
exponentials for it. With `--runs` it prints, for runs of hours such as those of the page's finder, the share of average
prices within the rule's band, and the share within the average of the hours' bands.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Final

import click
import numpy as np

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.saving import average_percentiles
from custom_components.tunnihind.prices.timeline import Period
from tests.support.household.savings import Judged, as_came, as_issued, judged, reliability, share_inside
from tunnihind.core.market import consumer_price
from tunnihind.known import Floats

VAT_RATE: Final = 0.22
HOURS: Final = 71
"""The hours of a day and the two after it, less the hour that is lost in spring."""
LAGS: Final = 60
RUN_HOURS: Final = (2, 3, 5, 8)
SOON: Final = 48
"""The hours ahead in which runs are searched."""
P90: Final = NormalDist().inv_cdf(0.9)

type Band = tuple[float, float, float]
type Issues = Mapping[int, Mapping[int, Band]]


def read_prices(path: Path) -> dict[int, float]:
    """Return the Estonian prices by hour, EUR/kWh."""
    with path.open() as file:
        return {int(row["ts"]): consumer_price(float(row["ee"]), VAT_RATE) for row in csv.DictReader(file) if row["ee"]}


def read_issues(path: Path, first: float, last: float) -> Issues:
    """Return the forecasts of a backtest by their issue, EUR/kWh."""
    issues: dict[int, dict[int, Band]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            if first <= int(row["issued_ts"]) < last:
                p10, p50, p90 = (consumer_price(float(row[name]), VAT_RATE) for name in ("p10", "p50", "p90"))
                issues.setdefault(int(row["issued_ts"]), {})[int(row["target_ts"])] = p10, p50, p90
    return {issued: bands for issued, bands in issues.items() if len(bands) >= HOURS}


def judge(issues: Issues, prices: Mapping[int, float]) -> Iterable[Judged]:
    """Yield every saving that plans would have expected at each issue."""
    truth = as_came(prices)
    for issued, bands in issues.items():
        yield from judged(as_issued(prices, bands, issued), truth, issued)


def correlations(issues: Issues, prices: Mapping[int, float]) -> Floats:
    """Return the correlation of standardised errors by the hours between, shape (LAGS,)."""
    rows = np.array(
        [[_standardised(prices[ts], bands[ts]) for ts in sorted(bands)[:HOURS]] for bands in issues.values()]
    )
    covariance = rows.T @ rows
    scale = np.sqrt(np.diag(covariance))
    matrix = covariance / np.outer(scale, scale)
    return np.array([np.diag(matrix, lag).mean() for lag in range(LAGS)])


def _standardised(price: float, band: Band) -> float:
    p10, p50, p90 = band
    deviation = (p90 - p50 if price > p50 else p50 - p10) / P90
    return float(np.clip((price - p50) / max(deviation, 0.001), -4, 4))


def fitted(found: Floats) -> tuple[float, float, float]:
    """Return the least-squares fit: near share, near reach and far reach (hours)."""
    lags = np.arange(LAGS)

    def misfit(rule: tuple[float, float, float]) -> float:
        share, near, far = rule
        return float(((share * np.exp(-lags / near) + (1 - share) * np.exp(-lags / far) - found) ** 2).sum())

    shares, near, far = np.arange(0.2, 0.85, 0.05), np.arange(1, 7, 0.5), np.arange(16.0, 80.0, 2.0)
    return min(product(shares.tolist(), near.tolist(), far.tolist()), key=misfit)


def runs(bands: Mapping[int, Band]) -> Iterator[tuple[str, list[int]]]:
    """Yield the cheapest and the most expensive hours of an issue, in one piece and split."""
    starts = sorted(bands)[:SOON]
    middle = [bands[start][1] for start in starts]
    by_price = np.argsort(middle, kind="stable").tolist()
    for hours in RUN_HOURS:
        means = np.convolve(middle, np.full(hours, 1 / hours), "valid")
        for first in (int(means.argmin()), int(means.argmax())):
            yield "in one piece", starts[first : first + hours]
        for places in (by_price[:hours], by_price[-hours:]):
            yield "split", sorted(starts[place] for place in places)


def print_runs(issues: Issues, prices: Mapping[int, float]) -> None:
    """Print how often the average of a run came within its band."""
    inside: dict[str, list[tuple[bool, bool]]] = {}
    for bands in issues.values():
        for kind, starts in runs(bands):
            hours = [Period(ts, ts + HOUR_S, bands[ts][1], bands[ts][0], bands[ts][2], settled=False) for ts in starts]
            came = fmean(prices[ts] for ts in starts)
            low, _, high = average_percentiles(hours)
            lowest, highest = fmean(hour.low for hour in hours), fmean(hour.high for hour in hours)
            inside.setdefault(kind, []).append((low <= came <= high, lowest <= came <= highest))
    for kind, found in inside.items():
        by_rule, by_hours = np.mean(found, axis=0)
        click.echo(
            f"{kind}: {by_rule:.3f} within the rule's band, {by_hours:.3f} within the average of the hours' bands"
        )


@click.command(help=__doc__)
@click.argument("forecasts", type=click.Path(exists=True, path_type=Path))
@click.argument("prices", type=click.Path(exists=True, path_type=Path))
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), default="2000-01-01", help="First issue.")
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), default="2100-01-01", help="Issues before this day.")
@click.option("--fit", is_flag=True, help="Estimate the rule instead of judging it.")
@click.option("--runs", "by_run", is_flag=True, help="Judge averages of runs of hours instead of savings.")
def main(forecasts: Path, prices: Path, first: datetime, last: datetime, *, fit: bool, by_run: bool) -> None:
    """Print one of the three results."""
    came = read_prices(prices)
    issues = read_issues(forecasts, first.replace(tzinfo=UTC).timestamp(), last.replace(tzinfo=UTC).timestamp())
    if fit:
        found = correlations(issues, came)
        click.echo(" ".join(f"{lag}h {found[lag]:.2f}" for lag in (1, 2, 4, 6, 8, 12, 18, 24, 36, 48)))
        click.echo("near share {:.2f}, near reach {:.1f} h, far reach {:.0f} h".format(*fitted(found)))
        return
    if by_run:
        print_runs(issues, came)
        return
    savings = list(judge(issues, came))
    click.echo(f"{len(issues)} issues, {len(savings)} savings, {share_inside(savings):.3f} between p10 and p90")
    for held in reliability(savings):
        click.echo(f"  told {held.chance:.2f}, came {held.came:.2f} of {held.count}")


if __name__ == "__main__":
    main()
