"""The stored records of months."""

from hashlib import sha256

import pytest
from sqlalchemy import update

from tunnihind.errors import StoreError
from tunnihind.store.schema import accuracy_records
from tunnihind.store.store import Store


def add(store: Store, month: str, zone: str = "ee") -> None:
    store.records.add(zone, month, forecasts=f"forecasts of {month}\n", scores=f"scores of {month}\n")  # type: ignore[arg-type]


def test_a_records_files_come_back_byte_for_byte_with_their_checksums(store: Store) -> None:
    add(store, "2025-10")
    record = store.records.find("ee", "2025-10")
    assert record is not None
    assert [*record.files] == ["2025-10.csv", "2025-10-scores.csv", "2025-10.sha256"]
    assert record.files["2025-10.csv"] == b"forecasts of 2025-10\n"
    lines = [line.split("  ") for line in record.files["2025-10.sha256"].decode().splitlines()]
    assert lines == [[sha256(record.files[name]).hexdigest(), name] for name in ("2025-10.csv", "2025-10-scores.csv")]


def test_the_checksums_also_vouch_for_the_record_before_in_the_same_zone(store: Store) -> None:
    add(store, "2025-09")
    add(store, "2025-10", "lv")
    add(store, "2025-10")
    earlier, later = (store.records.find("ee", month) for month in ("2025-09", "2025-10"))
    assert earlier is not None
    assert later is not None
    digest = sha256(earlier.files["2025-09.sha256"]).hexdigest()
    assert later.checksums.splitlines()[-1] == f"{digest}  2025-09.sha256"
    of_latvia = store.records.find("lv", "2025-10")
    assert of_latvia is not None
    assert "2025-09" not in of_latvia.checksums


def test_a_record_is_never_replaced(store: Store) -> None:
    add(store, "2025-10")
    with pytest.raises(StoreError):
        store.records.add("ee", "2025-10", forecasts="other\n", scores="other\n")
    record = store.records.find("ee", "2025-10")
    assert record is not None
    assert record.forecasts == "forecasts of 2025-10\n"


def test_a_new_record_is_a_change_of_what_is_served(store: Store) -> None:
    before = store.state.served_version()
    add(store, "2025-10")
    assert store.state.served_version() > before


def test_a_changed_record_counts_as_damaged_and_stays_listed(store: Store) -> None:
    add(store, "2025-10")
    with store.database.writing() as connection:
        other = accuracy_records.c.checksums.concat("0")
        connection.execute(update(accuracy_records).values(checksums="0" + other))
    assert store.records.find("ee", "2025-10") is None
    assert store.records.months("ee") == ("2025-10",)
    assert "accuracy_records" in store.database.system.damaged_tables
