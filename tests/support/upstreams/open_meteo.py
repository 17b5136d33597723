"""A server that answers as Open-Meteo's Forecast, Single Runs and Historical Weather APIs do."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from aiohttp import web

from tests.support.upstreams.server import FakeUpstream
from tunnihind.core.market import DAY_S, HOUR_S

type Weather = Callable[[str, int, int, int], float | None]
"""A function from a variable, a point's number, days of lead and an instant to a value."""

_UNITS = {"wind_speed_100m": "m/s", "temperature_2m": "°C", "shortwave_radiation": "W/m²"}
_DECIMALS = {"wind_speed_100m": 2, "temperature_2m": 1, "shortwave_radiation": 0}
_MODELS = {"ecmwf_ifs"}
_MAX_DAYS = 16
_ARCHIVE_DELAY_S = 2 * DAY_S
_NOT_WITH_A_RUN = ("start_date", "end_date", "start_hour", "end_hour", "past_days")


def plain_weather(variable: str, point: int, lead_days: int, ts: int) -> float | None:
    """Return values that show their origin: the hour of the day, a tenth per point, a hundredth per lead."""
    return ts // HOUR_S % 24 + point / 10 + lead_days / 100


class FakeOpenMeteo(FakeUpstream):
    """Serves the values of `weather` like Open-Meteo, at three addresses instead of three hosts.

    By the clock `now`, a run is available `published_after_s` after its initialisation, unless it is in `missing`. A
    run in `reaches` ends that many hours after its initialisation. `asked_at` notes the times of the requests by run.

    Runs have hourly steps to 90 hours, 3-hourly steps to 144 and 6-hourly steps to 360. Runs of 06 and 18 UTC end at
    144. The hours between steps are interpolated.

    The archive has the values of lead 0. Values of the last two days are null. It refuses days after today.
    """

    def __init__(self, weather: Weather = plain_weather, *, now: Callable[[], float] | None = None) -> None:
        super().__init__()
        self.weather = weather
        self.missing: set[int] = set()
        self.reaches: dict[int, int] = {}
        self.asked_at: list[tuple[float, int]] = []
        self.published_after_s = 5 * HOUR_S + 45 * 60
        self._now = now

    @property
    def single_runs_url(self) -> str:
        """The address of the Single Runs API."""
        return f"{self.url}/single-runs"

    @property
    def archive_url(self) -> str:
        """The address of the Historical Weather API."""
        return f"{self.url}/archive"

    @property
    def runs_asked(self) -> list[str]:
        """The requested runs, in order."""
        return [query["run"] for query in self.requests if "run" in query]

    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        """Answer a request to one of the APIs with a list of objects, or with one object for one point."""
        api = {
            "/v1/forecast": "forecast",
            "/single-runs/v1/forecast": "single runs",
            "/archive/v1/archive": "archive",
        }.get(path)
        if api is None:
            raise web.HTTPNotFound
        columns = query["hourly"].split(",")
        reason = _refusal(api, query, columns)
        if api == "archive" and self._now is not None and not reason:
            today = f"{datetime.fromtimestamp(self._now(), UTC).date()}"
            if late := [name for name in ("start_date", "end_date") if query[name] > today]:
                reason = f"Parameter '{late[0]}' is out of allowed range from 1940-01-01 to {today}"
        run_ts = None if reason or api != "single runs" else _instant(query["run"])
        if run_ts is not None and self._now is not None:
            self.asked_at.append((self._now(), run_ts))
        if run_ts is not None and not self._is_there(run_ts):
            run = f"{datetime.fromtimestamp(run_ts, UTC):%Y-%m-%dT%H:%MZ}"
            reason = f"The requested model run is not available. Model: {query['models']}, run: {run}"
        if reason:
            return web.json_response({"error": True, "reason": reason}, status=400)
        if run_ts is None:
            hours = range(_instant(query["start_date"]), _instant(query["end_date"]) + DAY_S, HOUR_S)
        else:
            hours = range(run_ts, run_ts + int(query.get("forecast_days", "7")) * DAY_S, HOUR_S)
        places = zip(query["latitude"].split(","), query["longitude"].split(","), strict=True)
        locations = [
            {
                "latitude": float(latitude),
                "longitude": float(longitude),
                "generationtime_ms": 0.2,
                "utc_offset_seconds": 0,
                "timezone": "GMT",
                "timezone_abbreviation": "GMT",
                "elevation": 10.0,
                "location_id": number,
                "hourly_units": {"time": "unixtime"} | {column: self._unit(column, query) for column in columns},
                "hourly": {"time": list(hours)}
                | {column: self._values(column, number, hours, run_ts, api) for column in columns},
            }
            for number, (latitude, longitude) in enumerate(places)
        ]
        return web.json_response(locations if len(locations) > 1 else locations[0])

    def _is_there(self, run_ts: int) -> bool:
        is_out = self._now is None or run_ts + self.published_after_s <= self._now()
        return is_out and run_ts not in self.missing and run_ts % (6 * HOUR_S) == 0

    def _values(self, column: str, number: int, hours: Sequence[int], run_ts: int | None, api: str) -> list[Any]:
        if api == "archive" and self._now is not None:
            known_until = self._now() - _ARCHIVE_DELAY_S
            return [self.weather(column, number, 0, ts) if ts < known_until else None for ts in hours]
        if run_ts is None:
            return [self.weather(column, number, 0, ts) for ts in hours]
        steps = [*range(90), *range(90, 144, 3), *range(144, 361, 6)]
        last = 360 if run_ts % (12 * HOUR_S) == 0 else 144
        asked = (hours[-1] - run_ts) // HOUR_S + 6  # the step after the last hour is needed too
        reach = min(last, self.reaches.get(run_ts, last), asked)
        # A mean of the hour before has no value at the run's start.
        first = 1 if column == "shortwave_radiation" else 0
        known = [
            (step, value)
            for step in steps
            if first <= step <= reach
            and (value := self.weather(column, number, step // 24, run_ts + step * HOUR_S)) is not None
        ]
        if not known:
            return [None] * len(hours)
        at, values = np.array(known).T
        lead = (np.array(hours) - run_ts) / HOUR_S
        found = np.interp(lead, at, values, left=np.nan, right=np.nan)
        decimals = _DECIMALS[column]
        return [None if np.isnan(value) else round(float(value), decimals) for value in found]

    def _unit(self, column: str, query: Mapping[str, str]) -> str:
        unit = _UNITS[column]
        return "km/h" if unit == "m/s" and query.get("wind_speed_unit") != "ms" else unit


def _refusal(api: str, query: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return the service's error message for a wrong request, or an empty text."""
    if unknown := [column for column in columns if column not in _UNITS]:
        return f"Data corrupted at path ''. Cannot initialize ForecastVariable from invalid String value {unknown[0]}."
    if query["models"] not in _MODELS:
        return f"Data corrupted at path ''. Cannot initialize MultiDomains from invalid String value {query['models']}."
    if api == "single runs" and "run" not in query:
        return "Parameter 'run' is required."
    forbidden = _NOT_WITH_A_RUN if api == "single runs" else ("run",)
    if set_anyway := [name for name in forbidden if name in query]:
        return f"Parameter '{set_anyway[0]}' must not be set."
    if not 0 <= int(query.get("forecast_days", "7")) <= _MAX_DAYS:
        return f"Forecast days is invalid. Allowed range 0 to {_MAX_DAYS}. Given {query['forecast_days']}."
    return ""


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
