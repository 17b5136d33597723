"""The expected saving and cost of a window, and the average price of periods, each with its uncertainty.

The saving of a window (in EUR/kWh) is the average price of one equally long piece after an immediate start, minus the
average price of the window. The immediate start is usually now, or the start of the window's span if the span opens
later. A predicted price is assumed to have a split normal distribution. The standard deviation of a predicted price is
(p50 - p10) / 1.2816 below p50, and (p90 - p50) / 1.2816 above p50. A settled price has no uncertainty. If two hours
start k hours apart, their forecast errors are assumed to have this correlation:

    rho(k) = 0.45 exp(-k / 2.5) + 0.55 exp(-k / 34).

A saving is a weighted sum of hourly prices. The hours in which the device would run after an immediate start have
positive weights, and the hours of the window have negative weights. The size of an hour's weight is the fraction of the
running time that falls into this hour. If an hour has both weights, they are added. The median of the saving is assumed
to be the weighted sum of the hourly medians. If prices change every quarter-hour, the same formulas apply to
quarter-hours.

Like a predicted price, the saving is assumed to have a split normal distribution. The variance of the saving above its
median is the sum of u_i rho(|i-j|) u_j over all hours i and all hours j. The factor u_i is the weight of hour i times a
standard deviation of the hour's price: the standard deviation above p50 if the weight is positive, and below p50 if the
weight is negative. The variance of the saving below its median has the same formula, but with the standard deviations
of prices above and below p50 exchanged.

The coefficients of rho were fitted by least squares to mean correlations of standardised forecast errors, one for each
k from 0 to 59. The errors came from walk-forward forecasts of 71 hours, made at 09:00 UTC on each day from July 2024 to
June 2025.

The benchmark `tests/benchmarks/bench_saving.py` checked the savings of 24 thousand windows in each of two half-years.
The windows came from plans with many different settings, and from forecasts of 48 hours. The table gives the percentage
of actual savings and prices that lay between p10 and p90:

    July to December     2024   2025
    savings               75%    81%
    hourly prices         75%    80%
    24-hour averages      76%    81%

The interval of a saving is as reliable as the forecast's intervals, which were too narrow in 2024. `bench_saving.py`
also sorted the windows by their chance of a positive saving into six groups with mean chances from 56% to 99%. In each
group, the mean chance and the percentage of windows that saved money differed by at most 2 percentage points in 2025,
and by at most 6 in 2024.

The chance, p10 and p90 of a saving could also be computed from the server's 20 price paths, but the price paths are no
better than the formulas of this module. `bench_scenarios.py --plans` compared the price paths with the formulas on
every fifth day from July 2025 on, and on every fourth day from September 2024 on:

    days from                                 September 2024   July 2025
    Brier score of the chances, formulas                .100        .103
    Brier score of the chances, price paths             .100        .105
    savings between p10 and p90, formulas                76%         83%
    savings between p10 and p90, price paths             71%         81%
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from ..core.market import HOUR_S, rounded_price
from ..prices.timeline import Period, Timeline
from .solver import Piece, length_s

_NORMAL: Final = NormalDist()
_P90_Z_SCORE: Final = _NORMAL.inv_cdf(0.9)

# The factor and the decay time (in seconds) of each term of rho, the correlation in the module's docstring.
_CORRELATION: Final = ((0.45, 2.5 * HOUR_S), (0.55, 34.0 * HOUR_S))
_CHANCE_DECIMALS: Final = 3
# The median of a weighted sum is rounded to this many decimals, so that no rounding error counts as a saving.
_MEDIAN_DECIMALS: Final = 9
_ENERGY_DECIMALS: Final = 3


@dataclass(frozen=True, slots=True)
class Saving:
    """The saving of a window compared with an immediate start (see the module's docstring), in EUR/kWh.

    The device's power is assumed constant. A negative saving is a loss. `low`, `expected` and `high` are p10, p50 and
    p90 of the saving. `chance` (0 to 1) is the probability of a positive saving.
    """

    expected: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a window's energy in EUR.

    `low`, `expected` and `high` are p10, p50 and p90 of the cost. `energy` is the energy in kWh that the device uses in
    the window.
    """

    expected: float
    low: float
    high: float
    energy: float


def window_saving(timeline: Timeline, pieces: Sequence[Piece], at_once: int) -> Saving | None:
    """Return the saving of a window, compared with one piece of equal length that starts at `at_once` (UTC seconds).

    If a needed price is unknown, return None. If the window starts at `at_once` and has no gaps, the saving and its
    chance are 0.
    """
    duration = length_s(pieces)
    weights: dict[Period, float] = {}
    for sign, compared in ((1, [(at_once, at_once + duration)]), (-1, pieces)):
        seconds = seconds_by_period(timeline, compared)
        if seconds.total() < duration:
            return None
        for period, part in seconds.items():
            weights[period] = weights.get(period, 0.0) + sign * part / duration
    total = _WeightedSumDistribution.of_prices(weights)
    return Saving(
        expected=rounded_price(total.median),
        low=rounded_price(total.p10),
        high=rounded_price(total.p90),
        chance=round(total.chance_of_positive_sum, _CHANCE_DECIMALS),
    )


def window_cost(timeline: Timeline, pieces: Iterable[Piece], *, energy_kwh: float, power_kw: float) -> Cost | None:
    """Return the cost of the energy that a device uses in the window.

    While the window runs, the device is assumed to use `power_kw` until it has used `energy_kwh`. If a needed price is
    unknown, return None.
    """
    used = used_pieces(pieces, energy_kwh=energy_kwh, power_kw=power_kw)
    given_s = length_s(used)
    seconds = seconds_by_period(timeline, used)
    if seconds.total() < given_s:
        return None
    # The rounding of `needed_s` to whole seconds must not add energy to the result.
    energy = min(energy_kwh, given_s / HOUR_S * power_kw)
    total = _WeightedSumDistribution.of_prices({period: energy * part / given_s for period, part in seconds.items()})
    return Cost(
        expected=rounded_price(total.median),
        low=rounded_price(total.p10),
        high=rounded_price(total.p90),
        energy=round(energy, _ENERGY_DECIMALS),
    )


def used_pieces(pieces: Iterable[Piece], *, energy_kwh: float, power_kw: float) -> list[Piece]:
    """Return the parts of the pieces in which a device uses `energy_kwh`, to the whole second."""
    needed_s = math.ceil(energy_kwh / power_kw * HOUR_S)
    used: list[Piece] = []
    for start, end in pieces:
        used.append((start, min(end, start + needed_s)))
        needed_s -= used[-1][1] - start
    return used


def average_percentiles(periods: Sequence[Period]) -> tuple[float, float, float]:
    """Return p10, p50 and p90 of the average price of `periods` in EUR/kWh. There must be at least one period."""
    duration = sum(period.length_s for period in periods)
    total = _WeightedSumDistribution.of_prices({period: period.length_s / duration for period in periods})
    return rounded_price(total.p10), rounded_price(total.median), rounded_price(total.p90)


def seconds_by_period(timeline: Timeline, pieces: Iterable[Piece]) -> Counter[Period]:
    """Return the number of seconds that the pieces cover in each period with a price."""
    seconds: Counter[Period] = Counter()
    for start, end in pieces:
        for period in timeline.periods_between(start, end):
            seconds[period] += min(period.end, end) - max(period.start, start)
    return seconds


@dataclass(frozen=True, slots=True)
class _WeightedSumDistribution:
    """The split normal distribution of a weighted sum of prices.

    `deviation_below` and `deviation_above` are the standard deviations on the two sides of the median.
    """

    median: float
    deviation_below: float
    deviation_above: float

    @classmethod
    def of_prices(cls, weights: Mapping[Period, float]) -> _WeightedSumDistribution:
        """Return the distribution of the sum of the periods' prices, weighted by `weights`."""
        uncertain = sorted(
            ((period, weight) for period, weight in weights.items() if weight and not period.settled),
            key=lambda item: item[0].start,
        )
        rises = [(period.start, weight * _standard_deviation(period, up=weight > 0)) for period, weight in uncertain]
        falls = [(period.start, weight * _standard_deviation(period, up=weight < 0)) for period, weight in uncertain]
        median = round(sum(weight * period.price for period, weight in weights.items()), _MEDIAN_DECIMALS)
        return cls(median, deviation_below=_deviation_of_sum(falls), deviation_above=_deviation_of_sum(rises))

    @property
    def p10(self) -> float:
        return self.median - _P90_Z_SCORE * self.deviation_below

    @property
    def p90(self) -> float:
        return self.median + _P90_Z_SCORE * self.deviation_above

    @property
    def chance_of_positive_sum(self) -> float:
        """The probability that the weighted sum of prices is positive."""
        deviation = self.deviation_below if self.median > 0 else self.deviation_above
        return _NORMAL.cdf(self.median / deviation) if deviation else float(self.median > 0)


def _standard_deviation(period: Period, *, up: bool) -> float:
    return (period.high - period.price if up else period.price - period.low) / _P90_Z_SCORE


def _deviation_of_sum(deviations: Sequence[tuple[int, float]]) -> float:
    """Return the standard deviation of a sum of correlated errors.

    The module's docstring contains the formula of the variance. `deviations` contains the start (UTC seconds) and the
    factor u of each period, in chronological order. Because each term of the correlation rho(k) falls exponentially
    with k, one running sum for each term replaces the sum over all pairs of periods.
    """
    variance = 0.0
    for share, reach_s in _CORRELATION:
        carried, before = 0.0, 0
        for start, deviation in deviations:
            carried *= math.exp((before - start) / reach_s)
            variance += share * deviation * (deviation + 2 * carried)
            carried, before = carried + deviation, start
    return math.sqrt(max(variance, 0.0))
