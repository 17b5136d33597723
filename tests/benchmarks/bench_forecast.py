"""What a forecast costs: from nothing, with a new day, and hour by hour in between; time and memory.

    OPENBLAS_NUM_THREADS=1 uv run --no-sync python tests/benchmarks/bench_forecast.py [--database-url URL]

Without a database the market is made up: three and a half years, wind forecasts nine days ahead, and load, wind and
solar of seven zones for the next day. Times are of the processor, on one thread.
"""

import resource
import time
from datetime import UTC, date, datetime, timedelta
from typing import Final

import click
import numpy as np

from tests.server.forecast.windy_market import WindyMarket, archive_of
from tunnihind.forecast.model.forecaster import Ridges
from tunnihind.known import Archive, CovariateArchive, IssuedSeries
from tunnihind.market import DAY_S, HOUR_S, day_end, day_start, delivery_day, iso_utc
from tunnihind.store.store import Store

FIRST: Final = date(2022, 1, 1)
DAYS: Final = 1275
NEXT_DAY: Final = tuple(
    f"{zone}_{kind}_da_mw"
    for zone in ("ee", "lv", "lt", "fi", "se3", "se4", "pl")
    for kind in ("load", "wind", "solar")
)


def made_up() -> Archive:
    """Return the archive of a made-up market with all covariates."""
    market = WindyMarket.of(FIRST, DAYS)
    last = FIRST + timedelta(days=DAYS - 1)
    next_day = {name: tuple(day_ahead(seed)) for seed, name in enumerate(NEXT_DAY)}
    return archive_of(FIRST, last, market.prices, {"fi_wind_mw": market.forecasts(FIRST, last), **next_day})


def day_ahead(seed: int) -> list[IssuedSeries]:
    """Return made-up megawatts for every delivery day, issued at 08:00 UTC of the day before."""
    rng = np.random.default_rng(seed)
    issues = []
    for number in range(DAYS):
        day = FIRST + timedelta(days=number)
        start, end = day_start(day), day_end(day)
        issued = (start + 2 * HOUR_S) // DAY_S * DAY_S - 16 * HOUR_S
        issues.append(IssuedSeries(issued, start, rng.uniform(100, 2000, (end - start) // HOUR_S).astype(np.float32)))
    return issues


def measure(label: str, archive: Archive) -> None:
    """Print what the forecasts of a day and a half cost."""
    newest = delivery_day(int(archive.prices.ts[-1]))
    morning = int(datetime(newest.year, newest.month, newest.day, 9, tzinfo=UTC).timestamp()) - 3 * DAY_S
    forecaster = Ridges()
    click.echo(label)
    for what, as_of in (
        ("from nothing", morning),
        ("an hour later", morning + HOUR_S),
        ("after the auction, the first time", morning + 6 * HOUR_S),
        ("an hour later", morning + 7 * HOUR_S),
        ("next morning", morning + DAY_S),
        ("after the auction, with a new day", morning + DAY_S + 6 * HOUR_S),
        ("an hour later", morning + DAY_S + 7 * HOUR_S),
    ):
        known = archive.as_of(as_of)
        started = time.process_time()
        run = forecaster.forecast(known)
        spent = time.process_time() - started
        tier = run.tier if run is not None else "nothing"
        click.echo(f"  {iso_utc(as_of)}  {what:<34} {spent:6.2f} s  {tier}")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    click.echo(f"  peak memory of this process, the archive included: {peak_mb:.0f} MB")


@click.command(help=__doc__)
@click.option("--database-url", default=None, help="Measure on a real store.")
def main(database_url: str | None) -> None:
    """Measure without covariates, with wind, and with everything."""
    if database_url is None:
        archive = made_up()
    else:
        with Store(database_url, read_only=True) as store:
            archive = store.archive()
    series = archive.covariates.series
    for label, names in (
        ("prices only", []),
        ("prices and wind", [name for name in series if not name.endswith("_da_mw")]),
        ("prices and all covariates", list(series)),
    ):
        chosen = CovariateArchive({name: series[name] for name in names})
        measure(label, Archive(archive.prices, chosen))


if __name__ == "__main__":
    main()
