"""How much a database grows in a year, by what is kept in it.

    uv run --no-sync python tests/benchmarks/bench_growth.py [--years 2]

Each kind gets a database of its own, which is filled day by day as a running server would, thinned once a day. What
is counted are used pages; a file may be somewhat larger than that, by pages that wait to be used again. Two years
take about four minutes.
"""

import tempfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import click
import numpy as np

from tunnihind.forecast.run import Run
from tunnihind.known import Floats, IssuedSeries
from tunnihind.market import DAY_S, HOUR_S, QUARTER_S, ZONES, day_end, day_start, publication_time
from tunnihind.sources.weather_points import POINTS, VARIABLES, covariate_name
from tunnihind.store.prices import Price
from tunnihind.store.store import Store

FIRST: Final = date(2026, 1, 1)
RUN_HOURS: Final = 8 * 24 + 12
"""7 delivery days past the newest settled one, which is today's for half of the time and tomorrow's for the other."""
WEATHER_EVERY_H: Final = 3
WEATHER_HOURS: Final = 240
LEADS: Final = range(1, 8)
INPUTS: Final = {
    "zones": ["ee"],
    "newestSettledHour": 1_765_753_200,
    "firstDay": "2024-11-10",
    "lastDay": "2025-12-15",
    "meanDays": 28,
    "errorDays": 90,
}

NAMES: Final = [covariate_name(variable, point) for variable in VARIABLES for point in POINTS]
RANDOM: Final = np.random.default_rng(0)

type Fill = Callable[[Store, date], None]


def add_prices(store: Store, day: date) -> None:
    """Four zones in quarters, seen shortly after publication."""
    starts = range(day_start(day), day_end(day), QUARTER_S)
    prices = [Price(zone, ts, QUARTER_S, round(RANDOM.normal(90, 60), 2)) for zone in ZONES for ts in starts]
    store.prices.add(prices, source="elering", seen_ts=publication_time(day) + 600)


def add_runs(store: Store, day: date) -> None:
    """A run an hour, and one more when the prices have come."""
    made = [*range(day_start(day), day_end(day), HOUR_S), publication_time(day + timedelta(days=1)) + 600]
    for made_at in sorted(made):
        percentiles: Floats = np.sort(RANDOM.normal(90, 60, (3, RUN_HOURS)), axis=0)
        start_ts = made_at // HOUR_S * HOUR_S + HOUR_S
        store.runs.add(
            Run.of(made_at=made_at, tier="benchmark", start_ts=start_ts, percentiles=percentiles, inputs=INPUTS)
        )


def add_weather(store: Store, day: date) -> None:
    """A forecast of ten days every three hours."""
    for issued_ts in range(day_start(day), day_end(day), WEATHER_EVERY_H * HOUR_S):
        store.covariates.add({name: [_series(issued_ts, issued_ts, WEATHER_HOURS, 0)] for name in NAMES})


def add_previous_runs(store: Store, day: date) -> None:
    """A month of what had been forecast 1 to 7 days ahead, on the month's first day."""
    if day.day > 1:
        return
    start_ts = int(datetime(day.year, day.month, 1, tzinfo=UTC).timestamp())
    hours = ((day + timedelta(days=31)).replace(day=1) - day).days * 24
    leads = [lead * DAY_S for lead in LEADS]
    store.covariates.add({name: [_series(start_ts - lead, start_ts, hours, lead) for lead in leads] for name in NAMES})


def _series(issued_ts: int, start_ts: int, hours: int, lead_s: int) -> IssuedSeries:
    return IssuedSeries(issued_ts, start_ts, RANDOM.random(hours, np.float32), lead_s)


KINDS: Final[dict[str, Fill]] = {
    "prices, 4 zones in quarters": add_prices,
    "forecast runs, hourly": add_runs,
    "weather, 42 series every 3 h": add_weather,
    "Previous Runs, when back-filled": add_previous_runs,
}


def used_mb(store: Store) -> float:
    """Return the size of the pages in use."""
    with store.database.reading() as connection:
        pages, free, size = (
            connection.exec_driver_sql(f"PRAGMA {what}").scalar_one()
            for what in ("page_count", "freelist_count", "page_size")
        )
    return float((pages - free) * size) / 1e6


def measure(fill: Fill, years: int) -> list[float]:
    """Return the MB in use at the beginning and at the end of each year."""
    with tempfile.TemporaryDirectory() as folder, Store(f"sqlite:///{Path(folder) / 'growth.db'}") as store:
        sizes = [used_mb(store)]
        for year in range(years):
            for number in range(365):
                day = FIRST + timedelta(days=365 * year + number)
                fill(store, day)
                store.thin(day_end(day))
            sizes.append(used_mb(store))
    return sizes


@click.command()
@click.option("--years", default=2, type=click.IntRange(2), help="Years to fill.")
def main(years: int) -> None:
    """Print a table: MB that the first year takes, and each further one."""
    click.echo(f"{'':32}{'first year':>12}{'each further':>14}")
    first, further = 0.0, 0.0
    for kind, fill in KINDS.items():
        sizes = measure(fill, years)
        growth = (sizes[-1] - sizes[1]) / (years - 1)
        first, further = first + sizes[1] - sizes[0], further + growth
        click.echo(f"{kind:32}{sizes[1] - sizes[0]:9.1f} MB{growth:11.1f} MB")
    click.echo(f"{'all':32}{first:9.1f} MB{further:11.1f} MB")


if __name__ == "__main__":
    main()
