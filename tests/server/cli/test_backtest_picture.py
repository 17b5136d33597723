import math
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.cli.backtest_picture import picture
from tunnihind.cli.chart import ticks_to
from tunnihind.forecast.scoring.report import BacktestReport, Comparison, Comparisons
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
COMPARED = Comparison(43.0, DieboldMariano(365, -6.0, 1e-9))


def report_of(*, mean: Comparison = COMPARED, overall: Scores = SCORES) -> BacktestReport:
    """A report whose error and band grow by one with every day ahead."""
    leads = {lead: replace(SCORES, mae=31.0 + lead, width=101.0 + lead) for lead in LEADS}
    return BacktestReport(
        leads=leads,
        months={"2025-01": SCORES},
        hours={0: SCORES},
        overall=overall,
        below_p50=dict.fromkeys(LEADS, 0.49),
        weekly_naive=Comparisons(dict.fromkeys(LEADS, COMPARED), COMPARED),
        seven_day_mean=Comparisons(dict.fromkeys(LEADS, mean), mean),
    )


def parsed(document: str) -> ET.Element:
    return ET.fromstring(document)  # noqa: S314  our own


def words(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def marks(root: ET.Element, style: str) -> Iterator[tuple[float, float]]:
    for mark in root.iter(f"{SVG}path"):
        place = mark.get("transform", "").removeprefix("translate(").removesuffix(")")
        if mark.get("class") == f"mark {style}" and place:
            x, y = place.split()
            yield float(x), float(y)


def test_it_has_a_title_and_a_description_that_says_every_lead_in_words() -> None:
    root = parsed(picture(report_of(), "2025"))
    named = {element.get("id"): element.text or "" for element in root if element.get("id")}
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby") or "").split() == list(named)
    assert "2025" in named["title"]
    for lead in LEADS:
        assert f"Days ahead {lead}: 11.0, 49.0 and 91.0 % of hours below p10, p50 and p90" in named["description"]
        assert f"error {31 + lead:.1f} EUR/MWh" in named["description"]


def test_words_that_mean_something_in_xml_are_written_as_words() -> None:
    assert any("<2025> & more" in text for text in words(parsed(picture(report_of(), "<2025> & more"))))


def test_a_larger_error_is_drawn_higher() -> None:
    root = parsed(picture(report_of(), "2025"))
    model, mean, weekly = ([y for x, y in marks(root, style) if x > 560][-7:] for style in ("model", "mean", "weekly"))
    assert model == sorted(model, reverse=True)
    assert len(set(model)) == 7
    assert all(high < middle < low for low, middle, high in zip(model, mean, weekly, strict=True))


def test_shares_are_drawn_where_they_lie_against_the_nominal_ones() -> None:
    root = parsed(picture(report_of(), "2025"))
    nominal = [float(line.get("y1", 0)) for line in root.iter(f"{SVG}line") if line.get("class") == "nominal"]
    at_first_lead = [y for x, y in marks(root, "model") if x < 110]
    # p10 has 11 % below it and p90 91 %: both above their line; p50 has 49 %: below it, further down.
    assert [at < line for at, line in zip(at_first_lead, nominal, strict=True)] == [True, False, True]


def test_everything_lies_inside_the_picture() -> None:
    root = parsed(picture(report_of(), "2025"))
    width, height = (float(size) for size in (root.get("viewBox") or "").split()[2:])
    for element in root.iter():
        assert 0 <= float(element.get("x", 0)) <= width
        assert 0 <= float(element.get("y", 0)) <= height
    assert all(0 <= x <= width and 0 <= y <= height for style in ("model", "mean") for x, y in marks(root, style))


def test_it_has_colours_for_dark_screens_for_all_that_is_drawn() -> None:
    style = parsed(picture(report_of(), "2025")).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    coloured = {line.split("{")[0].strip() for line in light.splitlines() if "#" in line}
    assert coloured
    assert all(f"{selector} {{" in dark for selector in coloured)


def test_a_seven_day_mean_that_is_not_known_is_left_out() -> None:
    document = picture(report_of(mean=Comparison(math.nan, DieboldMariano(0, math.nan, math.nan))), "2025")
    assert len(list(marks(parsed(document), "mean"))) == 1  # the legend's
    assert "nan" not in document


@pytest.mark.parametrize(("skill", "said"), [(0.385, "38 % below"), (-0.2, "20 % above")])
def test_it_says_whether_the_error_is_below_or_above_that_of_last_week(skill: float, said: str) -> None:
    shown = words(parsed(picture(report_of(overall=replace(SCORES, skill=skill)), "2025")))
    assert any(f"error {said} that of last week's price." in text for text in shown)


@given(st.floats(0, 1e5), st.integers(1, 8))
def test_ticks_are_few_and_reach_just_past_the_highest_value(highest: float, about: int) -> None:
    ticks = ticks_to(highest, about)
    assert ticks[0] == 0
    assert ticks[-2] < max(highest, 1.0) <= ticks[-1] * (1 + 1e-9)
    assert len(ticks) <= about + 1
