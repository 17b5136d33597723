"""The yearly growth of a database, by kind of data.

    uv run --no-sync python -m tests.benchmarks.bench_growth [--years 2]

Each kind has a separate database. The database is filled day by day as by a running server, and thinned once a day. The
figures count used pages. A file may be somewhat larger, because it also has pages for reuse. Two years take some ten
minutes of processor time.
"""

import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

from tunnihind.forecast.known import IssuedSeries
from tunnihind.forecast.run import Run
from tunnihind.market import DAY_S, HOUR_S, QUARTER_S, ZONES, day_end, day_start, publication_time, utc_midnight
from tunnihind.pipeline.retention import delete_superfluous, superfluous_issues
from tunnihind.settling.witness import Witness
from tunnihind.sources.entsoe import AREA_CODES
from tunnihind.sources.entsoe_forecasts import publication_deadline
from tunnihind.sources.open_meteo import RUN_EVERY_S
from tunnihind.store.prices import Price
from tunnihind.store.store import Store
from tunnihind.weather_points import POINTS, VARIABLES, covariate_name

FIRST: Final = date(2026, 1, 1)
RUN_HOURS: Final = 8 * 24 + 12
"""7 delivery days after the newest settled day, which is today half of the time and tomorrow the other half."""
WEATHER_EVERY_H: Final = 3

NAMES: Final = [covariate_name(variable, point) for variable in VARIABLES for point in POINTS]
DECIMALS: Final = {"wind_speed_100m": 2, "temperature_2m": 1, "shortwave_radiation": 0}
"""The number of decimals of each variable from Open-Meteo."""
STEP: Final = {"wind_speed_100m": 0.5, "temperature_2m": 0.5, "shortwave_radiation": 30.0}
"""The hourly change of each variable, up or down."""
MIDDLE: Final = {"wind_speed_100m": 10.0, "temperature_2m": 5.0, "shortwave_radiation": 0.0}
LOWEST: Final = {"wind_speed_100m": 0.0, "temperature_2m": -60.0, "shortwave_radiation": 0.0}
ENTSOE: Final = [f"{zone}_{kind}_da_mw" for zone in AREA_CODES for kind in ("load", "wind", "solar")]
LARGEST_MW: Final = {"fi": 15_000, "se3": 14_000, "pl": 28_000}
"""The maximum of made-up load, wind and solar power in MW. In the other zones it is 2,000."""
RANDOM: Final = np.random.default_rng(0)

type Fill = Callable[[Store, date], None]


def add_prices(store: Store, day: date) -> None:
    """Add prices of four zones in quarters, seen shortly after publication."""
    starts = range(day_start(day), day_end(day), QUARTER_S)
    prices = [Price(zone, ts, QUARTER_S, round(RANDOM.normal(90, 60), 2)) for zone in ZONES for ts in starts]
    store.prices.add(prices, source="elering", seen_ts=publication_time(day) + 600)


def add_runs(store: Store, day: date, step_s: int = HOUR_S) -> None:
    """Add a run every hour, and one after publication.

    The prices follow no pattern, so they compress worse than real ones.
    """
    published = publication_time(day + timedelta(days=1)) + 600
    for made_at in sorted([*range(day_start(day), day_end(day), HOUR_S), published]):
        run = Run.of(
            made_at=made_at,
            tier="weather",
            zone="ee",
            step_s=step_s,
            start_ts=made_at // HOUR_S * HOUR_S + HOUR_S,
            percentiles=np.sort(RANDOM.normal(90, 60, (3, RUN_HOURS * HOUR_S // step_s)), axis=0),
            inputs=inputs(),
        )
        store.runs.add(run)


def inputs() -> dict[str, Any]:
    """Return the inputs of a run with weather and ENTSO-E's forecasts."""
    ages = RANDOM.integers(0, 30, len(NAMES) + len(ENTSOE)) / 10
    return {
        "tier": "weather",
        "zones": ["ee", "lv", "lt", "fi"],
        "newestSettledHour": 1_765_753_200,
        "firstDay": "2023-05-10",
        "lastDay": "2025-12-15",
        "historyDays": 951,
        "drivers": {variable.name: [covariate_name(variable, point) for point in POINTS] for variable in VARIABLES},
        "covariates": [
            {"name": name, "ageH": float(age), "reachH": 200.0, "imputed": False}
            for name, age in zip([*NAMES, *ENTSOE], ages, strict=True)
        ],
        "staleDays": 0,
        "ignored": [],
        "errorDays": 250,
    }


def add_weather(store: Store, day: date) -> None:
    """Add the four runs of a day, each at the time from which it counts as known."""
    for run_ts in range(utc_midnight(day), utc_midnight(day) + DAY_S, RUN_EVERY_S):
        store.covariates.add({name: [_run(name, run_ts)] for name in NAMES})


def add_first_runs(store: Store, day: date) -> None:
    """Add the first run of a past day, as the back-fill does."""
    store.covariates.add_archived(
        {name: [_run(name, utc_midnight(day))] for name in NAMES}, partial(superfluous_issues, day_end(day))
    )


def add_entsoe(store: Store, day: date) -> None:
    """Add the day-ahead forecasts of two delivery days, fetched every three hours."""
    for issued_ts in range(day_start(day), day_end(day), WEATHER_EVERY_H * HOUR_S):
        tomorrow = day + timedelta(days=1)
        store.covariates.add({name: [_megawatts(name, issued_ts, day, tomorrow)] for name in ENTSOE})


def add_entsoe_archive(store: Store, day: date) -> None:
    """Add the day-ahead forecasts of a past day, as the archive has them."""
    store.covariates.add({name: [_megawatts(name, publication_deadline(name, day), day, day)] for name in ENTSOE})


def add_held_days(store: Store, day: date) -> None:
    """Add held days of all four zones in quarters, as if every answer of a source failed a check."""
    for zone in ZONES:
        prices = [round(RANDOM.normal(90, 60), 2) for _ in range(day_start(day), day_end(day), QUARTER_S)]
        seen = publication_time(day) + 600
        store.witnesses.put(Witness("elering", zone, day, prices, seen, seen, "zeros", "24 hours are 0.00"))


def _run(name: str, run_ts: int) -> IssuedSeries:
    """Return a run like the service's: hourly steps, then 3- and 6-hourly steps, with interpolated hours in between.

    Values change from step to step about as much as those of real forecasts.
    """
    last = 240 if run_ts % (12 * HOUR_S) == 0 else 144
    steps = np.array([*range(90), *range(90, 144, 3), *range(144, last + 1, 6)])
    variable, hours = name.partition("@")[0], np.arange(last)
    change = RANDOM.normal(0, STEP[variable] * np.sqrt(np.diff(steps, prepend=-1)))
    values = np.interp(hours, steps, MIDDLE[variable] + np.cumsum(change))
    if variable == "shortwave_radiation":
        sun = np.clip(np.sin((hours % 24 - 4) / 16 * np.pi), 0, None)
        values = np.where(hours % 24 < 20, sun * (300 + values), 0.0)
    values = np.round(np.clip(values, LOWEST[variable], None), DECIMALS[variable])
    return IssuedSeries(run_ts + RUN_EVERY_S, run_ts, values.astype(np.float32), run_ts=run_ts)


def _megawatts(name: str, issued_ts: int, first: date, last: date) -> IssuedSeries:
    """Return means of four quarters in whole megawatts."""
    hours = (day_end(last) - day_start(first)) // HOUR_S
    largest = LARGEST_MW.get(name.partition("_")[0], 2_000)
    means = RANDOM.integers(0, largest, (hours, 4)).mean(axis=1)
    return IssuedSeries(issued_ts, day_start(first), means.astype(np.float32))


KINDS: Final[dict[str, Fill]] = {
    "prices, 4 zones in quarters": add_prices,
    "forecast runs of hours": add_runs,
    "forecast runs of quarters": partial(add_runs, step_s=QUARTER_S),
    "weather, 4 runs a day of 42 series": add_weather,
    "ENTSO-E, 21 series every 3 h": add_entsoe,
    "witnesses, all days held": add_held_days,
}

ONCE: Final[dict[str, Fill]] = {
    "weather, a run a day": add_first_runs,
    "ENTSO-E's archive": add_entsoe_archive,
}
"""The data that the back-fill adds once for a past year."""


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
                delete_superfluous(store, day_end(day))
            sizes.append(used_mb(store))
    return sizes


@click.command()
@click.option("--years", default=2, type=click.IntRange(2), help="Years to fill.")
def main(years: int) -> None:
    """Print the MB of the first year, of each further year, and of a past year that is filled in."""
    click.echo(f"{'':36}{'first year':>12}{'each further':>14}")
    first, further = 0.0, 0.0
    for kind, fill in KINDS.items():
        sizes = measure(fill, years)
        growth = (sizes[-1] - sizes[1]) / (years - 1)
        first, further = first + sizes[1] - sizes[0], further + growth
        click.echo(f"{kind:36}{sizes[1] - sizes[0]:9.1f} MB{growth:11.1f} MB")
    click.echo(f"{'all':36}{first:9.1f} MB{further:11.1f} MB")
    for kind, fill in ONCE.items():
        sizes = measure(fill, 1)
        click.echo(f"{f'once for a past year: {kind}':48}{sizes[1] - sizes[0]:8.1f} MB")


if __name__ == "__main__":
    main()
