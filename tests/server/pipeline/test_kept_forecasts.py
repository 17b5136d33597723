"""A process with stored learning makes the same run as a fresh process, whatever happens to a database's past."""

import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import and_, delete, select, update

from tests.support.clocks import local
from tests.support.markets.windy_market import WindyMarket, archive_of
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, ZONES
from tunnihind.forecast.point.ridges_and_kernel import RidgesAndKernel
from tunnihind.forecast.run import Runs
from tunnihind.pipeline import modelling
from tunnihind.pipeline.modelling import learnt_folder, make_runs
from tunnihind.store.packing import pack_covariate_values
from tunnihind.store.prices import Price
from tunnihind.store.schema import covariates, prices
from tunnihind.store.store import Store

FIRST, DAYS = date(2025, 7, 10), 160
NOW = local("2025-12-15 10:00")
WIND = "fi_wind_mw"


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a database, and with the learning from it before the auction and after it."""
    folder = tmp_path_factory.mktemp("learnt")
    market = WindyMarket.of(FIRST, DAYS)
    last = FIRST + timedelta(days=DAYS - 1)
    made_up = archive_of(FIRST, last, market.prices).prices
    columns = made_up.zone.tolist(), made_up.ts.tolist(), made_up.step_s.tolist(), made_up.eur_mwh.tolist()
    with Store(f"sqlite:///{folder / 'tunnihind.db'}") as store:
        rows = (Price(ZONES[zone], ts, step, eur) for zone, ts, step, eur in zip(*columns, strict=True))
        store.prices.add(rows, source="test", seen_ts=NOW + 9 * DAY_S)
        store.covariates.add({WIND: market.forecasts(FIRST, last)})
        for instant in (NOW, NOW + 6 * HOUR_S):
            runs_of_new_process(store, instant)
    return folder


def runs_of_new_process(store: Store, instant: int = NOW) -> Runs:
    modelling._KEPT_FORECASTERS.clear()
    runs = make_runs(store, instant, ESTONIA)
    assert runs is not None
    return runs


def same(one: Runs, other: Runs) -> bool:
    assert one.scenarios is not None
    assert other.scenarios is not None
    return (
        one.hours.is_identical_to(other.hours)
        and one.by_step[QUARTER_S].is_identical_to(other.by_step[QUARTER_S])
        and one.scenarios.is_identical_to(other.scenarios)
    )


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows whenever the model learns from a day's rows."""
    learnt_days: list[int] = []
    learn = RidgesAndKernel.learn

    def counting(self: Any, lead: int, rows: Any, price: Any, predicted: Any) -> None:  # noqa: ANN401  passed through
        learnt_days.append(len(price))
        learn(self, lead, rows, price, predicted)

    monkeypatch.setattr(RidgesAndKernel, "learn", counting)
    return learnt_days


@pytest.fixture
def copy(learnt: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copytree(learnt, tmp_path / "copy")
    with Store(f"sqlite:///{tmp_path / 'copy' / 'tunnihind.db'}") as store:
        yield store


@pytest.mark.parametrize("instant", [NOW, NOW + HOUR_S, NOW + 6 * HOUR_S, NOW + 7 * HOUR_S])
def test_a_new_process_learns_nothing_anew(copy: Store, counted: list[int], instant: int) -> None:
    runs_of_new_process(copy, instant)
    assert counted == []


def test_a_new_process_needs_no_calendar_of_holidays(copy: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = runs_of_new_process(copy)

    def refuse(*_: object) -> bool:
        raise AssertionError("the calendars of all countries take a tenth of a second to load")

    monkeypatch.setattr("tunnihind.forecast.known_days.season.is_holiday", refuse)
    assert same(runs_of_new_process(copy), before)


def test_a_new_process_learns_a_new_day_only(copy: Store, counted: list[int]) -> None:
    runs_of_new_process(copy, NOW + DAY_S)
    assert counted
    assert sum(counted) <= 7 * 7  # seven leads, and no more days than between two refits


EDITS = st.one_of(
    st.tuples(st.just("price"), st.integers(0, 10**6), st.floats(-50, 400)),
    st.tuples(st.just("drop price"), st.integers(0, 10**6), st.just(0.0)),
    st.tuples(st.just("wind"), st.integers(0, 10**6), st.floats(0, 8000)),
    st.tuples(st.just("drop wind"), st.integers(0, 10**6), st.just(0.0)),
    st.tuples(st.just("damage"), st.integers(0, 10**6), st.just(0.0)),
)


def edit(store: Store, kind: str, place: int, value: float) -> None:
    """Change a value in a database without counting a new version."""
    table = prices if "price" in kind else covariates
    with store.database.writing() as connection:
        keys = connection.execute(select(*table.primary_key)).all()
        where = and_(*(column == cell for column, cell in zip(table.primary_key, keys[place % len(keys)], strict=True)))
        if kind.startswith("drop"):
            connection.execute(delete(table).where(where))
        elif kind == "price":
            connection.execute(update(prices).where(where).values(eur_mwh=value))
        elif kind == "wind":
            series, scale = pack_covariate_values(np.full(9 * 24, value, np.float32))
            connection.execute(update(covariates).where(where).values(series=series, scale=scale))
        else:
            connection.execute(update(covariates).where(where).values(series=b"x"))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(EDITS, min_size=1, max_size=2), hours=st.sampled_from([0, 6]))
def test_after_any_change_of_the_past_a_process_with_files_says_what_one_without_says(
    learnt: Path, tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, int, float]], hours: int
) -> None:
    folder = tmp_path_factory.mktemp("edited") / "copy"
    shutil.copytree(learnt, folder)
    with Store(f"sqlite:///{folder / 'tunnihind.db'}") as store:
        for kind, place, value in edits:
            edit(store, kind, place, value)
        kept = learnt_folder(store, "ee")
        assert kept is not None
        assert list(kept.iterdir())
        with_files = runs_of_new_process(store, NOW + hours * HOUR_S)
        shutil.rmtree(kept)
        fresh = runs_of_new_process(store, NOW + hours * HOUR_S)
    assert same(with_files, fresh)


def test_with_every_file_damaged_the_run_is_the_same(copy: Store) -> None:
    before = runs_of_new_process(copy)
    kept = learnt_folder(copy, "ee")
    assert kept is not None
    for path in kept.iterdir():
        path.write_bytes(path.read_bytes()[:-100])
    after = runs_of_new_process(copy)
    assert same(after, before)


def test_where_nothing_can_be_kept_the_run_is_the_same(copy: Store) -> None:
    before = runs_of_new_process(copy)
    kept = learnt_folder(copy, "ee")
    assert kept is not None
    shutil.rmtree(kept)
    kept.write_text("in the way")
    after = runs_of_new_process(copy)
    assert same(after, before)


def test_of_a_database_in_memory_nothing_is_kept() -> None:
    with Store("sqlite://") as store:
        assert learnt_folder(store, "ee") is None
