"""Models of evcc, EMHASS, Predbat, EOS, HAEO and EV Smart Charging that read prices by each program's rules.

They contain none of the programs' code. A test reads the price that a program would use at an instant.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import numpy as np

MINUTE_S: Final = 60
HOUR_S: Final = 3600
DAY_S: Final = 86_400
JUST_BEFORE_S: Final = 1e-3
EVCC_SLOT_S: Final = 900
PREDBAT_PAGES: Final = 3


def instant(text: str) -> int:
    """Return the instant of a time in the format of RFC 3339, with its offset."""
    found = datetime.fromisoformat(text)
    assert found.tzinfo is not None, text
    return int(found.timestamp())


@dataclass(frozen=True)
class EvccTariff:
    """evcc's `custom` tariff with `charges` and `tax`.

    The answer is JSON: a list of start, end and value. evcc adds the charges to each value, and then the tax to the
    sum. A rate is valid from its start until just before its end. A rate longer than a quarter of an hour is split.
    """

    rates: Mapping[int, float]

    @classmethod
    def read(cls, text: str, *, charges: float = 0.0, tax: float = 0.0) -> EvccTariff:
        slots: dict[int, float] = {}
        for rate in json.loads(text):
            assert rate.keys() == {"start", "end", "value"}
            start, end = instant(rate["start"]), instant(rate["end"])
            assert start < end
            assert isinstance(rate["value"], float | int)
            for slot in range(start, end, EVCC_SLOT_S):
                assert slot not in slots, "two rates overlap"
                slots[slot] = (rate["value"] + charges) * (1 + tax)
        return cls(slots)

    def at(self, ts: int) -> float | None:
        """Return evcc's price at an instant, or None."""
        return self.rates.get(ts - ts % EVCC_SLOT_S)


def emhass_steps(text: str, start: int, steps: int, step_s: int) -> list[float]:
    """Return EMHASS's values for its steps from `start` on, from a mapping of times to numbers.

    A step's value is the mean of its points. A step without points has the value of the step before it. The first steps
    without points have the value of the first point. A value that is not a finite number ends EMHASS's run.
    """
    points: dict[int, list[float]] = {}
    for time, value in json.loads(text).items():
        assert isinstance(value, float | int)
        assert not isinstance(value, bool)
        assert math.isfinite(value)
        points.setdefault((instant(time) - start) // step_s, []).append(value)
    means = {step: sum(values) / len(values) for step, values in sorted(points.items())}
    before = [step for step in means if step <= 0]
    held = means[max(before)] if before else means[min(means)]
    taken = []
    for step in range(steps):
        held = means.get(step, held)
        taken.append(held)
    return taken


@dataclass(frozen=True)
class PredbatRates:
    """Predbat's prices from `rates_import_octopus_url`: one for each minute from local midnight on.

    Predbat follows `next` for three pages. A minute with an unknown price has the price of the day before.
    """

    midnight: int
    minutes: Mapping[int, float]

    @classmethod
    def read(cls, pages: Sequence[str], midnight: int) -> PredbatRates:
        minutes: dict[int, float] = {}
        for page in pages[:PREDBAT_PAGES]:
            body: dict[str, Any] = json.loads(page)
            for rate in body["results"]:
                first = (instant(rate["valid_from"]) - midnight) // MINUTE_S
                last = (instant(rate["valid_to"]) - midnight) // MINUTE_S
                minutes |= dict.fromkeys(range(first, last), float(rate["value_inc_vat"]))
            if body["next"] is None:
                break
        return cls(midnight, minutes)

    @classmethod
    def read_attributes(cls, attributes: Mapping[str, Any], midnight: int) -> PredbatRates:
        """Read the sensor in `metric_octopus_import` from the first of its lists that Predbat knows.

        Items with `start` and `end` are in currency per kWh. Their prices become cents.
        """
        today = next(attributes[name] for name in ("rates", "all_rates", "raw_today", "prices") if attributes.get(name))
        minutes: dict[int, float] = {}
        for rate in (*today, *attributes.get("raw_tomorrow", ())):
            first = (instant(rate["start"]) - midnight) // MINUTE_S
            last = (instant(rate["end"]) - midnight) // MINUTE_S
            minutes |= dict.fromkeys(range(first, last), rate["value"] * 100)
        return cls(midnight, minutes)

    def at(self, ts: int) -> float:
        """Return the price at an instant in cents per kWh.

        If this price isn't known, return the price of the day before.
        """
        minute = (ts - self.midnight) // MINUTE_S
        while minute not in self.minutes:
            minute -= int(timedelta(days=1).total_seconds()) // MINUTE_S
            assert minute >= 0, "not even the day before is known"
        return self.minutes[minute]


def eos_prices(text: str) -> dict[int, float]:
    """Return the prices that EOS imports, EUR per Wh, by the start of their step.

    EOS reads an interval in words like `15 minutes`, and refuses one that doesn't divide an hour.
    """
    body = json.loads(text)
    number, unit = body["interval"].split()
    assert unit == "minutes"
    step_s = int(number) * MINUTE_S
    assert HOUR_S % step_s == 0
    start = instant(body["start_datetime"])
    return {start + n * step_s: price for n, price in enumerate(body["elecprice_marketprice_wh"])}


@dataclass(frozen=True)
class HaeoSeries:
    """HAEO's data from a sensor: points in time, and their unit."""

    points: Sequence[tuple[float, float]]
    """Between two points, HAEO draws a line. A value that holds until the next point has a second point just before."""
    unit: str

    @classmethod
    def read(cls, attributes: Mapping[str, Any]) -> HaeoSeries:
        """Read a sensor in HAEO's own format."""
        points = sorted((instant(item["time"]), float(item["value"])) for item in attributes["forecast"])
        holds = attributes.get("interpolation_mode") == "previous"
        return cls(_steps(points) if holds else points, attributes["unit_of_measurement"])

    def mean(self, start: int, end: int, *, now: int) -> float:
        """Return the mean price from `start` to `end` in a plan that begins at `now`."""
        times, values = zip(*self._from(now), strict=True)
        between = [ts for ts in times if start < ts < end]
        grid = [start, *between, end]
        return float(np.trapezoid(np.interp(grid, times, values), grid)) / (end - start)

    def _from(self, now: int) -> list[tuple[float, float]]:
        """Return the points from `now` on.

        HAEO completes the list to whole days, with its earliest points of the missing times of day. These days follow
        each other in a circle, which HAEO cuts open at `now`: points before `now` come after all others.
        """
        first, last = self.points[0][0], self.points[-1][0]
        circle = max(1, math.ceil((last - first) / DAY_S)) * DAY_S
        missing_from = first + (last - first) % DAY_S
        missing = [(ts + last - missing_from, value) for ts, value in self.points if missing_from < ts < first + DAY_S]
        folded = [((ts - now) % circle + now, value) for ts, value in (*self.points, *missing)]
        return sorted(folded, key=lambda point: point[0])


def _steps(points: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Add a point just before each point, with the value of the point before."""
    before = [(ts - JUST_BEFORE_S, held) for (_, held), (ts, _) in pairwise(points)]
    return sorted([*points, *before])


_STARTS: Final = ("time", "start", "hour", "start_time", "datetime")
_VALUES: Final = ("price", "value")
_DAYS: Final = (("prices_today", "prices_tomorrow"), ("raw_today", "raw_tomorrow"))
_BOTH_DAYS: Final = ("prices", "data", "forecast")


def ev_smart_charging_prices(attributes: Mapping[str, Any]) -> dict[int, float]:
    """Return the prices that EV Smart Charging finds in a sensor, by the start of their period."""
    by_day = next((names for names in _DAYS if names[0] in attributes), None)
    names = by_day or (next(name for name in _BOTH_DAYS if name in attributes),)
    items = [item for name in names for item in attributes.get(name) or ()]
    start = next(key for key in _STARTS if key in items[0])
    value = next(key for key in _VALUES if key in items[0])
    return {instant(item[start]): float(item[value]) for item in items}
