"""Delivery days that are held back."""

import math
from dataclasses import replace
from datetime import date

from tests.support.stores import CASE, DAY
from tunnihind.store.quarantine import Quarantined
from tunnihind.store.store import Store

SEEN = CASE.first_seen_ts


def seen(at: int, **changes: str) -> Quarantined:
    return replace(CASE, first_seen_ts=at, last_seen_ts=at, **changes)  # type: ignore[arg-type]


def test_a_held_day_is_news_once(store: Store) -> None:
    assert store.quarantine.put(CASE)
    assert not store.quarantine.put(seen(SEEN + 60))
    assert store.quarantine.held() == [replace(CASE, last_seen_ts=SEEN + 60)]


def test_another_reason_is_news_again(store: Store) -> None:
    store.quarantine.put(CASE)
    assert store.quarantine.put(seen(SEEN + 60, reason="incomplete", detail="92 of 96 quarters"))
    (held,) = store.quarantine.held()
    assert (held.reason, held.detail, held.first_seen_ts) == ("incomplete", "92 of 96 quarters", SEEN)


def test_the_same_reason_in_other_words_is_no_news_but_the_words_are_kept(store: Store) -> None:
    store.quarantine.put(seen(SEEN, reason="incomplete", detail="12 of 96 quarters"))
    assert not store.quarantine.put(seen(SEEN + 60, reason="incomplete", detail="13 of 96 quarters"))
    assert store.quarantine.held()[0].detail == "13 of 96 quarters"


def test_a_released_day_is_held_no_more_and_news_if_it_fails_again(store: Store) -> None:
    store.quarantine.put(CASE)
    store.quarantine.release([("elering", "ee", DAY)], SEEN + 60)
    assert store.quarantine.held() == []
    assert store.quarantine.put(seen(SEEN + 120))
    assert [case.day for case in store.quarantine.held()] == [DAY]


def test_a_release_frees_only_that_source_zone_and_day(store: Store) -> None:
    others = [replace(CASE, source="entsoe"), replace(CASE, zone="lv"), replace(CASE, day=date(2025, 12, 16))]
    for case in [CASE, *others]:
        assert store.quarantine.put(case)
    store.quarantine.release([("elering", "ee", DAY)], SEEN)
    store.quarantine.release([("nobody", "ee", DAY)], SEEN)
    assert sorted(map(repr, store.quarantine.held())) == sorted(map(repr, others))


def test_held_days_come_newest_first(store: Store) -> None:
    for day, zone in [(date(2025, 12, 15), "lv"), (date(2025, 12, 16), "ee"), (date(2025, 12, 15), "ee")]:
        store.quarantine.put(replace(CASE, day=day, zone=zone))
    assert [(case.day.day, case.zone) for case in store.quarantine.held()] == [(16, "ee"), (15, "ee"), (15, "lv")]


def test_quotes_are_kept_whatever_nonsense_they_are(store: Store) -> None:
    store.quarantine.put(
        replace(CASE, quotes=((SEEN, math.nan), (SEEN, math.inf), (SEEN + 7, -1e308)), detail="õ\n'\"")
    )
    (held,) = store.quarantine.held()
    assert repr(held.quotes) == repr(((SEEN, math.nan), (SEEN, math.inf), (SEEN + 7, -1e308)))
    assert held.detail == "õ\n'\""
