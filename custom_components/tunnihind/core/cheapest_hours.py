"""The price of the cheapest hours of each day ahead."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import accumulate, groupby
from typing import Final, NamedTuple

from .market import HOUR_S

MOST_CHEAPEST_HOURS: Final = 8
"""Prices are given for one to this many cheapest hours of a day."""


class CheapestPrice(NamedTuple):
    """The percentiles of the mean price of some number of a day's cheapest hours.

    If all prices of the day are known, the three percentiles are equal.
    """

    p10: float
    p50: float
    p90: float


def cheapest_hours_by_day(
    prices: Mapping[int, Sequence[float]], first: int, time_zone: tzinfo
) -> dict[date, list[CheapestPrice]]:
    """Map each day to the mean prices of its cheapest hour, its 2 cheapest hours, and so on up to 8 hours.

    `prices` maps the start of each hour (unix seconds) to the hour's price on each of the equally likely price paths,
    or to its one known price. On each path, a day's own cheapest hours count. They needn't be consecutive. A day begins
    at midnight in `time_zone`, but hours before the hour that starts at `first` don't count. If fewer than 8 hours of a
    day are left, its list is shorter. If the price of any of these hours is missing, the day is left out, because its
    cheapest hours are unknown.
    """
    path_count = max(map(len, prices.values()), default=0)
    hours_ahead = sorted(ts for ts in prices if ts >= first)
    found = {}
    for day, of_day in groupby(hours_ahead, key=lambda ts: datetime.fromtimestamp(ts, time_zone).date()):
        start, end = (
            int(datetime.combine(one, time(), time_zone).timestamp()) for one in (day, day + timedelta(days=1))
        )
        hours = [prices[ts] for ts in of_day]
        if len(hours) * HOUR_S != end - max(start, first):
            continue
        cheapest = [
            sorted(on_paths[path % len(on_paths)] for on_paths in hours)[:MOST_CHEAPEST_HOURS]
            for path in range(path_count)
        ]
        sums = zip(*map(accumulate, cheapest), strict=True)
        found[day] = [_percentiles([total / count for total in totals]) for count, totals in enumerate(sums, 1)]
    return found


def _percentiles(values: Sequence[float]) -> CheapestPrice:
    ranked = sorted(values)
    return CheapestPrice(*(_quantile(ranked, level) for level in (0.1, 0.5, 0.9)))


def _quantile(ranked: Sequence[float], level: float) -> float:
    """Interpolate linearly between two of the ranked values. Between equal values, the result is exactly this value."""
    whole, part = divmod(level * (len(ranked) - 1), 1)
    low, high = ranked[int(whole)], ranked[min(int(whole) + 1, len(ranked) - 1)]
    return low + (high - low) * part
