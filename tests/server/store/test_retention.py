"""The times for which data are kept."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.store.pipelines import plain_runs
from tests.support.store.stores import DAY, HELD, HOURS, QUARTERS, emptied, run, series, utc, whole_day
from tunnihind.core.market import DAY_S, DELIVERY_TZ, HOUR_S, SeriesKey, delivery_day
from tunnihind.pipeline.retention import (
    KEEP_COVARIATES_DAYS,
    KEEP_RUNS_DAYS,
    KEEP_WITNESSES_DAYS,
    delete_superfluous,
    superfluous_issues,
)
from tunnihind.store.store import Store

NOW = utc("2025-12-26T10:00")
OLD = NOW - KEEP_RUNS_DAYS * DAY_S
"""Runs younger than this are never deleted. It is the day after the clocks went back."""
OLD_COVARIATES = NOW - KEEP_COVARIATES_DAYS * DAY_S


def _around(instant: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-5 * DAY_S, 2 * DAY_S).map(lambda offset: instant + offset // 600 * 600), max_size=40)


_instants = _around(OLD)
_issues = _instants | _around(OLD_COVARIATES)
_names = st.sampled_from(["ee_wind_mw", "wind_speed_100m@ee_west", "temperature_2m@ee_west"])


def runs_kept(made_at: Iterable[int], now: int) -> set[int]:
    """Return the runs to keep.

    All runs of 60 days are kept. Each older day keeps its first run from 09:00 UTC until 12:00 in Brussels, its last
    run before 12:00 in Brussels, and its last run.
    """
    before = now - KEEP_RUNS_DAYS * DAY_S
    mornings = [(delivery_day(at), at) for at in sorted(made_at, reverse=True) if at < before]
    firsts = {day: at for day, at in mornings if nine_utc(day) <= at < noon(day)}
    return kept_of(made_at, before, [noon]) | {*firsts.values()}


def issues_kept(issued_at: Iterable[int], now: int) -> set[int]:
    """Return the issues to keep.

    All issues of 14 days are kept. Each older day keeps its last issue up to 09:00 UTC, its last issue before 12:00 in
    Brussels, and its last issue.
    """
    return kept_of(issued_at, now - KEEP_COVARIATES_DAYS * DAY_S, [just_after_nine_utc, noon])


def noon(day: date) -> float:
    return datetime.combine(day, time(12), DELIVERY_TZ).timestamp()


def nine_utc(day: date) -> float:
    return datetime.combine(day, time(9), UTC).timestamp()


def just_after_nine_utc(day: date) -> float:
    """Return the first second at which an issue is too late for the forecast of 09:00 UTC."""
    return datetime.combine(day, time(9, 0, 1), UTC).timestamp()


def kept_of(instants: Iterable[int], before: int, looks: list[Callable[[date], float]]) -> set[int]:
    """Return all instants from `before` on.

    Of each older day, add the last before each time in `looks`, and the last.
    """
    instants = set(instants)
    kept = {instant for instant in instants if instant >= before}
    for day in {delivery_day(instant) for instant in instants - kept}:
        of_day = [instant for instant in instants - kept if delivery_day(instant) == day]
        for look in [*(at(day) for at in looks), float("inf")]:
            kept |= {max(seen) for seen in [[instant for instant in of_day if instant < look]] if seen}
    return kept


def made(store: Store) -> list[int]:
    return sorted(run.made_at for run in store.runs.made_since(HOURS, 0))


def issued(store: Store) -> dict[str, set[int]]:
    return {name: {one.issued_ts for one in issues} for name, issues in store.covariates.read_archive().series.items()}


@given(runs=_instants, covariates=st.dictionaries(_names, _issues.filter(bool)))
def test_of_old_days_what_was_the_newest_when_it_mattered_is_kept_of_each(
    memory_store: Store, runs: list[int], covariates: dict[str, list[int]]
) -> None:
    store = emptied(memory_store)
    for made_at in set(runs):
        store.runs.add(run(made_at))
    store.covariates.add({name: [series(at, [1.0]) for at in set(instants)] for name, instants in covariates.items()})
    expected_runs = runs_kept(runs, NOW)
    expected = {name: issues_kept(instants, NOW) for name, instants in covariates.items()}
    surplus = len(set(runs) - expected_runs) + sum(len(set(covariates[name]) - expected[name]) for name in covariates)
    assert delete_superfluous(store, NOW) == surplus
    assert made(store) == sorted(expected_runs)
    assert issued(store) == expected
    assert delete_superfluous(store, NOW) == 0


@settings(deadline=None, max_examples=20)
@given(runs=_instants, steps=st.lists(st.integers(0, 7 * 24), max_size=5).map(sorted))
def test_thinned_bit_by_bit_the_same_is_left_as_thinned_at_once(
    memory_store: Store, runs: list[int], steps: list[int]
) -> None:
    store = emptied(memory_store)
    for made_at in set(runs):
        store.runs.add(run(made_at))
    for hours in steps:
        delete_superfluous(store, NOW - 5 * DAY_S + hours * HOUR_S)
    delete_superfluous(store, NOW + 9 * DAY_S)
    assert made(store) == sorted(runs_kept(runs, NOW + 9 * DAY_S))


def test_hours_and_quarters_of_a_forecast_are_kept_or_thinned_together(store: Store) -> None:
    old = NOW - (KEEP_RUNS_DAYS + 3) * DAY_S
    issued_runs = [plain_runs(old + hour * HOUR_S) for hour in range(60)]
    for runs in issued_runs:
        store.runs.add_forecast(runs)
    assert delete_superfluous(store, NOW) > 0
    hours, quarters = store.runs.made_since(HOURS, 0), store.runs.made_since(QUARTERS, 0)
    assert 0 < len(hours) < len(issued_runs)
    by_instant = {runs.hours.made_at: runs for runs in issued_runs}
    assert [one.made_at for one in hours] == [one.made_at for one in quarters]
    for one in (*hours, *quarters):
        assert one.is_identical_to(by_instant[one.made_at].by_step[one.step_s])


def test_each_zone_keeps_its_own_runs_if_they_are_made_one_after_another(store: Store) -> None:
    old = NOW - (KEEP_RUNS_DAYS + 3) * DAY_S
    for hour in range(24):
        store.runs.add(run(old + hour * HOUR_S))
        store.runs.add(replace(run(old + hour * HOUR_S + 1), zone="lv"))
    assert delete_superfluous(store, NOW) > 0
    estonian, latvian = (
        [one.made_at for one in store.runs.made_since(SeriesKey(zone, HOUR_S), 0)] for zone in ("ee", "lv")
    )
    assert estonian == [made_at - 1 for made_at in latvian] != []


@given(live=_issues, archived=_issues, days_later=st.integers(0, 3))
def test_what_was_thinned_and_is_filled_in_again_changes_nothing(
    memory_store: Store, live: list[int], archived: list[int], days_later: int
) -> None:
    store = emptied(memory_store)
    history = {"ee_wind_da_mw": [series(at, [2.0]) for at in sorted(set(archived))]}
    store.covariates.add({"ee_wind_da_mw": [series(at, [1.0]) for at in set(live) - set(archived)]})
    store.covariates.add_archived(history, partial(superfluous_issues, NOW))
    delete_superfluous(store, NOW)
    before, changes = issued(store), store.covariates.change_and_row_counts()
    assert store.covariates.add_archived(history, partial(superfluous_issues, NOW + days_later * DAY_S)) == 0
    assert (issued(store), store.covariates.change_and_row_counts()) == (before, changes)


def test_an_archive_fills_in_the_old_days_that_nothing_is_kept_of(store: Store) -> None:
    days = [utc("2025-11-01T09:00") + day * DAY_S for day in range(30)]
    store.covariates.add({"ee_wind_da_mw": [series(days[3] + 4 * HOUR_S, [1.0])]})
    assert (
        store.covariates.add_archived(
            {"ee_wind_da_mw": [series(at, [2.0]) for at in days]}, partial(superfluous_issues, NOW)
        )
        == 30
    )
    assert delete_superfluous(store, NOW) == 0


def test_prices_and_their_corrections_stay_for_good(store: Store) -> None:
    store.prices.add(whole_day(date(2010, 1, 1)), source="a", seen_ts=NOW)
    store.prices.add(whole_day(date(2010, 1, 1), price=float), source="a", seen_ts=NOW + 1)
    assert delete_superfluous(store, NOW + 50 * 365 * DAY_S) == 0
    assert store.prices.count() == 2 * 24 * 4


def test_what_was_said_of_days_long_past_goes_unless_it_was_heard_lately(store: Store) -> None:
    old = DAY - timedelta(days=KEEP_WITNESSES_DAYS + 1)
    ago = HELD.heard_ts - KEEP_WITNESSES_DAYS * DAY_S - 1
    for day, heard_ts in ((DAY, HELD.heard_ts), (old, HELD.heard_ts), (old - timedelta(days=1), ago)):
        store.witnesses.put(replace(HELD, day=day, heard_ts=heard_ts))
    assert delete_superfluous(store, HELD.heard_ts) == 1
    assert [one.day for one in store.witnesses.held_back()] == [DAY, old]
