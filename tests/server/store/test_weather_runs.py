"""Runs of the weather model: each is kept once, and takes the place of an older model's weather of its day."""

from collections.abc import Iterable

import numpy as np
import pytest
from alembic import command
from alembic.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text, update

from tests.support.store.stores import emptied, series, utc
from tunnihind.forecast.known import IssuedSeries
from tunnihind.forecast.known_days.vintages import without_passing_runs
from tunnihind.market import DAY_S, HOUR_S
from tunnihind.store.covariates import OLDER_MODEL_UNTIL
from tunnihind.store.database import Database
from tunnihind.store.retention import COVARIATE_DAYS
from tunnihind.store.schema import covariates
from tunnihind.store.store import Store

NAME = "wind_speed_100m@ee_west"
RUN = utc("2025-12-15T00:00")
KNOWN = RUN + 6 * HOUR_S
NOW = utc("2025-12-20T10:00")
OLD, NEW = 1.0, 2.0
ENOUGH = 5
"""So many days of runs take the place of an older model's, not 45, to be quick."""


def run(run_ts: int, issued_ts: int | None = None, value: float = NEW) -> IssuedSeries:
    issued = run_ts + 6 * HOUR_S if issued_ts is None else issued_ts
    return IssuedSeries(issued, run_ts, np.full(240, value, np.float32), run_ts=run_ts)


@pytest.fixture(autouse=True)
def _few_days_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.store.covariates.MIN_ISSUE_DAYS", ENOUGH)


def issues(store: Store, name: str = NAME) -> tuple[IssuedSeries, ...]:
    return store.covariates.archive().series.get(name, ())


def runs_at(store: Store, instant: int) -> list[int | None]:
    return [issue.run_ts for issue in store.covariates.archive().as_of(instant).series.get(NAME, ())]


def test_a_run_comes_back_with_its_name(store: Store) -> None:
    store.covariates.add({NAME: [run(RUN)]})
    (issue,) = issues(store)
    assert (issue.run_ts, issue.issued_ts, issue.start_ts, issue.lead_s) == (RUN, KNOWN, RUN, 0)


@pytest.mark.parametrize("live_first", [True, False])
def test_a_run_that_came_live_and_from_the_archive_is_kept_once_as_it_came_first(
    store: Store, *, live_first: bool
) -> None:
    live, archived = run(RUN, KNOWN + 1234, 3.0), run(RUN)
    first, second = (live, archived) if live_first else (archived, live)
    store.covariates.add({NAME: [first]})
    changes = store.covariates.changes()
    assert store.covariates.refill({NAME: [second]}, NOW) == 0
    assert store.covariates.changes() == changes
    (issue,) = issues(store)
    assert issue.issued_ts == first.issued_ts
    assert issue.values[0] == first.values[0]


def test_a_live_run_is_not_seen_before_it_came(store: Store) -> None:
    store.covariates.add({NAME: [run(RUN, KNOWN + 1234)]})
    store.covariates.refill({NAME: [run(RUN - DAY_S)]}, NOW)
    assert runs_at(store, KNOWN + 1233) == [RUN - DAY_S]
    assert runs_at(store, KNOWN + 1234) == [RUN - DAY_S, RUN]


def test_another_name_gets_the_same_run(store: Store) -> None:
    store.covariates.add({NAME: [run(RUN)]})
    assert store.covariates.add({NAME: [run(RUN)], "temperature_2m@ee_west": [run(RUN)]}) == 240


def older_weather(store: Store, first: int, last: int) -> None:
    """Keep an older model's weather: what it said every three hours, and Previous Runs by the month."""
    live = [series(ts, [OLD] * 240, start_ts=ts // DAY_S * DAY_S) for ts in range(first, last, 3 * HOUR_S)]
    rolling = [
        series(start - lead * DAY_S, [OLD] * (30 * 24), start_ts=start, lead_s=lead * DAY_S)
        for start in range(first, last, 30 * DAY_S)
        for lead in range(1, 8)
    ]
    store.covariates.add({NAME: [*live, *rolling]})
    store.state.write(OLDER_MODEL_UNTIL, last)


def seen(store: Store, issue_day: int, *, ahead_h: Iterable[int] = range(13, 37)) -> set[float]:
    """Return the newest values known at 09:00 of a day for the hours of the day after it; NaN where there is none."""
    at = issue_day + 9 * HOUR_S
    found: dict[int, tuple[int, float]] = {}
    for issue in store.covariates.archive().as_of(at).series.get(NAME, ()):
        for hours in ahead_h:
            ts = at + hours * HOUR_S
            place = (ts - issue.start_ts) // HOUR_S
            issued = ts - issue.lead_s if issue.lead_s else issue.issued_ts
            if 0 <= place < issue.values.size and issued > found.get(ts, (-1, 0))[0]:
                found[ts] = issued, float(issue.values[place])
    return {found.get(at + hours * HOUR_S, (0, float("nan")))[1] for hours in ahead_h}


def test_day_by_day_the_runs_take_the_place_of_the_older_models_weather(store: Store) -> None:
    first, last = RUN - 45 * DAY_S, RUN + 9 * HOUR_S
    older_weather(store, first, last)
    days = list(range(RUN - DAY_S, first + 8 * DAY_S, -DAY_S))
    assert all(seen(store, day) == {OLD} for day in days)
    live = RUN + 9 * HOUR_S + 60
    store.covariates.add({NAME: [run(RUN, live)]})
    for done, day in enumerate(days[:20], 1):
        store.covariates.refill({NAME: [run(day)]}, live)
        # A day is of the new model alone, or of the old one alone; none has lost its weather.
        new = done if 1 + done >= ENOUGH else 0
        assert [seen(store, one) for one in days] == [{NEW}] * new + [{OLD}] * (len(days) - new)


def test_what_was_said_before_the_first_run_stays_as_it_was(store: Store) -> None:
    first, last = RUN - 45 * DAY_S, RUN
    older_weather(store, first, last)
    before = store.covariates.archive().as_of(RUN - 10 * DAY_S).series[NAME]
    for day in range(RUN - DAY_S, RUN - 10 * DAY_S, -DAY_S):
        store.covariates.refill({NAME: [run(day)]}, NOW)
    after = store.covariates.archive().as_of(RUN - 10 * DAY_S).series[NAME]
    assert [(one.issued_ts, one.lead_s, one.values.tolist()) for one in after] == [
        (one.issued_ts, one.lead_s, one.values.tolist()) for one in before
    ]


def test_runs_serve_at_once_where_the_older_models_weather_is_not_fresh(store: Store) -> None:
    older_weather(store, RUN - 45 * DAY_S, RUN - 2 * DAY_S)
    store.covariates.add({NAME: [run(RUN, KNOWN + 60)]})
    assert seen(store, RUN) == {NEW}
    assert seen(store, RUN - 5 * DAY_S) == {OLD}


def test_weather_of_no_known_run_that_came_later_stays(store: Store) -> None:
    older_weather(store, RUN - 2 * DAY_S, RUN)
    fallback = KNOWN + 2 * HOUR_S
    store.covariates.add({NAME: [series(fallback, [3.0] * 240)]})
    for back in range(ENOUGH):
        store.covariates.refill({NAME: [run(RUN - back * DAY_S)]}, NOW)
    assert {issue.issued_ts for issue in issues(store) if issue.run_ts is None and not issue.lead_s} == {fallback}


def test_a_database_of_an_older_version_knows_that_its_weather_is_of_an_older_model(url: str) -> None:
    database, newest = Database(url), RUN + 3 * HOUR_S
    config = Config()
    config.set_main_option("script_location", "tunnihind.store:migrations")
    with database.writing() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0005")
        row = "INSERT INTO covariates VALUES (:name, 0, :issued, :issued, :values, NULL)"
        for name, issued in [(NAME, RUN), (NAME, newest), ("ee_wind_mw", newest + DAY_S)]:
            content = np.full(240, OLD, "<f4").tobytes()
            connection.execute(text(row), {"name": name, "issued": issued, "values": content})
    database.close()
    with Store(url) as store:
        assert store.state.read(OLDER_MODEL_UNTIL) == newest
        assert [issue.run_ts for issue in issues(store)] == [None, None]
        for back in range(1, ENOUGH + 1):
            store.covariates.refill({NAME: [run(RUN - back * DAY_S)]}, NOW)
        assert [issue.run_ts for issue in issues(store)] == [RUN - back * DAY_S for back in range(ENOUGH, 0, -1)]


def test_a_new_database_has_no_weather_of_an_older_model(store: Store) -> None:
    assert store.state.read(OLDER_MODEL_UNTIL) is None


def test_read_for_an_instant_it_is_what_forecasts_look_at_from_then_on_and_half_of_what_is_kept(store: Store) -> None:
    issues_kept = [run(RUN + number * 6 * HOUR_S, RUN + (number + 1) * 6 * HOUR_S + 300) for number in range(80)]
    store.covariates.add({NAME: issues_kept})
    as_of = RUN + 15 * DAY_S + 13 * HOUR_S
    everything, needed = store.covariates.archive(), store.covariates.archive(as_of=as_of)
    assert len(needed.series[NAME]) < 0.5 * len(everything.series[NAME])
    mornings = [RUN + day * DAY_S + 9 * HOUR_S for day in range(2, 20)]
    for instant in (*(at for at in mornings if at <= as_of), as_of, as_of + 1, as_of + 7 * HOUR_S, *mornings[-3:]):
        seen_of = [
            [issue.issued_ts for issue in without_passing_runs(archive.as_of(instant).series[NAME], instant)]
            for archive in (everything, needed)
        ]
        # Of the hours since the look before, an earlier morning's forecast needs the newest run alone.
        if instant < as_of:
            assert seen_of[0][-1] == seen_of[1][-1]
        else:
            assert seen_of[0] == seen_of[1]


def test_read_for_an_instant_a_damaged_run_does_not_take_the_place_of_the_one_before_it(store: Store) -> None:
    store.covariates.add({NAME: [run(RUN), run(RUN + 6 * HOUR_S, RUN + 8 * HOUR_S), run(RUN + DAY_S)]})
    as_of = RUN + 3 * DAY_S
    with store.database.writing() as connection:
        connection.execute(update(covariates).where(covariates.c.issued_ts == RUN + 8 * HOUR_S).values(series=b"\0"))
    needed = store.covariates.archive(as_of=as_of).series[NAME]
    assert [issue.run_ts for issue in needed] == [RUN, RUN + DAY_S]


@settings(deadline=None, max_examples=30)
@given(
    delays=st.lists(st.integers(0, 9 * HOUR_S) | st.none(), min_size=12, max_size=60),
    fallbacks=st.lists(st.integers(0, 14 * DAY_S), max_size=6, unique=True),
)
def test_of_old_days_the_first_run_is_kept_and_what_was_newest_when_a_forecast_looked(
    memory_store: Store, delays: list[int | None], fallbacks: list[int]
) -> None:
    store, first = emptied(memory_store), RUN
    live = [
        run(first + number * 6 * HOUR_S, first + (number + 1) * 6 * HOUR_S + delay)
        for number, delay in enumerate(delays)
        if delay is not None
    ]
    taken = {one.issued_ts for one in live}
    stitched = [series(first + at, [1.0] * 24) for at in fallbacks if first + at not in taken]
    store.covariates.add({NAME: [*live, *stitched]})
    days = range(first, first + 16 * DAY_S, DAY_S)
    # 09:00 UTC is the model's clock for past days; 10:59:59 and 22:59:59 are before gate closure and the day's end.
    looks = [day + look for day in days for look in (9 * HOUR_S, 11 * HOUR_S - 1, 23 * HOUR_S - 1)]

    def newest(instant: int) -> int | None:
        found = store.covariates.archive().as_of(instant).series.get(NAME, ())
        return max((issue.issued_ts for issue in found), default=None)

    before = [newest(look) for look in looks]
    store.thin(first + (40 + COVARIATE_DAYS) * DAY_S)
    assert [newest(look) for look in looks] == before
    kept = {issue.run_ts for issue in issues(store)}
    assert {one.run_ts for one in live if (one.run_ts or 0) % DAY_S == 0} <= kept
