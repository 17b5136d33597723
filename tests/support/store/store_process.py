"""Jobs of other processes on a store: `python -m tests.support.store.store_process JOB URL [ARGUMENT]`.

A job starts at the first line on its standard input, and reports on its standard output.
"""

import asyncio
import os
import resource
import signal
import sys
from datetime import date, timedelta

from sqlalchemy import event

from tests.support.store.ingest_trial import TAKEOVER_FIRST, TOMORROW, takeover_trial
from tests.support.store.pipelines import plain_runs
from tests.support.store.stores import whole_day
from tunnihind.core.market import HOUR_S, day_end, day_start
from tunnihind.errors import StoreError
from tunnihind.store.prices import AddedCounts
from tunnihind.store.store import Store

FIRST = date(2024, 1, 1)
NOBODY = 65_534


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def add_day(store: Store, number: int, source: str = "worker") -> AddedCounts:
    return store.prices.add(whole_day(day(number)), source=source, seen_ts=day_end(day(number)))


def say(text: object) -> None:
    print(text, flush=True)  # noqa: T201


def open_new(url: str) -> None:
    """Open a database that others open at the same time."""
    with Store(url) as store:
        say(store.state.instance_id())


def add_days(url: str, days: str) -> None:
    """Add a number of delivery days, one after another, and report the sum of the outcomes."""
    with Store(url) as store:
        added = sum((add_day(store, number) for number in range(int(days))), AddedCounts())
        say(f"{added.new} {added.corrected} {added.unchanged}")


def die_adding(url: str, days: str) -> None:
    """Report a number of stored days. Then be killed after writing the next day and before the commit."""
    store = Store(url)
    for number in range(int(days)):
        add_day(store, number)
        say(day(number))
    _be_killed_after("INSERT INTO state", store)
    add_day(store, int(days))


def _be_killed_after(words: str, store: Store) -> None:
    """Kill this process after the next statement that begins with some words."""

    def kill(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(words):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(store.database.system.engine, "after_cursor_execute", kill)


def die_adding_runs(url: str, hours: str) -> None:
    """Report a number of stored forecasts. Then be killed between the next run of hours and its run of quarters."""
    store = Store(url)
    for number in range(int(hours)):
        store.runs.add_forecast(plain_runs(day_start(FIRST) + number * HOUR_S))
        say(number)
    _be_killed_after("INSERT INTO runs", store)
    store.runs.add_forecast(plain_runs(day_start(FIRST) + int(hours) * HOUR_S))


def die_taking_over(url: str) -> None:
    """Let two sources contradict the wrong prices that are stored. Be killed when the wrong prices are deleted."""
    store = Store(url)
    _be_killed_after("DELETE FROM prices", store)
    asyncio.run(takeover_trial(store).ingest(TAKEOVER_FIRST, TOMORROW, after_s=HOUR_S))


def fill_disk(url: str, megabytes: str) -> None:
    """Add days until the disk is full, then read. Files may grow to a number of megabytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(megabytes) << 20, int(megabytes) << 20))
    with Store(url) as store:
        stored = 0
        try:
            while True:
                add_day(store, stored)
                stored += 1
        except StoreError as error:
            say(error)
        say(len(store.prices.read_archive().newest_versions().series_of("ee")))
        say(stored * 24)


def read_and_write(url: str) -> None:
    """Open a store for reading and for writing, without the rights of root, and report the result of both."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    for read_only in (True, False):
        try:
            with Store(url, read_only=read_only) as store:
                say(len(store.prices.read_archive().newest_versions().series_of("ee")))
                add_day(store, 99)
        except StoreError as error:
            say(error)


if __name__ == "__main__":
    jobs = {
        job.__name__: job
        for job in (open_new, add_days, die_adding, die_adding_runs, die_taking_over, fill_disk, read_and_write)
    }
    sys.stdin.readline()
    jobs[sys.argv[1]](*sys.argv[2:])
