"""The forecaster in a real process of its own."""

import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.support.clocks import local
from tests.support.store.stores import store_quotes
from tests.support.upstreams.sources import estonian_quotes
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, day_end
from tunnihind.errors import StoreError
from tunnihind.forecast.identity import model_identity
from tunnihind.forecast.run import Runs
from tunnihind.forecast.scoring.backtest import Next24HoursForecast
from tunnihind.known import IssuedSeries
from tunnihind.pipeline.modelling import ProcessModeller, learnt_folder, make_runs, process_modeller
from tunnihind.store.store import Store

NOW = local("2025-12-15 10:00")
TODAY = date(2025, 12, 15)
PATIENCE_S = 60


@pytest.fixture
def filled(store: Store) -> Store:
    """Return a store with half a year of prices."""
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=180), TODAY), NOW)
    return store


def child_of(modeller: ProcessModeller) -> int:
    """Return the id of a modeller's process."""
    pid = modeller._worker.pid
    assert pid is not None
    return pid


def past_child_of(modeller: ProcessModeller) -> int | None:
    """Return the id of a modeller's process for past days."""
    return modeller._past_worker.pid


def wait_for_end(pid: int) -> bool:
    """Wait until a process has ended, and return whether it has ended in time."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watch], [], [], PATIENCE_S)[0])
    finally:
        os.close(watch)


def same_scenarios(runs: Runs, others: Runs) -> bool:
    assert runs.scenarios is not None
    assert others.scenarios is not None
    return runs.scenarios.is_identical_to(others.scenarios)


async def test_a_process_of_its_own_makes_the_same_runs_also_when_it_is_a_new_one(
    filled: Store, database: Path
) -> None:
    here = make_runs(filled, NOW, ESTONIA)
    assert here is not None
    async with process_modeller(f"sqlite:///{database}") as modeller:
        there = await modeller.runs(ESTONIA, NOW)
        assert there is not None
        for run, step_s in ((there.hours, HOUR_S), (there.by_step[QUARTER_S], QUARTER_S)):
            assert (run.made_at, run.start_ts, run.tier) == (NOW, NOW + HOUR_S, here.hours.tier)
            assert (run.step_s, run.end_ts) == (step_s, day_end(TODAY + timedelta(days=7)))
            assert run.is_identical_to(here.by_step[step_s])
        assert same_scenarios(there, here)
        assert [window.days for window in (await modeller.live_scores(ESTONIA, NOW)).windows] == [7, 30, 90]
        # The process is killed. Its successor makes the same run, with the first process's stored learning and without
        # it.
        kept = learnt_folder(filled, "ee")
        assert kept is not None
        for keeps in (True, False):
            assert list(kept.glob("*.learnt"))
            if not keeps:
                shutil.rmtree(kept)
            first = child_of(modeller)
            os.kill(first, signal.SIGKILL)
            again = await modeller.runs(ESTONIA, NOW)
            assert again is not None
            assert child_of(modeller) != first
            assert all(again.by_step[step_s].is_identical_to(here.by_step[step_s]) for step_s in (HOUR_S, QUARTER_S))
            assert same_scenarios(again, here)
        last = child_of(modeller)
    assert wait_for_end(last)


async def test_damaged_rows_that_runs_meet_are_named_once(
    filled: Store, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled.covariates.add({"wind_speed_100m@ee_west": [IssuedSeries(NOW - 60, NOW, np.ones(48, np.float32))]})
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("update covariates set series = substr(series, 1, 5)")
    async with process_modeller(f"sqlite:///{database}") as modeller:
        for instant in (NOW, NOW + HOUR_S):
            assert await modeller.runs(ESTONIA, instant) is not None
    assert len([line for line in caplog.messages if "the table covariates has damaged rows" in line]) == 1


async def test_past_days_have_a_process_of_their_own_while_there_are_any(filled: Store, database: Path) -> None:
    def note_made(first: int) -> None:
        nothing = np.empty(0)
        made = [
            Next24HoursForecast(ts, ts, nothing, nothing, nothing, step_s)
            for ts in instants
            for step_s in (HOUR_S, QUARTER_S)
            if ts >= first
        ]
        assert filled.backtests.add(
            model_identity(ESTONIA), "ee", made, data_change_count=filled.state.data_change_count()
        )

    instants = range(NOW + HOUR_S - 90 * DAY_S, NOW, DAY_S)
    async with process_modeller(f"sqlite:///{database}") as modeller:
        # The process of the hourly runs makes the last days.
        recent = await modeller.forecast_past_days(ESTONIA, NOW)
        assert recent.forecasts[0].issued_ts == instants[-2]
        assert past_child_of(modeller) is None
        note_made(instants[-2])
        # For earlier days another process is started in its place.
        older = await modeller.forecast_past_days(ESTONIA, NOW)
        assert older.forecasts[0].issued_ts == instants[0]
        assert len(older.forecasts) / 2 + older.missing_count == 88
        past_child = past_child_of(modeller)
        assert past_child is not None
        assert modeller._worker.pid is None
        # An hourly run ends that process, so that there is never more than one process at a time.
        assert await modeller.runs(ESTONIA, NOW) is not None
        assert past_child_of(modeller) is None
        assert wait_for_end(past_child)
        assert (await modeller.forecast_past_days(ESTONIA, NOW)).forecasts[0].issued_ts == instants[0]
        # When all days are made, the process ends.
        note_made(instants[0])
        assert (await modeller.forecast_past_days(ESTONIA, NOW)).missing_count == 0
        assert past_child_of(modeller) is None


async def test_past_days_are_made_once_also_after_an_upgrade_in_place(
    filled: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After such an upgrade, the code of a new process has another identity than the running server."""
    earlier = "the model before the upgrade"
    monkeypatch.setattr("tunnihind.pipeline.modelling.model_identity", lambda _: earlier)
    async with process_modeller(f"sqlite:///{database}") as modeller:
        first = await modeller.forecast_past_days(ESTONIA, NOW)
        assert filled.backtests.add(earlier, "ee", first.forecasts, data_change_count=first.data_change_count)
        second = await modeller.forecast_past_days(ESTONIA, NOW)
    assert {one.issued_ts for one in first.forecasts}.isdisjoint(one.issued_ts for one in second.forecasts)
    assert second.missing_count < first.missing_count


@pytest.mark.parametrize(("answers_requests", "lower"), [(True, 10), (False, 0)])
async def test_only_beside_requests_does_a_forecast_wait_for_other_programs(
    tmp_path: Path, lower: int, *, answers_requests: bool
) -> None:
    url = f"sqlite:///{tmp_path / 'nowhere.db'}"
    async with process_modeller(url, answers_requests=answers_requests) as modeller:
        with pytest.raises(StoreError):
            await modeller.runs(ESTONIA, NOW)
        child = os.getpriority(os.PRIO_PROCESS, child_of(modeller))
    assert child == min(os.getpriority(os.PRIO_PROCESS, 0) + lower, 19)


async def test_what_goes_wrong_in_the_child_comes_out_as_it_is(tmp_path: Path) -> None:
    async with process_modeller(f"sqlite:///{tmp_path / 'nowhere.db'}") as modeller:
        with pytest.raises(StoreError, match="there is no database"):
            await modeller.runs(ESTONIA, NOW)


def stuck(store: Store, as_of: int) -> None:
    """Report this process's id, and work for longer than any test waits."""
    Path(os.environ["SAY_TO"]).write_text(f"{os.getpid()}\n")
    select.select([], [], [], 10 * PATIENCE_S)


PARENT = """
import asyncio, signal, sys
from tests.server.pipeline.test_modelling import stuck
from tunnihind.core.market import ESTONIA
from tunnihind.pipeline.modelling import process_modeller

async def main() -> None:
    async with process_modeller(sys.argv[1]) as modeller:
        await modeller._call_in_process(stuck, 0)

if __name__ == "__main__":
    # A shell has what it starts in the background ignore Ctrl-C, and so everything that this starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio.run(main())
"""


@pytest.fixture
def family(database: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a process whose modeller has a busy child. Return both."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    told = tmp_path / "told"
    os.mkfifo(told)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "SAY_TO": str(told)}
    command = [sys.executable, str(script), f"sqlite:///{database}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as parent:
        try:
            yield parent, int(told.read_text())
        finally:
            parent.kill()


def test_the_child_ends_with_its_parent_even_when_that_is_killed(
    family: tuple[subprocess.Popen[str], int],
) -> None:
    parent, child = family
    parent.send_signal(signal.SIGKILL)
    assert wait_for_end(child)
    assert parent.stderr is not None
    # Wait until all processes that the parent has started have ended.
    assert parent.stderr.read() == ""


def test_a_server_asked_to_end_does_not_wait_for_its_childs_work(family: tuple[subprocess.Popen[str], int]) -> None:
    parent, child = family
    parent.send_signal(signal.SIGINT)
    assert parent.wait(PATIENCE_S) == -signal.SIGINT
    assert wait_for_end(child)
