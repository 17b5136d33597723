"""Each benchmark starts by the command at its top, and is still at work, or through, a second later."""

import csv
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from tests.benchmarks import bench_requests
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tests.support.scripts import PROJECT
from tests.support.store.stores import day_range, whole_day
from tunnihind.market import DAY_S, HOUR_S, day_end, day_start
from tunnihind.store.store import Store

BENCHMARKS: Final = tuple(sorted((PROJECT / "tests/benchmarks").glob("bench_*.py")))
COMMAND: Final = re.compile(r"^    (?:OPENBLAS_NUM_THREADS=1 )?uv run --no-sync python -m (.+)$", re.MULTILINE)

# The second begins when the module has been imported, however long that takes.
FOR_A_SECOND: Final = """\
import importlib, os, runpy, signal, sys, warnings
module, *sys.argv[1:] = sys.argv[1:]
importlib.import_module(module)
warnings.filterwarnings("ignore", message=".*found in sys.modules", category=RuntimeWarning)
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 1)
try:
    runpy.run_module(module, run_name="__main__", alter_sys=True)
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return files in place of those that commands name: 40 days of prices, and the forecasts of five days after."""
    folder, first = tmp_path_factory.mktemp("given"), date(2025, 7, 1)
    prices, forecasts = folder / "PRICES.csv", folder / "FORECASTS.csv"
    last = first + timedelta(days=39)
    write_prices(prices, made_up_quotes(first, last))
    with forecasts.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("issued_ts", "target_ts", "p10", "p50", "p90"))
        for start in (day_end(last) - n * DAY_S for n in range(5, 0, -1)):
            writer.writerows((start - 15 * HOUR_S, start + n * HOUR_S, 40 + n, 50 + n, 60 + n) for n in range(72))
    url = f"sqlite:///{folder / 'wind.db'}"
    with Store(url) as store:
        days = day_range(date(2024, 12, 1), 60)
        store.prices.add(
            (price for day in days for price in whole_day(day)), source="test", seen_ts=day_start(date(2024, 11, 1))
        )
    return {"PRICES.csv": str(prices), "FORECASTS.csv": str(forecasts), "sqlite:///wind.db": url}


@pytest.fixture
def short_folder() -> Iterator[str]:
    """Yield an empty folder. A browser's socket in it has fewer than the 108 characters that Linux allows."""
    with TemporaryDirectory(prefix="b", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield folder


def arguments_of(path: Path) -> list[str]:
    """Return what a benchmark's command gives to `python -m`, without what may be left out."""
    [command] = COMMAND.findall(path.read_text())
    assert path.stem in command
    return re.sub(r"\[.*?\](\.\.\.)?", "", command).split()


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_starts_by_the_command_at_its_top(
    path: Path, given: dict[str, str], tmp_path: Path, short_folder: str
) -> None:
    module, *arguments = [given.get(word, word) for word in arguments_of(path)]
    # A second of pytest goes on looking for tests. So it makes what they need, and runs none.
    start = (
        ["-m", module, *arguments, "--setup-only"] if module == "pytest" else ["-c", FOR_A_SECOND, module, *arguments]
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path.stem == "bench_scale":
        # It starts a database and a web server in groups of their own: here it only says that it needs them.
        environment["PATH"] = ""
    written = tmp_path / "report"
    with (
        written.open("w") as stream,
        subprocess.Popen(
            [sys.executable, *start],
            cwd=PROJECT,
            env=environment | {"TMPDIR": short_folder, "OPENBLAS_NUM_THREADS": "1"},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        process.wait()
        # Whatever it had started by then.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    report = written.read_text()
    if path.stem == "bench_scale":
        assert "this needs " in report
    else:
        assert process.returncode == 0, report
        assert "Traceback" not in report


def test_the_servers_that_requests_are_compared_with_start() -> None:
    with bench_requests.served(bench_requests.OURS_PORT, "ours"):
        pass
    with bench_requests.served(bench_requests.BARE_PORT, "bare", "10"):
        pass
