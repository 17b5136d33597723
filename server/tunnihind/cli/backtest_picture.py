"""A backtest's report as a picture: reliability on the left, error by days ahead on the right."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from tunnihind.cli.chart import Chart, Mark, draw_mark, ticks_to, write
from tunnihind.forecast.scoring.report import BacktestReport

_WIDTH: Final = 1000
_HEIGHT: Final = 540
_STYLE: Final = """
  :root { color-scheme: light dark; }
  text { font: 14px system-ui, sans-serif; fill: #16202a; }
  .ground { fill: #fbfcfd; }
  .title { font-size: 20px; font-weight: 700; }
  .heading { font-size: 16px; font-weight: 600; }
  .small { font-size: 12px; }
  .soft { fill: #5b6875; }
  .number { font-size: 11px; fill: #5b6875; stroke: #fbfcfd; stroke-width: 4px; paint-order: stroke; }
  .grid { stroke: #dde3e8; }
  .nominal { stroke: #5b6875; stroke-width: 1.5px; stroke-dasharray: 6 4; }
  .line { fill: none; stroke-width: 2.5px; }
  .line.model { stroke: #1357a6; }
  .line.weekly { stroke: #7d8994; stroke-dasharray: 7 4; }
  .line.mean { stroke: #b4431e; stroke-dasharray: 2 3; }
  .mark.model { fill: #1357a6; }
  .mark.weekly { fill: #7d8994; }
  .mark.mean { fill: #b4431e; }
  .bar { fill: #b9cce4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebf0; }
    .ground { fill: #11171d; }
    .soft { fill: #9aa7b4; }
    .number { fill: #9aa7b4; stroke: #11171d; }
    .grid { stroke: #2b3641; }
    .nominal { stroke: #9aa7b4; }
    .line.model { stroke: #7ab3f5; }
    .line.weekly { stroke: #8895a2; }
    .line.mean { stroke: #f08a62; }
    .mark.model { fill: #7ab3f5; }
    .mark.weekly { fill: #8895a2; }
    .mark.mean { fill: #f08a62; }
    .bar { fill: #2c4866; }
  }
"""


class _Series(NamedTuple):
    name: str
    style: str
    mark: Mark
    mae: list[float]


def picture(report: BacktestReport, title: str) -> str:
    """Return an SVG document, light or dark as the reader's screen is."""
    size = {"width": str(_WIDTH), "height": str(_HEIGHT), "viewBox": f"0 0 {_WIDTH} {_HEIGHT}"}
    names = {"role": "img", "aria-labelledby": "title description", "lang": "en"}
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg"} | size | names)
    SubElement(svg, "title", {"id": "title"}).text = f"Tunnihind's price forecast tested: {title}"
    SubElement(svg, "desc", {"id": "description"}).text = _description(report)
    SubElement(svg, "style").text = _STYLE
    SubElement(svg, "rect", {"class": "ground", "width": "100%", "height": "100%"})
    write(svg, 40, 46, f"Tunnihind forecast tested: {title}", "title")
    write(svg, 40, 72, _summary(report), "soft")
    _draw_reliability(svg, report)
    _draw_errors(svg, report)
    indent(svg)
    return tostring(svg, encoding="unicode") + "\n"


def _draw_reliability(svg: Element, report: BacktestReport) -> None:
    panel = SubElement(svg, "g")
    write(panel, 40, 116, "Reliability", "heading")
    write(panel, 40, 136, "Hours whose price was below each percentile, %", "small soft")
    chart = Chart(panel, left=72, top=156, width=330, height=324, categories=_leads(report), high=100)
    chart.scale([0, 25, 50, 75, 100])
    chart.name_categories("days ahead")
    for nominal, shares in _reliability(report).items():
        chart.level(nominal, "nominal")
        chart.line(shares, "model", "circle")
        chart.numbers(shares, -9)
        write(panel, chart.right + 10, chart.y(nominal) + 1, f"p{nominal}", "heading")
        write(panel, chart.right + 10, chart.y(nominal) + 17, f"nominal {nominal}", "small soft")


def _draw_errors(svg: Element, report: BacktestReport) -> None:
    panel = SubElement(svg, "g")
    series = _errors(report)
    write(panel, 540, 116, "Error", "heading")
    write(panel, 540, 136, "Mean absolute error, EUR/MWh without VAT", "small soft")
    _draw_legend(panel, series)
    ticks = ticks_to(float(np.nanmax([line.mae for line in series])), about=4)
    chart = Chart(panel, left=572, top=178, width=388, height=190, categories=_leads(report), high=ticks[-1])
    chart.scale(ticks)
    for line in series:
        chart.line(line.mae, line.style, line.mark)
    model, weekly, _ = series
    chart.numbers(model.mae, 18)
    chart.numbers(weekly.mae, -10)
    _draw_widths(panel, report)


def _draw_legend(panel: Element, series: Sequence[_Series]) -> None:
    for line, x in zip(series, (546, 662, 834), strict=True):
        draw_mark(panel, x, 156, line.style, line.mark)
        write(panel, x + 12, 160, line.name, "small")


def _draw_widths(panel: Element, report: BacktestReport) -> None:
    widths = [scores.width for scores in report.leads.values()]
    ticks = ticks_to(max(widths), about=2)
    write(panel, 540, 406, "Mean width of the band from p10 to p90, EUR/MWh", "small soft")
    chart = Chart(panel, left=572, top=424, width=388, height=56, categories=_leads(report), high=ticks[-1])
    chart.scale(ticks)
    chart.bars(widths, "bar")
    chart.numbers(widths, -5, decimals=0)
    chart.name_categories("days ahead")


def _leads(report: BacktestReport) -> list[str]:
    return [str(lead) for lead in report.leads]


def _reliability(report: BacktestReport) -> dict[int, list[float]]:
    """Return the share of hours below p10, p50 and p90 by lead day, in percent."""
    return {
        10: [100 * scores.below10 for scores in report.leads.values()],
        50: [100 * share for share in report.below_p50.values()],
        90: [100 * (1 - scores.above90) for scores in report.leads.values()],
    }


def _errors(report: BacktestReport) -> list[_Series]:
    means = [comparison.benchmark_mae for comparison in report.seven_day_mean.leads.values()]
    return [
        _Series("this forecast", "model", "circle", [scores.mae for scores in report.leads.values()]),
        _Series("price one week earlier", "weekly", "square", [score.baseline_mae for score in report.leads.values()]),
        _Series("mean of seven days", "mean", "triangle", means),
    ]


def _summary(report: BacktestReport) -> str:
    overall = report.overall
    inside = f"{overall.n:,} hours: {100 * overall.coverage80:.1f} % of prices inside p10 to p90 (nominal 80 %)"
    if math.isnan(overall.skill):
        return f"{inside}."
    side = "below" if overall.skill >= 0 else "above"
    return f"{inside}, error {100 * abs(overall.skill):.0f} % {side} that of last week's price."


def _description(report: BacktestReport) -> str:
    """Say in words what the picture shows, for those who do not see it."""
    shares = zip(*_reliability(report).values(), strict=True)
    errors = zip(*(series.mae for series in _errors(report)), strict=True)
    rows = zip(report.leads.items(), shares, errors, strict=True)
    lines = [
        f"Days ahead {lead}: {low:.1f}, {middle:.1f} and {high:.1f} % of hours below p10, p50 and p90; mean absolute "
        f"error {model:.1f} EUR/MWh, of the price one week earlier {weekly:.1f}, of the mean of seven days "
        f"{'unknown' if math.isnan(mean) else f'{mean:.1f}'}; band {scores.width:.0f} wide."
        for (lead, scores), (low, middle, high), (model, weekly, mean) in rows
    ]
    return " ".join([_summary(report), *lines])
