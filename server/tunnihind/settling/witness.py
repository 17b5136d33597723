"""What a source last said about the prices of a delivery day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from tunnihind.core.market import Zone
from tunnihind.settling.day_prices import DayPrices


@dataclass(frozen=True)
class Witness:
    """One source's last prices for a zone's whole delivery day.

    `prices` lists hourly or quarter-hourly prices in EUR/MWh. If no answer had readable, complete and possible prices,
    `prices` is empty. The source has repeated `prices` since `since_ts`, and last gave them at `heard_ts`. If the
    newest answer is held back, `reason` is a `ReasonCode`, and `detail` describes the reason in words. Otherwise, both
    are empty. `replaced` lists the settled prices of the day that were replaced when the source took over: when it had
    contradicted every settled day for so long that its prices became settled. It is empty if the source never did.
    """

    source: str
    zone: Zone
    day: date
    prices: Sequence[float]
    since_ts: int
    heard_ts: int
    reason: str = ""
    detail: str = ""
    replaced: Sequence[float] = ()

    @cached_property
    def day_prices(self) -> DayPrices:
        """The prices by their step and the start of their period."""
        return DayPrices.of(self.day, self.prices)

    @property
    def repeated_for_s(self) -> int:
        """The number of seconds for which the source has repeated `prices`."""
        return self.heard_ts - self.since_ts
