"""How evcc, EMHASS, Predbat, HAEO and EV Smart Charging read prices, written from the rules of each.

None of their code is here.

A test asks for the price that the program would read at an instant.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

MINUTE_S: Final = 60
EVCC_SLOT_S: Final = 900
PREDBAT_PAGES: Final = 3


def instant(text: str) -> int:
    """Read a time as RFC 3339 has it, with its offset."""
    found = datetime.fromisoformat(text)
    assert found.tzinfo is not None, text
    return int(found.timestamp())


@dataclass(frozen=True)
class EvccTariff:
    """evcc's `custom` tariff with `charges` and `tax`.

    The answer is text that decodes to a list of start, end and value. To each value the charges are added, and on both
    the tax. A rate is valid from its start until before its end; what is longer than a quarter of an hour is split.
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
    """Return EMHASS's values from a mapping of times to numbers, for its steps from `start` on.

    The points within a step are averaged; a step without any has the value of the one before, and the first ones that
    of the first point. A value that is no finite number ends its run.
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

    It follows `next` for three pages. A minute that it doesn't know has the price of the day before.
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
        """Read what `metric_octopus_import` names: of the lists that Predbat looks for, the first that is there.

        Items with `start` and `end` are in currency per kWh, which become cents.
        """
        today = next(attributes[name] for name in ("rates", "all_rates", "raw_today", "prices") if attributes.get(name))
        minutes: dict[int, float] = {}
        for rate in (*today, *attributes.get("raw_tomorrow", ())):
            first = (instant(rate["start"]) - midnight) // MINUTE_S
            last = (instant(rate["end"]) - midnight) // MINUTE_S
            minutes |= dict.fromkeys(range(first, last), rate["value"] * 100)
        return cls(midnight, minutes)

    def at(self, ts: int) -> float:
        """Return the price of an instant in cents per kWh, of the day before where it isn't known."""
        minute = (ts - self.midnight) // MINUTE_S
        while minute not in self.minutes:
            minute -= int(timedelta(days=1).total_seconds()) // MINUTE_S
            assert minute >= 0, "not even the day before is known"
        return self.minutes[minute]


@dataclass(frozen=True)
class HaeoSeries:
    """HAEO's data from a sensor: points in time that it joins, and a unit."""

    points: Sequence[tuple[int, float]]
    holds: bool
    """Whether a point's value holds until the next; if not, HAEO draws a line between them."""
    unit: str

    @classmethod
    def read(cls, attributes: Mapping[str, Any]) -> HaeoSeries:
        """Read a sensor: first in HAEO's own form, then in Nord Pool's."""
        own = attributes.get("forecast")
        if own and all({"time", "value"} <= item.keys() for item in own) and attributes.get("unit_of_measurement"):
            points = sorted((instant(item["time"]), float(item["value"])) for item in own)
            return cls(points, attributes.get("interpolation_mode") == "previous", attributes["unit_of_measurement"])
        days = (*attributes["raw_today"], *attributes.get("raw_tomorrow", ()))
        points = sorted((instant(item["start"]), float(item["value"])) for item in days)
        return cls(points, True, f"{attributes['currency']}/kWh")

    def at(self, ts: int) -> float:
        """Return the price at an instant; the last one goes on."""
        assert self.holds, "HAEO would draw lines between the prices"
        assert self.points[0][0] <= ts, "HAEO has no price for the beginning"
        return [value for start, value in self.points if start <= ts][-1]


_STARTS: Final = ("time", "start", "hour", "start_time", "datetime")
_VALUES: Final = ("price", "value")
_DAYS: Final = (("prices_today", "prices_tomorrow"), ("raw_today", "raw_tomorrow"))
_BOTH_DAYS: Final = ("prices", "data", "forecast")


def ev_smart_charging_prices(attributes: Mapping[str, Any]) -> dict[int, float]:
    """Return the prices that EV Smart Charging finds in a sensor, by their start."""
    by_day = next((names for names in _DAYS if names[0] in attributes), None)
    names = by_day or (next(name for name in _BOTH_DAYS if name in attributes),)
    items = [item for name in names for item in attributes.get(name) or ()]
    start = next(key for key in _STARTS if key in items[0])
    value = next(key for key in _VALUES if key in items[0])
    return {instant(item[start]): float(item[value]) for item in items}
