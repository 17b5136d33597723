"""Fetches the forecasts of one weather model from Open-Meteo, run by run if possible.

The runs of the weather model, ECMWF's IFS at 9 km, come from Open-Meteo's Single Runs API. Past and live weather
forecasts come from this weather model, so that the price model is trained on the kind of data that it later uses. Each
run is identified by the time of its initialisation, at 00, 06, 12 or 18 UTC. A run from `archived_forecasts` counts as
issued 6 hours after its initialisation. A run from `newest_forecasts` counts as issued when it was fetched. As a
fallback, `newest_forecasts` uses Open-Meteo's forecast API. The forecast API gives the newest values of the same
weather model, but doesn't say which run each value comes from.

The free service allows 600 calls a minute, 5,000 an hour and 10,000 a day. A request for up to 10 variables and two
weeks counts as one call for each point.
"""

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from typing import Final

import msgspec
import numpy as np
from aiohttp import ClientSession
from msgspec import Struct

from tunnihind.clock import Clock, SystemClock
from tunnihind.core.market import DAY_S, HOUR_S, iso_utc, utc_midnight
from tunnihind.errors import BadAnswer, RateLimited, SourceError, SourceRefused, WeatherRunMissing
from tunnihind.known import IssuedSeries
from tunnihind.sources.base import BackFillPace, Cadence, days_between
from tunnihind.sources.upstream import RequestPolicy, Upstream
from tunnihind.weather_points import POINTS, VARIABLES, WeatherPoint, WeatherVariable, covariate_name

_LOG: Final = logging.getLogger(__name__)

WEATHER_MODEL: Final = "ecmwf_ifs"
RUNS_SINCE: Final = date(2024, 3, 14)
"""The first day whose runs the service keeps, according to its documentation."""

RUN_EVERY_S: Final = 6 * HOUR_S
RUN_AVAILABLE_AFTER_S: Final = 6 * HOUR_S
"""A run is not requested until this many seconds after its initialisation.

According to the service's documentation, runs of global models appear 4 to 6 hours after their initialisation.
"""

FORECAST_DAYS: Final = 10
"""Each request asks for this many days of weather, because the price forecast reaches at most eight days after today,
and the newest run may be from yesterday."""

_SOURCE: Final = "open-meteo"
_LONG_RUN_S: Final = 240 * HOUR_S
"""The seconds that a complete answer for a run of 00 or 12 UTC covers."""
_SHORT_RUN_S: Final = 144 * HOUR_S
"""The seconds that a complete answer for a run of 06 or 18 UTC covers."""
_MAX_MISSING_S: Final = 6 * HOUR_S
"""A run counts as complete if at most this many seconds are missing at its end, because the last values of a run of 00
or 12 UTC are 6 hours apart."""
_COMPLETE_AFTER_S: Final = 12 * HOUR_S
"""The service publishes the first days of a run before the other days. This many seconds after its initialisation, a
run counts as complete even if its last days are missing."""
_MAX_RUNS_TRIED: Final = 4
"""`newest_forecasts` requests at most this many of the newest runs: the runs of 24 hours."""
_FORECAST_API_EVERY_S: Final = 3 * HOUR_S
"""While the forecast API replaces the runs, its values are fetched at most once in this many seconds."""

_CALLS_PER_MINUTE: Final = 300.0
_VARIABLES_PER_CALL: Final = 10
_MAX_HOURS: Final = 16 * 24

POLICY: Final = RequestPolicy(timeout_s=30.0, attempts=3, give_up_after_s=45.0, max_bytes=2 * 1024 * 1024)

_NO_RUN_PATTERN: Final = re.compile(r"\brun\b|not available|unavailable|no data|not found|allowed range", re.IGNORECASE)
_BROKEN_OFF_MARK: Final = b"modelRunUnavailable"
"""If the run is missing, an answer with status 200 may break off with this text."""


class PointAnswer(Struct):
    """The hourly values at one point and their units, by variable.

    `hourly["time"]` contains the instants of the values in unix seconds.
    """

    hourly_units: dict[str, str]
    hourly: dict[str, tuple[float | None, ...]]


_DECODER: Final = msgspec.json.Decoder(PointAnswer | tuple[PointAnswer, ...])

type _Series = dict[str, IssuedSeries]


class OpenMeteo:
    """Open-Meteo as a source of covariates."""

    name = _SOURCE
    cadence = Cadence(every_s=20 * 60)
    back_fill = BackFillPace(by="day", after_s=_COMPLETE_AFTER_S, max_days_an_hour=170, max_days_a_day=340)
    """With 14 points, the back-fill uses less than half of the calls that the free service allows per hour and per
    day."""
    history_since = RUNS_SINCE

    def __init__(
        self,
        session: ClientSession,
        forecast_url: str,
        single_runs_url: str,
        *,
        points: Sequence[WeatherPoint] = POINTS,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._upstream = Upstream(session, _SOURCE, policy=POLICY, clock=self._clock)
        self._forecast_url = f"{forecast_url.rstrip('/')}/v1/forecast"
        self._single_runs_url = f"{single_runs_url.rstrip('/')}/v1/forecast"
        self._points = points
        self._returned_run: int | None = None
        self._forecast_api_used_at: int | None = None
        self.calls_a_run = len(points) * math.ceil(len(VARIABLES) / _VARIABLES_PER_CALL)
        """The service counts a request for one run as this many calls."""
        self.covariate_names = frozenset(covariate_name(variable, point) for variable in VARIABLES for point in points)

    def has_news(self, now: int, /) -> bool:
        """Return whether the service should have a newer run than the last run that `newest_forecasts` returned."""
        return self._returned_run is None or self._returned_run != newest_expected_run(now)

    async def newest_forecasts(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the forecasts of the newest complete weather run, by covariate.

        The issue time of a run is the time at which the run arrives. If an earlier call returned this run, return an
        empty mapping. If none of the four newest runs is complete, or a request for a run fails, return the values of
        the forecast API. While the forecast API replaces the runs, return an empty mapping for 3 hours after its values
        were fetched. Raises RateLimited if the service asks for a pause, and SourceError if the forecast API fails.
        """
        try:
            found = await self._newest_run(now)
        except RateLimited:
            raise
        except SourceError as error:
            return await self._forecast_api_series(now, error)
        if self._forecast_api_used_at is not None:
            _LOG.info("the runs of the weather model are available again")
            self._forecast_api_used_at = None
        return found

    async def archived_forecasts(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return the forecasts of the 00 UTC runs of the days from `first` to `last`, by covariate.

        Each run counts as issued 6 hours after its initialisation. Missing runs are left out, and so are incomplete
        runs that the service may still extend, and runs less than 6 hours old. `archived_forecasts` pauses after each
        request, because the service limits calls per minute. The service has no runs from before `history_since`.
        Raises SourceError.
        """
        now = self._clock.now()
        series: dict[str, list[IssuedSeries]] = {}
        for day in days_between(max(first, self.history_since), last):
            run_ts = utc_midnight(day)
            if run_ts + RUN_AVAILABLE_AFTER_S > now:
                break
            try:
                found = await self._request_run(run_ts)
            except WeatherRunMissing as error:
                _LOG.info("%s; the run is left out", error)
                found = {}
            await self._clock.sleep(self.calls_a_run * 60.0 / _CALLS_PER_MINUTE)
            if now < run_ts + _COMPLETE_AFTER_S and not _is_complete_run(found, run_ts):
                continue
            for name, issued in _with_issue(found, run_ts + RUN_AVAILABLE_AFTER_S).items():
                series.setdefault(name, []).append(issued)
        return series

    async def _newest_run(self, now: int) -> _Series:
        newest = newest_expected_run(now)
        for run_ts in range(newest, newest - _MAX_RUNS_TRIED * RUN_EVERY_S, -RUN_EVERY_S):
            if run_ts == self._returned_run:
                return {}
            try:
                found = await self._request_run(run_ts)
            except WeatherRunMissing as error:
                _LOG.debug("%s", error)
                continue
            if found and (now >= run_ts + _COMPLETE_AFTER_S or _is_complete_run(found, run_ts)):
                self._returned_run = run_ts
                return _with_issue(found, max(now, int(self._clock.now())))
        raise WeatherRunMissing(_SOURCE, f"there is no run of the last {_MAX_RUNS_TRIED * RUN_EVERY_S // HOUR_S} hours")

    async def _forecast_api_series(self, now: int, error: SourceError) -> _Series:
        """Return the forecast API's values for `FORECAST_DAYS` days from today (UTC) on.

        If the forecast API already replaces the runs, and answered less than 3 hours ago, return an empty mapping.
        """
        if (
            self._forecast_api_used_at is not None
            and self._forecast_api_used_at <= now < self._forecast_api_used_at + _FORECAST_API_EVERY_S
        ):
            return {}
        if self._forecast_api_used_at is None:
            _LOG.warning("%s; the forecast API is used instead", error)
        today = datetime.fromtimestamp(now, UTC).date()
        last = today + timedelta(days=FORECAST_DAYS - 1)
        found = await self._request_series(
            self._forecast_url, {"start_date": today.isoformat(), "end_date": last.isoformat()}, utc_midnight(today)
        )
        if not found:
            raise BadAnswer(_SOURCE, "its forecast has no plausible value")
        self._forecast_api_used_at = now
        return _with_issue(found, max(now, int(self._clock.now())))

    async def _request_run(self, run_ts: int) -> _Series:
        """Return the forecasts of the run that was initialised at `run_ts`. Raises WeatherRunMissing, SourceError."""
        run = datetime.fromtimestamp(run_ts, UTC).strftime("%Y-%m-%dT%H:%M")
        try:
            found = await self._request_series(
                self._single_runs_url, {"run": run, "forecast_days": str(FORECAST_DAYS)}, run_ts
            )
        except RateLimited:
            raise
        except SourceRefused as error:
            is_missing = error.status in {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND}
            if is_missing and _NO_RUN_PATTERN.search(error.problem):
                raise WeatherRunMissing(
                    _SOURCE, f"the run of {iso_utc(run_ts)} is not available: {error.problem}"
                ) from None
            raise
        return {name: replace(issued, run_ts=run_ts) for name, issued in found.items()}

    async def _request_series(self, url: str, time_range: Mapping[str, str], start_ts: int) -> _Series:
        ask = PointsRequest(url, self._points, time_range, start_ts, _MAX_HOURS)
        return await request_series(self._upstream, ask, self._clock)


@dataclass(frozen=True, slots=True)
class PointsRequest:
    """A request for the hourly weather at `points`. `time_range` holds the parameters that set the hours.

    The hours of the answer must begin at `start_ts`, or at 00 UTC of the same day, and must not be more than
    `max_hours`.
    """

    url: str
    points: Sequence[WeatherPoint]
    time_range: Mapping[str, str]
    start_ts: int
    max_hours: int


async def request_series(upstream: Upstream, ask: PointsRequest, clock: Clock) -> dict[str, IssuedSeries]:
    """Request the hourly values of all variables, and return them by covariate. Raises SourceError.

    Covariates without a plausible value are left out. If the service asks for a pause until an hourly or daily limit
    ends, RateLimited says so.
    """
    params = {
        "latitude": ",".join(f"{point.latitude:g}" for point in ask.points),
        "longitude": ",".join(f"{point.longitude:g}" for point in ask.points),
        "hourly": ",".join(variable.name for variable in VARIABLES),
        "models": WEATHER_MODEL,
        "wind_speed_unit": "ms",
        "timeformat": "unixtime",
        "timezone": "GMT",
        **ask.time_range,
    }
    try:
        return await upstream.get(ask.url, params, lambda answer: _parse_series(answer.body, ask, upstream.source))
    except RateLimited as error:
        wait_s = max(error.retry_after_s, _wait_for_limit_s(error.problem, clock.now()))
        limited = RateLimited(upstream.source, error.problem, status=error.status, retry_after_s=wait_s)
    raise limited


def _parse_series(body: bytes, ask: PointsRequest, source: str) -> dict[str, IssuedSeries]:
    locations = parse_point_answers(body, source)
    if len(locations) != len(ask.points):
        raise BadAnswer(source, f"it answers for {len(locations)} points instead of {len(ask.points)}")
    hours = _hour_instants(locations[0], ask, source)
    series: dict[str, IssuedSeries] = {}
    for point, location in zip(ask.points, locations, strict=True):
        if location.hourly.get("time") != hours:
            raise BadAnswer(source, f"the hours at {point.name} differ from those at the first point")
        for variable in VARIABLES:
            values = _plausible_values(location, variable, len(hours), point, source)
            known = np.flatnonzero(np.isfinite(values))
            if known.size:
                # The service labels an hour's mean with the end of the hour.
                first_ts = int(hours[known[0]]) - (HOUR_S if variable.past_hour_mean else 0)
                part = values[known[0] : known[-1] + 1]
                series[covariate_name(variable, point)] = IssuedSeries(ask.start_ts, first_ts, part)
    return series


def newest_expected_run(now: float) -> int:
    """Return the initialisation time (unix seconds) of the newest run that is at least 6 hours old at `now`."""
    return int(now - RUN_AVAILABLE_AFTER_S) // RUN_EVERY_S * RUN_EVERY_S


def parse_point_answers(body: bytes, source: str) -> tuple[PointAnswer, ...]:
    """Parse the answer of `source` for one point (an object) or for several points (a list).

    Raises WeatherRunMissing, BadAnswer.
    """
    if _BROKEN_OFF_MARK in body[-1000:]:
        raise WeatherRunMissing(source, "its answer broke off: there is no such run")
    try:
        answer = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadAnswer(source, f"its forecast can't be read: {error}") from error
    return (answer,) if isinstance(answer, PointAnswer) else answer


def _hour_instants(location: PointAnswer, ask: PointsRequest, source: str) -> tuple[float | None, ...]:
    """Return the instants of an answer's hours.

    Raises BadAnswer if there are no hours or too many, if the first is neither `ask.start_ts` nor 00 UTC of that day,
    or if they are not one hour apart.
    """
    hours = location.hourly.get("time", ())
    first = hours[0] if hours else None
    if first not in {ask.start_ts, ask.start_ts // DAY_S * DAY_S} or len(hours) > ask.max_hours:
        raise BadAnswer(
            source, f"its {len(hours)} hours do not begin at {iso_utc(ask.start_ts)}, as asked, or are too many"
        )
    if hours != tuple(range(int(first), int(first) + len(hours) * HOUR_S, HOUR_S)):
        raise BadAnswer(source, "its hours are not one hour apart")
    return hours


def _plausible_values(
    location: PointAnswer, variable: WeatherVariable, hours: int, point: WeatherPoint, source: str
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return the values of a weather variable at a point. A missing or impossible value becomes NaN.

    Raises BadAnswer if the number of values is wrong, or if the unit is wrong and any value is given.
    """
    unit = location.hourly_units.get(variable.name)
    values = location.hourly.get(variable.name, ())
    is_empty = not any(value is not None for value in values)
    if len(values) != hours or (unit != variable.unit and not is_empty):
        problem = f"{variable.name} at {point.name} has {len(values)} values in {unit}"
        raise BadAnswer(source, f"{problem}, not {hours} in {variable.unit}")
    numbers = np.array([math.nan if value is None else value for value in values])
    plausible = (numbers >= variable.low) & (numbers <= variable.high)
    return np.where(plausible, numbers, math.nan).astype(np.float32)


def _is_complete_run(found: Mapping[str, IssuedSeries], run_ts: int) -> bool:
    """Return whether a run has series that all end at most `_MAX_MISSING_S` seconds before a complete answer ends."""
    reach_s = _LONG_RUN_S if run_ts % (2 * RUN_EVERY_S) == 0 else _SHORT_RUN_S
    ends = (issued.start_ts + issued.values.size * HOUR_S for issued in found.values())
    return min(ends, default=0) >= run_ts + reach_s - _MAX_MISSING_S


def _with_issue(found: Mapping[str, IssuedSeries], issued_ts: int) -> _Series:
    return {name: replace(issued, issued_ts=issued_ts) for name, issued in found.items()}


def _wait_for_limit_s(problem: str, now: float) -> float:
    """Return the seconds until the end of the hourly or daily limit that `problem` names, or 0 if it names neither.

    An hourly limit lasts until the next full hour. A daily limit lasts until the next day (UTC).
    """
    text = problem.lower()
    if "daily" in text:
        return DAY_S - now % DAY_S
    return HOUR_S - now % HOUR_S if "hourly" in text else 0.0
