"""Runs of the weather model. Each run is stored once, with the time at which it was first known."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.store.stores import emptied, series, utc
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.forecast.known_days.vintages import superseded_forecast_mask, without_superseded_weather_runs
from tunnihind.known import IssuedSeries
from tunnihind.pipeline.retention import KEEP_COVARIATES_DAYS, delete_superfluous, superfluous_issues
from tunnihind.store.store import Store

NAME = "wind_speed_100m@ee_west"
RUN = utc("2025-12-15T00:00")
KNOWN = RUN + 6 * HOUR_S
NOW = utc("2025-12-20T10:00")


def run(run_ts: int, issued_ts: int | None = None, value: float = 2.0) -> IssuedSeries:
    issued = run_ts + 6 * HOUR_S if issued_ts is None else issued_ts
    return IssuedSeries(issued, run_ts, np.full(240, value, np.float32), run_ts=run_ts)


def issues(store: Store, name: str = NAME) -> tuple[IssuedSeries, ...]:
    return store.covariates.read_archive().series.get(name, ())


def runs_at(store: Store, instant: int) -> list[int | None]:
    return [issue.run_ts for issue in store.covariates.read_archive().as_of(instant).series.get(NAME, ())]


@pytest.mark.parametrize("live_first", [True, False])
def test_a_run_that_came_live_and_from_the_archive_is_kept_once_as_it_came_first(
    store: Store, *, live_first: bool
) -> None:
    live, archived = run(RUN, KNOWN + 1234, 3.0), run(RUN)
    first, second = (live, archived) if live_first else (archived, live)
    store.covariates.add({NAME: [first]})
    changes = store.covariates.change_and_row_counts()
    assert store.covariates.add_archived({NAME: [second]}, partial(superfluous_issues, NOW)) == 0
    assert store.covariates.change_and_row_counts() == changes
    (issue,) = issues(store)
    assert issue.issued_ts == first.issued_ts
    assert issue.values[0] == first.values[0]


def test_a_live_run_is_not_seen_before_it_came(store: Store) -> None:
    store.covariates.add({NAME: [run(RUN, KNOWN + 1234)]})
    store.covariates.add_archived({NAME: [run(RUN - DAY_S)]}, partial(superfluous_issues, NOW))
    assert runs_at(store, KNOWN + 1233) == [RUN - DAY_S]
    assert runs_at(store, KNOWN + 1234) == [RUN - DAY_S, RUN]


def test_another_name_gets_the_same_run(store: Store) -> None:
    store.covariates.add({NAME: [run(RUN)]})
    assert store.covariates.add({NAME: [run(RUN)], "temperature_2m@ee_west": [run(RUN)]}) == 240


def test_read_for_an_instant_it_is_what_forecasts_look_at_from_then_on_and_half_of_what_is_kept(store: Store) -> None:
    issues_kept = [run(RUN + number * 6 * HOUR_S, RUN + (number + 1) * 6 * HOUR_S + 300) for number in range(80)]
    store.covariates.add({NAME: issues_kept})
    as_of = RUN + 15 * DAY_S + 13 * HOUR_S
    everything, needed = (
        store.covariates.read_archive(),
        store.covariates.read_archive(superseded=partial(superseded_forecast_mask, as_of=as_of)),
    )
    assert len(needed.series[NAME]) < 0.5 * len(everything.series[NAME])
    mornings = [RUN + day * DAY_S + 9 * HOUR_S for day in range(2, 20)]
    for instant in (*(at for at in mornings if at <= as_of), as_of, as_of + 1, as_of + 7 * HOUR_S, *mornings[-3:]):
        seen_of = [
            [issue.issued_ts for issue in without_superseded_weather_runs(archive.as_of(instant).series[NAME], instant)]
            for archive in (everything, needed)
        ]
        # The forecast of an earlier morning needs only the newest run.
        if instant < as_of:
            assert seen_of[0][-1] == seen_of[1][-1]
        else:
            assert seen_of[0] == seen_of[1]


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
    # At 09:00 UTC the model forecasts past days. 10:59:59 and 22:59:59 are just before gate closure and the day's end.
    looks = [day + look for day in days for look in (9 * HOUR_S, 11 * HOUR_S - 1, 23 * HOUR_S - 1)]

    def newest(instant: int) -> int | None:
        found = store.covariates.read_archive().as_of(instant).series.get(NAME, ())
        return max((issue.issued_ts for issue in found), default=None)

    before = [newest(look) for look in looks]
    delete_superfluous(store, first + (40 + KEEP_COVARIATES_DAYS) * DAY_S)
    assert [newest(look) for look in looks] == before
    kept = {issue.run_ts for issue in issues(store)}
    assert {one.run_ts for one in live if (one.run_ts or 0) % DAY_S == 0} <= kept
