"""Makes the answers of `/accuracy/{file}`: the files of the records of months (`store.records`)."""

from collections.abc import Callable
from typing import Final

from tunnihind.api.http.headers import Coding
from tunnihind.api.http.representation import CACHE_FOR_EVER, Representation, opaque_tag, represent
from tunnihind.api.score_table import CSV_CONTENT_TYPE
from tunnihind.api.snapshot import cache_control
from tunnihind.clock import Clock
from tunnihind.errors import NotServed
from tunnihind.store.records import MonthRecord

CHECKSUMS_CONTENT_TYPE: Final = "text/plain; charset=utf-8"
RECORD_FILE_PATTERN: Final = r"[0-9]{4}-[0-9]{2}(?:\.csv|-scores\.csv|\.sha256)"

_MONTH_LENGTH: Final = len("2025-11")

type FindRecord = Callable[[str], MonthRecord | None]
"""Takes a month, such as `2025-11`. Returns its record, or None if there is none. Raises StoreError."""


class RecordReader:
    """Reads the files of records from the store."""

    def __init__(self, find: FindRecord, clock: Clock, *, may_cache_for_ever: bool) -> None:
        """In a demo or rehearsal, `may_cache_for_ever` must be false, because an address may get another file later."""
        self._find = find
        self._clock = clock
        self._may_cache_for_ever = may_cache_for_ever

    def read_answer(self, name: str, coding: Coding) -> Representation:
        """Return the answer with a file, whose name matches `RECORD_FILE_PATTERN`. Raises NotServed, StoreError."""
        record = self._find(name[:_MONTH_LENGTH])
        if record is None:
            raise NotServed(f"There is no record of {name[:_MONTH_LENGTH]}: /accuracy lists the months with a record.")
        body = record.files[name]
        return represent(
            body,
            coding,
            tag=opaque_tag(body),
            cache_control=CACHE_FOR_EVER if self._may_cache_for_ever else cache_control(int(self._clock.now())),
            content_type=CSV_CONTENT_TYPE if name.endswith(".csv") else CHECKSUMS_CONTENT_TYPE,
        )
