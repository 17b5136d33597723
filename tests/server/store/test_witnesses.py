"""The sources' prices for delivery days, and the prices that are held back."""

from dataclasses import replace
from datetime import date

from tests.support.store.stores import DAY, HELD
from tunnihind.store.store import Store
from tunnihind.store.witnesses import held_back_lines, unconfirmed_lines

FINE = replace(HELD, reason="", detail="", prices=tuple(map(float, range(96))))


def test_what_a_source_says_takes_the_place_of_what_it_said(store: Store) -> None:
    store.witnesses.put(HELD)
    later = replace(FINE, since_ts=HELD.since_ts + 60, heard_ts=HELD.heard_ts + 3600, replaced=HELD.prices)
    store.witnesses.put(later, replace(later, source="entsoe"))
    assert store.witnesses.between(DAY, DAY) == [later, replace(later, source="entsoe")]
    assert later.repeated_for_s == 3540
    assert store.witnesses.held_back() == []


def test_held_days_come_newest_first_and_in_the_order_of_zones(store: Store) -> None:
    for day, zone in [(date(2025, 12, 15), "lv"), (date(2025, 12, 16), "ee"), (date(2025, 12, 15), "ee")]:
        store.witnesses.put(replace(HELD, day=day, zone=zone))  # type: ignore[arg-type]
    assert [(one.day.day, one.zone) for one in store.witnesses.held_back()] == [(16, "ee"), (15, "ee"), (15, "lv")]
    assert [one.day.day for one in store.witnesses.held_back(date(2025, 12, 16))] == [16]


def test_sources_that_are_no_longer_asked_are_forgotten(store: Store) -> None:
    store.witnesses.put(HELD, replace(HELD, source="entsoe"))
    store.witnesses.keep_only(["entsoe"])
    assert [one.source for one in store.witnesses.held_back()] == ["entsoe"]


def test_a_line_names_source_zones_days_the_reason_and_what_to_do() -> None:
    held = [replace(HELD, zone=zone, day=day) for day in (DAY, date(2025, 12, 16)) for zone in ("lv", "ee")]
    other = replace(HELD, source="entsoe", reason="incomplete", detail="12 of 96 quarters")
    assert list(held_back_lines([*held, other])) == [
        (
            "elering's prices of EE, LV for 2025-12-15 to 2025-12-16 are held back: 24 hours are exactly 0.00; "
            "`./run import prices FILE` can settle them"
        ),
        "entsoe's prices of EE for 2025-12-15 are held back: 12 of 96 quarters",
    ]
    assert list(unconfirmed_lines({("ee", DAY): "elering", ("fi", DAY): "elering"})) == [
        "the prices of EE, FI for 2025-12-15 are unconfirmed: elering gave them, and no second source says the same"
    ]
