"""Fetches the weather of past days from Open-Meteo's Historical Weather API.

The values come from the same weather model as the forecasts, ECMWF's IFS at 9 km: the first hours of its runs of 00 and
12 UTC, joined. They are available since 2017, with a delay of about two days. Values that are not available yet are
null. A request for a month counts as 2.2 calls for each point.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from aiohttp import ClientSession

from tunnihind.clock import Clock, SystemClock
from tunnihind.core.market import DAY_S, HOUR_S, utc_midnight
from tunnihind.known import ObservedSeries
from tunnihind.sources.base import BackFillPace, Cadence
from tunnihind.sources.open_meteo import POLICY, PointsRequest, request_series
from tunnihind.sources.upstream import Upstream
from tunnihind.weather_points import POINTS, WeatherPoint

_SOURCE: Final = "open-meteo-archive"
_MAX_HOURS: Final = 31 * 24
_DAYS_PER_CALL: Final = 14
_CALLS_PER_MINUTE: Final = 150.0
"""A quarter of the calls that the free service allows, because weather runs may be fetched at the same time."""
_NEEDED_DAYS: Final = 1100
"""The price forecast learns from at most about 1,020 days."""


class OpenMeteoArchive:
    """Open-Meteo as a source of observed weather."""

    name = _SOURCE
    # Each try counts as many calls, and the newest observations are two days late anyway.
    cadence = Cadence(every_s=DAY_S, longest_retry_s=6 * HOUR_S)
    back_fill = BackFillPace(by="month", after_s=8 * DAY_S)

    def __init__(
        self,
        session: ClientSession,
        url: str,
        *,
        points: Sequence[WeatherPoint] = POINTS,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._upstream = Upstream(session, _SOURCE, policy=POLICY, clock=self._clock)
        self._url = f"{url.rstrip('/')}/v1/archive"
        self._points = points

    @property
    def history_since(self) -> date:
        """The first UTC day whose weather the price forecast needs."""
        return self._today() - timedelta(days=_NEEDED_DAYS)

    async def observations(self, first: date, last: date) -> Mapping[str, ObservedSeries]:
        """Return the weather of the UTC days from `first` to `last`, at most a month, by covariate.

        Today and later days are left out. Pauses after the request, because the service limits calls per minute. Raises
        SourceError.
        """
        last = min(last, self._today() - timedelta(days=1))
        if last < first:
            return {}
        days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
        ask = PointsRequest(self._url, self._points, days, utc_midnight(first), _MAX_HOURS)
        found = await request_series(self._upstream, ask, self._clock)
        calls = len(self._points) * math.ceil(((last - first).days + 1) / _DAYS_PER_CALL)
        await self._clock.sleep(calls * 60.0 / _CALLS_PER_MINUTE)
        return {name: ObservedSeries(series.start_ts, series.values) for name, series in found.items()}

    def _today(self) -> date:
        return datetime.fromtimestamp(self._clock.now(), UTC).date()
