"""The data known at any instant, compared with slow dictionaries that follow the definition."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from functools import reduce
from itertools import count
from operator import add

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.store.stores import emptied
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, ZONES, Zone, day_start, delivery_day, publication_time
from tunnihind.known import CovariateArchive, IssuedSeries, KnownPrice, PriceArchive, PriceHistory
from tunnihind.store.prices import AddedCounts, Price
from tunnihind.store.store import Store

type _Key = tuple[Zone, int, int]

MIDNIGHT = day_start(date(2025, 10, 26))
"""The delivery day before this instant has 24 hours, the next one has 25."""

_ZONES: tuple[Zone, ...] = ("ee", "fi")
_HOURS = range(MIDNIGHT - 2 * HOUR_S, MIDNIGHT + 2 * HOUR_S, HOUR_S)
_VALUES = st.sampled_from([0.0, -60.01, 0.1, 100 / 3, 4000.0])


@st.composite
def quarter_or_hour(draw: st.DrawFn) -> Price:
    step_s = draw(st.sampled_from([HOUR_S, QUARTER_S]))
    ts = draw(st.sampled_from(range(_HOURS.start, _HOURS.stop, step_s)))
    return Price(draw(st.sampled_from(_ZONES)), ts, step_s, draw(_VALUES))


@st.composite
def four_quarters(draw: st.DrawFn) -> list[Price]:
    zone, hour = draw(st.sampled_from(_ZONES)), draw(st.sampled_from(_HOURS))
    return [Price(zone, ts, QUARTER_S, draw(_VALUES)) for ts in range(hour, hour + HOUR_S, QUARTER_S)]


def additions() -> st.SearchStrategy[list[tuple[list[Price], int]]]:
    """Draw answers and the time at which each was seen, from days before to days after delivery, in any order."""
    answer = st.one_of(four_quarters(), st.lists(quarter_or_hour(), max_size=6))
    seen = st.integers(MIDNIGHT - 2 * DAY_S, MIDNIGHT + DAY_S) | st.sampled_from(_HOURS)
    return st.lists(st.tuples(answer, seen), max_size=6)


def mean(quarters: Iterable[float | None]) -> float:
    """Return the mean by plain additions, because `sum` compensates rounding and may differ in the last bit."""
    return reduce(add, (price for price in quarters if price is not None)) / 4


class SlowBook:
    """All versions of prices as (known from, EUR/MWh), in the order in which they were seen."""

    def __init__(self) -> None:
        self.versions: dict[_Key, list[tuple[int, float]]] = defaultdict(list)

    def add(self, prices: Sequence[Price], seen: int) -> AddedCounts:
        added = AddedCounts()
        for price in sorted(prices, key=lambda price: price.ts):
            versions = self.versions[price.zone, price.ts, price.step_s]
            if not versions:
                known = seen if seen < price.ts else publication_time(delivery_day(price.ts))
                versions.append((known, price.eur_mwh))
                added += AddedCounts(new=1)
            elif versions[-1][1] == price.eur_mwh:
                added += AddedCounts(unchanged=1)
            else:
                versions.append((max(seen, versions[-1][0]), price.eur_mwh))
                added += AddedCounts(corrected=1)
        return added

    def price(self, key: _Key, instant: int) -> float | None:
        known = [eur_mwh for known_ts, eur_mwh in self.versions.get(key, []) if known_ts <= instant]
        return known[-1] if known else None

    def settled(self, zone: Zone, instant: int, since: int) -> dict[int, float]:
        hours: dict[int, float] = {}
        for hour in _HOURS:
            if hour < since:
                continue
            quarters = [self.price((zone, ts, QUARTER_S), instant) for ts in range(hour, hour + HOUR_S, QUARTER_S)]
            price = self.price((zone, hour, HOUR_S), instant) if None in quarters else mean(quarters)
            if price is not None:
                hours[hour] = price
        return hours

    def quarters(self, zone: Zone, instant: int, since: int) -> dict[int, float]:
        starts = range(max(_HOURS.start, since), _HOURS.stop, QUARTER_S)
        prices = {ts: self.price((zone, ts, QUARTER_S), instant) for ts in starts}
        return {ts: price for ts, price in prices.items() if price is not None}

    def instants(self) -> set[int]:
        known = {known_ts for versions in self.versions.values() for known_ts, _ in versions}
        return {instant + offset for instant in known for offset in (-1, 0, 1)} | {MIDNIGHT + 9 * DAY_S}


def assert_same(history: PriceHistory, book: SlowBook, instant: int, since: int = 0) -> None:
    for zone in ZONES:
        expected = book.settled(zone, instant, since)
        assert history.series_of(zone) == expected
        assert history.series_of(zone).newest_ts == max(expected, default=None)
        window = history.series_of(zone).between(_HOURS.start - HOUR_S, _HOURS.stop + HOUR_S).eur_mwh
        np.testing.assert_array_equal(window, [np.nan, *(expected.get(hour, np.nan) for hour in _HOURS), np.nan])
        assert history.series_of(zone, QUARTER_S) == book.quarters(zone, instant, since)


@given(answers=additions())
@example(answers=[([Price("ee", MIDNIGHT, HOUR_S, 1.0)], MIDNIGHT - 7), ([Price("ee", MIDNIGHT, HOUR_S, 2.0)], 0)])
def test_every_as_of_view_of_the_store_is_what_was_known_then(
    memory_store: Store, answers: list[tuple[list[Price], int]]
) -> None:
    store, book = emptied(memory_store), SlowBook()
    for prices, seen in answers:
        assert store.prices.add(prices, source="a", seen_ts=seen) == book.add(prices, seen)
    archive, recent = store.prices.read_archive(), store.prices.read_archive(MIDNIGHT)
    for instant in book.instants():
        assert_same(archive.as_of(instant), book, instant)
        assert_same(recent.as_of(instant), book, instant, since=MIDNIGHT)
    assert_same(archive.newest_versions(), book, MIDNIGHT + 9 * DAY_S)


@given(answers=additions())
def test_an_archive_built_in_memory_shows_the_same(answers: list[tuple[list[Price], int]]) -> None:
    book = SlowBook()
    for prices, seen in answers:
        book.add(prices, seen)
    archive = PriceArchive.of(
        KnownPrice(zone, ts, step_s, known_ts, eur_mwh)
        for (zone, ts, step_s), versions in book.versions.items()
        for known_ts, eur_mwh in versions
    )
    for instant in book.instants():
        assert_same(archive.as_of(instant), book, instant)


_CELLS = st.lists(st.sampled_from([float("nan"), 0.0, 0.1, -40.0, 1e6]), min_size=1, max_size=5)


@st.composite
def issues(draw: st.DrawFn) -> IssuedSeries:
    """Draw a series with one of a few issue times, so that many series have the same."""
    issued_ts, start_ts = (MIDNIGHT + HOUR_S * draw(st.integers(*hours)) for hours in ((0, 3), (-3, 5)))
    return IssuedSeries(issued_ts, start_ts, np.array(draw(_CELLS), np.float32))


type _Cell = tuple[str, int, int]
"""Name, issue and target of a covariate's value."""


def cells(archive: CovariateArchive) -> dict[_Cell, float]:
    found: dict[_Cell, float] = {}
    for name, series in archive.series.items():
        for one in series:
            for target, value in zip(count(one.start_ts, HOUR_S), one.values.tolist(), strict=False):
                if not np.isnan(value):
                    found[name, one.issued_ts, target] = value
    return found


def laid_over(expected: dict[_Cell, float], answer: dict[str, list[IssuedSeries]]) -> int:
    """Put an answer's values into `expected`, and return the number of changed values."""
    changes = 0
    for name, series in answer.items():
        for one in series:
            fresh = cells(CovariateArchive({name: (one,)}))
            changes += sum(expected.get(cell) != value for cell, value in fresh.items())
            expected |= fresh
    return changes


@given(
    answers=st.lists(
        st.dictionaries(st.sampled_from(["ee_wind_mw", "t@a"]), st.lists(issues(), max_size=3)), max_size=5
    )
)
def test_covariates_are_a_union_in_which_the_later_value_stands(
    memory_store: Store, answers: list[dict[str, list[IssuedSeries]]]
) -> None:
    store = emptied(memory_store)
    expected: dict[_Cell, float] = {}
    for answer in [*answers, *answers]:
        assert store.covariates.add(answer) == laid_over(expected, answer)
    archive = store.covariates.read_archive()
    assert cells(archive) == expected
    for instant in range(MIDNIGHT - HOUR_S, MIDNIGHT + 12 * HOUR_S, HOUR_S // 2):
        seen = {cell: value for cell, value in expected.items() if cell[1] <= instant}
        assert cells(archive.as_of(instant)) == seen
        still_to_come = expected.items() - seen.items()
        assert cells(store.covariates.read_archive(instant + 1)).items() == still_to_come
