"""The command line in this process, on a database with four months of a made-up market."""

import logging
import math
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.support.store.pipelines import QuickModel
from tunnihind.cli.main import main
from tunnihind.core.market import Market, day_end, day_start, delivery_day

type Price = Callable[[int], float]
type Run = Callable[..., Result]

FIRST, LAST = date(2024, 1, 1), date(2024, 4, 30)


@pytest.fixture
def run(database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run the command on the test's database, and remove its logging afterwards.

    The report doesn't depend on the model, so the quick model makes it.
    """

    def quick(market: Market) -> QuickModel:
        return QuickModel(market)

    monkeypatch.setattr("tunnihind.cli.backtest.new_forecaster", quick)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def invoke(*arguments: str, columns: int = 80) -> Result:
        environment = {"TUNNIHIND_DATABASE_URL": f"sqlite:///{database}", "COLUMNS": str(columns)}
        return CliRunner().invoke(main, list(arguments), env=environment)

    yield invoke
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def imported(run: Run, tmp_path: Path) -> Callable[[Price], None]:
    """Return a function that imports Estonian prices by a rule."""

    def bring_in(price: Price) -> None:
        path = tmp_path / "prices.csv"
        hours = range(day_start(FIRST), day_end(LAST), 3600)
        path.write_text("ts,ee\n" + "".join(f"{ts},{price(ts):.2f}\n" for ts in hours))
        assert run("import", "prices", str(path)).exit_code == 0

    return bring_in


def lively(ts: int) -> float:
    """Return a price with a daily and a weekly shape, and with a level that changes slowly."""
    day = delivery_day(ts).toordinal()
    daily = 30 * math.sin(ts / 86_400 * math.tau)
    return 80 + daily - 20 * (day % 7 > 4) + 25 * math.sin(day * 1.7) + 10 * math.sin(ts * 0.7)
