"""The expected states of the integration's entities, from the API's data. All prices are in EUR/kWh with VAT."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any, Self

from tests.support.machine.processes import Server
from tunnihind.core.market import ESTONIA, HOUR_S, floor_hour


@dataclass(frozen=True, slots=True)
class ExpectedStates:
    """The API's data at one moment: settled prices by hour since midnight, and the forecast of all other hours."""

    now: int
    settled: Mapping[int, float]
    forecast: Mapping[int, Mapping[str, float]]

    @classmethod
    async def from_api(cls, server: Server) -> Self:
        answer = (await server.get("/api/v1/forecast")).json()
        history = (await server.get("/api/series?days=2")).json()
        settled = {hour["ts"]: hour["eurKwh"] for hour in (*history["actuals"], *answer["dayAhead"])}
        forecast = {
            hour["ts"]: {name: hour[f"{name}Kwh"] for name in ("p10", "p50", "p90")}
            for hour in answer["forecast"]
            if hour["ts"] not in settled
        }
        return cls(answer["now"], settled, forecast)

    @property
    def hour(self) -> int:
        return floor_hour(self.now)

    def price_at(self, instant: float) -> float:
        """Return the price of the hour around an instant: the settled price, otherwise the forecast's median."""
        hour = floor_hour(instant)
        return self.settled[hour] if hour in self.settled else self.forecast[hour]["p50"]

    def day(self, days_ahead: int) -> dict[int, float]:
        """Return the settled hours of a day in Tallinn; 0 is today."""
        wanted = local(self.now).date() + timedelta(days=days_ahead)
        return {ts: price for ts, price in self.settled.items() if local(ts).date() == wanted}

    def numbers(self) -> dict[str, float]:
        """Return the expected states of the price sensors."""
        today, tomorrow = self.day(0).values(), self.day(1).values()
        return {
            "current_price": self.settled[self.hour],
            "next_price": self.settled[self.hour + HOUR_S],
            "average_today": round(fmean(today), 4),
            "lowest_today": min(today),
            "highest_today": max(today),
            "average_tomorrow": round(fmean(tomorrow), 4),
            "lowest_tomorrow": min(tomorrow),
            "highest_tomorrow": max(tomorrow),
        }

    def lists(self) -> dict[str, list[dict[str, Any]]]:
        """Return the expected attributes of the current price: the lists that other programs read."""
        medians = {ts: band["p50"] for ts, band in self.forecast.items()}
        return {
            "raw_today": [{**bounds(ts), "value": price} for ts, price in self.day(0).items()],
            "raw_tomorrow": [{**bounds(ts), "value": price} for ts, price in self.day(1).items()],
            "raw_forecast": [{**bounds(ts), "value": price} for ts, price in medians.items()],
            "forecast": [
                {**bounds(ts), "time": bounds(ts)["start"], **band, "value": band["p50"]}
                for ts, band in self.forecast.items()
            ],
        }


def local(ts: float) -> datetime:
    """Return the Tallinn clock time of an instant."""
    return datetime.fromtimestamp(ts, ESTONIA.time_zone)


def utc(ts: float) -> str:
    """Return an instant as Home Assistant writes a timestamp's state."""
    return datetime.fromtimestamp(ts, UTC).isoformat()


def bounds(ts: int) -> dict[str, str]:
    """Return an hour's start and end in the form of attributes."""
    return {"start": local(ts).isoformat(), "end": local(ts + HOUR_S).isoformat()}
