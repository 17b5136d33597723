"""Several processes on one database, a killed process, and a disk that is full or read-only."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from tests.support.store.pipelines import plain_runs
from tests.support.store.store_process import add_day, day
from tests.support.store.stores import QUARTERS
from tunnihind.core.market import HOUR_S, QUARTER_S, SeriesKey, hours_of
from tunnihind.store.store import Store

ROOT = Path(__file__).parents[3]


@contextmanager
def worker(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-W", "error", "-m", "tests.support.store.store_process", *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def answers(*workers: subprocess.Popen[str]) -> list[list[str]]:
    """Start the workers' jobs together, and return the lines of each worker's output."""
    for process in workers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate(timeout=60)[0].splitlines() for process in workers]


def settled_days(store: Store) -> list[date]:
    """Return the stored delivery days. Each has to be complete in all zones."""
    history = store.prices.read_archive().newest_versions()
    days = [day(number) for number in range(40) if hours_of(day(number))[0] in history.series_of("ee")]
    for zone in ("ee", "lv", "lt", "fi"):
        assert list(history.series_of(zone)) == [hour for one in days for hour in hours_of(one)]
    return days


def test_processes_that_make_the_same_database_at_once_agree_on_it(url: str) -> None:
    with worker("open_new", url) as first, worker("open_new", url) as second, worker("open_new", url) as third:
        said = answers(first, second, third)
    with Store(url) as store:
        assert said == [[store.state.instance_id()]] * 3


def test_of_what_two_processes_add_at_once_nothing_is_lost_or_doubled(url: str, store: Store) -> None:
    with worker("add_days", url, 30) as first, worker("add_days", url, 30) as second:
        (ours,), (theirs,) = answers(first, second)
    added = [sum(counts) for counts in zip(map(int, ours.split()), map(int, theirs.split()), strict=True)]
    assert added == [30 * 24 * 4, 0, 30 * 24 * 4]
    assert store.prices.count() == 30 * 24 * 4
    assert len(settled_days(store)) == 30
    assert store.state.served_version() == 30


def test_after_a_kill_in_the_middle_of_a_write_nothing_is_lost_or_doubled(url: str) -> None:
    with worker("die_adding", url, 3) as process:
        (said,) = answers(process)
    assert process.returncode < 0
    with Store(url) as store:
        assert [str(one) for one in settled_days(store)] == said == ["2024-01-01", "2024-01-02", "2024-01-03"]
        assert store.state.served_version() == 3
        assert [add_day(store, number).new for number in range(5)] == [0, 0, 0, 96, 96]
        assert store.prices.count() == 5 * 96


def test_a_kill_between_the_runs_of_a_forecast_leaves_none_without_the_other(url: str) -> None:
    with worker("die_adding_runs", url, 3) as process:
        (said,) = answers(process)
    assert process.returncode < 0
    assert len(said) == 3
    with Store(url) as store:
        made = [
            [run.made_at for run in store.runs.made_since(SeriesKey("ee", step_s), 0)] for step_s in (HOUR_S, QUARTER_S)
        ]
        assert made[0] == made[1]
        assert len(made[0]) == 3
        store.runs.add_forecast(plain_runs(made[0][0] + HOUR_S))
        assert len(store.runs.made_since(QUARTERS, 0)) == 4


def test_a_full_disk_is_an_error_that_leaves_all_that_was_stored(path: Path, url: str, store: Store) -> None:
    with worker("fill_disk", url, 1) as process:
        (said,) = answers(process)
    error, hours_read, hours_stored = said
    assert error.startswith(f"can't write the database {url}: ")
    assert int(hours_read) == int(hours_stored) > 0
    assert len(store.prices.read_archive().newest_versions().series_of("ee")) == int(hours_stored)
    assert add_day(store, 9999).new == 96


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o555, 0o644), (0o777, 0o444)])
def test_a_database_that_cannot_be_written_can_be_read(folder_mode: int, file_mode: int, empty_file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(shutil.copy(empty_file, folder))
        with Store(f"sqlite:///{file}") as store:
            add_day(store, 0)
        Path(folder).chmod(folder_mode)
        file.chmod(file_mode)
        with worker("read_and_write", f"sqlite:///{file}") as process:
            (said,) = answers(process)
    assert said[0] == "24"
    assert "opened for reading only" in said[1]
    assert "can't" in said[-1]
