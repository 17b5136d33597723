"""A server that answers as Open-Meteo's Forecast and Previous Runs APIs do."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.support.upstreams.server import FakeUpstream
from tunnihind.market import DAY_S, HOUR_S

type Weather = Callable[[str, int, int, int], float | None]
"""From a variable, a point's number, days of lead and an instant to a value."""

_UNITS = {"wind_speed_100m": "m/s", "temperature_2m": "°C", "shortwave_radiation": "W/m²"}


def plain_weather(variable: str, point: int, lead_days: int, ts: int) -> float | None:
    """Return values that say where they come from: the hour of the day, a tenth per point, a hundredth per lead."""
    return ts // HOUR_S % 24 + point / 10 + lead_days / 100


class FakeOpenMeteo(FakeUpstream):
    """Open-Meteo, serving what `weather` says."""

    def __init__(self, weather: Weather = plain_weather) -> None:
        super().__init__()
        self.weather = weather

    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        """Answer `/v1/forecast`: a list of objects, or one object for one point."""
        if path != "/v1/forecast":
            raise web.HTTPNotFound
        columns = query["hourly"].split(",")
        unknown = [column for column in columns if _split(column)[0] not in _UNITS]
        if unknown:
            reason = f"Cannot initialize VariableAndPreviousDay from invalid String value {unknown[0]}."
            return web.json_response({"error": True, "reason": reason}, status=400)
        start, end = _midnight(query["start_date"]), _midnight(query["end_date"]) + DAY_S
        hours = range(start, end, HOUR_S)
        places = zip(query["latitude"].split(","), query["longitude"].split(","), strict=True)
        locations = [
            {
                "latitude": float(latitude),
                "longitude": float(longitude),
                "generationtime_ms": 0.2,
                "utc_offset_seconds": 0,
                "timezone": "GMT",
                "elevation": 10.0,
                "hourly_units": {"time": "unixtime"} | {column: self._unit(column, query) for column in columns},
                "hourly": self._hourly(columns, number, hours),
            }
            for number, (latitude, longitude) in enumerate(places)
        ]
        return web.json_response(locations if len(locations) > 1 else locations[0])

    def _hourly(self, columns: list[str], number: int, hours: range) -> dict[str, Any]:
        hourly: dict[str, Any] = {"time": list(hours)}
        for column in columns:
            variable, lead_days = _split(column)
            hourly[column] = [self.weather(variable, number, lead_days, ts) for ts in hours]
        return hourly

    def _unit(self, column: str, query: Mapping[str, str]) -> str:
        unit = _UNITS[_split(column)[0]]
        return "km/h" if unit == "m/s" and query.get("wind_speed_unit") != "ms" else unit


def _split(column: str) -> tuple[str, int]:
    variable, _, lead_days = column.partition("_previous_day")
    return variable, int(lead_days or 0)


def _midnight(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
