"""A forecast run, and what makes one."""

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from tunnihind.known import Floats, Known
from tunnihind.market import HOUR_S

ISSUE_CLOCK_S: Final = 9 * HOUR_S
"""When past days are looked at, seconds after midnight UTC: before the auction, in winter and in summer."""


@dataclass(frozen=True, slots=True)
class Run:
    """Percentiles for consecutive hours, EUR/MWh without VAT; `p10 <= p50 <= p90` in every hour.

    Arrays have shape (hours,), the first for the hour at `start_ts`, always rounded to 2 decimals, so that
    what is stored, exported and served is one and the same number. `inputs` says in JSON-ready values what
    the numbers rest on.
    """

    made_at: int
    tier: str
    start_ts: int
    p10: Floats
    p50: Floats
    p90: Floats
    inputs: dict[str, Any]

    @property
    def end_ts(self) -> int:
        """The instant at which the last hour is over."""
        return self.start_ts + self.p50.size * HOUR_S

    def hours(self) -> range:
        """Return the starts of the covered hours."""
        return range(self.start_ts, self.end_ts, HOUR_S)

    @classmethod
    def of(cls, *, made_at: int, tier: str, start_ts: int, percentiles: Floats, inputs: dict[str, Any]) -> Run:
        """Build a run from unrounded percentiles, shape (3, hours): p10, p50, p90.

        Raises ValueError where a value is not finite or percentiles cross: neither is ever to be served.
        """
        rounded = np.round(percentiles, 2) + 0.0
        if not np.isfinite(rounded).all():
            raise ValueError("a forecast value is not a finite number")
        if (np.diff(rounded, axis=0) < 0).any():
            raise ValueError("the percentiles of a forecast cross")
        return cls(made_at, tier, start_ts, rounded[0], rounded[1], rounded[2], inputs)


class Forecaster(Protocol):
    """Makes a run from what is known."""

    def forecast(self, known: Known) -> Run | None:
        """Forecast every hour after `known.as_of` up to 7 delivery days past the newest settled one.

        The prices of a delivery day never enter the forecast for that day, settled or not. None where
        nothing at all is known.
        """
