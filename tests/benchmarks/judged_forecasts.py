"""Make the forecasts that `judge_model` compares, with the first server on the path.

    PYTHONPATH=TREE/server python tests/benchmarks/judged_forecasts.py FILE.db FILE.npz --zone ee --from 2025-01-01 ...

`judge_model` runs this file itself.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import DAY_S, MARKETS, Market, Zone
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult, backtest
from tunnihind.known import CovariateArchive, KnownData
from tunnihind.store.store import Store


class EveryFewDays:
    """A forecaster that forecasts only on every n-th day."""

    def __init__(self, forecaster: TieredForecaster, every: int) -> None:
        """Leave out the days whose number since 1970 is not a multiple of `every`."""
        self._forecaster = forecaster
        self._every = every

    @property
    def market(self) -> Market:
        """The market of the forecasts."""
        return self._forecaster.market

    @property
    def history_days(self) -> int:
        """The length of the history."""
        return self._forecaster.history_days

    def forecast(self, known: KnownData) -> Run | None:
        """Forecast, or leave out the day."""
        return None if known.as_of // DAY_S % self._every else self._forecaster.forecast(known)


def forecasts(database: Path, zone: Zone, pattern: str, first: date, last: date, every: int) -> BacktestResult:
    """Run a backtest on a database's prices and observations, and the covariates whose whole name matches a pattern."""
    with Store(f"sqlite:///{database}", read_only=True) as store:
        archive = store.read_archive()
    series = {name: issues for name, issues in archive.covariates.series.items() if re.fullmatch(pattern, name)}
    judged = replace(archive, covariates=CovariateArchive(series))
    return backtest(judged, EveryFewDays(TieredForecaster(MARKETS[zone]), every), first, last)


def columns_of(result: BacktestResult) -> dict[str, NDArray[Any]]:
    """Return the arrays of a result of hours, each (n,), by name."""
    issued = {column.name: getattr(result.forecasts, column.name) for column in fields(result.forecasts)}
    return {**issued, "actual": result.actual, "baseline": result.baseline}


def result_of(columns: Mapping[str, NDArray[Any]]) -> BacktestResult:
    """Return a result of hours from its arrays."""
    issued = {column.name: columns[column.name] for column in fields(BacktestForecasts)}
    return BacktestResult(BacktestForecasts(**issued), columns["actual"], columns["baseline"])


@click.command(help=__doc__)
@click.argument("database", type=click.Path(exists=True, path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--zone", type=click.Choice([*MARKETS]), required=True)
@click.option("--covariates", default="", help="Regular expression of their names.")
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), required=True)
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), required=True)
@click.option("--every", default=1)
def main(database: Path, out: Path, zone: Zone, covariates: str, first: datetime, last: datetime, every: int) -> None:
    """Make the forecasts and write them."""
    result = forecasts(database, zone, covariates, first.date(), last.date(), every)
    np.savez_compressed(out, allow_pickle=False, **columns_of(result))


if __name__ == "__main__":
    main()
