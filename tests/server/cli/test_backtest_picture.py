import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure

from tunnihind.cli.backtest_picture import draw_picture, save_picture
from tunnihind.forecast.scoring.decisions import NO_DECISION_SCORES
from tunnihind.forecast.scoring.report import BacktestReport, NaiveComparison, NaiveComparisons
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.forecast.scoring.significance import DieboldMariano

SVG = "{http://www.w3.org/2000/svg}"
LEADS = range(1, 8)
SCORES = Scores(
    n=8760,
    mae=32.0,
    baseline_mae=52.0,
    skill=0.385,
    coverage80=0.8,
    below10=0.11,
    above90=0.09,
    pinball=10.6,
    winkler80=158.0,
    width=102.0,
)
COMPARED = NaiveComparison(43.0, DieboldMariano(365, -6.0, 1e-9))


def report_of(*, mean: NaiveComparison = COMPARED, overall: Scores = SCORES) -> BacktestReport:
    """Return a report whose error and band grow by one with every day ahead."""
    leads = {lead: replace(SCORES, mae=31.0 + lead, width=101.0 + lead) for lead in LEADS}
    return BacktestReport(
        leads=leads,
        months={"2025-01": SCORES},
        hours={0: SCORES},
        overall=overall,
        below_p50=dict.fromkeys(LEADS, 0.49),
        baseline=NaiveComparisons(dict.fromkeys(LEADS, COMPARED), COMPARED),
        seven_day_mean=NaiveComparisons(dict.fromkeys(LEADS, mean), mean),
        decisions=NO_DECISION_SCORES,
    )


def saved(report: BacktestReport, title: str, folder: Path) -> ET.Element:
    save_picture(report, title, folder / "picture.svg")
    return ET.fromstring((folder / "picture.svg").read_bytes())  # noqa: S314  our own


def lines(figure: Figure, axes: int) -> dict[str, list[float]]:
    """Return the points of the lines that have a name in the legend or show percentiles."""
    return {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in figure.axes[axes].get_lines()}


def test_it_has_a_title_and_a_description_that_says_every_lead_in_words(tmp_path: Path) -> None:
    root = saved(report_of(), "2025", tmp_path)
    description = next(element.text or "" for element in root.iter() if element.tag.endswith("}description"))
    assert "2025" in (root.findtext(f"{SVG}title") or "")
    for lead in LEADS:
        assert f"Days ahead {lead}: 11.0, 49.0 and 91.0% of prices below p10, p50 and p90" in description
        assert f"error {31 + lead:.1f} EUR/MWh" in description


def test_words_that_mean_something_in_xml_are_written_as_words(tmp_path: Path) -> None:
    shown = [text.text or "" for text in saved(report_of(), "<2025> & more", tmp_path).iter(f"{SVG}text")]
    assert any("<2025> & more" in text for text in shown)


def test_the_same_report_makes_the_same_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    for path in (first, second):
        save_picture(report_of(), "2025", path)
    assert first.read_bytes() == second.read_bytes()


def test_errors_of_the_model_and_of_both_naive_forecasts_are_drawn_by_days_ahead() -> None:
    drawn = lines(draw_picture(report_of(), "2025"), 1)
    assert drawn["this forecast"] == [31.0 + lead for lead in LEADS]
    assert drawn["price one week earlier"] == [52.0] * 7
    assert drawn["mean of seven days"] == [43.0] * 7


def test_shares_are_drawn_where_they_lie_beside_the_nominal_ones() -> None:
    drawn = lines(draw_picture(report_of(), "2025"), 0)
    assert {name: shares[0] for name, shares in drawn.items() if name.startswith("p")} == pytest.approx(
        {"p10": 11.0, "p50": 49.0, "p90": 91.0}
    )
    nominal = [shares[0] for name, shares in drawn.items() if not name.startswith("p")]
    assert nominal == [10, 50, 90]


def test_everything_lies_inside_the_picture() -> None:
    figure = draw_picture(report_of(), "2025-01-01 to 2025-12-31, issued 09:00 UTC")
    figure.draw_without_rendering()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert 0 <= drawn.x0 < drawn.x1 <= width
    assert 0 <= drawn.y0 < drawn.y1 <= height


def test_a_seven_day_mean_that_is_not_known_is_left_out(tmp_path: Path) -> None:
    report = report_of(mean=NaiveComparison(math.nan, DieboldMariano(0, math.nan, math.nan)))
    assert all(map(math.isnan, lines(draw_picture(report, "2025"), 1)["mean of seven days"]))
    saved(report, "2025", tmp_path)
    assert "nan" not in (tmp_path / "picture.svg").read_text()


@pytest.mark.parametrize(("skill", "said"), [(0.385, "38% below"), (-0.2, "20% above")])
def test_it_says_whether_the_error_is_below_or_above_that_of_last_week(skill: float, said: str, tmp_path: Path) -> None:
    root = saved(report_of(overall=replace(SCORES, skill=skill)), "2025", tmp_path)
    shown = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert any(f"error {said} that of last week's price." in text for text in shown)


@pytest.mark.parametrize("mae", [31.0, 33.0, 37.0, 52.0, 58.0])
def test_no_number_covers_another(mae: float) -> None:
    figure = draw_picture(report_of(mean=replace(COMPARED, naive_mae=mae)), "2025")
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        assert [one for n, one in enumerate(boxes) if any(one.overlaps(other) for other in boxes[:n])] == []
