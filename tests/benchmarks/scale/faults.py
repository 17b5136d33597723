"""The faults of a cluster and their losses.

Servers are killed, frozen and cut off. PostgreSQL is restarted, and stopped for a while. During all faults a watcher
reads answers and compares them with the truth. A twin with its own database reads the same upstream at the same time,
without faults. At the end both databases have to hold the same data.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import Row, Select, create_engine, func, select

from tests.benchmarks.scale.cluster import Cluster, opened
from tests.benchmarks.scale.report import Finding, Report
from tests.benchmarks.scale.truth import Watcher
from tests.support.machine.processes import Server, until
from tests.support.machine.shifted_clock import ShiftedClock, library
from tunnihind.market import day_end, delivery_day, publication_time
from tunnihind.store.schema import prices, runs

_STARTS_AT: Final = "2026-06-10T10:20:00Z"
_JUST_PUBLISHED: Final = "2026-06-10T10:55:01Z"
_IN_THE_NEXT_HOUR: Final = "2026-06-10T11:00:20Z"
_AN_HOUR_LATER: Final = "2026-06-10T12:00:20Z"
_NEXT_DAY_PUBLISHED: Final = "2026-06-11T10:55:01Z"
_TAKEOVER_S: Final = 15
_SHOWN_S: Final = 90
_LONG_WRITE_S: Final = 0.03
_FIRST_YEAR: Final = 2025
_PATIENCE_S: Final = 90.0


@dataclass
class Trial:
    """A cluster with two servers that can run the pipeline, the twin, and the watcher."""

    cluster: Cluster
    clock: ShiftedClock
    twin_url: str
    watcher: Watcher
    report: Report

    def note(self, what: str, figure: str, goal: str = "", *, reached: bool | None = None) -> None:
        """Note a finding."""
        self.report.add(Finding(what, figure, goal, reached))

    @property
    def holder(self) -> str:
        """Return the name of the server that runs the pipeline. Fails if there is none."""
        name = self.cluster.holder()
        assert name is not None, "nobody runs the pipeline"
        return name

    async def until_taken_over(self, lost: str, since: float) -> float:
        """Return the seconds until another server held the lease."""

        async def look() -> bool:
            return self.cluster.holder() not in {lost, None}

        assert await until(look, within=_PATIENCE_S), "nobody takes the pipeline over"
        return time.monotonic() - since

    async def until_shown(self, what: str, shown: Callable[[Server], Awaitable[bool]]) -> float:
        """Return the seconds until all replicas showed the awaited data."""
        since = time.monotonic()

        async def look() -> bool:
            return all([await shown(replica) for replica in self.cluster.replicas])

        assert await until(look, within=_PATIENCE_S), f"the replicas never show {what}"
        return time.monotonic() - since


@asynccontextmanager
async def opened_trial(folder: Path, report: Report) -> AsyncIterator[Trial]:
    """Open the cluster, its twin and the watcher on a past day, shortly before the publication of its prices."""
    found = library()
    assert found is not None
    clock = ShiftedClock(found, folder / "clock")
    clock.set(_STARTS_AT)
    async with opened(folder, now=clock.now, clock=clock) as cluster:
        twin_url = f"sqlite:///{folder / 'twin.db'}"
        await cluster.start("twin", database_url=twin_url, first_year=_FIRST_YEAR)
        first = await cluster.start("server-a", cuttable=True, first_year=_FIRST_YEAR)
        await first.until_ready(within=_PATIENCE_S)
        await cluster.start("server-b", cuttable=True, first_year=_FIRST_YEAR)
        await cluster.start_replicas()
        edge = await cluster.start_edge()
        watcher = Watcher(edge.url, cluster.truth, clock.now)
        watching = asyncio.create_task(watcher.run())
        try:
            yield Trial(cluster, clock, twin_url, watcher, report)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching


async def survive(folder: Path, report: Report, *, away_s: float, all_of_them: bool) -> None:
    """Cause the faults one after the other, and compare with the twin.

    Without `all_of_them`, only the worst three faults are caused.
    """
    async with opened_trial(folder, report) as trial:
        if all_of_them:
            await freeze_the_holder_in_a_write(trial)
        await kill_the_holder_in_a_write(trial)
        if all_of_them:
            await kill_the_holder_as_prices_are_published(trial)
            await restart_the_database(trial)
        await take_the_database_away(trial, away_s)
        if all_of_them:
            await freeze_the_holder(trial)
        await cut_the_holder_off(trial)
        await compare_with_the_twin(trial)
        seen = trial.watcher
        reached = not seen.wrong and not seen.failed
        trial.note("Answers read all the while", seen.told(), "none wrong, none failed", reached=reached)


async def freeze_the_holder_in_a_write(trial: Trial) -> None:
    """Freeze the server that fills in the history, in the middle of a transaction, until another one continues."""
    name = trial.holder
    pid = trial.cluster.servers[name].pid
    await _until_prices_are_written(trial)
    os.kill(pid, signal.SIGSTOP)
    try:
        since = time.monotonic()
        before = _count(trial.cluster.database_url)
        waited = await trial.until_taken_over(name, since)

        async def goes_on() -> bool:
            return _count(trial.cluster.database_url) > before

        logs = "\n".join(server.log for server in trial.cluster.servers.values())
        assert await until(goes_on, within=_PATIENCE_S), f"the other server can't write:\n{logs}"
        wrote = time.monotonic() - since
    finally:
        os.kill(pid, signal.SIGCONT)
    what = "The pipeline's server frozen during a write: taken over"
    trial.note(what, f"after {waited:.1f} s", f"{_TAKEOVER_S} s", reached=waited <= _TAKEOVER_S)
    what = "The pipeline's server frozen during a write: the history filled in further"
    trial.note(what, f"after {wrote:.1f} s", "30 s", reached=wrote <= 2 * _TAKEOVER_S)


async def kill_the_holder_in_a_write(trial: Trial) -> None:
    """Kill the server that fills in the history, in the middle of a transaction."""
    await _until_prices_are_written(trial)
    await _kill_the_holder(trial, "The pipeline's server killed during a write: taken over")


async def kill_the_holder_as_prices_are_published(trial: Trial) -> None:
    """Kill the server that fetches tomorrow's prices when it begins to write them."""
    await _until_alike(trial)
    trial.clock.set(_JUST_PUBLISHED)
    await _until_prices_are_written(trial, since_s=0.0)
    await _kill_the_holder(trial, "The pipeline's server killed while it writes the prices just published: taken over")
    waited = await trial.until_shown("tomorrow's prices", lambda replica: _has_tomorrow(trial, replica))
    what = "The pipeline's server killed while it writes the prices just published: all replicas show them after"
    trial.note(what, f"{waited:.1f} s more", f"{_SHOWN_S} s", reached=waited <= _SHOWN_S)


async def restart_the_database(trial: Trial) -> None:
    """Stop PostgreSQL cleanly, and start it at once."""
    await asyncio.to_thread(trial.cluster.postgresql.stop, "fast")
    await asyncio.to_thread(trial.cluster.postgresql.start)
    waited = await _until_beating(trial)
    trial.note(
        "PostgreSQL restarted: the pipeline goes on after",
        f"{waited:.1f} s",
        f"{_TAKEOVER_S} s",
        reached=waited <= _TAKEOVER_S,
    )


async def take_the_database_away(trial: Trial, away_s: float) -> None:
    """Stop PostgreSQL as in a crash, and keep it stopped over the full hour."""
    await asyncio.to_thread(trial.cluster.postgresql.stop, "immediate")
    trial.clock.set(_IN_THE_NEXT_HOUR)
    await asyncio.sleep(away_s)
    await asyncio.to_thread(trial.cluster.postgresql.start)
    waited = await _until_beating(trial)
    trial.note(
        f"PostgreSQL away for {away_s:.0f} s, over a full hour: the pipeline goes on after",
        f"{waited:.1f} s",
        f"{_TAKEOVER_S} s",
        reached=waited <= _TAKEOVER_S,
    )
    waited = await trial.until_shown("this hour's forecast", lambda replica: _is_of_this_hour(trial, replica))
    what = "PostgreSQL away over a full hour: all replicas show this hour's forecast after"
    trial.note(what, f"{waited:.1f} s more")


async def freeze_the_holder(trial: Trial) -> None:
    """Freeze the server that runs the pipeline until another server has taken over. Then continue it."""
    name = trial.holder
    pid = trial.cluster.servers[name].pid
    os.kill(pid, signal.SIGSTOP)
    try:
        waited = await trial.until_taken_over(name, time.monotonic())
        trial.clock.set(_AN_HOUR_LATER)
        await trial.until_shown("this hour's forecast", lambda replica: _is_of_this_hour(trial, replica))
    finally:
        os.kill(pid, signal.SIGCONT)
    await asyncio.sleep(5)
    reached = waited <= _TAKEOVER_S and trial.holder != name
    trial.note("The pipeline's server frozen: taken over", f"after {waited:.1f} s", f"{_TAKEOVER_S} s", reached=reached)


async def cut_the_holder_off(trial: Trial) -> None:
    """Cut the network between the pipeline's server and the database, publish a day's prices, and heal the network."""
    name = trial.holder
    trial.cluster.links[name].cut()
    waited = await trial.until_taken_over(name, time.monotonic())
    trial.clock.set(_NEXT_DAY_PUBLISHED)
    shown = await trial.until_shown("the next day's prices", lambda replica: _has_tomorrow(trial, replica))
    trial.cluster.links[name].heal()
    await asyncio.sleep(5)
    reached = waited <= _TAKEOVER_S and trial.holder != name
    trial.note(
        "The network to the pipeline's server cut: taken over",
        f"after {waited:.1f} s",
        f"{_TAKEOVER_S} s",
        reached=reached,
    )
    trial.note(
        "The network to the pipeline's server cut: the next day's prices shown by all replicas after",
        f"{shown:.1f} s more",
        f"{_SHOWN_S} s",
        reached=shown <= _SHOWN_S,
    )


async def compare_with_the_twin(trial: Trial) -> None:
    """Compare the data of both databases."""
    await _until_alike(trial)
    ours, twins = _prices(trial.cluster.database_url), _prices(trial.twin_url)
    lost, more = len(twins - ours), len(ours - twins)
    doubled = _doubled_prices(trial.cluster.database_url) + _doubled_runs(trial.cluster.database_url)
    figure = f"{len(ours):,} prices, {lost} lost, {more} too many, {doubled} prices or runs doubled"
    trial.note("The database against the undisturbed twin's", figure, "none", reached=not (lost or more or doubled))


async def _kill_the_holder(trial: Trial, what: str) -> None:
    name = trial.holder
    await trial.cluster.servers[name].kill()
    waited = await trial.until_taken_over(name, time.monotonic())
    trial.note(what, f"after {waited:.1f} s", f"{_TAKEOVER_S} s", reached=waited <= _TAKEOVER_S)
    await trial.cluster.servers[name].until_alone()
    await trial.cluster.restart(name).until("/healthz", lambda reply: reply.status == 200)


async def _until_prices_are_written(trial: Trial, *, since_s: float = _LONG_WRITE_S) -> None:
    """Wait until a transaction has been writing prices for the given time."""
    deadline = time.monotonic() + _PATIENCE_S
    with trial.cluster.postgresql.superuser() as connection:
        while time.monotonic() < deadline:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_xid IS NOT NULL"
                " AND query LIKE 'INSERT INTO prices%%' AND clock_timestamp() - xact_start > make_interval(secs => %s)",
                [trial.cluster.database, since_s],
            ).fetchone()
            if row and row[0]:
                return
            await asyncio.sleep(0.002)
    raise AssertionError("nobody writes prices")


async def _until_beating(trial: Trial) -> float:
    """Return the seconds from PostgreSQL's start until a server has renewed its lease."""
    since = time.monotonic()

    async def look() -> bool:
        try:
            rows = trial.cluster.rows("SELECT beat_ts > extract(epoch FROM pg_postmaster_start_time()) FROM leases")
        except psycopg.OperationalError:
            return False
        return any(is_new for (is_new,) in rows)

    assert await until(look, within=_PATIENCE_S), "the pipeline does not go on"
    return time.monotonic() - since


async def _until_alike(trial: Trial) -> None:
    """Wait until both databases have the published prices, or the time is over."""

    async def look() -> bool:
        counts = [await asyncio.to_thread(_count, url) for url in (trial.cluster.database_url, trial.twin_url)]
        await asyncio.sleep(0.5)
        return counts == [_published(trial)] * 2

    await until(look, within=_PATIENCE_S)


def _published(trial: Trial) -> int:
    """Return the number of prices that the market has published so far."""
    now = trial.clock.now()
    today = delivery_day(int(now))
    tomorrow = today + timedelta(days=1)
    end_ts = day_end(tomorrow if publication_time(tomorrow) <= now else today)
    return sum(ts < end_ts for quotes in trial.cluster.upstream.quotes.values() for ts in quotes)


async def _has_tomorrow(trial: Trial, replica: Server) -> bool:
    answer = (await replica.get("/api/v1/forecast")).json()
    return bool(answer["dayAhead"] and answer["dayAhead"][-1]["ts"] >= trial.clock.now() + 24 * 3600)


async def _is_of_this_hour(trial: Trial, replica: Server) -> bool:
    answer = (await replica.get("/api/v1/forecast")).json()
    return bool(answer["madeAt"] and answer["madeAt"] >= trial.clock.now() // 3600 * 3600)


def _rows(url: str, statement: Select[Any]) -> list[Row[Any]]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return [*connection.execute(statement)]
    finally:
        engine.dispose()


def _count(url: str) -> int:
    count: int = _rows(url, select(func.count()).select_from(prices))[0][0]
    return count


def _prices(url: str) -> set[tuple[Any, ...]]:
    """Return all prices without the time at which they were first seen, because that time differs between servers."""
    columns = prices.c.zone, prices.c.ts, prices.c.step_s, prices.c.eur_mwh, prices.c.source
    return {tuple(row) for row in _rows(url, select(*columns))}


def _doubled_prices(url: str) -> int:
    key = prices.c.zone, prices.c.ts, prices.c.step_s
    return len(_rows(url, select(*key).group_by(*key).having(func.count() > 1)))


def _doubled_runs(url: str) -> int:
    key = runs.c.zone, runs.c.step_s, runs.c.made_at
    return len(_rows(url, select(*key).group_by(*key).having(func.count() > 1)))
