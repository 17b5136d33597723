"""Weather as it is forecast now, and as it had been forecast 1 to 7 days ahead, from Open-Meteo.

Both come from one weather model, ECMWF's IFS at 0.25 degrees, because the forecast must learn from the same data that
it gets live. (The 9 km model `ecmwf_ifs` has no previous runs.)
The free service allows 600 calls a minute and 5 000 an hour. A request for more than 10 variables or 2 weeks counts as
several calls for each point. Sometimes the service does not answer at all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec
import numpy as np
from aiohttp import ClientSession
from msgspec import Struct

from tunnihind.clock import Clock, SystemClock
from tunnihind.errors import BadAnswer
from tunnihind.known import IssuedSeries
from tunnihind.market import DAY_S, HOUR_S, utc_midnight
from tunnihind.sources.base import Cadence, spans
from tunnihind.sources.upstream import Answer, RequestPolicy, Upstream
from tunnihind.sources.weather_points import POINTS, VARIABLES, WeatherPoint, WeatherVariable, covariate_name

MODEL: Final = "ecmwf_ifs025"
LEAD_DAYS: Final = range(1, 8)
PREVIOUS_RUNS_SINCE: Final[Mapping[str, date]] = {"ecmwf_ifs025": date(2024, 1, 1)}
"""The first day of the Previous Runs, by weather model."""

FORECAST_DAYS: Final = 10
"""The price forecast reaches the end of the eighth day from today. A mean of the past hour is given an hour later."""

_SOURCE: Final = "open-meteo"
_SPAN_DAYS: Final = 14
_CALLS_PER_MINUTE: Final = 300.0
_VARIABLES_PER_CALL: Final = 10

_POLICY: Final = RequestPolicy(timeout_s=30.0, attempts=3, give_up_after_s=45.0, max_bytes=2 * 1024 * 1024)


class Location(Struct):
    """One point's part of an answer: columns of hourly values by name, with `time` (unix seconds) as one of them."""

    hourly_units: dict[str, str]
    hourly: dict[str, tuple[float | None, ...]]


_DECODER: Final = msgspec.json.Decoder(Location | tuple[Location, ...])


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of an answer: a variable as forecast `lead_days` ahead, or now (0)."""

    variable: WeatherVariable
    lead_days: int = 0

    @property
    def name(self) -> str:
        return f"{self.variable.name}_previous_day{self.lead_days}" if self.lead_days else self.variable.name


class OpenMeteo:
    """Open-Meteo as a source of covariates."""

    name = _SOURCE
    cadence = Cadence(every_s=3 * HOUR_S)
    history_since = PREVIOUS_RUNS_SINCE[MODEL]

    def __init__(
        self,
        session: ClientSession,
        forecast_url: str,
        previous_runs_url: str,
        *,
        points: Sequence[WeatherPoint] = POINTS,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._upstream = Upstream(session, _SOURCE, policy=_POLICY, clock=self._clock)
        self._forecast_url = f"{forecast_url.rstrip('/')}/v1/forecast"
        self._previous_runs_url = f"{previous_runs_url.rstrip('/')}/v1/forecast"
        self._points = points
        self.names = frozenset(covariate_name(variable, point) for variable in VARIABLES for point in points)

    async def current(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the newest forecast from the start of today (UTC) on, 10 days, issued `now`. Raises SourceError."""
        today = datetime.fromtimestamp(now, UTC).date()
        columns = [_Column(variable) for variable in VARIABLES]
        last = today + timedelta(days=FORECAST_DAYS - 1)
        found = await self._fetch(self._forecast_url, columns, today, last)
        series = {
            covariate_name(column.variable, point): IssuedSeries(now, start_ts, values)
            for (point, column), (start_ts, values) in found.items()
            if not np.isnan(values).all()
        }
        if not series:
            raise BadAnswer(_SOURCE, "its forecast holds no plausible value at all")
        return series

    async def archived(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return, per name, a series for each of 7 to 1 days ahead, over the UTC days from `first` to `last`.

        It is asked in pieces of two weeks, slowly enough for the service's limits: a month takes about half a minute.
        There is nothing before `history_since`. A series without any value is left out. Raises SourceError.
        """
        columns = [_Column(variable, lead) for lead in reversed(LEAD_DAYS) for variable in VARIABLES]
        pieces = [
            await self._previous_runs(columns, start, end)
            for start, end in spans(max(first, self.history_since), last, _SPAN_DAYS)
        ]
        series: dict[str, list[IssuedSeries]] = {}
        for point in self._points if pieces else ():
            for column in columns:
                start_ts = pieces[0][point, column][0]
                values = np.concatenate([piece[point, column][1] for piece in pieces])
                if not np.isnan(values).all():
                    lead_s = column.lead_days * DAY_S
                    issue = IssuedSeries(start_ts - lead_s, start_ts, values, lead_s)
                    series.setdefault(covariate_name(column.variable, point), []).append(issue)
        return series

    async def _previous_runs(self, columns: Sequence[_Column], first: date, last: date) -> _Found:
        found = await self._fetch(self._previous_runs_url, columns, first, last)
        calls = len(self._points) * math.ceil(len(columns) / _VARIABLES_PER_CALL)
        await self._clock.sleep(calls * 60.0 / _CALLS_PER_MINUTE)
        return found

    async def _fetch(self, url: str, columns: Sequence[_Column], first: date, last: date) -> _Found:
        params = {
            "latitude": ",".join(f"{point.latitude:g}" for point in self._points),
            "longitude": ",".join(f"{point.longitude:g}" for point in self._points),
            "hourly": ",".join(column.name for column in columns),
            "models": MODEL,
            "wind_speed_unit": "ms",
            "timeformat": "unixtime",
            "timezone": "GMT",
            "start_date": first.isoformat(),
            "end_date": last.isoformat(),
        }

        def read(answer: Answer) -> _Found:
            return self._read(answer.body, columns, utc_midnight(first), utc_midnight(last) + DAY_S)

        return await self._upstream.get(url, params, read)

    def _read(self, body: bytes, columns: Sequence[_Column], start_ts: int, end_ts: int) -> _Found:
        locations = parse_locations(body)
        if len(locations) != len(self._points):
            raise BadAnswer(_SOURCE, f"it answers for {len(locations)} points, not for the {len(self._points)} asked")
        hours = tuple(range(start_ts, end_ts, HOUR_S))
        found: _Found = {}
        for point, location in zip(self._points, locations, strict=True):
            if location.hourly.get("time") != hours:
                raise BadAnswer(_SOURCE, f"the hours at {point.name} are not those asked for")
            for column in columns:
                # A mean of the past hour belongs to the hour before its instant.
                shift_s = HOUR_S if column.variable.past_hour_mean else 0
                found[point, column] = start_ts - shift_s, _values(location, column, len(hours), point)
        return found


type _Found = dict[tuple[WeatherPoint, _Column], tuple[int, np.ndarray[tuple[int], np.dtype[np.float32]]]]


def parse_locations(body: bytes) -> tuple[Location, ...]:
    """Read an answer: a list of objects, or one object when one point was asked for."""
    try:
        answer = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadAnswer(_SOURCE, f"its forecast can't be read: {error}") from error
    return (answer,) if isinstance(answer, Location) else answer


def _values(
    location: Location, column: _Column, hours: int, point: WeatherPoint
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return a column's values, NaN where they are null or out of bounds."""
    unit = location.hourly_units.get(column.name)
    values = location.hourly.get(column.name, ())
    if unit != column.variable.unit or len(values) != hours:
        problem = f"{column.name} at {point.name} has {len(values)} values in {unit}"
        raise BadAnswer(_SOURCE, f"{problem}, not {hours} in {column.variable.unit}")
    numbers = np.array([math.nan if value is None else value for value in values], np.float32)
    plausible = (numbers >= column.variable.low) & (numbers <= column.variable.high)
    return np.where(plausible, numbers, np.float32(math.nan))
