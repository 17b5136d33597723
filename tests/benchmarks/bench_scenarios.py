"""The quality of the price paths on real prices, and the savings and chances of plans by the paths.

    uv run --no-sync python -m tests.benchmarks.bench_scenarios sqlite:///wind.db --from 2025-01-01 --to 2025-12-24

`tunnihind import` has to fill the database first; `server/tunnihind/forecast/README.md` explains how. For every morning
of the span, at 09:00 UTC, a forecast is made with its paths, and compared with the actual prices. The same values are
also compared in other orders: with independent hours, with all hours alike, and with the correlation that the
integration assumes.

For single hours and for means of hours, the program prints the CRPS, and the share of actual values between the 10% and
90% percentiles of the paths. For vectors it prints the energy score and the variogram score (power .5). If the 20 paths
were true draws, .72 of the actual values would lie between the percentiles (15.2 of 21 places). The hourly values of
the paths are placed so that .80 of the actual values lie between the percentiles. This raises the other shares too.

With `--plans` the program compares three figures of savings: by the integration's p10, p90 and chance, by the share of
paths, and the actual one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from itertools import pairwise

import click
import numpy as np

from custom_components.tunnihind.prices.timeline import Timeline
from tests.support.household.savings import BINS, Judged, as_came, as_issued, as_on_path, judged
from tunnihind.core.market import ESTONIA, consumer_price, day_end, delivery_day
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.run import Run, Scenarios
from tunnihind.forecast.scenarios.dependence import ranks_of_random_errors
from tunnihind.known import Archive, Floats
from tunnihind.store.store import Store

VAT_RATE = 0.22
LONGEST = 7 * 24 - 1
"""The hours of a week, less the hour that is lost in spring."""


def issues(archive: Archive, first: date, last: date) -> Iterator[tuple[Run, Scenarios]]:
    """Yield the runs of mornings with their paths."""
    make = TieredForecaster(ESTONIA)
    for day in days_between(first, last):
        known = archive.as_of(int(datetime.combine(day, time(9), UTC).timestamp()))
        run = make.forecast(known)
        if run is None:
            raise click.ClickException(f"nothing is known on {day}")
        yield run, make.scenarios(known, run)


def in_orders(values: Floats, seed: int) -> dict[str, Floats]:
    """Return paths (20, hours) with the same values in each hour, in the compared orders."""
    paths, hours = values.shape
    ascending = np.sort(values, axis=0)
    independent = np.random.default_rng(seed).permuted(ascending, axis=0)
    correlated = np.take_along_axis(ascending, ranks_of_random_errors(hours), axis=0)
    return {"paths": values, "correlated": correlated, "independent": independent, "alike": ascending[:paths]}


def energy_score(paths: Floats, came: Floats) -> float:
    """Return the energy score of equally likely paths (n, hours), unbiased for n."""
    n = len(paths)
    apart = np.linalg.norm(paths[:, None] - paths, axis=2).sum() / (2 * n * (n - 1))
    return float(np.linalg.norm(paths - came, axis=1).mean() - apart)


def variogram_score(paths: Floats, came: Floats) -> float:
    """Return the variogram score of power .5 over all pairs of hours."""
    i, j = np.triu_indices(came.size, 1)
    return float(
        ((np.sqrt(np.abs(came[i] - came[j])) - np.sqrt(np.abs(paths[:, i] - paths[:, j])).mean(0)) ** 2).mean()
    )


def costs(prices: Floats, p50: Floats) -> Mapping[str, Floats]:
    """Return figures for one day and for two days, from prices (..., hours) in the first hours of `p50`."""

    def windows(values: Floats, hours: int) -> Floats:
        means: Floats = np.lib.stride_tricks.sliding_window_view(values, 4, axis=-1)[..., : hours - 3, :].mean(axis=-1)
        return means

    planned = int(windows(p50, 48).argmin())
    return {
        "an hour (the 12th)": prices[..., 11],
        "the 4 hours in a row that p50 finds cheapest in 48": windows(prices, 48)[..., planned],
        "what they save against the first 4 hours": windows(prices, 48)[..., 0] - windows(prices, 48)[..., planned],
        "the cheapest 4 hours in a row of 48": windows(prices, 48).min(axis=-1),
        "mean of 24 hours": prices[..., :24].mean(axis=-1),
        "mean of 48 hours": prices[..., :48].mean(axis=-1),
        "mean of a week": prices[..., :LONGEST].mean(axis=-1),
        "highest less lowest of 24 hours": prices[..., :24].max(axis=-1) - prices[..., :24].min(axis=-1),
    }


def crps(draws: Floats, came: float) -> float:
    """Return the CRPS of equally likely draws (n,), unbiased for n."""
    return energy_score(draws[:, None], np.array([came]))


def judge_paths(made: Iterable[tuple[Run, Scenarios]], prices: Mapping[int, float]) -> None:
    """Print the scores of the paths and the other orders."""
    scores: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for run, scenarios in made:
        ahead = np.array(run.starts()) >= day_end(delivery_day(run.made_at))
        came = np.array([prices.get(ts, np.nan) for ts in run.starts()])[ahead][:LONGEST]
        p50 = run.p50[ahead]
        if not np.isfinite(came).all() or came.size < LONGEST:
            continue
        for order, all_paths in in_orders(scenarios.eur_mwh[:, ahead], run.made_at).items():
            paths = all_paths[:, :LONGEST]
            for hours in (24, 48, LONGEST):
                scores[f"energy score of {hours} hours", order].append(
                    (np.nan, energy_score(paths[:, :hours], came[:hours]))
                )
            scores["variogram score of 48 hours", order].append((np.nan, variogram_score(paths[:, :48], came[:48])))
            for figure, drawn in costs(paths, p50).items():
                truth = float(costs(came, p50)[figure])
                low, high = np.percentile(drawn, [10, 90])
                scores[figure, order].append((float(low <= truth <= high), crps(drawn, truth)))
    for figure in dict.fromkeys(figure for figure, _ in scores):
        click.echo(figure)
        for (of, order), found in scores.items():
            if of == figure:
                inside, score = np.mean(found, axis=0)
                share = f"inside {inside:.3f}" if np.isfinite(inside) else " " * len("inside 0.000")
                click.echo(f"    {order:12} {share}  score {score:.2f}  of {len(found)}")


def judge_plans(made: Iterable[tuple[Run, Scenarios]], prices: Mapping[int, float]) -> None:
    """Print the scores of two predictions of savings: by plans and by the paths, and their difference."""
    settled = {ts: consumer_price(price, VAT_RATE) for ts, price in prices.items()}
    truth = as_came(settled)
    rows = [row for run, scenarios in made for row in _on_paths(run, scenarios, settled, truth)]
    told = np.array([(one.saving.low, one.saving.high, one.saving.chance) for one, _ in rows])
    came = np.array([one.realised for one, _ in rows])
    drawn = np.array([saved for _, saved in rows])
    by_paths = np.column_stack(
        [*np.percentile(drawn, [10, 90], axis=1), (drawn > 0).mean(axis=1) + (drawn == 0).mean(axis=1) / 2]
    )
    click.echo(f"{len(rows)} savings")
    for name, (low, high, chance) in (("as told", told.T), ("on the paths", by_paths.T)):
        inside = ((low <= came) & (came <= high)).mean()
        winkler = (high - low + 10 * (np.maximum(low - came, 0) + np.maximum(came - high, 0))).mean()
        brier = ((chance - (came > 0)) ** 2).mean()
        click.echo(f"{name:13} inside {inside:.3f}  Winkler {winkler:.4f} EUR/kWh  Brier {brier:.4f}")
        for from_, to in pairwise(BINS):
            held = (chance >= from_) & ((chance < to) | (to == BINS[-1]))
            if held.any():
                click.echo(f"    chance {chance[held].mean():.2f}, came {(came[held] > 0).mean():.2f} of {held.sum()}")
    low, high, chance = np.abs(told - by_paths).mean(axis=0)
    click.echo(f"apart by (mean) p10 {low:.4f}, p90 {high:.4f} EUR/kWh, chance {chance:.3f}")
    low, high, chance = (told - by_paths).mean(axis=0)
    click.echo(f"told less paths: p10 {low:+.4f}, p90 {high:+.4f} EUR/kWh, chance {chance:+.3f}")


def _on_paths(
    run: Run, scenarios: Scenarios, settled: Mapping[int, float], truth: Timeline
) -> Iterator[tuple[Judged, list[float]]]:
    """Yield the expected savings of plans, each with its value on every path, EUR/kWh."""
    unpublished = day_end(delivery_day(run.made_at))
    percentiles = zip(run.starts(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)
    bands = {
        ts: (consumer_price(p10, VAT_RATE), consumer_price(p50, VAT_RATE), consumer_price(p90, VAT_RATE))
        for ts, p10, p50, p90 in percentiles
        if ts >= unpublished
    }
    known = as_issued(settled, bands, run.made_at)
    paths = [[consumer_price(price, VAT_RATE) for price in path] for path in scenarios.eur_mwh.tolist()]
    timelines = [as_on_path(known, dict(zip(run.starts(), path, strict=True))) for path in paths]
    for one in judged(known, truth, run.made_at):
        yield one, [one.on(timeline) for timeline in timelines]


@click.command(help=__doc__)
@click.argument("database")
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), required=True, help="First issue.")
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), required=True, help="Last issue.")
@click.option("--every", default=1, help="Judge one issue in so many.")
@click.option("--plans", is_flag=True, help="Judge the savings of plans.")
def main(database: str, first: datetime, last: datetime, every: int, plans: bool) -> None:
    """Print the scores of paths or of plans."""
    with Store(database) as store:
        archive = store.read_archive()
    prices = archive.prices.newest_versions().series_of("ee")
    made = (one for number, one in enumerate(issues(archive, first.date(), last.date())) if number % every == 0)
    (judge_plans if plans else judge_paths)(made, prices)


if __name__ == "__main__":
    main()
