"""Day-ahead prices from the dashboard of Elering, the Estonian transmission system operator.

The request `GET /nps/price?start=&end=` needs no key, and may cover a year at most. `start` and `end` are in ISO 8601
with a time zone. An answer contains the prices of all four zones, up to and including the period that starts at `end`.
Each price comes with the start of its period, in unix seconds. The periods are quarters of an hour from delivery day
2025-10-01 on, and hours before. An answer does not say how long its periods are, so `day_sheets` works out the step.
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import partial
from itertools import batched
from typing import Annotated, Final

from aiohttp import ClientSession
from msgspec import DecodeError, Meta, Raw, Struct
from msgspec.json import Decoder

from tunnihind.clock import Clock
from tunnihind.core.market import ZONES, day_end, day_start, iso_utc
from tunnihind.errors import BadAnswer
from tunnihind.sources.base import (
    DaySheet,
    Quote,
    day_ranges,
    day_sheets,
    faulty_sheets,
)
from tunnihind.sources.upstream import Answer, RequestPolicy, Upstream

_MAX_DAYS: Final = 92
"""The most days that one request covers. Elering allows a year, but a year would take four times the memory."""

# The quarter-hour prices of all zones for 92 days take 1.5 MB, half of `max_bytes`.
_POLICY: Final = RequestPolicy(timeout_s=60.0, give_up_after_s=90.0, max_bytes=3 * 1024 * 1024)

_YEAR_2000: Final = 946_684_800
_YEAR_2100: Final = 4_102_444_800

# A timestamp in milliseconds exceeds `_YEAR_2100`, so it is refused.
type _UnixSeconds = Annotated[int, Meta(ge=_YEAR_2000, le=_YEAR_2100)]


class _PriceRow(Struct):
    timestamp: _UnixSeconds
    price: float


class _EleringAnswer(Struct):
    """An answer with the undecoded rows of each zone, so that unreadable rows of a zone cost no other zone."""

    success: bool
    data: dict[str, Raw] | None = None


_ZONE_KEY: Final = re.compile(rb'"(%s)"\s*:' % "|".join(ZONES).encode())
_SUCCESS: Final = re.compile(rb'"success"\s*:\s*true')

_ANSWER_DECODER: Final = Decoder(_EleringAnswer)
_ROWS_DECODER: Final = Decoder(tuple[_PriceRow, ...])
_DECODING_ERRORS: Final = (DecodeError, UnicodeDecodeError, RecursionError)


class EleringPrices:
    """Elering as a source of prices."""

    name = "elering"

    def __init__(self, session: ClientSession, base_url: str, *, clock: Clock | None = None) -> None:
        self._upstream = Upstream(session, self.name, policy=_POLICY, clock=clock)
        self._url = f"{base_url.rstrip('/')}/nps/price"

    async def fetch_sheets(self, first: date, last: date) -> list[DaySheet]:
        """Return a sheet for each zone and delivery day from `first` to `last`.

        A day without quotes has no sheet, unless the zone's rows are unreadable. Raises SourceError.
        """
        sheets = []
        for start, end in day_ranges(first, last, _MAX_DAYS):
            # The answer would include a period that starts exactly at the requested end, so a second is subtracted.
            params = {"start": iso_utc(day_start(start)), "end": iso_utc(day_end(end) - 1)}
            sheets += await self._upstream.get(self._url, params, partial(_sheets_in_answer, first=start, last=end))
        return sheets


def _sheets_in_answer(answer: Answer, first: date, last: date) -> list[DaySheet]:
    return parse_sheets(answer.body, first, last)


def parse_sheets(body: bytes, first: date, last: date) -> list[DaySheet]:
    """Return a sheet for each zone and delivery day from `first` to `last` that has quotes in the answer.

    If a zone has an unreadable row, such as a price of NaN, all its sheets have a `fault`. Raises BadAnswer if no zone
    can be read, or if the answer reports a failure or has no data.
    """
    given = _rows_by_zone(body)
    sheets, problems = list[DaySheet](), list[str]()
    zones = [zone for zone in ZONES if zone in given]
    for zone in zones:
        try:
            quotes = [Quote(row.timestamp, row.price) for row in _ROWS_DECODER.decode(given[zone])]
        except _DECODING_ERRORS as error:
            problems.append(f"its rows can't be read: {error}")
            sheets += faulty_sheets(problems[-1], EleringPrices.name, zone, first, last)
        else:
            sheets += day_sheets(EleringPrices.name, zone, quotes, first, last)
    if problems and len(problems) == len(zones):
        raise BadAnswer(EleringPrices.name, problems[0])
    return sheets


def _rows_by_zone(body: bytes) -> Mapping[str, Raw | bytes]:
    try:
        answer = _ANSWER_DECODER.decode(body)
    except _DECODING_ERRORS as error:
        # If a single value is no JSON, the text of each zone is still readable by itself.
        _, *parts = _ZONE_KEY.split(body)
        if not (parts and _SUCCESS.search(body)):
            raise BadAnswer(EleringPrices.name, f"its prices can't be read: {error}") from error
        return {zone.decode(): text[: text.rfind(b"]") + 1] for zone, text in batched(parts, 2, strict=True)}
    if not answer.success or answer.data is None:
        raise BadAnswer(EleringPrices.name, "it reports a failure, and gives no prices")
    return answer.data
