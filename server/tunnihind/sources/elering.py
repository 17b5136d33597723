"""Day-ahead prices of the Estonian transmission operator's dashboard: no key, all four zones in one answer.

`GET /nps/price?start=&end=`: instants in ISO 8601 with a zone, `end` included, at most a year; rows carry unix
seconds. Quarters since delivery day 2025-10-01, hours before: nothing in an answer says which, so the gate infers it.
"""

from datetime import date
from typing import Annotated, Final

import msgspec
from aiohttp import ClientSession
from msgspec import Meta, Struct

from tunnihind.clock import Clock
from tunnihind.errors import BadAnswer
from tunnihind.market import ZONES, Zone, day_end, day_start, iso_utc
from tunnihind.sources.base import DaySheet, Quote
from tunnihind.sources.sheets import day_sheets, spans
from tunnihind.sources.upstream import Manners, Upstream

_MAX_DAYS: Final = 365
_MANNERS: Final = Manners(total_s=60.0, give_up_s=90.0, max_bytes=8 * 1024 * 1024)

_YEAR_2000: Final = 946_684_800
_YEAR_2100: Final = 4_102_444_800

# Milliseconds, as other services send them, are outside.
type _UnixSeconds = Annotated[int, Meta(ge=_YEAR_2000, le=_YEAR_2100)]


class _Row(Struct):
    timestamp: _UnixSeconds
    price: float


class ZoneRows(Struct):
    """The rows of an answer by zone; a zone that is not in it has none."""

    ee: tuple[_Row, ...] = ()
    lv: tuple[_Row, ...] = ()
    lt: tuple[_Row, ...] = ()
    fi: tuple[_Row, ...] = ()

    def of(self, zone: Zone) -> list[Quote]:
        """Return one zone's rows as quotes."""
        rows: tuple[_Row, ...] = getattr(self, zone)
        return [Quote(row.timestamp, row.price) for row in rows]


class _PriceAnswer(Struct):
    success: bool
    data: ZoneRows | None = None


_DECODER: Final = msgspec.json.Decoder(_PriceAnswer)


class EleringPrices:
    """Elering as a source of prices."""

    name = "elering"

    def __init__(self, session: ClientSession, base_url: str, *, clock: Clock | None = None) -> None:
        self._upstream = Upstream(session, self.name, manners=_MANNERS, clock=clock)
        self._url = f"{base_url.rstrip('/')}/nps/price"

    async def prices(self, first: date, last: date) -> list[DaySheet]:
        """Return a sheet per zone and delivery day from `first` to `last` with any quote. Raises SourceError."""
        sheets = []
        for start, end in spans(first, last, _MAX_DAYS):
            # `end` is included, and a day's last second belongs to no period's start.
            params = {"start": iso_utc(day_start(start)), "end": iso_utc(day_end(end) - 1)}
            zones = await self._upstream.get(self._url, params, lambda answer: parse_prices(answer.body))
            for zone in ZONES:
                sheets += day_sheets(self.name, zone, zones.of(zone), start, end)
        return sheets


def parse_prices(body: bytes) -> ZoneRows:
    """Read an answer's rows. Raises BadAnswer, naming the place, on anything but numbers where they belong."""
    try:
        answer = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadAnswer(EleringPrices.name, f"its prices can't be read: {error}") from error
    if not answer.success or answer.data is None:
        raise BadAnswer(EleringPrices.name, "it says that it has no success, and gives no prices")
    return answer.data
