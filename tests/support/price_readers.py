"""How evcc, EMHASS and Predbat read prices, written from the rules of each; none of their code is here.

A test asks what the program would take for the price of an instant.
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
        """Return the price at an instant, None where evcc has none."""
        return self.rates.get(ts - ts % EVCC_SLOT_S)


def emhass_steps(text: str, start: int, steps: int, step_s: int) -> list[float]:
    """Return what EMHASS makes of a mapping of times to numbers, for its steps from `start` on.

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
    """What Predbat knows of `rates_import_octopus_url`: a price for each minute from local midnight on.

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

    def at(self, ts: int) -> float:
        """Return the price of an instant in cents per kWh, of the day before where it isn't known."""
        minute = (ts - self.midnight) // MINUTE_S
        while minute not in self.minutes:
            minute -= int(timedelta(days=1).total_seconds()) // MINUTE_S
            assert minute >= 0, "not even the day before is known"
        return self.minutes[minute]
