"""Day-ahead prices from the dashboard of Elering, the Estonian transmission system operator.

The request `GET /nps/price?start=&end=` needs no key, and may cover a year at most. `start` and `end` are in ISO 8601
with a time zone. An answer contains the prices of all four zones, up to and including the period that starts at `end`.
Each price comes with the start of its period, in unix seconds. The periods are quarters of an hour from delivery day
2025-10-01 on, and hours before. An answer does not say how long its periods are, so `day_sheets` works out the step.
"""

import re
from contextlib import suppress
from datetime import date
from typing import Annotated, Final, NamedTuple

from aiohttp import ClientSession
from msgspec import DecodeError, Meta, Raw, Struct
from msgspec.json import Decoder

from tunnihind.clock import Clock
from tunnihind.errors import BadAnswer
from tunnihind.market import ZONES, Zone, day_end, day_start, iso_utc
from tunnihind.sources.base import DaySheet, PriceFault, Quote, day_ranges, day_sheets, sheets_with_faults
from tunnihind.sources.upstream import RequestPolicy, Upstream

_MAX_DAYS: Final = 92
"""The most days that one request covers. Elering allows a year, but a year would take four times the memory."""

# The quarter-hour prices of all zones for 92 days take 1.5 MB, half of `max_bytes`.
_POLICY: Final = RequestPolicy(timeout_s=60.0, give_up_after_s=90.0, max_bytes=3 * 1024 * 1024)

_MAX_ROWS_BYTES: Final = 800_000
"""If a zone's rows have more bytes than this, they are not read one by one, because that would take too much memory.
The rows of a zone for 92 days take 0.4 MB."""

_YEAR_2000: Final = 946_684_800
_YEAR_2100: Final = 4_102_444_800

# A timestamp in milliseconds exceeds `_YEAR_2100`, so it is refused.
type _UnixSeconds = Annotated[int, Meta(ge=_YEAR_2000, le=_YEAR_2100)]


class _PriceRow(Struct):
    timestamp: _UnixSeconds
    price: float


class _RowTime(Struct):
    timestamp: _UnixSeconds


class ZoneQuotes(NamedTuple):
    """The quotes in one zone's rows, and the problems of the unreadable rows."""

    quotes: list[Quote]
    faults: list[PriceFault]


class _RawRowsByZone(Struct):
    """The undecoded rows of each zone. If a zone is not in the answer, its rows are empty."""

    ee: Raw = Raw()
    lv: Raw = Raw()
    lt: Raw = Raw()
    fi: Raw = Raw()

    def of(self, zone: Zone) -> Raw:
        rows: Raw = getattr(self, zone)
        return rows


class _EleringAnswer(Struct):
    success: bool
    data: _RawRowsByZone | None = None


_WORD: Final = re.compile(rb'(?<=[:,\[\s])[^\s:,\[\]{}"]+(?=\s*[,\]}])')
"""Matches a value that is neither a string, nor an array, nor an object."""
_JSON_WORD: Final = re.compile(rb"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

_ANSWER_DECODER: Final = Decoder(_EleringAnswer)
_ROWS_DECODER: Final = Decoder(tuple[_PriceRow, ...])
_RAW_ROWS_DECODER: Final = Decoder(tuple[Raw, ...])
_ROW_DECODER: Final = Decoder(_PriceRow)
_ROW_TIME_DECODER: Final = Decoder(_RowTime)


class EleringPrices:
    """Elering as a source of prices."""

    name = "elering"

    def __init__(self, session: ClientSession, base_url: str, *, clock: Clock | None = None) -> None:
        self._upstream = Upstream(session, self.name, policy=_POLICY, clock=clock)
        self._url = f"{base_url.rstrip('/')}/nps/price"

    async def fetch_sheets(self, first: date, last: date) -> list[DaySheet]:
        """Return a sheet for each zone and delivery day from `first` to `last`.

        Days with neither quotes nor faults have no sheet. Raises SourceError.
        """
        sheets = []
        for start, end in day_ranges(first, last, _MAX_DAYS):
            # The answer would include a period that starts exactly at the requested end, so a second is subtracted.
            params = {"start": iso_utc(day_start(start)), "end": iso_utc(day_end(end) - 1)}
            zones = await self._upstream.get(self._url, params, lambda answer: parse_zone_quotes(answer.body))
            for zone, rows in zones.items():
                readable = day_sheets(self.name, zone, rows.quotes, start, end)
                sheets += sheets_with_faults(readable, rows.faults, self.name, zone, start, end)
        return sheets


def parse_zone_quotes(body: bytes) -> dict[Zone, ZoneQuotes]:
    """Return the quotes and faults of each zone in the answer.

    A price that no JSON may hold, such as NaN, makes only its own row unreadable. Raises BadAnswer if the whole answer
    is unreadable, reports a failure or has no data.
    """
    try:
        return _parse_zone_quotes(body)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        with suppress(DecodeError, UnicodeDecodeError, RecursionError):
            zones = _parse_zone_quotes(_WORD.sub(_null_unless_json, body))
            if any(rows.quotes for rows in zones.values()):
                return zones
        raise BadAnswer(EleringPrices.name, f"its prices can't be read: {error}") from error


def _parse_zone_quotes(body: bytes) -> dict[Zone, ZoneQuotes]:
    answer = _ANSWER_DECODER.decode(body)
    if not answer.success or answer.data is None:
        raise BadAnswer(EleringPrices.name, "it reports a failure, and gives no prices")
    given = {zone: answer.data.of(zone) for zone in ZONES}
    return {zone: _zone_quotes(rows) for zone, rows in given.items() if memoryview(rows).nbytes}


def _null_unless_json(word: re.Match[bytes]) -> bytes:
    return word[0] if _JSON_WORD.fullmatch(word[0]) else b"null"


def _zone_quotes(raw: Raw) -> ZoneQuotes:
    try:
        return ZoneQuotes([Quote(row.timestamp, row.price) for row in _ROWS_DECODER.decode(raw)], [])
    except DecodeError, UnicodeDecodeError, RecursionError:
        return _quotes_row_by_row(raw)


def _quotes_row_by_row(raw: Raw) -> ZoneQuotes:
    """Read a zone's rows one by one, and note the unreadable rows.

    If an unreadable row has no readable time, read no further rows, because its fault affects all days.
    """
    if memoryview(raw).nbytes > _MAX_ROWS_BYTES:
        problem = f"its rows can't be read, and more than {_MAX_ROWS_BYTES} bytes of rows are not read one by one"
        return ZoneQuotes([], [PriceFault(None, problem)])
    try:
        rows = _RAW_ROWS_DECODER.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        return ZoneQuotes([], [PriceFault(None, f"its rows can't be read: {error}")])
    found = ZoneQuotes([], [])
    for number, row in enumerate(rows):
        try:
            read = _ROW_DECODER.decode(row)
        except (DecodeError, UnicodeDecodeError, RecursionError) as error:
            fault = PriceFault(_row_time(row), f"row {number} can't be read: {error}")
            found.faults.append(fault)
            if fault.ts is None:
                break
        else:
            found.quotes.append(Quote(read.timestamp, read.price))
    return found


def _row_time(row: Raw) -> int | None:
    try:
        return _ROW_TIME_DECODER.decode(row).timestamp
    except DecodeError, UnicodeDecodeError, RecursionError:
        return None
