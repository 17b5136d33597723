"""Day-ahead prices of the ENTSO-E Transparency Platform (document A44), for operators with a security token.

A delivery day may have the prices of several auctions, and prices at several resolutions. Only the auction with the
lowest position is used, because it is the coupled day-ahead market (SDAC), which usually has position 1. Of this
auction's prices, only the resolution that covers the largest part of the day is used. If two resolutions cover equal
parts of the day, the finer resolution is used.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from aiohttp import ClientSession

from tunnihind.clock import Clock
from tunnihind.core.market import Zone, day_end, day_start
from tunnihind.errors import BadAnswer, RateLimited, SourceError, SourceRefused, SourceUnreachable
from tunnihind.sources.base import (
    DaySheet,
    Quote,
    day_ranges,
    day_sheets,
    days_between,
    faulty_sheets,
)
from tunnihind.sources.entsoe_xml import SOURCE, Acknowledgement, TimeSeries, parse_document, series_of_lowest_positions
from tunnihind.sources.upstream import Answer, RequestPolicy, Upstream

AREA_CODES: Final[Mapping[str, str]] = {
    "ee": "10Y1001A1001A39I",
    "lv": "10YLV-1001A00074",
    "lt": "10YLT-1001A0008Q",
    "fi": "10YFI-1--------U",
    "se3": "10Y1001A1001A46L",
    "se4": "10Y1001A1001A47J",
    "pl": "10YPL-AREA-----S",
}
"""Energy identification codes (EIC) of the bidding zones."""

_MAX_DAYS: Final = 90
"""A request for prices covers at most this many days, because an answer contains at most 100 documents, one for each
day's prices."""

# After more than 400 requests in a minute, the platform refuses all requests for ten minutes.
_POLICY: Final = RequestPolicy(
    timeout_s=60.0, give_up_after_s=90.0, wait_without_retry_after_s=600.0, max_bytes=8 * 1024 * 1024
)

_LOG: Final = logging.getLogger(__name__)


class EntsoePlatform:
    """Sends requests with the operator's security token to the ENTSO-E platform."""

    def __init__(self, session: ClientSession, base_url: str, token: str, *, clock: Clock | None = None) -> None:
        self._upstream = Upstream(session, SOURCE, policy=_POLICY, secret=token, clock=clock)
        self._url = base_url
        self._token = token
        self._warnings: set[str] = set()

    async def time_series(self, query: Mapping[str, str], first: date, last: date) -> list[TimeSeries]:
        """Return the time series that match `query` for the delivery days from `first` to `last`.

        `query` contains the request's parameters except the range and the token. If the platform has no data, return an
        empty list. If a range of several days is too long for the platform, each half of the range is requested
        separately. Raises SourceError.
        """
        params = {
            **query,
            "periodStart": _utc_minute(day_start(first)),
            "periodEnd": _utc_minute(day_end(last)),
            "securityToken": self._token,
        }
        status, document = await self._upstream.get(self._url, params, self._parse_answer, accepted_statuses=(200, 400))
        if not isinstance(document, Acknowledgement):
            return list(document)
        if document.has_no_data:
            return []
        if document.is_range_too_long and first < last:
            middle = first + (last - first) // 2
            earlier = await self.time_series(query, first, middle)
            return earlier + await self.time_series(query, middle + timedelta(days=1), last)
        raise SourceRefused(SOURCE, document.reason, status=status)

    def warn_once(self, warning: str) -> None:
        """Log a warning, unless it has been logged already."""
        if warning not in self._warnings:
            self._warnings.add(warning)
            _LOG.warning(warning)

    def _parse_answer(self, answer: Answer) -> tuple[int, tuple[TimeSeries, ...] | Acknowledgement]:
        return answer.status, parse_document(answer.body, self._upstream.redacted_text)


class EntsoePrices:
    """ENTSO-E as a source of prices."""

    name = SOURCE

    def __init__(self, platform: EntsoePlatform, zones: Sequence[Zone]) -> None:
        self._platform = platform
        self._zones = zones

    async def fetch_sheets(self, first: date, last: date) -> list[DaySheet]:
        """Return a sheet for each zone and delivery day from `first` to `last`.

        Each zone needs a separate request. If the answer has no prices of a day, the day has no sheet. If a zone's
        request fails, the `fault` of the zone's sheets describes the problem. If the platform can't be reached or
        limits requests, zones that were not requested yet have no sheets. Raises SourceError if the first zone's
        request gets no answer or a refusal, or if the requests for all zones fail.
        """
        return [
            sheet
            for start, end in day_ranges(first, last, _MAX_DAYS)
            for sheet in await self._sheets_of_zones(start, end)
        ]

    async def _sheets_of_zones(self, first: date, last: date) -> list[DaySheet]:
        sheets: list[DaySheet] = []
        failures: list[SourceError] = []
        for zone in self._zones:
            try:
                sheets += await self._zone_sheets(zone, first, last)
            except SourceError as error:
                failures.append(error)
                if zone == self._zones[0] and not isinstance(error, BadAnswer):
                    raise
                sheets += faulty_sheets(error.problem, self.name, zone, first, last)
                if isinstance(error, SourceUnreachable | RateLimited):
                    break  # an unreachable or overloaded platform would not answer for the other zones either
        if len(failures) == len(self._zones):
            raise failures[0]
        return sheets

    async def _zone_sheets(self, zone: Zone, first: date, last: date) -> list[DaySheet]:
        query = {
            "documentType": "A44",
            "in_Domain": AREA_CODES[zone],
            "out_Domain": AREA_CODES[zone],
            "contract_MarketAgreement.type": "A01",
        }
        series = await self._platform.time_series(query, first, last)
        return price_sheets(zone, series, first, last, self._platform.warn_once)


def price_sheets(
    zone: Zone, series: Iterable[TimeSeries], first: date, last: date, warn: Callable[[str], None] = _LOG.warning
) -> list[DaySheet]:
    """Sort a zone's day-ahead prices into sheets by delivery day. Call `warn` with a text about prices left out.

    Raises BadAnswer if the prices aren't in EUR/MWh, or belong to another zone.
    """
    day_ahead = [one for one in series if (one.get("contract_MarketAgreement.type") or "A01") == "A01"]
    quotes: dict[int, list[Quote]] = defaultdict(list)
    for one in series_of_lowest_positions(day_ahead, f"prices of {zone.upper()}", warn):
        _require_attribute(one, "currency_Unit.name", "EUR")
        _require_attribute(one, "price_Measure_Unit.name", "MWH")
        _require_attribute(one, "in_Domain.mRID", AREA_CODES[zone])
        for period in one.periods:
            quotes[period.step_s] += (Quote(ts, value) for ts, value in period.known_values())
    by_step = {
        step_s: {sheet.day: sheet for sheet in day_sheets(SOURCE, zone, found, first, last, step_s)}
        for step_s, found in quotes.items()
    }
    chosen = []
    for day in days_between(first, last):
        steps = [step_s for step_s, sheets in by_step.items() if day in sheets]
        if steps:
            best = max(steps, key=lambda step_s: (_covered_s(by_step[step_s][day]), -step_s))
            chosen.append(by_step[best][day])
    return chosen


def _covered_s(sheet: DaySheet) -> int:
    return len({quote.ts for quote in sheet.quotes}) * sheet.step_s


def _require_attribute(series: TimeSeries, attribute: str, value: str) -> None:
    given = series.get(attribute)
    if given != value:
        raise BadAnswer(SOURCE, f"a TimeSeries has {attribute} {given}, not {value}")


def _utc_minute(ts: int) -> str:
    return datetime.fromtimestamp(ts, UTC).strftime("%Y%m%d%H%M")
