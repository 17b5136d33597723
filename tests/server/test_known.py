"""The data known at an instant. (`store/test_as_of.py` tests the versions of prices.)"""

from datetime import date

import numpy as np
import pytest

from tunnihind.core.market import HOUR_S, QUARTER_S, SeriesKey
from tunnihind.known import Archive, CovariateArchive, IssuedSeries, KnownPrice, PriceArchive, PriceHistory
from tunnihind.price_series import PriceSeries

START = 1_765_753_200
"""2025-12-14T23:00Z, the first hour of delivery day 2025-12-15."""

NAN = float("nan")


def history(prices: list[float]) -> PriceHistory:
    return PriceHistory(START, {SeriesKey("ee", HOUR_S): PriceSeries("ee", HOUR_S, START, np.array(prices))})


def test_unknown_hours_are_no_settled_hours_and_zeros_are() -> None:
    known = history([NAN, 0.0, -1.0, NAN])
    assert known.series_of("ee") == {START + HOUR_S: 0.0, START + 2 * HOUR_S: -1.0}
    assert known.series_of("ee").newest_ts == START + 2 * HOUR_S
    assert known.series_of("ee").newest_day == date(2025, 12, 15)


def test_with_nothing_known_there_is_no_newest_hour() -> None:
    for known in (
        history([]),
        history([NAN, NAN]),
        PriceArchive.of([]).as_of(START),
        PriceArchive.of([]).newest_versions(),
    ):
        assert known.series_of("ee") == {}
        assert known.series_of("ee").newest_ts is None
        assert known.series_of("ee").newest_day is None


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (0, 3, [1.0, 2.0, 3.0]),
        (1, 2, [2.0]),
        (-2, 1, [NAN, NAN, 1.0]),
        (2, 5, [3.0, NAN, NAN]),
        (-1, 4, [NAN, 1.0, 2.0, 3.0, NAN]),
        (-5, -2, [NAN, NAN, NAN]),
        (7, 9, [NAN, NAN]),
        (1, 1, []),
        (2, 1, []),
    ],
)
def test_a_window_may_lie_anywhere_and_is_unknown_outside_the_history(
    first: int, last: int, expected: list[float]
) -> None:
    window = history([1.0, 2.0, 3.0]).series_of("ee").between(START + first * HOUR_S, START + last * HOUR_S)
    np.testing.assert_array_equal(window.eur_mwh, expected)


def test_of_two_versions_known_at_one_instant_the_one_given_later_stands() -> None:
    first = KnownPrice("ee", START, HOUR_S, 0, 1.0)
    assert PriceArchive.of([first, first._replace(eur_mwh=2.0)]).as_of(0).series_of("ee") == {START: 2.0}
    assert PriceArchive.of([first._replace(eur_mwh=2.0), first]).as_of(0).series_of("ee") == {START: 1.0}


def test_quarters_that_have_become_whole_take_the_hour_s_place_only_then() -> None:
    quarters = [KnownPrice("ee", START + n * QUARTER_S, QUARTER_S, 10 + n, float(n)) for n in range(4)]
    archive = PriceArchive.of([KnownPrice("ee", START, HOUR_S, 0, 100.0), *quarters])
    assert [archive.as_of(instant).series_of("ee")[START] for instant in (0, 12, 13)] == [100.0, 100.0, 1.5]


def test_the_world_as_of_an_instant_has_prices_and_covariates_of_that_instant() -> None:
    prices = PriceArchive.of([KnownPrice("ee", START, HOUR_S, 10, 1.0), KnownPrice("ee", START, HOUR_S, 20, 2.0)])
    series = {"t@a": tuple(IssuedSeries(at, START, np.zeros(1, np.float32)) for at in (10, 20))}
    known = Archive(prices, CovariateArchive(series)).as_of(15)
    assert known.as_of == known.prices.as_of == 15
    assert known.prices.series_of("ee") == {START: 1.0}
    assert [issue.issued_ts for issue in known.covariates.series["t@a"]] == [10]


def test_a_further_step_is_one_more_series_from_which_hours_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    half = HOUR_S // 2
    monkeypatch.setattr("tunnihind.known.STEPS", (HOUR_S, half, QUARTER_S))
    halves = [KnownPrice("ee", START + n * half, half, 0, 10.0 * n) for n in range(3)]
    known = PriceArchive.of([KnownPrice("ee", START + HOUR_S, HOUR_S, 0, 70.0), *halves]).as_of(0)
    assert known.series_of("ee", half) == {START: 0.0, START + half: 10.0, START + 2 * half: 20.0}
    assert known.series_of("ee") == {START: 5.0, START + HOUR_S: 70.0}


def test_a_shorter_step_makes_quarters_and_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.known.STEPS", (HOUR_S, QUARTER_S, 300))
    known = PriceArchive.of(KnownPrice("ee", START + n * 300, 300, 0, float(n)) for n in range(12)).as_of(0)
    assert known.series_of("ee", QUARTER_S) == {START + n * QUARTER_S: 3.0 * n + 1 for n in range(4)}
    assert known.series_of("ee") == {START: 5.5}
