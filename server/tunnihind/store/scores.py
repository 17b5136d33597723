"""Stores the scores of forecasts, and the forecasts that the model makes for past days.

Forecasts of past days are kept, so that a new backtest score needs only a few new forecasts. If a transaction adds data
that a stored forecast should have used, the transaction also deletes the forecast.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from sqlalchemy import Connection, delete, insert

from tunnihind.core.market import DAY_S, SeriesKey, Zone
from tunnihind.forecast.run import LEADS
from tunnihind.forecast.scoring.backtest import SCORE_DAYS, Next24HoursForecast
from tunnihind.forecast.scoring.decisions import PLAN_HOURS, Savings
from tunnihind.forecast.scoring.live_scores import (
    NO_SCORES_BY_MONTH,
    DayScores,
    LiveScores,
    ScoresByMonth,
    WindowScores,
)
from tunnihind.forecast.scoring.scores import MEANS, Scores, skill
from tunnihind.store.database import Database
from tunnihind.store.packing import pack_hundredths, unpack_hundredths, unpack_percentiles
from tunnihind.store.rows import (
    PLAUSIBLE_YEARS,
    Instant,
    PeriodStart,
    Step,
    StoredRow,
    TableRows,
    TextWithoutNul,
    row_mapper,
)
from tunnihind.store.schema import backtest_forecasts as past_forecasts
from tunnihind.store.schema import day_scores as table
from tunnihind.store.state import StateBook

_WINDOWS_KEY: Final = "live scores"
_MONTHS_KEY: Final = "live scores by month"
_NO_PLAN: Final = (float("nan"),) * len(Savings._fields)
_FIRST_PLAN_FIGURE: Final = 1 + len(MEANS) + 1
_FIGURE_COUNT: Final = _FIRST_PLAN_FIGURE + (len(PLAN_HOURS) + 1) * len(Savings._fields)
"""A row of `day_scores` has this many figures: the number of hours, the means that `MEANS` names, the MAE of the
seven-day mean, and the savings of the plans."""
_SHARE_FIGURES: Final = slice(3, 6)
"""These figures are shares of the hours. They are stored as numbers of hours, because packed numbers have at most
two decimals."""


class ScoreBook:
    """The stored scores of served forecasts, and the monthly scores of the backtest."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _ScoreRow, row_mapper(_day_scores), database)

    def store_live_scores(self, zone: Zone, scores: LiveScores) -> None:
        """Store a zone's scores. Raises StoreError.

        The scores of days replace the stored scores for the same issue days. The scores of windows and months
        replace all earlier ones of the zone.
        """
        rows = [{"zone": zone, **_cells(day)} for day in scores.days]
        with self._database.writing() as connection:
            issued_on = {row["issued_on"] for row in rows}
            connection.execute(delete(table).where(table.c.zone == zone, table.c.issued_on.in_(issued_on)))
            if rows:
                connection.execute(insert(table), rows)
            self._state.write(f"{_WINDOWS_KEY} {zone}", msgspec.to_builtins(scores.windows))
            self._state.write(f"{_MONTHS_KEY} {zone}", msgspec.to_builtins(scores.months))
            self._state.record_served_change()

    def window_scores(self, zone: Zone) -> tuple[WindowScores, ...]:
        """Return the scores of a zone's forecasts for the last 7, 30 and 90 delivery days.

        If no scores are stored, return an empty tuple. Raises StoreError.
        """
        return self._state.read(f"{_WINDOWS_KEY} {zone}", tuple[WindowScores, ...]) or ()

    def scores_by_month(self, zone: Zone) -> ScoresByMonth:
        """Return a zone's scores by month, or `NO_SCORES_BY_MONTH` if there are none. Raises StoreError."""
        return self._state.read(f"{_MONTHS_KEY} {zone}", ScoresByMonth) or NO_SCORES_BY_MONTH

    def day_scores(self, zone: Zone, first: date, last: date) -> list[DayScores]:
        """Return the scores of a zone's forecasts that were issued from `first` to `last`. Raises StoreError.

        The scores are sorted by issue day, and then by days ahead.
        """
        with self._database.reading() as connection:
            wanted = table.c.zone == zone, table.c.issued_on.between(first, last)
            return [*self.rows.read(connection, *wanted, order_by=(table.c.issued_on, table.c.days_ahead))]

    def newest_issue_day(self, zone: Zone) -> date | None:
        """Return the issue day of a zone's newest scores. Raises StoreError."""
        with self._database.reading() as connection:
            newest = self.rows.first_sound_object(
                connection, table.c.zone == zone, order_by=(table.c.issued_on.desc(),)
            )
            return None if newest is None else newest.issued_on


def _cells(day: DayScores) -> dict[str, Any]:
    plans = [day.plans.get(hours) for hours in PLAN_HOURS]
    figures = np.array(
        [
            day.scores.n,
            *(getattr(day.scores, name) for name in MEANS),
            day.seven_day_mean_mae,
            *(figure for plan in (*plans, day.week) for figure in (_NO_PLAN if plan is None else plan)),
        ]
    )
    figures[_SHARE_FIGURES] *= day.scores.n
    return {
        "issued_on": day.issued_on,
        "days_ahead": day.days_ahead,
        "made_at": day.made_at,
        "tier": day.tier,
        "figures": pack_hundredths(np.round(figures, 2)),
    }


class _ScoreRow(StoredRow):
    zone: Zone
    issued_on: date
    days_ahead: Annotated[int, msgspec.Meta(ge=1, le=LEADS)]
    made_at: Instant
    tier: TextWithoutNul
    figures: bytes


def _day_scores(row: _ScoreRow) -> DayScores:
    if row.issued_on.year not in PLAUSIBLE_YEARS:
        raise ValueError(f"issued_on is {row.issued_on}")
    figures = unpack_hundredths(row.figures, "figures")
    if figures.size != _FIGURE_COUNT:
        raise ValueError(f"it has {figures.size} figures, not {_FIGURE_COUNT}")
    if not figures[0] >= 1:
        raise ValueError(f"its figures are of {figures[0]} hours")
    figures[_SHARE_FIGURES] /= figures[0]
    means = dict(zip(MEANS, figures[1 : 1 + len(MEANS)].tolist(), strict=True))
    *plans, week = figures[_FIRST_PLAN_FIGURE:].reshape(-1, len(Savings._fields)).tolist()
    return DayScores(
        issued_on=row.issued_on,
        days_ahead=row.days_ahead,
        made_at=row.made_at,
        tier=row.tier,
        scores=Scores(n=int(figures[0]), skill=skill(means["mae"], means["baseline_mae"]), **means),
        seven_day_mean_mae=float(figures[1 + len(MEANS)]),
        plans=_known_savings(zip(PLAN_HOURS, plans, strict=True)),
        week=_known_savings([(0, week)]).get(0),
    )


def _known_savings(plans: Iterable[tuple[int, list[float]]]) -> dict[int, Savings]:
    return {hours: Savings(*plan) for hours, plan in plans if not np.isnan(plan).any()}


_SCORED_KEY: Final = "backtest scored"
_KEPT_WITHIN_S: Final = (SCORE_DAYS + 30) * DAY_S
"""Forecasts issued more than this many seconds before the newest added forecast are deleted."""


class BacktestBook:
    """The stored forecasts of past days."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(past_forecasts, _ForecastRow, row_mapper(_forecast), database)

    def forecasts(self, model: str, key: SeriesKey) -> dict[int, Next24HoursForecast]:
        """Return a model's stored forecasts of a series, keyed by issue (unix seconds). Raises StoreError."""
        wanted = (
            past_forecasts.c.model == model,
            past_forecasts.c.zone == key.zone,
            past_forecasts.c.step_s == key.step_s,
        )
        with self._database.reading() as connection:
            found = self.rows.read(connection, *wanted, order_by=(past_forecasts.c.issued_ts,))
            return {forecast.issued_ts: forecast for forecast in found}

    def add(self, model: str, zone: Zone, forecasts: Sequence[Next24HoursForecast], *, data_change_count: int) -> bool:
        """Store a model's forecasts of past days for a zone. Return whether the forecasts were stored.

        Also delete the zone's stored forecasts by other models, those with the same issue as a new forecast, and those
        that are too old (see `_KEPT_WITHIN_S`). `data_change_count` is the result of `StateBook.data_change_count`
        before the forecasts were made. If `forecasts` is empty, or if prices or covariates have changed since then,
        nothing is stored or deleted. Raises StoreError.
        """
        rows = [
            {
                "model": model,
                "zone": zone,
                "issued_ts": forecast.issued_ts,
                "step_s": forecast.step_s,
                "start_ts": forecast.start_ts,
                "p10": pack_hundredths(forecast.p10),
                "p50": pack_hundredths(forecast.p50),
                "p90": pack_hundredths(forecast.p90),
            }
            for forecast in forecasts
        ]
        with self._database.writing() as connection:
            if not rows or self._state.data_change_count() != data_change_count:
                return False
            instants = [row["issued_ts"] for row in rows]
            oldest = max(forecast.issued_ts for forecast in forecasts) - _KEPT_WITHIN_S
            outlived = (
                (past_forecasts.c.model != model)
                | past_forecasts.c.issued_ts.in_(instants)
                | (past_forecasts.c.issued_ts < oldest)
            )
            connection.execute(delete(past_forecasts).where(past_forecasts.c.zone == zone, outlived))
            connection.execute(insert(past_forecasts), rows)
        return True

    def scored_at(self, model: str, zone: Zone) -> int | None:
        """Return the instant at which a model was last scored on a zone's prices. Raises StoreError.

        If the model was never scored, or if another model was scored later, return None.
        """
        found = self._state.read(f"{_SCORED_KEY} {zone}")
        at = found.get("at") if isinstance(found, dict) and found.get("model") == model else None
        return at if isinstance(at, int) else None

    def record_scored(self, model: str, zone: Zone, at: int) -> None:
        """Record `at` as the instant at which a model was last scored on a zone's prices. Raises StoreError."""
        self._state.write(f"{_SCORED_KEY} {zone}", {"model": model, "at": at})


class _ForecastRow(StoredRow):
    model: TextWithoutNul
    zone: Zone
    issued_ts: Instant
    step_s: Step
    start_ts: PeriodStart
    p10: bytes
    p50: bytes
    p90: bytes


def _forecast(row: _ForecastRow) -> Next24HoursForecast:
    percentiles = unpack_percentiles(row.p10, row.p50, row.p90)
    return Next24HoursForecast(row.issued_ts, row.start_ts, *percentiles, step_s=row.step_s)


def delete_past_forecasts_since(connection: Connection, known_ts: int) -> None:
    """Delete all zones' forecasts of past days that were issued at `known_ts` or later.

    Each transaction that adds data known from `known_ts` on must call this function. Forecasts of all zones are
    deleted, because a forecast may use data of other zones.
    """
    connection.execute(delete(past_forecasts).where(past_forecasts.c.issued_ts >= known_ts))
