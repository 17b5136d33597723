"""Stores witnesses, and describes held-back and unconfirmed prices in words."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import isfinite

from sqlalchemy import ColumnElement, delete

from tunnihind.core.market import STEPS, ZONES, Zone, day_end, day_start
from tunnihind.settings import COMMAND
from tunnihind.settling.witness import Witness
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.rows import (
    EARLIEST,
    PLAUSIBLE_YEARS,
    Instant,
    StoredRow,
    TableRows,
    TextWithoutNul,
    from_json,
    row_mapper,
)
from tunnihind.store.schema import witnesses as table
from tunnihind.store.state import StateBook


class WitnessBook:
    """The stored witnesses."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _WitnessRow, row_mapper(_witness), database)

    def put(self, *witnesses: Witness, is_news: bool = True) -> None:
        """Store witnesses. If `is_news` is true, record that the served data have changed. Raises StoreError."""
        if not witnesses:
            return
        with self._database.writing() as connection:
            rows = [
                {name: getattr(one, name) for name in table.columns.keys()}  # noqa: SIM118  columns of a table
                | {name: json.dumps(list(getattr(one, name))) for name in ("prices", "replaced")}
                for one in witnesses
            ]
            upsert(connection, table, rows)
            if is_news:
                self._state.record_served_change()

    def between(self, first: date, last: date) -> list[Witness]:
        """Return all sources' witnesses for the delivery days from `first` to `last`. Raises StoreError."""
        return self._read(table.c.day.between(first, last))

    def held_back(self, first: date | None = None) -> list[Witness]:
        """Return the witnesses with held-back answers, with the newest day first. Raises StoreError.

        If `first` is given, witnesses for earlier delivery days are left out.
        """
        where = [] if first is None else [table.c.day >= first]
        return [one for one in self._read(*where) if one.reason]

    def keep_only(self, sources: Collection[str]) -> None:
        """Delete the witnesses of all sources whose names are not in `sources`. Raises StoreError."""
        with self._database.writing() as connection:
            connection.execute(delete(table).where(table.c.source.not_in(sources)))

    def delete_old(self, before: date, heard_before: int) -> int:
        """Delete old witnesses, and return the number of deleted rows. Raises StoreError.

        A witness is old if its day is before `before` and its `heard_ts` is before `heard_before`.
        """
        outlived = table.c.day < before, table.c.heard_ts.between(EARLIEST, heard_before - 1)
        with self._database.writing() as connection:
            return connection.execute(delete(table).where(*outlived)).rowcount

    def _read(self, *where: ColumnElement[bool]) -> list[Witness]:
        with self._database.reading() as connection:
            found = list(self.rows.read(connection, *where))
        return sorted(found, key=lambda one: (-one.day.toordinal(), ZONES.index(one.zone), one.source))


def held_back_lines(held: Iterable[Witness]) -> Iterator[str]:
    """For each source and each reason, yield a line of text about the source's prices held back for this reason."""
    groups: dict[tuple[str, str], list[Witness]] = defaultdict(list)
    for one in held:
        groups[one.source, one.reason].append(one)
    for (source, reason), group in groups.items():
        details = list(dict.fromkeys(one.detail for one in group))
        more = f", and {len(details) - 1} more like it" if len(details) > 1 else ""
        days = zones_and_days_in_words([(one.zone, one.day) for one in group])
        advice = "" if reason == "incomplete" else f"; `{COMMAND} import prices FILE` can settle them"
        yield f"{source}'s prices of {days} are held back: {details[0]}{more}{advice}"


def unconfirmed_lines(unconfirmed: Mapping[tuple[Zone, date], str]) -> Iterator[str]:
    """For each source of unconfirmed prices, yield a line of text that names the source, the zones and the days."""
    for source in dict.fromkeys(unconfirmed.values()):
        days = zones_and_days_in_words([day for day, of in unconfirmed.items() if of == source])
        yield f"the prices of {days} are unconfirmed: {source} gave them, and no second source says the same"


def zones_without_prices_text(codes: Sequence[str]) -> str:
    """Return a text that names zones for which no price was ever stored. Without zones, return an empty string."""
    return f"no source has given a price of {', '.join(codes)} yet" if codes else ""


def zones_and_days_in_words(days: Collection[tuple[str, date]]) -> str:
    """Return the zones, the first day and the last day as text, such as `EE, LV for 2025-12-15 to 2025-12-16`."""
    zones = ", ".join(zone.upper() for zone in ZONES if zone in {zone for zone, _ in days})
    first, last = min(day for _, day in days), max(day for _, day in days)
    return f"{zones} for {first}" + ("" if first == last else f" to {last}")


class _WitnessRow(StoredRow):
    source: TextWithoutNul
    zone: Zone
    day: date
    prices: TextWithoutNul
    since_ts: Instant
    heard_ts: Instant
    reason: TextWithoutNul
    detail: TextWithoutNul
    replaced: TextWithoutNul


def _witness(row: _WitnessRow) -> Witness:
    if row.day.year not in PLAUSIBLE_YEARS:
        raise ValueError(f"day is {row.day}")
    prices, replaced = (_day_of_numbers(text, row.day) for text in (row.prices, row.replaced))
    return Witness(row.source, row.zone, row.day, prices, row.since_ts, row.heard_ts, row.reason, row.detail, replaced)


def _day_of_numbers(text: str, day: date) -> tuple[float, ...]:
    prices: tuple[float, ...] = from_json(text, tuple[float, ...])
    counts = {len(range(day_start(day), day_end(day), step_s)) for step_s in STEPS}
    if len(prices) not in {0, *counts} or not all(map(isfinite, prices)):
        raise ValueError(f"its {len(prices)} prices are not a day of finite numbers")
    return prices
