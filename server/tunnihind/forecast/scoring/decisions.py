"""Computes how much plans save if a forecast chooses their hours.

A plan runs in the periods of a day or a week that are cheapest in a forecast. Among periods with equal prices in the
forecast, the earliest are chosen. The saving of a plan is the mean actual price of the day or week less that of the
plan's periods. The ideal saving is the saving of a plan made from the actual prices. The share of several plans is the
sum of their savings divided by the sum of their ideal savings. So a day or week with a small ideal saving has little
weight in the share. Prices and savings are in EUR/MWh without VAT.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from tunnihind.core.market import HOUR_S
from tunnihind.forecast.run import LEADS
from tunnihind.known import Floats

PLAN_HOURS: Final = (1, 3, 4, 6)
"""The lengths, in hours, of the scored plans that run within one delivery day."""
WEEK_PLAN_HOURS: Final = 4
"""The length, in hours, of the scored plan that runs within seven delivery days."""
BOILER_KW: Final = 3
BOILER_HOURS: Final = 3
_BOILER_MWH_A_YEAR: Final = BOILER_KW * BOILER_HOURS * 365 / 1000


class PricesWithForecasts(NamedTuple):
    """Prices of consecutive periods, and forecasts of these prices.

    Arrays have shape (periods,). Unknown values are NaN. `baseline` holds the prices one week earlier. `seven_day_mean`
    holds the naive forecasts of the module `naive`.
    """

    actual: Floats
    p50: Floats
    baseline: Floats
    seven_day_mean: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the prices and the forecasts of several days in order."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Savings(NamedTuple):
    """The savings of four plans of the same length within the same day or week, in EUR/MWh.

    `forecast`, `baseline` and `seven_day_mean` are the savings of the plans made from the fields `p50`, `baseline` and
    `seven_day_mean` of `PricesWithForecasts`. `ideal` is the saving of the plan made from the actual prices.
    """

    forecast: float
    baseline: float
    seven_day_mean: float
    ideal: float


def saving(actual: Floats, forecast: Floats, periods: int) -> float:
    """Return the saving, in EUR/MWh, of a plan that runs in the `periods` cheapest periods of `forecast`."""
    taken = np.argsort(forecast, kind="stable")[:periods]
    # Without this subtraction, rounding errors of the means could look like a saving if all prices are equal.
    above = actual - actual.min()
    return float(above.mean() - above[taken].mean())


def savings(prices: PricesWithForecasts, periods: int) -> Savings | None:
    """Return the savings of plans that run for `periods` periods.

    If a price or a forecast is unknown, or if `prices` is empty, return None.
    """
    if not prices.actual.size or np.isnan(prices).any():
        return None
    by = prices.p50, prices.baseline, prices.seven_day_mean, prices.actual
    return Savings(*(saving(prices.actual, forecast, periods) for forecast in by))


def day_savings(day: PricesWithForecasts, step_s: int = HOUR_S) -> dict[int, Savings]:
    """Map each length in `PLAN_HOURS` to the savings of plans within a delivery day.

    If a price or a forecast is unknown, or if `day` is empty, the result is empty.
    """
    found = {hours: savings(day, hours * HOUR_S // step_s) for hours in PLAN_HOURS}
    return {hours: of_plan for hours, of_plan in found.items() if of_plan is not None}


def week_savings(days: Sequence[PricesWithForecasts], step_s: int = HOUR_S) -> Savings | None:
    """Return the savings of plans of `WEEK_PLAN_HOURS` hours within seven days.

    If `days` does not hold exactly seven days, or if a price or a forecast is unknown, return None.
    """
    return savings(PricesWithForecasts.joined(days), WEEK_PLAN_HOURS * HOUR_S // step_s) if len(days) == LEADS else None


@dataclass(frozen=True, slots=True)
class PlanScores:
    """The mean of each field of `Savings` over `n` days or weeks, in EUR/MWh. If `n` is 0, the means are NaN."""

    n: int
    forecast: float
    baseline: float
    seven_day_mean: float
    ideal: float

    @classmethod
    def of(cls, plans: Iterable[Savings]) -> Self:
        """Return the means of the savings of several days or weeks."""
        rows = list(plans)
        means = np.mean(rows, axis=0) if rows else np.full(len(Savings._fields), np.nan)
        return cls(len(rows), *means.tolist())

    @property
    def share(self) -> float:
        """The saving of plans made from the forecast, divided by the ideal saving.

        If there are no plans, or if the ideal saving is 0, the share is NaN.
        """
        return self._share(self.forecast)

    @property
    def baseline_share(self) -> float:
        """Like `share`, but for plans made from the prices one week earlier."""
        return self._share(self.baseline)

    @property
    def seven_day_mean_share(self) -> float:
        """Like `share`, but for plans made from the naive forecasts of the module `naive`."""
        return self._share(self.seven_day_mean)

    def _share(self, saved: float) -> float:
        return saved / self.ideal if self.ideal > 0 else float("nan")


NO_PLANS: Final = PlanScores.of(())


def boiler_eur_a_year(saved_eur_mwh: float) -> float:
    """Convert a saving in EUR/MWh to EUR a year, without VAT, for a 3 kW boiler that runs 3 hours a day."""
    return saved_eur_mwh * _BOILER_MWH_A_YEAR


@dataclass(frozen=True, slots=True)
class DecisionScores:
    """The scores of plans within one delivery day, and of plans within the seven days after the issue day.

    `by_days_ahead[ahead][hours]` scores plans of `hours` hours on the delivery day `ahead` days after the issue day. In
    a backtest, `ahead` is the lead instead.
    """

    by_days_ahead: Mapping[int, Mapping[int, PlanScores]]
    week: PlanScores

    @classmethod
    def of(cls, days: Mapping[int, Sequence[Mapping[int, Savings]]], weeks: Iterable[Savings]) -> Self:
        """Return the mean savings of plans within a day, by key of `days` and by length, and of plans within a week.

        `days[ahead]` lists results of `day_savings`, and `weeks` holds results of `week_savings`.
        """
        return cls(
            by_days_ahead={
                lead: {hours: PlanScores.of(day[hours] for day in of_lead if hours in day) for hours in PLAN_HOURS}
                for lead, of_lead in sorted(days.items())
            },
            week=PlanScores.of(weeks),
        )


NO_DECISION_SCORES: Final = DecisionScores({}, NO_PLANS)
