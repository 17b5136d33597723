"""Draws the results of a backtest by lead.

The left panel shows the shares of prices below p10, p50 and p90. The right panels show the mean errors of the
forecasts and the mean widths of the intervals. This module needs matplotlib, which the extra `plot` installs. No other
module loads matplotlib.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tunnihind.forecast.scoring.report import BacktestReport

_SIZE_IN: Final = (10.0, 5.6)
_BLUE, _PALE_BLUE, _GREY, _RED = "#1357a6", "#b9cce4", "#5b6875", "#b4431e"
_PICTURE_STYLE: Final = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "#dde3e8",
    "font.size": 9.0,
    "figure.constrained_layout.use": True,
    # Write words as text, not as outlines, so that people can search for words and screen readers can read them.
    "svg.fonttype": "none",
    # Without a fixed salt, the ids in the SVG would be random, so the same report would give another file each time.
    "svg.hashsalt": "tunnihind",
}
_NUMBER_GAP_PT: Final = 5.0
_NUMBER_HEIGHT_PT: Final = 10.0
_LINE_STYLES: Final = (("o-", _BLUE), ("s--", _GREY), ("^:", _RED))


def save_picture(report: BacktestReport, title: str, path: Path) -> None:
    """Write the picture as SVG, with a description in words."""
    with mpl.rc_context(_PICTURE_STYLE):
        metadata = {"Title": f"Tunnihind forecast tested: {title}", "Description": _description(report), "Date": None}
        draw_picture(report, title).savefig(path, format="svg", metadata=metadata)


def draw_picture(report: BacktestReport, title: str) -> Figure:
    """Draw three panels by lead: the reliability, the errors, and the widths of the intervals."""
    with mpl.rc_context(_PICTURE_STYLE):
        figure = Figure(figsize=_SIZE_IN)
        figure.suptitle(f"Tunnihind forecast tested: {title}\n{_summary_text(report)}")
        axes = figure.subplot_mosaic([["reliability", "errors"], ["reliability", "widths"]], height_ratios=[3, 1])
        _draw_reliability(axes["reliability"], report)
        _draw_errors(axes["errors"], report)
        _draw_widths(axes["widths"], report)
        for panel in axes.values():
            panel.set_xticks(list(report.leads))
        # Only a laid out figure tells how far apart the marks are.
        figure.draw_without_rendering()
        points_per_pixel = 72 / figure.dpi
        _write_numbers(axes["reliability"], report, [*_shares_below_percentiles(report).values()], points_per_pixel)
        _write_numbers(axes["errors"], report, [*_mean_errors(report).values()], points_per_pixel)
        return figure


def _draw_reliability(axes: Axes, report: BacktestReport) -> None:
    axes.set(title="Prices below each percentile, %", xlabel="days ahead", ylim=(0, 100))
    for nominal, shares in _shares_below_percentiles(report).items():
        axes.axhline(nominal, color=_GREY, linestyle="--", linewidth=1)
        axes.plot(list(report.leads), shares, "o-", color=_BLUE, label=f"p{nominal}")
        axes.annotate(f" p{nominal}", (1, nominal), xycoords=("axes fraction", "data"), va="center")


def _draw_errors(axes: Axes, report: BacktestReport) -> None:
    axes.set(title="Mean absolute error, EUR/MWh without VAT")
    for (name, errors), (line, colour) in zip(_mean_errors(report).items(), _LINE_STYLES, strict=True):
        axes.plot(list(report.leads), errors, line, color=colour, label=name)
    _set_axis_top(axes, list(_mean_errors(report).values()))
    axes.legend(ncols=3, loc="lower center", frameon=False, fontsize=8, handlelength=1.5, columnspacing=1)


def _draw_widths(axes: Axes, report: BacktestReport) -> None:
    axes.set(title="Mean width of the band from p10 to p90, EUR/MWh", xlabel="days ahead")
    widths = [scores.width for scores in report.leads.values()]
    axes.bar_label(axes.bar(list(report.leads), widths, color=_PALE_BLUE), fmt="%.0f", fontsize=8)
    _set_axis_top(axes, widths)


def _set_axis_top(axes: Axes, values: Sequence[float] | Sequence[Sequence[float]]) -> None:
    """End the vertical axis at least 20% above the highest value, so that a number fits above the highest mark."""
    axes.set_ylim(0, 1.2 * max(float(np.nanmax(values)), 1.0))


def _write_numbers(
    axes: Axes, report: BacktestReport, lines: Sequence[Sequence[float]], points_per_pixel: float
) -> None:
    """Write each value above its mark in the chart, or above the number below it. Values that are NaN are left out."""
    for lead, values in zip(report.leads, zip(*lines, strict=True), strict=True):
        lowest_free = -math.inf
        for value in sorted(value for value in values if not math.isnan(value)):
            height = float(axes.transData.transform((lead, value))[1]) * points_per_pixel
            at = max(height + _NUMBER_GAP_PT, lowest_free)
            lowest_free = at + _NUMBER_HEIGHT_PT
            axes.annotate(
                f"{value:.1f}",
                (lead, value),
                xytext=(0, at - height),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=_GREY,
                # Lines stay visible behind the number, and the number readable.
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.3},
            )


def _shares_below_percentiles(report: BacktestReport) -> dict[int, list[float]]:
    """Map 10, 50 and 90 to the shares of prices below p10, below p50 and not above p90, in percent, by lead."""
    return {
        10: [100 * scores.below10 for scores in report.leads.values()],
        50: [100 * share for share in report.below_p50.values()],
        90: [100 * (1 - scores.above90) for scores in report.leads.values()],
    }


def _mean_errors(report: BacktestReport) -> dict[str, list[float]]:
    """Map the name of each forecast to its MAE by lead, in EUR/MWh. An unknown MAE is NaN."""
    return {
        "this forecast": [scores.mae for scores in report.leads.values()],
        "price one week earlier": [scores.baseline_mae for scores in report.leads.values()],
        "mean of seven days": [test.naive_mae for test in report.seven_day_mean.leads.values()],
    }


def _summary_text(report: BacktestReport) -> str:
    overall = report.overall
    inside = f"{overall.n:,} prices: {100 * overall.coverage80:.1f}% of them inside p10 to p90 (nominal 80%)"
    if math.isnan(overall.skill):
        return f"{inside}."
    side = "below" if overall.skill >= 0 else "above"
    return f"{inside}, error {100 * abs(overall.skill):.0f}% {side} that of last week's price."


def _description(report: BacktestReport) -> str:
    """Describe the picture in words, for readers who can't see it."""
    shares = zip(*_shares_below_percentiles(report).values(), strict=True)
    errors = zip(*_mean_errors(report).values(), strict=True)
    rows = zip(report.leads.items(), shares, errors, strict=True)
    lines = [
        f"Days ahead {lead}: {low:.1f}, {middle:.1f} and {high:.1f}% of prices below p10, p50 and p90; mean absolute "
        f"error {model:.1f} EUR/MWh, of the price one week earlier {weekly:.1f}, of the mean of seven days "
        f"{'unknown' if math.isnan(mean) else f'{mean:.1f}'}; band {scores.width:.0f} wide."
        for (lead, scores), (low, middle, high), (model, weekly, mean) in rows
    ]
    return " ".join([_summary_text(report), *lines])
