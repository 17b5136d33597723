"""Each benchmark starts by the command at its top, and has no error in its first half second of work."""

import csv
import importlib
import multiprocessing
import os
import re
import runpy
import signal
import subprocess
import sys
import warnings
from contextlib import suppress
from datetime import date, timedelta
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest

from tests.benchmarks import bench_requests
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tests.support.scripts import PROJECT
from tests.support.store.stores import day_range, whole_day
from tunnihind.core.market import DAY_S, HOUR_S, day_end, day_start
from tunnihind.store.store import Store

RUN_BY_PYTEST: Final = PROJECT / "tests/benchmarks/bench_integration.py"
BENCHMARKS: Final = tuple(sorted({*(PROJECT / "tests/benchmarks").glob("bench_*.py")} - {RUN_BY_PYTEST}))
COMMAND: Final = re.compile(r"^    (?:OPENBLAS_NUM_THREADS=1 )?uv run --no-sync python -m (.+)$", re.MULTILINE)

FOR_S: Final = 0.5
"""The time that a benchmark may run after it has been imported. The time of the import doesn't count."""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return files for the names in the commands: 40 days of prices, and the forecasts of the next five days."""
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


def arguments_of(path: Path) -> list[str]:
    """Return the arguments that a benchmark's command gives to `python -m`, without the optional ones."""
    [command] = COMMAND.findall(path.read_text())
    assert path.stem in command
    return re.sub(r"\[.*?\](\.\.\.)?", "", command).split()


@pytest.fixture(scope="module")
def interpreters() -> ForkServerContext:
    """Return a context whose interpreters share one import of the benchmarks and of all their imports."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *(f"tests.benchmarks.{path.stem}" for path in BENCHMARKS)])
    return context


def run_for_a_while(module: str, arguments: list[str], environment: dict[str, str], report: Path) -> None:
    """Run a module as `python -m` does, in a separate process group. The report has the module's output."""
    os.setsid()
    os.chdir(PROJECT)
    os.environ |= environment
    with report.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    sys.argv[1:] = arguments
    importlib.import_module(module)
    warnings.filterwarnings("ignore", message=".*found in sys.modules", category=RuntimeWarning)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, FOR_S)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_starts_by_the_command_at_its_top(
    path: Path, given: dict[str, str], interpreters: ForkServerContext, tmp_path: Path
) -> None:
    module, *arguments = [given.get(word, word) for word in arguments_of(path)]
    environment = {"TMPDIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    written = tmp_path / "report"
    process = interpreters.Process(target=run_for_a_while, args=(module, arguments, environment, written))
    process.start()
    process.join()
    assert process.pid is not None
    # End all processes that it had started so far.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    report = written.read_text()
    if missing := re.search(
        r"^(?:Skipped: (?=needs)|Error: (?=libfaketime is not installed))(.+)", report, re.MULTILINE
    ):
        pytest.skip(missing[1])
    assert process.exitcode == 0, report
    assert "Traceback" not in report


def test_the_benchmark_that_pytest_runs_finds_what_it_needs() -> None:
    """Its tests would take minutes. So one fixture of each kind is set up, and no test runs."""
    command = [sys.executable, "-m", *arguments_of(RUN_BY_PYTEST), "--setup-only", "-k", "hour and not True"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_servers_that_requests_are_compared_with_start() -> None:
    for server in (("ours",), ("bare", "10")):
        with bench_requests.served(*server) as (_, port), urlopen(f"http://127.0.0.1:{port}/api/v1/forecast") as answer:
            assert answer.status == 200
