"""Covariates as they were issued."""

import numpy as np

from tests.support.store.stores import series, utc
from tunnihind.core.market import HOUR_S
from tunnihind.known import CovariateArchive
from tunnihind.store.store import Store

NAN = float("nan")
ISSUE = utc("2025-12-14T09:00")


def values(archive: CovariateArchive, name: str = "ee_wind_mw") -> list[list[float]]:
    return [[float(value) for value in issue.values] for issue in archive.series.get(name, ())]


def test_a_series_comes_back_as_issued(store: Store) -> None:
    assert store.covariates.add({"ee_wind_mw": [series(ISSUE, [1.5, NAN, 0.0], start_ts=ISSUE + HOUR_S)]}) == 2
    (issue,) = store.covariates.read_archive().series["ee_wind_mw"]
    assert (issue.issued_ts, issue.start_ts, issue.run_ts) == (ISSUE, ISSUE + HOUR_S, None)
    np.testing.assert_array_equal(issue.values, np.array([1.5, NAN, 0.0], np.float32))
    assert issue.values.dtype == np.float32


def test_the_same_series_again_adds_nothing(store: Store) -> None:
    forecast = {"ee_wind_mw": [series(ISSUE, [0.1, NAN, 100 / 3])], "t@a": [series(ISSUE, [1.0])]}
    assert store.covariates.add(forecast) == 3
    assert store.covariates.add(forecast) == 0


def test_an_unknown_value_does_not_wipe_out_a_known_one(store: Store) -> None:
    store.covariates.add({"ee_wind_mw": [series(ISSUE, [1.0, 2.0])]})
    assert store.covariates.add({"ee_wind_mw": [series(ISSUE, [NAN, 3.0])]}) == 1
    assert values(store.covariates.read_archive()) == [[1.0, 3.0]]


def test_a_gap_between_merged_pieces_stays_unknown(store: Store) -> None:
    store.covariates.add({"ee_wind_mw": [series(ISSUE, [4.0], start_ts=ISSUE + 3 * HOUR_S)]})
    store.covariates.add({"ee_wind_mw": [series(ISSUE, [1.0, 2.0])]})
    np.testing.assert_array_equal(values(store.covariates.read_archive()), [[1.0, 2.0, NAN, 4.0]])


def test_issues_and_names_are_kept_apart(store: Store) -> None:
    store.covariates.add({"t@a": [series(ISSUE, [1.0]), series(ISSUE + 1, [3.0])]})
    store.covariates.add({"t@b": [series(ISSUE, [9.0])]})
    archive = store.covariates.read_archive()
    assert values(archive, "t@a") == [[1.0], [3.0]]
    assert values(archive, "t@b") == [[9.0]]


def test_a_forecast_is_not_seen_before_its_issue(store: Store) -> None:
    store.covariates.add({"t@a": [series(ISSUE, [1.0, 2.0])]})
    assert store.covariates.read_archive().as_of(ISSUE - 1).series == {}
    assert values(store.covariates.read_archive().as_of(ISSUE), "t@a") == [[1.0, 2.0]]


def test_history_since_an_instant_leaves_out_what_was_issued_before_it(store: Store) -> None:
    store.covariates.add({"t@a": [series(ISSUE, [1.0, 2.0]), series(ISSUE + HOUR_S, [3.0, 4.0])]})
    assert values(store.covariates.read_archive(ISSUE), "t@a") == [[1.0, 2.0], [3.0, 4.0]]
    assert values(store.covariates.read_archive(ISSUE + 1), "t@a") == [[3.0, 4.0]]
    assert store.covariates.read_archive(ISSUE + HOUR_S + 1).series == {}


def test_the_newest_issue_is_told_per_name_and_instant(store: Store) -> None:
    store.covariates.add({"t@a": [series(ISSUE, [1.0]), series(ISSUE + 60, [1.0])], "t@b": [series(ISSUE + 5, [1.0])]})
    assert store.covariates.newest_issues(ISSUE + 60) == {"t@a": ISSUE + 60, "t@b": ISSUE + 5}
    assert store.covariates.newest_issues(ISSUE + 4) == {"t@a": ISSUE}


def test_the_newest_forecasts_are_those_of_a_name_and_a_time(store: Store) -> None:
    issues = [series(ISSUE - 1, [1.0]), series(ISSUE + 60, [3.0]), series(ISSUE, [2.0]), series(ISSUE + 61, [4.0])]
    store.covariates.add({"t@a": issues, "t@b": issues, "t@c": issues})
    newest = store.covariates.issued_between(["t@a", "t@b"], ISSUE, ISSUE + 60)
    assert (values(newest, "t@a"), values(newest, "t@b"), sorted(newest.series)) == (
        [[2.0], [3.0]],
        [[2.0], [3.0]],
        ["t@a", "t@b"],
    )
