"""A server that answers as Elering's dashboard does."""

import csv
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from aiohttp import web

from tests.support.upstreams.server import FakeUpstream
from tunnihind.core.market import DAY_S, ZONES, Zone, day_end, day_start, delivery_day, publication_time

type Quotes = dict[Zone, dict[int, float]]


def flat_quotes(first: date, last: date, step_s: int, *, level: float = 50.0) -> Quotes:
    """Return plausible quotes of all zones for some delivery days: a slow saw-tooth around `level`.

    No day nearly repeats another day within four weeks, because a copy would be held back.
    """
    starts = range(day_start(first), day_end(last), step_s)
    return {
        zone: {
            ts: round(level + 10 * offset + (ts // step_s) % 23 + (ts // DAY_S % 29 - 14) * 1.37, 2) for ts in starts
        }
        for offset, zone in enumerate(ZONES)
    }


def csv_quotes(file: Path) -> Quotes:
    """Read quotes from a CSV with the columns `ts,ee,lv,lt,fi`. An empty cell is a missing quote."""
    quotes: Quotes = {zone: {} for zone in ZONES}
    with file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            for zone in ZONES:
                if row[zone]:
                    quotes[zone][int(row["ts"])] = float(row[zone])
    return quotes


class FakeElering(FakeUpstream):
    """Serves `quotes` like Elering. Tests may change `quotes` at any time.

    With `now`, a delivery day's quotes appear at the day's publication.
    """

    def __init__(self, quotes: Quotes, *, now: Callable[[], float] | None = None) -> None:
        super().__init__()
        self.quotes = quotes
        self._now = now

    def cut(self, day: date, kept: int) -> None:
        """Publish only the first `kept` quotes of a delivery day, as on 2025-10-15."""
        for quotes in self.quotes.values():
            for ts in sorted(ts for ts in quotes if delivery_day(ts) == day)[kept:]:
                del quotes[ts]

    def zero(self, day: date) -> None:
        """Publish zeros for a delivery day, as on 2024-04-16."""
        for quotes in self.quotes.values():
            quotes |= {ts: 0.0 for ts in quotes if delivery_day(ts) == day}

    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        """Answer `/nps/price`."""
        if not path.endswith("/nps/price"):
            return _refusal(404, "Not Found")
        try:
            start, end = _instant(query["start"]), _instant(query["end"])
        except KeyError, ValueError:
            return _refusal(400, "start and end have to be instants with a zone")
        if end - start > timedelta(days=366):
            return _refusal(400, "Maximum period is 1 year")
        low, high = start.timestamp(), end.timestamp()
        data = {
            zone: [
                {"timestamp": ts, "price": price} for ts, price in sorted(quotes.items()) if self._shown(ts, low, high)
            ]
            for zone, quotes in self.quotes.items()
        }
        return web.json_response({"success": True, "data": data})

    def _shown(self, ts: int, low: float, high: float) -> bool:
        if not low <= ts <= high:
            return False
        return self._now is None or publication_time(delivery_day(ts)) <= self._now()


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(text)
    return instant.astimezone(UTC)


def _refusal(status: int, message: str) -> web.Response:
    return web.json_response({"status": status, "messages": [message]}, status=status)
