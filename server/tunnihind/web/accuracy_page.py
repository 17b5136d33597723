"""Makes the accuracy page's figures about price forecasts: the scores of our forecasts and of naive forecasts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, isnan
from typing import Final, NamedTuple

from tunnihind.api.served_data import ServedData
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.forecast.scoring.decisions import (
    BOILER_HOURS,
    NO_PLANS,
    PlanScores,
    boiler_eur_a_year,
)
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.web.display import EUR_MWH_PER_CENT_KWH
from tunnihind.web.drawing import RangeLabel, Tick, round_step
from tunnihind.web.options import PageOptions
from tunnihind.web.texts import Texts

_DAY_PLAN_HOURS: Final = 4
_TARGET_COVERAGE: Final = 0.8

_MONTH_DAYS: Final = 30
_PLOT_SIZE: Final = 1000
_BARS_PER_MONTH: Final = 3
"""Each month has room for this many bars, so that the bars of all charts have the same width."""
_BARS_SHARE: Final = 0.72
"""The fraction of a month's width that is kept for its bars."""
_MIN_MONTHS: Final = 2
"""The chart has room for at least this many months, so that the bars of one month don't fill the chart."""
_MAX_LABELS: Final = 4
_TICKS: Final = 5


class ComparedScore(NamedTuple):
    """One kind of score, for our forecast and for two naive forecasts. An unknown score is NaN."""

    forecast: float
    seven_day_mean: float
    baseline: float


@dataclass(frozen=True, slots=True)
class AccuracyFigures:
    """The scores of forecasts made a given number of days ahead.

    `days` is the number of scored hours, rounded to days by `scored_days`. `error` is the mean absolute error in
    EUR/MWh. `saving_share` is the saving of four-hour plans as a fraction of the saving with perfect foresight.
    `coverage` is the fraction of hours whose price lies in the forecast's interval. `boiler_saving` is the yearly
    saving of a boiler that follows a forecast, in EUR without VAT. `ideal_boiler_saving` is the same boiler's yearly
    saving with perfect foresight. An unknown figure is NaN.
    """

    days: int
    error: ComparedScore
    saving_share: ComparedScore
    coverage: float
    boiler_saving: ComparedScore
    ideal_boiler_saving: float

    @classmethod
    def of(cls, scores: WindowScores, ahead: int) -> AccuracyFigures:
        """Return the scores of forecasts made `ahead` days ahead."""
        hourly = scores.by_days_ahead[ahead]
        plans = scores.decisions.by_days_ahead.get(ahead, {})
        boiler = plans.get(BOILER_HOURS, NO_PLANS)
        saved = (boiler_eur_a_year(one) for one in (boiler.forecast, boiler.seven_day_mean, boiler.baseline))
        return cls(
            days=scored_days(hourly.n),
            error=ComparedScore(hourly.mae, scores.seven_day_mean_mae.get(ahead, float("nan")), hourly.baseline_mae),
            saving_share=_compared_saving_share(plans.get(_DAY_PLAN_HOURS, NO_PLANS)),
            coverage=hourly.coverage80,
            boiler_saving=ComparedScore(*saved),
            ideal_boiler_saving=boiler_eur_a_year(boiler.ideal),
        )


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart. Positions and lengths are in thousandths of the plot's width and height.

    The y axis points downwards. `forecast_index` is the index of the bar's forecast in `ComparedScore`.
    """

    forecast_index: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class BarChart:
    """A chart with a group of bars for each month.

    If a line marks a target value, `target` is the y coordinate of the line in thousandths of the plot's height.
    """

    name: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    labels: tuple[RangeLabel, ...]
    target: float | None = None


@dataclass(frozen=True, slots=True)
class AccuracySummary:
    """The accuracy page's figures about price forecasts.

    `is_backtest` is true if the figures come from the backtest. `months` maps the first day of each scored month to the
    month's scores, the newest month first. `recent_figures` has the scores of the last 30 or 90 days. Over the same
    days, `week_saving_share` is the saving of plans within seven days as a fraction of the saving with perfect
    foresight. If these days have no scores of the server's forecasts, `recent_figures` and `week_saving_share` are
    None. `week_saving_share` is also None if no plan within seven days is scored. `years` lists the years with scores
    of the server's forecasts, the newest year first.
    """

    is_backtest: bool
    months: Mapping[date, AccuracyFigures]
    recent_figures: AccuracyFigures | None
    week_saving_share: ComparedScore | None
    charts: tuple[BarChart, ...]
    years: tuple[int, ...]


def scored_days(hours: int) -> int:
    """Round a number of scored hours to whole days. If any hour is scored, return at least one day."""
    return max(1, round(hours * HOUR_S / DAY_S)) if hours else 0


def summarise_accuracy(data: ServedData, options: PageOptions, texts: Texts) -> AccuracySummary:
    """Return the accuracy page's figures about price forecasts made `options.ahead` days ahead.

    If no forecast of the server has been scored yet, return the backtest's scores of forecasts made one day ahead.
    """
    is_backtest = not data.monthly_scores.issued
    ahead = 1 if is_backtest else int(options.ahead)
    scored = data.monthly_scores.backtest if is_backtest else data.monthly_scores.issued
    months = {
        date.fromisoformat(f"{month.month}-01"): AccuracyFigures.of(month.scores, ahead)
        for month in scored
        if month.scores.by_days_ahead[ahead].n
    }
    window = None if is_backtest else _recent_scores(data.recent_scores, ahead)
    week = None if window is None else _compared_saving_share(window.decisions.week)
    return AccuracySummary(
        is_backtest=is_backtest and bool(months),
        months=dict(reversed(months.items())),
        recent_figures=None if window is None else AccuracyFigures.of(window, ahead),
        week_saving_share=None if week is None or isnan(week.forecast) else week,
        charts=tuple(_charts(months, texts)) if months else (),
        years=() if is_backtest else tuple(sorted({int(month.month[:4]) for month in scored}, reverse=True)),
    )


def _recent_scores(windows: Sequence[WindowScores], ahead: int) -> WindowScores | None:
    """Return the scores of the last 30 days.

    If these days have no score of a forecast made `ahead` days ahead, return the scores of the last 90 days. If the
    last 90 days have no such score either, return None.
    """
    scored = [window for window in windows if window.by_days_ahead[ahead].n]
    return next((window for window in scored if window.days >= _MONTH_DAYS), scored[-1] if scored else None)


def _compared_saving_share(plans: PlanScores) -> ComparedScore:
    return ComparedScore(plans.share, plans.seven_day_mean_share, plans.baseline_share)


def _charts(months: Mapping[date, AccuracyFigures], texts: Texts) -> Iterator[BarChart]:
    def cents_text(error: float) -> str:
        return texts.number(error / EUR_MWH_PER_CENT_KWH, 1)

    labels = tuple(_month_labels([*months], texts))
    shares = [figures.saving_share for figures in months.values()]
    if not all(isnan(share) for of_month in shares for share in of_month):
        yield _chart("saving", shares, 1.0, texts.percent, labels)
    yield _chart(
        "error", errors := [figures.error for figures in months.values()], _axis_top(errors), cents_text, labels
    )
    covered = [(figures.coverage,) for figures in months.values()]
    yield _chart("range", covered, 1.0, texts.percent, labels, target=_TARGET_COVERAGE)


def _chart(
    name: str,
    months: Sequence[tuple[float, ...]],
    top: float,
    tick_text: Callable[[float], str],
    labels: tuple[RangeLabel, ...],
    *,
    target: float | None = None,
) -> BarChart:
    slot = _PLOT_SIZE / max(len(months), _MIN_MONTHS)
    return BarChart(
        name=name,
        bars=tuple(_bars(months, slot, top)),
        ticks=tuple(Tick(round(100 * (1 - i / _TICKS), 2), tick_text(top * i / _TICKS)) for i in range(_TICKS + 1)),
        labels=labels,
        target=None if target is None else round(_PLOT_SIZE * (1 - target / top), 1),
    )


def _bars(months: Sequence[tuple[float, ...]], slot: float, top: float) -> Iterator[Bar]:
    """Yield a bar for each known figure. A figure below zero gets a bar of height zero."""
    for number, values in enumerate(months):
        width = slot * _BARS_SHARE / _BARS_PER_MONTH
        for forecast_index, value in enumerate(values):
            if isnan(value):
                continue
            height = round(_PLOT_SIZE * min(max(value / top, 0.0), 1.0), 1)
            left = slot * (number + (1 - _BARS_SHARE) / 2) + forecast_index * width
            yield Bar(forecast_index, round(left, 1), round(_PLOT_SIZE - height, 1), round(width * 0.92, 1), height)


def _axis_top(months: Sequence[tuple[float, ...]]) -> float:
    """Return the top of an axis that includes all errors. The distance between the axis's labels is a round number."""
    highest = max((value for values in months for value in values if not isnan(value)), default=0.0)
    if highest <= 0:
        return 1.0
    return round_step(highest, _TICKS) * _TICKS


def _month_labels(months: Sequence[date], texts: Texts) -> Iterator[RangeLabel]:
    """Yield at most four labels below a chart, each with the name of a month."""
    slot = 100 / max(len(months), _MIN_MONTHS)
    every = ceil(len(months) / _MAX_LABELS)
    for number in range(0, len(months), every):
        at = slot * (number + (1 - _BARS_SHARE) / 2)
        yield RangeLabel(round(at, 2), round(min(slot * every, 100 - at), 2), texts.short_month(months[number]))
