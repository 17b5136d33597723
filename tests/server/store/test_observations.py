"""Observations, kept by hour."""

from collections.abc import Mapping

import numpy as np
import pytest
from sqlalchemy import update

from tests.support.store.stores import utc
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.known import ObservedSeries
from tunnihind.pipeline.history import ArchiveCache
from tunnihind.store.packing import pack_covariate_values
from tunnihind.store.rows import FIRST_PERIOD_TS
from tunnihind.store.schema import observations as table
from tunnihind.store.store import Store

NAN = float("nan")
HOUR = utc("2025-12-14T09:00")
NAME = "ee_wind_mw"


def observed(values: list[float], start_ts: int = HOUR) -> dict[str, ObservedSeries]:
    return {NAME: ObservedSeries(start_ts, np.array(values, np.float32))}


def hours(store: Store, since: int | None = None) -> Mapping[int, float]:
    """Return the known values by the distance of their hour from `HOUR`, in hours."""
    archive = store.observations.read_archive() if since is None else store.observations.read_archive(since)
    if NAME not in archive.series:
        return {}
    series = archive.series[NAME]
    offset = (series.start_ts - HOUR) // HOUR_S
    return {offset + int(n): float(series.values[n]) for n in np.flatnonzero(np.isfinite(series.values))}


def test_values_come_back_by_hour(store: Store) -> None:
    assert store.observations.add(observed([1.5, NAN, 0.0])) == 2
    assert hours(store) == {0: 1.5, 2: 0.0}


def test_the_same_values_again_add_nothing_and_a_correction_counts(store: Store) -> None:
    store.observations.add(observed([1.0, 2.0]))
    count = store.state.observation_change_count()
    assert store.observations.add(observed([1.0, 2.0])) == 0
    assert store.state.observation_change_count() == count
    assert store.observations.add(observed([NAN, 3.0, 4.0])) == 2
    assert store.state.observation_change_count() > count
    assert hours(store) == {0: 1.0, 1: 3.0, 2: 4.0}


def test_the_first_hour_that_a_file_may_have_comes_back(store: Store) -> None:
    assert store.observations.add(observed([1.0], FIRST_PERIOD_TS)) == 1
    assert [*hours(store).values()] == [1.0]
    assert not store.database.system.damaged_tables


def test_years_are_joined_from_blocks(store: Store) -> None:
    values = np.arange(400 * 24) % 1000
    for first in (0, 5000):
        store.observations.add(observed([*values[first : first + 6000].tolist()], HOUR + first * HOUR_S))
    assert hours(store) == dict(enumerate(values.tolist()))


def test_history_since_an_instant_may_begin_up_to_a_block_before_it(store: Store) -> None:
    store.observations.add(observed([1.0] * 24 * 100))
    first = min(hours(store, HOUR + 50 * DAY_S))
    assert 18 * 24 <= first <= 50 * 24


def test_an_observation_is_known_from_the_end_of_its_hour_on(store: Store) -> None:
    store.observations.add(observed([1.0, 2.0]))
    archive = store.read_archive()
    for instant, known in ((HOUR + HOUR_S - 1, [NAN, NAN]), (HOUR + HOUR_S, [1.0, NAN])):
        np.testing.assert_array_equal(archive.as_of(instant).observations.series[NAME].between(HOUR, 2), known)


@pytest.mark.parametrize(
    "damage",
    [
        {"series": b"?"},
        {"start_ts": HOUR},
        {"series": pack_covariate_values(np.full(768, 1e7 + 0.3, np.float32))[0], "scale": 0},
    ],
)
def test_a_damaged_block_is_left_out_and_told(store: Store, damage: dict[str, object]) -> None:
    store.observations.add(observed([1.0]))
    with store.database.writing() as connection:
        connection.execute(update(table).values(damage))
    assert hours(store) == {}
    assert store.database.system.damaged_tables == {"observations"}


def test_a_kept_history_is_read_again_after_new_observations(store: Store) -> None:
    cache, forecaster = ArchiveCache(), TieredForecaster(ESTONIA)
    before = cache.read_archive(store, forecaster, HOUR)
    assert cache.read_archive(store, forecaster, HOUR) is before
    store.observations.add(observed([1.0]))
    assert NAME in cache.read_archive(store, forecaster, HOUR).observations.series
