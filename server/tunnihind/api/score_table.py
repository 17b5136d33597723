"""Makes the answer of `/api/v1/accuracy?format=csv`: a table of scores.

A table covers at most 366 issue days. Below the names of the columns, each row has the scores of one issue day's
forecast for one delivery day.
"""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from io import StringIO
from typing import Final

from tunnihind.api.http.headers import Coding
from tunnihind.api.http.representation import Representation, opaque_tag, represent
from tunnihind.api.parameters import quoted_value
from tunnihind.api.snapshot import cache_control
from tunnihind.clock import Clock
from tunnihind.core.market import Market, iso_utc
from tunnihind.errors import NotServed, ParameterError
from tunnihind.forecast.scoring.decisions import PLAN_HOURS, WEEK_PLAN_HOURS, Savings
from tunnihind.forecast.scoring.live_scores import DayScores
from tunnihind.numerals import decimal_text

CSV_CONTENT_TYPE: Final = "text/csv; charset=utf-8"
ACCURACY_FORMATS: Final = ("json", "csv")
"""The values of `format`, the default first."""

FIRST_YEAR: Final = 2021
DEFAULT_ISSUE_DAYS: Final = 366
"""If a request names no year, the table covers this many issue days up to today."""

_YEAR: Final = re.compile(r"[0-9]{4}")
_SAVING_PREFIXES: Final = ("saving", "baselineSaving", "sevenDayMeanSaving", "idealSaving")
"""How the names of the columns with savings begin, in the order of the fields of `Savings`."""

SCORE_COLUMNS: Final = (
    *("issuedOn", "deliveryDay", "daysAhead", "madeAt", "tier", "n"),
    *("mae", "baselineMae", "sevenDayMeanMae", "coverage80", "below10", "above90", "pinball", "winkler80", "width"),
    *(f"{by}{hours}h" for hours in PLAN_HOURS for by in _SAVING_PREFIXES),
    *(f"{by}Week{WEEK_PLAN_HOURS}h" for by in _SAVING_PREFIXES),
)
"""The first row of the table."""

type ReadScores = Callable[[date, date], Sequence[DayScores]]
"""Takes the first and the last issue day. Returns the scores of all issue days from the first to the last. Raises
StoreError."""


class ScoreTableReader:
    """Makes tables from the scores in the store."""

    def __init__(self, market: Market, read: ReadScores, clock: Clock) -> None:
        self._market = market
        self._read = read
        self._clock = clock

    def issue_day_range(self, year: str | None) -> tuple[date, date]:
        """Return the first and the last issue day of the requested table.

        Raises ParameterError if `year` isn't four digits, and NotServed if there is no table of that year.
        """
        today = self._market.local_time(self._clock.now()).date()
        if year is None:
            return today - timedelta(days=DEFAULT_ISSUE_DAYS - 1), today
        advice = (
            f"give a year from {FIRST_YEAR} to {today.year}, or leave it out for the last {DEFAULT_ISSUE_DAYS} days"
        )
        if not _YEAR.fullmatch(year):
            raise ParameterError(f"`year` is {quoted_value(year)}: {advice}.")
        if not FIRST_YEAR <= int(year) <= today.year:
            raise NotServed(f"`year` is {year}: {advice}.")
        return date(int(year), 1, 1), date(int(year), 12, 31)

    def read_answer(self, issue_days: tuple[date, date], coding: Coding) -> Representation:
        """Return the table of scores from the first to the last issue day of `issue_days`. Raises StoreError."""
        fresh = cache_control(int(self._clock.now()))
        body = scores_csv(self._read(*issue_days))
        return represent(body, coding, tag=opaque_tag(body), cache_control=fresh, content_type=CSV_CONTENT_TYPE)


def scores_csv(days: Iterable[DayScores]) -> bytes:
    """Return scores as CSV. The first row names the columns. If a score is unknown, its cell is empty."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(SCORE_COLUMNS)
    writer.writerows(map(_row_cells, days))
    return stream.getvalue().encode()


def _row_cells(day: DayScores) -> list[str]:
    scores = day.scores
    plans = [*(day.plans.get(hours) for hours in PLAN_HOURS), day.week]
    return [
        *(
            str(day.issued_on),
            str(day.delivery_day),
            str(day.days_ahead),
            iso_utc(day.made_at),
            day.tier,
            str(scores.n),
        ),
        *(decimal_text(error, 2) for error in (scores.mae, scores.baseline_mae, day.seven_day_mean_mae)),
        *(decimal_text(share, 4) for share in (scores.coverage80, scores.below10, scores.above90)),
        *(decimal_text(error, 2) for error in (scores.pinball, scores.winkler80, scores.width)),
        *(cell for plan in plans for cell in _saving_cells(plan)),
    ]


def _saving_cells(plan: Savings | None) -> list[str]:
    return [""] * len(_SAVING_PREFIXES) if plan is None else [decimal_text(saved, 2) for saved in plan]
