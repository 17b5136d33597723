"""The version of the served data, and other single facts."""

from collections.abc import Callable
from datetime import timedelta
from unittest.mock import Mock

import pytest

from tests.support.store.stores import DAY, HELD, HOURS, run, series, utc, whole_day
from tunnihind.errors import SourceUnreachable
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.store.state import Fact, StateBook
from tunnihind.store.store import Store

NOW = utc("2025-12-15T10:00")


def add(store: Store, price: float = 1.0) -> None:
    store.prices.add(whole_day(DAY, price=lambda _: price), source="a", seen_ts=NOW)


SERVED: dict[str, Callable[[Store], object]] = {
    "new prices": lambda store: store.prices.add(whole_day(DAY + timedelta(1)), source="a", seen_ts=NOW),
    "a correction": lambda store: add(store, 2.0),
    "a run": lambda store: store.runs.add(run(NOW)),
    "a held day": lambda store: store.witnesses.put(HELD),
    "a source that is asked": lambda store: store.state.record_price_source_names(["elering"]),
    "a score": lambda store: store.runs.store_backtest_score(HOURS, BacktestScore(1.0, 2.0, 0.5, 24)),
}

NOT_SERVED: dict[str, Callable[[Store], object]] = {
    "prices known already": add,
    "no prices": lambda store: store.prices.add([], source="a", seen_ts=NOW),
    "covariates": lambda store: store.covariates.add({"ee_wind_mw": [series(NOW, [1.0])]}),
    "what is held back as before": lambda store: store.witnesses.put(HELD, is_news=False),
    "a failure": lambda store: store.health.record_failure("elering", NOW, SourceUnreachable("elering", "no answer")),
    "a good answer": lambda store: store.health.record_success("elering", NOW),
    "a claim": lambda store: store.unguarded_lease().claim(),
    "notes": lambda store: store.state.write("a note", [1, "two"]),
    "refresh": lambda store: store.state.record_refresh(NOW),
    "thinning": lambda store: delete_superfluous(store, NOW),
    "reading": lambda store: (store.read_archive(), store.runs.newest(HOURS), store.witnesses.held_back()),
}


@pytest.mark.parametrize("change", SERVED.values(), ids=SERVED)
def test_what_clients_see_changing_makes_the_version_grow(store: Store, change: Callable[[Store], object]) -> None:
    add(store)
    before = store.state.served_version()
    change(store)
    assert store.state.served_version() > before


@pytest.mark.parametrize("change", NOT_SERVED.values(), ids=NOT_SERVED)
def test_what_clients_do_not_see_leaves_the_version(store: Store, change: Callable[[Store], object]) -> None:
    add(store)
    before = store.state.served_version()
    change(store)
    assert store.state.served_version() == before


def test_the_version_and_the_facts_outlive_a_restart(url: str, store: Store) -> None:
    add(store)
    store.state.record_refresh(NOW)
    with Store(url) as again:
        assert again.state.served_version() == store.state.served_version() > 0
        assert again.state.instance_id() == store.state.instance_id()
        assert again.state.last_refresh() == again.state.prices_changed_at() == NOW


def test_only_new_versions_count_as_prices_stored(store: Store) -> None:
    assert store.state.prices_changed_at() is None
    add(store)
    store.prices.add(whole_day(DAY, price=lambda _: 1.0), source="a", seen_ts=NOW + 60)
    assert store.state.prices_changed_at() == NOW


def test_every_installation_has_an_identity_of_its_own(store: Store) -> None:
    with Store("sqlite://") as other:
        assert len({store.state.instance_id(), other.state.instance_id()}) == 2
        assert len(other.state.instance_id()) == 32


def test_a_process_that_was_late_to_name_a_new_store_keeps_the_name_it_has(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = store.state.instance_id()
    monkeypatch.setattr(StateBook, "read", Mock(side_effect=[None, name]))  # before and after the other wrote
    store.state.make_instance_id()
    assert store.state.instance_id() == name


def test_facts_keep_their_json_shape(store: Store) -> None:
    facts: list[Fact] = [None, False, 0, -1.5, "õ", ["a", 1], {"a": [None]}]
    for fact in facts:
        store.state.write("fact", fact)
        assert store.state.read("fact") == fact
    assert store.state.read("never written") is None
