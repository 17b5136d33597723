"""Wind and sun over the Baltic states as they were forecast last: what moves the Estonian price most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from tunnihind.forecast.known import CovariateArchive, Floats
from tunnihind.market import DAY_S, HOUR_S, floor_hour
from tunnihind.sources.weather_points import POINTS

WIND: Final = tuple(f"wind_speed_100m@{p.name}" for p in POINTS if p.zone in ("ee", "lv", "lt") and p.drives == "wind")
"""The covariates of wind farms in the three states, m/s at 100 m."""

SUN: Final = tuple(
    f"shortwave_radiation@{p.name}" for p in POINTS if p.zone in ("ee", "lv", "lt") and p.drives == "load"
)
"""The covariates of towns in the three states, W/m² of shortwave radiation on the ground."""

FRESH_S: Final = 2 * DAY_S
"""An older forecast of weather says little about the next days."""

_PAST_S: Final = 2 * DAY_S
_AHEAD_S: Final = 10 * DAY_S


@dataclass(frozen=True, slots=True)
class BalticWeather:
    """The mean over the places of each hour from `start_ts` on, NaN where one of them isn't known; shape (hours,).

    `wind` is the speed 100 m above ground, m/s, `sun` the shortwave radiation on the ground, W/m².
    """

    start_ts: int
    wind: Floats
    sun: Floats

    @classmethod
    def of(cls, archive: CovariateArchive, now: int) -> Self | None:
        """Return what had been forecast by `now`, unix seconds, in the two days before it; None where that is nothing.

        Of each hour the newest forecast counts.
        """
        known, start_ts = archive.as_of(now), floor_hour(now) - _PAST_S
        wind, sun = (
            np.mean([_newest(known, name, start_ts, now - FRESH_S) for name in names], axis=0) for names in (WIND, SUN)
        )
        either = np.flatnonzero(np.isfinite(wind) | np.isfinite(sun))
        if not either.size:
            return None
        first, end = int(either[0]), int(either[-1]) + 1
        return cls(start_ts + first * HOUR_S, wind[first:end], sun[first:end])

    def at(self, hours: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the wind and the sun of some hours, NaN where they aren't known; `hours` are their starts."""
        slots = (np.asarray(hours, np.int64) - self.start_ts) // HOUR_S
        is_inside = (slots >= 0) & (slots < self.wind.size)
        at = np.where(is_inside, slots, 0)
        return np.where(is_inside, self.wind[at], np.nan), np.where(is_inside, self.sun[at], np.nan)


def _newest(archive: CovariateArchive, name: str, start_ts: int, issued_since: int) -> Floats:
    """Return each hour's value that was issued last, NaN where none was since an instant."""
    starts = np.arange(start_ts, start_ts + _PAST_S + _AHEAD_S, HOUR_S)
    values = np.full(starts.shape, np.nan)
    issued = np.full(starts.shape, issued_since)
    for series in archive.series.get(name, ()):
        offset = (series.start_ts - start_ts) // HOUR_S
        low, high = max(0, -offset), min(series.values.size, starts.size - offset)
        if low >= high:
            continue
        at, part = slice(offset + low, offset + high), series.values[low:high]
        when = starts[at] - series.lead_s if series.lead_s else np.full(part.shape, series.issued_ts)
        newer = np.isfinite(part) & (when >= issued[at])
        values[at] = np.where(newer, part, values[at])
        issued[at] = np.where(newer, when, issued[at])
    return values
