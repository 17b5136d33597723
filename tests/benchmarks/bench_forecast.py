"""The cost of a forecast: from nothing, with a new day, and hour by hour in between; hours, then quarters.

    OPENBLAS_NUM_THREADS=1 uv run --no-sync python -m tests.benchmarks.bench_forecast [--database-url URL]

Each set of inputs is measured in a separate process that reads it from a store, as the server's process does. Without a
database the market is made up. It has three and a half years, with the last months in quarters; wind forecasts nine
days ahead; load, wind and solar of seven zones for the next day; and the weather of all points after a year of running.
Times are processor times.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import click
import numpy as np

from tests.support.markets.windy_market import WindyMarket, archive_of
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, ZONES, day_end, day_start, delivery_day, iso_utc
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.known import Archive, CovariateArchive, IssuedSeries
from tunnihind.pipeline.history import ArchiveCache
from tunnihind.pipeline.retention import KEEP_COVARIATES_DAYS, covariate_cutoff_instants, superfluous_instants
from tunnihind.sources.open_meteo import RUN_AVAILABLE_AFTER_S, RUN_EVERY_S, RUNS_SINCE
from tunnihind.store.prices import Price
from tunnihind.store.store import Store
from tunnihind.weather_points import POINTS, VARIABLES, covariate_name

type Series = Mapping[str, Sequence[IssuedSeries]]

FIRST: Final = date(2022, 9, 1)
DAYS: Final = 1275
LAST: Final = FIRST + timedelta(days=DAYS - 1)
NEXT_DAY: Final = tuple(
    f"{zone}_{kind}_da_mw"
    for zone in ("ee", "lv", "lt", "fi", "se3", "se4", "pl")
    for kind in ("load", "wind", "solar")
)
LIVE_DAYS: Final = 365


def made_up(market: WindyMarket) -> dict[str, Series]:
    """Return the covariates of a made-up market by the name of their set."""
    wind = {"fi_wind_mw": market.forecasts(FIRST, LAST)}
    next_day = {name: day_ahead(seed) for seed, name in enumerate(NEXT_DAY)}
    return {
        "prices only": {},
        "prices and wind": wind,
        "prices, wind and load, wind and solar of seven zones": {**wind, **next_day},
        "prices and weather of 14 points": weather(),
    }


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


def weather() -> dict[str, list[IssuedSeries]]:
    """Return made-up weather.

    There is one run a day, as after a back-fill, and all four runs of the last year, thinned as by a server.
    """
    end, rng = day_end(LAST) // DAY_S * DAY_S, np.random.default_rng(0)
    live = end - LIVE_DAYS * DAY_S
    runs = [*range(day_start(RUNS_SINCE) // DAY_S * DAY_S + DAY_S, live, DAY_S), *range(live, end, RUN_EVERY_S)]
    old = {run + RUN_AVAILABLE_AFTER_S for run in runs if run < end - KEEP_COVARIATES_DAYS * DAY_S}
    gone = superfluous_instants(old, covariate_cutoff_instants)
    kept = [run for run in runs if run % DAY_S == 0 or run + RUN_AVAILABLE_AFTER_S not in gone]

    def series() -> list[IssuedSeries]:
        hours = {run: 241 if run % (12 * HOUR_S) == 0 else 145 for run in kept}
        values = {run: np.round(rng.uniform(0, 40, hours[run]), 1).astype(np.float32) for run in kept}
        return [IssuedSeries(run + RUN_AVAILABLE_AFTER_S, run, values[run], run_ts=run) for run in kept]

    return {covariate_name(variable, point): series() for variable in VARIABLES for point in POINTS}


def fill(url: str, prices: Archive, covariates: Series) -> None:
    """Store prices and covariates in a new store."""
    archive = prices.prices
    columns = archive.zone.tolist(), archive.ts.tolist(), archive.step_s.tolist(), archive.eur_mwh.tolist()
    with Store(url) as store:
        rows = (Price(ZONES[zone], ts, step, eur) for zone, ts, step, eur in zip(*columns, strict=True))
        store.prices.add(rows, source="benchmark", seen_ts=day_end(LAST))
        store.covariates.add(covariates)


def measure(url: str, wanted: Callable[[str], bool]) -> list[str]:
    """Forecast over a day and a half, and return the cost line by line."""
    with Store(url, read_only=True) as store:
        newest = delivery_day(store.prices.newest_ts("ee") or 0)
        morning = int(datetime(newest.year, newest.month, newest.day, 9, tzinfo=UTC).timestamp()) - 3 * DAY_S
        forecaster = TieredForecaster(ESTONIA)
        history, lines = ArchiveCache(), []
        for what, as_of in (
            ("from nothing", morning),
            ("an hour later", morning + HOUR_S),
            ("after the auction, the first time", morning + 6 * HOUR_S),
            ("an hour later", morning + 7 * HOUR_S),
            ("next morning", morning + DAY_S),
            ("after the auction, with a new day", morning + DAY_S + 6 * HOUR_S),
            ("an hour later", morning + DAY_S + 7 * HOUR_S),
        ):
            started = time.process_time()
            archive = history.read_archive(store, forecaster, as_of)
            series = {name: issues for name, issues in archive.covariates.series.items() if wanted(name)}
            known = Archive(archive.prices, CovariateArchive(series)).as_of(as_of)
            read = time.process_time()
            run = forecaster.forecast(known)
            if run is None:
                raise click.ClickException(f"nothing is known at {iso_utc(as_of)}")
            spent, peak, quartered = time.process_time() - read, peak_mb(), time.process_time()
            forecaster.forecast_quarters(known, run)
            quarters = f"quarters {time.process_time() - quartered:5.2f} s and {peak_mb() - peak:2.0f} MB more"
            hours = f"read {read - started:5.2f} s  run {spent:5.2f} s"
            lines.append(f"  {iso_utc(as_of)}  {what:<34} {hours}  {quarters}  {run.tier}")
    return [*lines, f"  peak memory of this process: {peak_mb():.0f} MB"]


def peak_mb() -> float:
    """Return the peak memory of this process; `getrusage` would include its parent's from before its start."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def everything(_name: str) -> bool:
    """Take every covariate."""
    return True


def nothing(_name: str) -> bool:
    """Take no covariate."""
    return False


def several_days(name: str) -> bool:
    """Take covariates that reach past the next day."""
    return not name.endswith("_da_mw")


def report(label: str, url: str, wanted: Callable[[str], bool] = everything) -> None:
    """Measure in a fresh process and print its output."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        lines = fresh.submit(measure, url, wanted).result()
    click.echo("\n".join([label, *lines]))


@click.command(help=__doc__)
@click.option("--database-url", default=None, help="Measure on a real store.")
def main(database_url: str | None) -> None:
    """Measure with ever more inputs."""
    if database_url is not None:
        report("prices only", database_url, nothing)
        report("prices and what reaches several days", database_url, several_days)
        report("prices and all covariates", database_url)
        return
    market = WindyMarket.of(FIRST, DAYS)
    prices = archive_of(FIRST, LAST, market.prices)
    with tempfile.TemporaryDirectory() as folder:
        for number, (label, covariates) in enumerate(made_up(market).items()):
            url = f"sqlite:///{Path(folder) / f'{number}.db'}"
            fill(url, prices, covariates)
            report(label, url)


if __name__ == "__main__":
    main()
