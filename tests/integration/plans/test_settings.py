"""A plan as its form writes it."""

from datetime import time

import pytest

from custom_components.tunnihind.plans.settings import Horizon, PlanSettings


def test_an_empty_form_is_three_published_hours_in_one_piece_every_day() -> None:
    assert PlanSettings.from_mapping({}) == PlanSettings(
        duration_s=3 * 3600,
        min_piece_s=None,
        earliest=None,
        deadline=None,
        weekdays=frozenset(range(7)),
        days=1,
        horizon=Horizon.PUBLISHED,
        price_cap=None,
    )


def test_a_full_form_is_read_in_its_own_units() -> None:
    form = {
        "duration": 150,
        "split": True,
        "min_piece": 45,
        "earliest": "22:00:00",
        "deadline": "06:30:00",
        "weekdays": ["mon", "sun"],
        "days": 2,
        "horizon": "cautious",
        "price_cap": 12.5,
    }
    assert PlanSettings.from_mapping(form) == PlanSettings(
        duration_s=9000,
        min_piece_s=2700,
        earliest=time(22),
        deadline=time(6, 30),
        weekdays=frozenset({0, 6}),
        days=2,
        horizon=Horizon.CAUTIOUS,
        price_cap=0.125,
    )


def test_numbers_may_come_from_a_form_as_floats() -> None:
    assert PlanSettings.from_mapping({"duration": 60.0, "days": 3.0}).duration_s == 3600


def test_a_minimum_piece_means_nothing_to_a_plan_in_one_piece() -> None:
    assert PlanSettings.from_mapping({"split": False, "min_piece": 30}).min_piece_s is None


def test_the_default_minimum_piece_is_an_hour_or_all_of_a_shorter_plan() -> None:
    assert PlanSettings.from_mapping({"duration": 180, "split": True}).min_piece_s == 3600
    assert PlanSettings.from_mapping({"duration": 30, "split": True}).min_piece_s == 1800


def test_a_cap_in_cents_equals_the_same_price_in_euros() -> None:
    # 0.57 / 100 is 0.005699999999999999 in floats.
    assert PlanSettings.from_mapping({"price_cap": 0.57}).price_cap == 0.0057


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("duration", 0),
        ("duration", 20),
        ("duration", 1455),
        ("duration", 62.5),
        ("duration", "60"),
        ("duration", True),
        ("duration", None),
        ("duration", float("nan")),
        ("duration", float("inf")),
        ("min_piece", 10),
        ("min_piece", 195),
        ("split", "yes"),
        ("earliest", "25:00:00"),
        ("earliest", 7),
        ("deadline", ""),
        ("deadline", "07:00:00+02:00"),
        ("weekdays", []),
        ("weekdays", "mon"),
        ("weekdays", ["mon", "someday"]),
        ("days", 0),
        ("days", 4),
        ("horizon", "hopeful"),
        ("price_cap", "12"),
        ("price_cap", float("nan")),
        ("price_cap", False),
    ],
)
def test_what_can_not_be_is_refused_by_the_name_of_its_field(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{field}: "):
        PlanSettings.from_mapping({field: value})
