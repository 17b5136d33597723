"""The price paths of the newest run, which are stored with the run."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import text

from tests.support.store.pipelines import plain_runs
from tests.support.store.stores import HOURS
from tunnihind.api.served_data import read_served_data
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from tunnihind.store.packing import pack_hundredths
from tunnihind.store.store import Store

MADE = 1_765_792_800


def rows(store: Store) -> int:
    with store.database.reading() as connection:
        return int(connection.execute(text("SELECT count(*) FROM scenarios")).scalar_one())


def test_the_paths_of_a_run_come_back_to_the_last_bit(store: Store) -> None:
    runs = plain_runs(MADE)
    store.runs.add_forecast(runs)
    kept = store.scenarios.newest("ee")
    assert kept is not None
    assert runs.scenarios is not None
    assert kept.is_identical_to(runs.scenarios)


def test_only_the_newest_runs_paths_are_kept(store: Store) -> None:
    for hour in range(3):
        store.runs.add_forecast(plain_runs(MADE + hour * HOUR_S))
    assert rows(store) == 1
    kept = store.scenarios.newest("ee")
    assert kept is not None
    assert kept.made_at == MADE + 2 * HOUR_S


def test_a_run_without_paths_is_not_served_with_an_earlier_ones(store: Store) -> None:
    store.runs.add_forecast(plain_runs(MADE))
    store.runs.add(plain_runs(MADE + HOUR_S).hours)
    assert read_served_data(store, ESTONIA, MADE).scenarios is not None
    assert read_served_data(store, ESTONIA, MADE + HOUR_S).scenarios is None


def test_runs_and_paths_are_kept_together_or_not_at_all(store: Store) -> None:
    first, second = plain_runs(MADE), plain_runs(MADE + HOUR_S)
    store.runs.add_forecast(first)
    assert second.scenarios is not None
    broken = replace(second.scenarios, eur_mwh=np.full((20, 2), 1 / 3))
    with pytest.raises(ValueError, match="more than two decimals"):
        store.runs.add(second.hours, second.by_step[QUARTER_S], scenarios=broken)
    assert [run.made_at for run in store.runs.made_since(HOURS, 0)] == [MADE]
    kept = store.scenarios.newest("ee")
    assert kept is not None
    assert kept.made_at == MADE


def test_only_paths_that_agree_with_the_served_run_are_served(store: Store) -> None:
    runs = plain_runs(MADE)
    store.runs.add_forecast(runs)
    assert runs.scenarios is not None
    served = read_served_data(store, ESTONIA, MADE).scenarios
    assert served is not None
    assert served.is_identical_to(runs.scenarios)
    shifted = replace(runs.scenarios, eur_mwh=np.round(runs.scenarios.eur_mwh + 0.02, 2))
    for other in (shifted, replace(runs.scenarios, made_at=MADE - 1), replace(runs.scenarios, start_ts=MADE)):
        with store.database.writing() as connection:
            connection.execute(
                text("UPDATE scenarios SET made_at = :made_at, start_ts = :start_ts, paths = :paths"),
                {"made_at": other.made_at, "start_ts": other.start_ts, "paths": pack_hundredths(other.eur_mwh)},
            )
        assert store.scenarios.newest("ee") is not None
        assert read_served_data(store, ESTONIA, MADE).scenarios is None
