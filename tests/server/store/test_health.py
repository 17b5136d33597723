"""The health of the sources."""

from tunnihind.errors import SourceRefused, SourceUnreachable
from tunnihind.store.health import SourceHealth
from tunnihind.store.store import Store

DOWN = SourceUnreachable("elering", "no answer")


def test_a_source_never_asked_has_no_health(store: Store) -> None:
    assert store.health.by_source() == {}


def test_failures_in_a_row_are_counted(store: Store) -> None:
    for at in (1, 2, 3):
        store.health.record_failure("elering", at, DOWN)
    assert store.health.by_source()["elering"] == SourceHealth(
        "elering", 3, None, 3, "elering: no answer", "unreachable"
    )


def test_a_good_answer_is_news_only_after_a_failure(store: Store) -> None:
    assert not store.health.record_success("elering", 1)
    store.health.record_failure("elering", 2, DOWN)
    assert store.health.record_success("elering", 3)
    assert not store.health.record_success("elering", 4)
    assert store.health.by_source()["elering"] == SourceHealth("elering", 4, 4, 0, "")


def test_a_failure_remembers_the_last_good_answer(store: Store) -> None:
    store.health.record_success("elering", 1)
    store.health.record_failure("elering", 2, SourceRefused("elering", "out of order", status=503))
    found = store.health.by_source()["elering"]
    assert found == SourceHealth("elering", 2, 1, 1, "elering: out of order", "error", 503)


def test_sources_do_not_share_their_health(store: Store) -> None:
    store.health.record_failure("elering", 1, DOWN)
    assert not store.health.record_success("open-meteo", 1)
    assert store.health.by_source()["elering"].failures == 1


def test_a_source_that_is_no_longer_asked_is_forgotten(store: Store) -> None:
    for source in ("elering", "entsoe", "open-meteo"):
        store.health.record_success(source, 1)
    store.health.keep_only({"elering", "open-meteo", "one that was never asked"})
    assert store.health.by_source().keys() == {"elering", "open-meteo"}
