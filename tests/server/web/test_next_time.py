"""The sentence about the next cheap time."""

from collections.abc import Mapping

import pytest

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.pages import sample_views
from tests.support.pages.summaries import summary_of
from tunnihind.core.market import HOUR_S


def cheapest(prices: Mapping[int, float], **options: str) -> str:
    """Return the sentence at noon for 24 hours at 100 EUR/MWh.

    `prices` has other prices by the number of hours from now.
    """
    hours = {HOUR + i * HOUR_S: prices.get(i, 100.0) for i in range(24)}
    return summary_of(make_view(hours), HOUR, pipeline_expected=True, unit="mwh", **options).cheapest_sentence


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        (
            {5: 20.0, 6: 30.0, 7: 40.0},
            "today 17:00–20:00, 30.00 €/MWh. Worth waiting: 70% less.",
        ),
        (
            {10: 30.0, 11: 30.0, 12: 30.0},
            "Cheapest in 24 h: tonight 22:00–01:00, 30.00 €/MWh. Worth waiting: 70% less",
        ),
        ({13: 30.0, 14: 30.0, 15: 30.0}, "Cheapest in 24 h: tonight 01:00–04:00, 30.00 €/MWh. Worth waiting"),
        ({19: 30.0, 20: 30.0, 21: 30.0}, "Cheapest in 24 h: tomorrow 07:00–10:00, 30.00 €/MWh. Worth waiting"),
        (
            {5: -9.0, 6: 0.0, 7: 0.0},
            "today 17:00–20:00, −3.00 €/MWh. Worth waiting.",
        ),
        (
            {5: 90.0, 6: 91.0, 7: 92.0},
            "today 17:00–20:00, 91.00 €/MWh. Waiting saves little.",
        ),
        ({}, "100.00 €/MWh. Waiting saves little."),
        (dict.fromkeys(range(1, 24), 150.0), "150.00 €/MWh. Now is cheaper."),
    ],
)
def test_the_cheapest_three_hours_within_a_day_are_named_and_compared_with_now(
    prices: dict[int, float], said: str
) -> None:
    assert said in cheapest(prices)


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("et", "24 tunni odavaim: öösel 01:00–04:00, 30,00 €/MWh. Tasub oodata: 70% odavam."),
        ("ru", "Минимум за 24 ч: ночью 01:00–04:00, 30,00 €/\u2060МВт·ч. Стоит подождать: −70%."),
    ],
)
def test_it_is_said_in_other_languages_too_and_by_the_quarter(lang: str, said: str) -> None:
    assert cheapest({13: 30.0, 14: 30.0, 15: 30.0}, lang=lang, period="quarter") == said


def test_a_forecast_is_about_that_and_without_a_present_price_nothing_is_compared() -> None:
    view = make_view({}, make_run([50.0] * 20, start=HOUR + HOUR_S))
    said = "Cheapest in 24 h: today 13:00–16:00, about 50 €/MWh."
    assert summary_of(view, HOUR, unit="mwh").cheapest_sentence == said


def test_nothing_is_said_where_no_three_hours_are_known_or_there_is_no_room() -> None:
    assert summary_of(make_view({HOUR: 1.0, HOUR + HOUR_S: 1.0, HOUR + 3 * HOUR_S: 1.0})).cheapest_sentence == ""
    assert summary_of(sample_views.ordinary(), embed="1").cheapest_sentence == ""
