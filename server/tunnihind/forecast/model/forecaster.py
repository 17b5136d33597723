"""The served model: which tier fits what is known, and its run."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

import numpy as np

from tunnihind.forecast.daily import by_hour, days_between
from tunnihind.forecast.fallback import LastWeeksMean
from tunnihind.forecast.intervals import LEADS
from tunnihind.forecast.model.conformal import BANK_DAYS, band, half_widths, widening
from tunnihind.forecast.model.inputs import Inputs
from tunnihind.forecast.model.learner import ALL_LEADS, ENOUGH_DAYS, LeadRows, point
from tunnihind.forecast.model.price_state import to_eur
from tunnihind.forecast.model.replay import Replays, View
from tunnihind.forecast.model.sight import Eyes, Sight
from tunnihind.forecast.run import Run
from tunnihind.known import Floats, Known
from tunnihind.market import HOUR_S, PRICE_CAP_EUR_MWH, PRICE_FLOOR_EUR_MWH, ZONES, day_start, delivery_day, floor_hour

SHORT_HISTORY: Final = "short-history"
MIN_HISTORY_DAYS: Final = 56
"""With fewer days the mean of the last weeks does better."""


@dataclass(slots=True)
class Ridges:
    """Forecasts by ridge and kernel regression on prices, calendar and weather.

    A target day i sees the prices of the days up to j = min(newest settled day, i - 1) and the covariates known at
    the instant of issue; its lead is i - j. Where little is known it gives way to `LastWeeksMean`. An instance keeps
    what it has learnt for the next forecast; the same `Known` gives the same run with a fresh one.
    """

    floor_eur_mwh: float = PRICE_FLOOR_EUR_MWH
    cap_eur_mwh: float = PRICE_CAP_EUR_MWH
    _eyes: Eyes = field(default_factory=Eyes, repr=False)
    _replays: Replays = field(default_factory=Replays, repr=False)

    def forecast(self, known: Known) -> Run | None:
        """Forecast up to 7 delivery days past the newest settled one, and where that is stale past today.

        None where no Estonian price is known.
        """
        sight = self._eyes.see(known)
        if sight is None or sight.newest < MIN_HISTORY_DAYS or sight.newest + LEADS <= sight.today:
            return LastWeeksMean(self.floor_eur_mwh, self.cap_eur_mwh).forecast(known)
        newest_day = known.prices.newest_settled_day()
        start_ts = floor_hour(known.as_of) + HOUR_S
        first, today = delivery_day(start_ts), delivery_day(known.as_of)
        last = max(newest_day or today, today) + timedelta(days=LEADS)
        days = days_between(first, last)
        main = sight.inputs(sight.lag)
        by_day = self._ahead(sight, main) | self._blind(sight, main, first)
        inside = [day for day in days if day in by_day]
        percentiles = by_hour(np.stack([by_day[day] for day in inside], axis=1), inside)
        percentiles = percentiles[:, (start_ts - day_start(first)) // HOUR_S :]
        if len(inside) < len(days):
            percentiles = self._lengthened(known, percentiles)
        tier = _tier(sight, main)
        if tier == SHORT_HISTORY:
            percentiles = (percentiles + self._mean_of_last_weeks(known)) / 2
        return Run.of(
            made_at=known.as_of,
            tier=tier,
            start_ts=start_ts,
            percentiles=percentiles,
            inputs={**_described(known, sight, main), "errorDays": self._error_days(sight, main)},
        )

    def _ahead(self, sight: Sight, inputs: Inputs) -> dict[date, Floats]:
        """Return p10, p50 and p90 (3, 24) of the 7 days past the newest settled one."""
        view = self._replays.view(inputs, sight.era_row, sight.newest, ALL_LEADS)
        p50 = np.concatenate([_p50(view, inputs, lead, sight.today) for lead in ALL_LEADS])
        low, high = half_widths(sight.prices.eur_mwh[: sight.newest + 1], view.issued)
        percentiles = band(p50, -widening(-low), widening(high), (self.floor_eur_mwh, self.cap_eur_mwh))
        return {sight.grid.day(sight.newest + lead): percentiles[:, lead - 1] for lead in ALL_LEADS}

    def _error_days(self, sight: Sight, inputs: Inputs) -> int:
        """Return how many days of errors the interval of the next day rests on."""
        view = self._replays.view(inputs, sight.era_row, sight.newest, ALL_LEADS)
        return int(np.isfinite(view.issued[0, -BANK_DAYS:]).any(axis=1).sum())

    def _blind(self, sight: Sight, main: Inputs, first: date) -> dict[date, Floats]:
        """Return p10, p50 and p90 (3, 24) of settled days from `first` on, as forecast a day ahead without them."""
        settled = range(sight.grid.index(first), sight.newest + 1)
        inputs = main if sight.lag == 0 or not settled else sight.inputs(0)
        blind: dict[date, Floats] = {}
        for row in settled:
            view = self._replays.view(inputs, sight.era_row, row - 1, (1,))
            p50 = _p50(view, inputs, 1, min(row - 1, sight.today))
            low, high = half_widths(sight.prices.eur_mwh[:row], view.issued)
            blind[sight.grid.day(row)] = band(p50, low, high, (self.floor_eur_mwh, self.cap_eur_mwh))[:, 0]
        return blind

    def _mean_of_last_weeks(self, known: Known) -> Floats:
        """Return the fallback's p10, p50 and p90 of the same hours, (3, hours)."""
        run = LastWeeksMean(self.floor_eur_mwh, self.cap_eur_mwh).forecast(known)
        if run is None:
            raise ValueError("the mean of the last weeks needs a price")
        return np.stack([run.p10, run.p50, run.p90])

    def _lengthened(self, known: Known, percentiles: Floats) -> Floats:
        """Go on by the mean of the last weeks, no surer of it than of the last day that the model reaches."""
        rest = self._mean_of_last_weeks(known)[:, percentiles.shape[1] :]
        below, above = (
            (percentiles[1, -24:] - percentiles[0, -24:]).mean(),
            (percentiles[2, -24:] - percentiles[1, -24:]).mean(),
        )
        wide = np.stack([np.minimum(rest[0], rest[1] - below), rest[1], np.maximum(rest[2], rest[1] + above)])
        return np.concatenate([percentiles, np.clip(wide, self.floor_eur_mwh, self.cap_eur_mwh)], axis=1)


def _p50(view: View, inputs: Inputs, lead: int, issue: int) -> Floats:
    """Return the p50 (1, 24), EUR/MWh, of the day `lead` days past the newest that a view has seen."""
    target = np.array([view.through + lead])
    rows = LeadRows.of(inputs, target, lead, np.array([issue]))
    _, raw = point(view.fit, rows, inputs, target, lead)
    return to_eur(raw + view.shift[view.leads.index(lead)])


def _tier(sight: Sight, inputs: Inputs) -> str:
    if sight.newest + 1 < ENOUGH_DAYS:
        return SHORT_HISTORY
    if not inputs.far and not inputs.near:
        return "prices"
    return "stale-weather" if inputs.far and sight.stale_days else "weather"


def _described(known: Known, sight: Sight, inputs: Inputs) -> dict[str, Any]:
    drivers = [*inputs.far, *inputs.near]
    used = {name for driver in drivers for name in sight.drivers.members[driver]}
    return {
        "tier": _tier(sight, inputs),
        "zones": [zone for zone in ZONES if not np.isnan(known.prices.of(zone)).all()],
        "newestSettledHour": known.prices.newest_settled_hour(),
        "firstDay": sight.grid.first.isoformat(),
        "lastDay": sight.grid.day(sight.newest).isoformat(),
        "historyDays": sight.newest + 1,
        "drivers": {driver: list(sight.drivers.members[driver]) for driver in drivers},
        "covariates": [
            {
                "name": one.name,
                "ageH": round((known.as_of - one.issued_ts) / HOUR_S, 1),
                "reachH": round((one.reaches_ts - known.as_of) / HOUR_S, 1),
                "imputed": one.is_imputed,
            }
            for one in sight.covariates
            if one.name in used
        ],
        "staleDays": sight.stale_days if inputs.far else 0,
        "ignored": [*sight.ignored, *sorted({one.name for one in sight.covariates} - used)],
    }
