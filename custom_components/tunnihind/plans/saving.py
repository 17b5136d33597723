"""How much a window saves against starting at once, how much it costs, and how certain both figures are.

The rule treats an hour's error as a normal distribution in two pieces, with half of the probability on each side of
p50. The standard deviation of each side follows from the forecast's p10 or p90: (p50 - p10) / 1.2816 below and (p90 -
p50) / 1.2816 above. Errors of two hours that start k hours apart have the correlation

    rho(k) = 0.45 exp(-k / 2.5) + 0.55 exp(-k / 34)

A saving is a weighted sum of hours. The hours that starting at once would use count as plus, and the window's hours as
minus, each by its share of the time. Its median is assumed to be the same sum of the medians. It rises when hours of
positive weight cost more and hours of negative weight cost less. So its upper standard deviation is the square root of
the sum of u_i rho(|i - j|) u_j over all hours. Here u is an hour's weight times a deviation of the hour. Hours of
positive weight use the deviation above, and hours of negative weight use the deviation below. The lower standard
deviation uses the opposite sides. This distribution, again normal in two pieces, gives p10, p90 and the probability of
any saving. Settled prices have no error.

The figures of rho are a least-squares fit to the correlations of the served model's standardised errors, at lags up to
59 h: walk-forward forecasts of July 2024 to June 2025, issued daily at 09:00 UTC, 71 hours each. The table shows how
well the rule held. It covers 24 thousand windows per half-year, from plans of many kinds with 48 hours of forecast
(`tests/benchmarks/bench_saving.py`):

| | July to December 2025, after the fit | July to December 2024 |
|---|---|---|
| savings between their p10 and p90 | .81 | .75 |
| single hours between theirs, for comparison | .80 | .75 |
| averages of 24 hours between theirs | .81 | .76 |
| waiting paid, with chances of .56 .65 .75 .85 .93 .99 | .58 .65 .75 .86 .93 .99 | .60 .68 .79 .85 .87 .97 |

So a saving's band is as reliable as the forecast's own bands. The forecast's bands were too narrow in July to December
2024.

The server's 20 price paths model the dependence between hours from other errors. They were compared with the rule on
every fifth day from July 2025 on, and on every fourth from September 2024 on (`bench_scenarios.py --plans`). The
chances differ by .037 and .039 on average, by +.004 and -.009 with their sign, and p10 and p90 differ by .6 cents/kWh.
The rule's chances had Brier scores of .103 and .100. The paths' chances had .105 and .100. The rule's bands from p10 to
p90 contained .83 and .76 of the savings, and the paths' bands contained .81 and .71. So the paths are no better, and
are not used.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from ..prices.timeline import HOUR_S, Period, Timeline, rounded
from .solver import Piece

_NORMAL: Final = NormalDist()
_P90: Final = _NORMAL.inv_cdf(0.9)

# The terms of rho. Each has its share, and its reach in seconds.
_CORRELATION: Final = ((0.45, 2.5 * HOUR_S), (0.55, 34.0 * HOUR_S))
_CHANCE_DECIMALS: Final = 3
# Prices have four decimals, and weights are parts of a day. So a smaller sum is a rounding error and not a saving.
_NOTHING_DECIMALS: Final = 9
_ENERGY_DECIMALS: Final = 3


@dataclass(frozen=True, slots=True)
class Saving:
    """The window's saving, EUR/kWh, for each kWh of an even load: median, p10 and p90. A loss is negative.

    `chance` (0 to 1) is the probability of a positive saving.
    """

    expected: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a window's energy, EUR: median, p10 and p90. `energy` is the amount that the window gives, kWh."""

    expected: float
    low: float
    high: float
    energy: float


def saving_of(timeline: Timeline, pieces: Sequence[Piece], at_once: int) -> Saving | None:
    """Compare the window with one piece of the same length from `at_once` (UTC seconds) on.

    Return None if a price of either time is not known. If both times are the same, the saving and its chance are zero.
    """
    duration = sum(end - start for start, end in pieces)
    weights: dict[Period, float] = {}
    for sign, compared in ((1, [(at_once, at_once + duration)]), (-1, pieces)):
        seconds = seconds_of(timeline, compared)
        if seconds.total() < duration:
            return None
        for period, part in seconds.items():
            weights[period] = weights.get(period, 0.0) + sign * part / duration
    total = _WeightedSum.of(weights)
    return Saving(
        expected=rounded(total.median),
        low=rounded(total.p10),
        high=rounded(total.p90),
        chance=round(total.chance, _CHANCE_DECIMALS),
    )


def cost_of(timeline: Timeline, pieces: Iterable[Piece], *, energy_kwh: float, power_kw: float) -> Cost | None:
    """Return the cost of a device that takes `power_kw` from the window's start on until it has `energy_kwh`.

    Return None if a price of that time is not known.
    """
    needed_s = math.ceil(energy_kwh / power_kw * HOUR_S)
    used: list[Piece] = []
    for start, end in pieces:
        used.append((start, min(end, start + needed_s)))
        needed_s -= used[-1][1] - start
    given_s = sum(end - start for start, end in used)
    seconds = seconds_of(timeline, used)
    if seconds.total() < given_s:
        return None
    # Whole seconds may give a little more energy than is needed. The answer must not show that.
    energy = min(energy_kwh, given_s / HOUR_S * power_kw)
    total = _WeightedSum.of({period: energy * part / given_s for period, part in seconds.items()})
    return Cost(
        expected=rounded(total.median),
        low=rounded(total.p10),
        high=rounded(total.p90),
        energy=round(energy, _ENERGY_DECIMALS),
    )


def average_band(periods: Sequence[Period]) -> tuple[float, float, float]:
    """Return p10, p50 and p90 of the average price of `periods`, EUR/kWh. Raises ValueError without periods."""
    if not periods:
        raise ValueError("the average of no periods has no price")
    duration = sum(period.length_s for period in periods)
    total = _WeightedSum.of({period: period.length_s / duration for period in periods})
    return rounded(total.p10), rounded(total.median), rounded(total.p90)


def seconds_of(timeline: Timeline, pieces: Iterable[Piece]) -> Counter[Period]:
    """Return, for each known period, how many of its seconds the pieces take."""
    seconds: Counter[Period] = Counter()
    for start, end in pieces:
        for period in timeline.between(start, end):
            seconds[period] += min(period.end, end) - max(period.start, start)
    return seconds


@dataclass(frozen=True, slots=True)
class _WeightedSum:
    """A sum of uncertain prices: normal in two pieces, with the standard deviations `below` and `above` its median."""

    median: float
    below: float
    above: float

    @classmethod
    def of(cls, weights: Mapping[Period, float]) -> _WeightedSum:
        """Return the sum of the periods' prices, each times its weight."""
        uncertain = sorted(
            ((period, weight) for period, weight in weights.items() if weight and not period.settled),
            key=lambda item: item[0].start,
        )
        rises = [(period.start, weight * _deviation(period, up=weight > 0)) for period, weight in uncertain]
        falls = [(period.start, weight * _deviation(period, up=weight < 0)) for period, weight in uncertain]
        median = round(sum(weight * period.price for period, weight in weights.items()), _NOTHING_DECIMALS)
        return cls(median, below=_joint_deviation(falls), above=_joint_deviation(rises))

    @property
    def p10(self) -> float:
        return self.median - _P90 * self.below

    @property
    def p90(self) -> float:
        return self.median + _P90 * self.above

    @property
    def chance(self) -> float:
        """The probability of a positive sum."""
        deviation = self.below if self.median > 0 else self.above
        return _NORMAL.cdf(self.median / deviation) if deviation else float(self.median > 0)


def _deviation(period: Period, *, up: bool) -> float:
    return (period.high - period.price if up else period.price - period.low) / _P90


def _joint_deviation(deviations: Sequence[tuple[int, float]]) -> float:
    """Return the standard deviation of a sum of errors.

    Each error is given by its start and its own deviation, in the order of time.

    This is the double sum of the rule. What earlier hours add to an hour's variance fades exponentially with the
    distance. So one running sum is enough.
    """
    variance = 0.0
    for share, reach_s in _CORRELATION:
        carried, before = 0.0, 0
        for start, deviation in deviations:
            carried *= math.exp((before - start) / reach_s)
            variance += share * deviation * (deviation + 2 * carried)
            carried, before = carried + deviation, start
    return math.sqrt(max(variance, 0.0))
