"""A series of consecutive hourly or quarter-hourly prices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import SeriesKey, Zone, delivery_day


@dataclass(frozen=True, slots=True, eq=False)
class PriceSeries(Mapping[int, float]):
    """Consecutive prices of one zone in EUR/MWh without VAT.

    `eur_mwh` has shape (periods,). An unknown price is NaN. Each period lasts `step_s` seconds (900 or 3600). The first
    period begins at `start_ts`, a multiple of the step in unix seconds UTC.

    As a mapping, the series maps the starts of periods to prices in chronological order, without the unknown prices.
    """

    zone: Zone
    step_s: int
    start_ts: int
    eur_mwh: NDArray[np.float64]

    @classmethod
    def of(cls, zone: Zone, step_s: int, prices: Mapping[int, float]) -> Self:
        """Build a series from `prices`, which maps the starts of periods to prices in EUR/MWh.

        Raises ValueError if a start is not a multiple of the step.
        """
        if off := [ts for ts in prices if ts % step_s]:
            raise ValueError(f"{off[0]} is not the start of a period of {step_s} s")
        start = min(prices, default=0)
        values = np.full((max(prices) - start) // step_s + 1 if prices else 0, np.nan)
        for ts, price in prices.items():
            values[(ts - start) // step_s] = price
        return cls(zone, step_s, start, values)

    @property
    def key(self) -> SeriesKey:
        """The zone and step of the series."""
        return SeriesKey(self.zone, self.step_s)

    @property
    def end_ts(self) -> int:
        """The end of the last period, even if its price is unknown."""
        return self.start_ts + self.eur_mwh.size * self.step_s

    @property
    def starts(self) -> NDArray[np.int64]:
        """The starts of all periods, shape (periods,)."""
        return np.arange(self.start_ts, self.end_ts, self.step_s, dtype=np.int64)

    @property
    def newest_ts(self) -> int | None:
        """The start of the last period with a known price, or None if no price is known."""
        known = np.flatnonzero(~np.isnan(self.eur_mwh))
        return self.start_ts + int(known[-1]) * self.step_s if known.size else None

    @property
    def newest_day(self) -> date | None:
        """The delivery day of the last period with a known price, or None if no price is known."""
        newest = self.newest_ts
        return None if newest is None else delivery_day(newest)

    @property
    def is_whole(self) -> bool:
        """True if every price is known."""
        return not np.isnan(self.eur_mwh).any()

    def __getitem__(self, ts: int) -> float:
        """Return the price of the period that begins at `ts`. Raises KeyError if no such price is known."""
        row, rest = divmod(ts - self.start_ts, self.step_s)
        if rest or not 0 <= row < self.eur_mwh.size or np.isnan(self.eur_mwh[row]):
            raise KeyError(ts)
        return float(self.eur_mwh[row])

    def __iter__(self) -> Iterator[int]:
        known = np.flatnonzero(~np.isnan(self.eur_mwh))
        return iter((self.start_ts + known * self.step_s).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.eur_mwh)))

    def prices_at(self, instants: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the price of the period that begins at each of `instants`, or NaN if no such price is known."""
        rows, rest = np.divmod(instants - self.start_ts, self.step_s)
        inside = (rest == 0) & (rows >= 0) & (rows < self.eur_mwh.size)
        prices = np.full(instants.shape, np.nan)
        prices[inside] = self.eur_mwh[rows[inside]]
        return prices

    def between(self, start_ts: int, end_ts: int) -> Self:
        """Return the prices from `start_ts` until `end_ts` as a series. Periods outside `self` have the price NaN.

        `start_ts` and `end_ts` must be multiples of the step.
        """
        periods = max(0, (end_ts - start_ts) // self.step_s)
        window = np.full(periods, np.nan)
        offset = (start_ts - self.start_ts) // self.step_s
        low, high = max(0, offset), min(self.eur_mwh.size, offset + periods)
        if low < high:
            window[low - offset : high - offset] = self.eur_mwh[low:high]
        return type(self)(self.zone, self.step_s, start_ts, window)

    def means(self, step_s: int) -> PriceSeries:
        """Return the series of the unrounded mean prices of longer periods, which last `step_s` seconds.

        A period with a missing part has no price, because the mean of the other parts would be wrong.
        """
        parts = step_s // self.step_s
        if parts == 1:
            return self
        first, last = self.start_ts // step_s, -(-self.end_ts // step_s)
        whole = self.between(first * step_s, last * step_s).eur_mwh
        # The parts are added one by one, because numpy's mean over an axis of four takes eight times as long.
        total = whole[::parts].copy()
        for later in range(1, parts):
            total += whole[later::parts]
        return PriceSeries(self.zone, step_s, first * step_s, total / parts)
