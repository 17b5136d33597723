"""The worth of a forecast to those who plan by it: how much of the possible saving its cheapest hours catch.

A plan takes the periods that a forecast says are cheapest, wherever in the day they lie; of equal ones the earliest.
Its saving is the day's mean price less the mean price of the periods that it took. With perfect foresight that is
the ideal saving. A share is the sum of the savings over the sum of the ideal ones, so that days on which little can be
saved count for little. Prices and savings are in EUR/MWh without VAT.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from tunnihind.forecast.known import Floats
from tunnihind.forecast.run import LEADS
from tunnihind.market import HOUR_S

PLAN_HOURS: Final = (1, 3, 4, 6)
"""Plans of these numbers of hours of a delivery day are scored."""
WEEK_PLAN_HOURS: Final = 4
"""Hours that a plan looks for in the seven delivery days after the day of issue."""
BOILER_KW: Final = 3
BOILER_HOURS: Final = 3
_BOILER_MWH_A_YEAR: Final = BOILER_KW * BOILER_HOURS * 365 / 1000


class Hours(NamedTuple):
    """Prices of consecutive periods, and what was forecast for them; arrays of shape (periods,), NaN where unknown.

    `baseline` is the price one week earlier, `seven_day_mean` the naive forecast of that name.
    """

    actual: Floats
    p50: Floats
    baseline: Floats
    seven_day_mean: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the periods of several days."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Savings(NamedTuple):
    """The savings of plans by each forecast, and with perfect foresight, against the mean price, EUR/MWh."""

    forecast: float
    baseline: float
    seven_day_mean: float
    ideal: float


def saving(actual: Floats, forecast: Floats, periods: int) -> float:
    """Return the mean price less the mean price of the cheapest periods by a forecast, EUR/MWh."""
    taken = np.argsort(forecast, kind="stable")[:periods]
    # Counted from the lowest price: means of equal prices differ in the last place, which would be a saving.
    above = actual - actual.min()
    return float(above.mean() - above[taken].mean())


def savings(hours: Hours, periods: int) -> Savings | None:
    """Return what plans of so many periods save; None where a price or a forecast of any period is unknown."""
    if not hours.actual.size or np.isnan(hours).any():
        return None
    by = hours.p50, hours.baseline, hours.seven_day_mean, hours.actual
    return Savings(*(saving(hours.actual, forecast, periods) for forecast in by))


def day_savings(day: Hours, step_s: int = HOUR_S) -> dict[int, Savings]:
    """Return what plans of `PLAN_HOURS` save within a delivery day, by the hours; nothing for a day with a hole."""
    found = {hours: savings(day, hours * HOUR_S // step_s) for hours in PLAN_HOURS}
    return {hours: of_plan for hours, of_plan in found.items() if of_plan is not None}


def week_savings(days: Sequence[Hours], step_s: int = HOUR_S) -> Savings | None:
    """Return what a plan of `WEEK_PLAN_HOURS` within seven delivery days saves; None where there is a hole."""
    return savings(Hours.joined(days), WEEK_PLAN_HOURS * HOUR_S // step_s) if len(days) == LEADS else None


@dataclass(frozen=True, slots=True)
class PlanScores:
    """Mean savings of `n` plans, EUR/MWh, NaN where there are none: by the forecast, both naive ones, and at best."""

    n: int
    forecast: float
    baseline: float
    seven_day_mean: float
    ideal: float

    @classmethod
    def of(cls, plans: Iterable[Savings]) -> Self:
        """Take the means of plans of one kind."""
        rows = list(plans)
        means = np.mean(rows, axis=0) if rows else np.full(len(Savings._fields), np.nan)
        return cls(len(rows), *means.tolist())

    @property
    def share(self) -> float:
        """The share of the ideal saving that the forecast's plans caught; NaN where nothing could be saved."""
        return self._share(self.forecast)

    @property
    def baseline_share(self) -> float:
        """The same of plans by the price one week earlier."""
        return self._share(self.baseline)

    @property
    def seven_day_mean_share(self) -> float:
        """The same of plans by the mean of seven days."""
        return self._share(self.seven_day_mean)

    def _share(self, saved: float) -> float:
        return saved / self.ideal if self.ideal > 0 else float("nan")


NO_PLANS: Final = PlanScores.of(())


def boiler_eur_a_year(saved_eur_mwh: float) -> float:
    """Return what a boiler of 3 kW saves in 365 days if it saves so much in 3 hours of each, EUR without VAT."""
    return saved_eur_mwh * _BOILER_MWH_A_YEAR


@dataclass(frozen=True, slots=True)
class Decisions:
    """Scores of plans: within a delivery day by days ahead and by the plan's hours, and within the coming week."""

    by_days_ahead: Mapping[int, Mapping[int, PlanScores]]
    week: PlanScores

    @classmethod
    def of(cls, days: Mapping[int, Sequence[Mapping[int, Savings]]], weeks: Iterable[Savings]) -> Self:
        """Score the plans of days, given by days ahead and then by the plan's hours, and those of weeks."""
        return cls(
            by_days_ahead={
                lead: {hours: PlanScores.of(day[hours] for day in of_lead if hours in day) for hours in PLAN_HOURS}
                for lead, of_lead in sorted(days.items())
            },
            week=PlanScores.of(weeks),
        )


NO_DECISIONS: Final = Decisions({}, NO_PLANS)
