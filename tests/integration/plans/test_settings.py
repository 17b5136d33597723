"""The settings of a plan, read from its form."""

from datetime import time
from typing import Any

import pytest

from custom_components.tunnihind.plans.settings import Horizon, PlanKind, PlanSettings, Preference


def test_an_empty_form_is_three_published_hours_in_one_piece_every_day() -> None:
    assert PlanSettings.from_mapping({}) == PlanSettings(
        duration_s=3 * 3600,
        min_piece_s=None,
        earliest=None,
        deadline=None,
        weekdays=frozenset(range(7)),
        max_span_days=1,
        horizon=Horizon.PUBLISHED,
        price_limit=None,
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
        shortest_piece_s=2700,
        earliest=time(22),
        deadline=time(6, 30),
        weekdays=frozenset({0, 6}),
        max_span_days=2,
        horizon=Horizon.CAUTIOUS,
        price_limit=0.125,
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
    assert PlanSettings.from_mapping({"price_cap": 0.57}).price_limit == 0.0057


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("duration", 0),
        ("duration", 20),
        ("duration", 1455),
        ("duration", 62.5),
        ("duration", float("nan")),
        ("duration", float("inf")),
        ("min_piece", 10),
        ("min_piece", 1455),
        ("min_pause", -15),
        ("min_pause", 10),
        ("min_pause", 1455),
        ("weekdays", []),
        ("days", 0),
        ("days", 8),
        ("price_cap", float("nan")),
        ("tolerance", -0.1),
        ("tolerance", float("nan")),
        ("tolerance", 101),
    ],
)
def test_impossible_values_are_refused_with_the_name_of_their_field(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{field}: "):
        PlanSettings.from_mapping({field: value})


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "dear"},
        {"prefer": "soon"},
        {"horizon": "hopeful"},
        {"earliest": "25:00:00"},
        {"deadline": ""},
        {"weekdays": ["mon", "someday"]},
        {"duration": "60"},
        {"days": "2"},
    ],
)
def test_a_stored_value_that_no_form_accepts_is_refused(form: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        PlanSettings.from_mapping(form)


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"energy": 10}, "power"),
        ({"power": 10}, "energy"),
        ({"energy": 10, "power": 0}, "power"),
        ({"energy": 10, "power": -2}, "power"),
        ({"energy": 10, "power": 0.001}, "power"),
        ({"energy": 10, "power": 5e6}, "power"),
        ({"energy": 10, "power": float("nan")}, "power"),
        ({"energy": -0.1, "power": 2}, "energy"),
        ({"energy": 1001, "power": 2}, "energy"),
        ({"energy": float("inf"), "power": 2}, "energy"),
        ({"energy": float("nan"), "power": 2}, "energy"),
        ({"split": True, "max_starts": 0}, "max_starts"),
        ({"split": True, "max_starts": 13}, "max_starts"),
        ({"kind": "below"}, "price_cap"),
        ({"kind": "above", "price_cap": None}, "price_cap"),
        ({"kind": "below", "price_cap": 5, "duration": 60}, "duration"),
        ({"kind": "below", "price_cap": 5, "energy": 6}, "energy"),
        ({"kind": "above", "price_cap": 5, "power": 6}, "power"),
        ({"kind": "above", "price_cap": 5, "max_starts": 2}, "max_starts"),
        ({"kind": "above", "price_cap": 5, "start_cost": 2}, "start_cost"),
        ({"kind": "above", "price_cap": 5, "max_pause": 600}, "max_pause"),
        ({"max_pause": 0}, "max_pause"),
        ({"max_pause": 4335}, "max_pause"),
        ({"max_pause": 600, "tolerance": 1}, "max_pause"),
        ({"max_pause": 600, "prefer": "latest"}, "max_pause"),
        ({"split": True, "min_pause": 75, "max_pause": 60}, "max_pause"),
        ({"split": True, "start_cost": 101}, "start_cost"),
        ({"split": True, "start_cost": -1}, "start_cost"),
        ({"kind": "above", "price_cap": 5, "tolerance": 1}, "tolerance"),
        ({"deadline_2": "18:00:00"}, "deadline_2"),
        ({"deadline": "06:00:00", "deadline_2": "06:00"}, "deadline_2"),
        ({"deadline": "06:00:00", "deadline_2": "18:00:00", "earliest": "22:00:00"}, "earliest"),
        ({"deadline": "06:00:00", "deadline_2": "18:00:00", "days": 2}, "days"),
        ({"kind": "below", "price_cap": 5, "deadline": "06:00:00", "deadline_2": "18:00:00"}, "deadline_2"),
        ({"kind": "below", "price_cap": 5, "more_below": 1}, "more_below"),
        ({"kind": "dearest", "more_below": 1}, "more_below"),
        ({"energy": 2, "power": 2, "more_below": 1}, "more_below"),
        ({"more_below": 1, "max_pause": 600}, "more_below"),
        ({"more_below": 1, "tolerance": 1}, "more_below"),
        ({"more_below": 1, "prefer": "latest"}, "more_below"),
        ({"more_below": float("nan")}, "more_below"),
        ({"kind": "above", "price_cap": 5, "min_piece": 20}, "min_piece"),
        ({"priority": 1}, "priority"),
        ({"group_limit": 5}, "group_limit"),
        ({"group": "  ", "priority": 1}, "priority"),
        ({"group": "fuse", "priority": 0}, "priority"),
        ({"group": "fuse", "priority": 10}, "priority"),
        ({"group": "fuse", "power": 2, "group_limit": 0}, "group_limit"),
        ({"group": "fuse", "group_limit": 5}, "power"),
        ({"group": "fuse", "power": 6, "group_limit": 5}, "power"),
        ({"group": "fuse", "power": 0}, "power"),
    ],
)
def test_contradicting_fields_are_refused_with_the_name_of_the_one_to_change(
    form: dict[str, object], field: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{field}: "):
        PlanSettings.from_mapping(form)


@pytest.mark.parametrize(
    ("energy", "power", "minutes"),
    [(0, 11, 0), (0.001, 11, 15), (2.75, 11, 15), (2.76, 11, 30), (1.1, 0.1, 660), (40, 3.7, 660), (1000, 0.01, 6e6)],
)
def test_energy_and_power_make_the_duration_rounded_up_to_the_quarter(
    energy: float, power: float, minutes: float
) -> None:
    settings = PlanSettings.from_mapping({"energy": energy, "power": power, "duration": 60})
    assert settings.duration_s == minutes * 60
    assert (settings.energy_kwh, settings.power_kw) == (energy, power)


@pytest.mark.parametrize("form", [{"duration": 60}, {"kind": "below", "price_cap": 5}])
def test_a_plan_of_a_group_may_have_a_power_without_an_energy(form: dict[str, Any]) -> None:
    settings = PlanSettings.from_mapping({**form, "group": " Fuse ", "power": 2, "group_limit": 5, "priority": 3.0})
    assert (settings.group, settings.power_kw, settings.group_limit_kw, settings.priority) == ("Fuse", 2, 5, 3)
    assert PlanSettings.from_mapping({**form, "group": "Fuse"}).priority > 9


def test_no_piece_has_to_be_longer_than_the_plan() -> None:
    assert PlanSettings.from_mapping({"duration": 180, "split": True, "min_piece": 195}).min_piece_s == 180 * 60
    assert PlanSettings.from_mapping({"energy": 1, "power": 4, "split": True}).min_piece_s == 15 * 60
    assert PlanSettings.from_mapping({"energy": 0, "power": 4, "split": True}).min_piece_s == 0


def test_a_form_has_the_most_starts_and_the_tolerance() -> None:
    form = {"kind": "dearest", "split": True, "max_starts": 3.0, "tolerance": 0.57, "prefer": "latest"}
    settings = PlanSettings.from_mapping(form)
    assert (settings.kind, settings.most_pieces) == (PlanKind.MOST_EXPENSIVE, 3)
    assert (settings.tolerance, settings.prefer) == (0.0057, Preference.LATEST)


def test_starts_and_pauses_mean_nothing_to_a_plan_in_one_piece() -> None:
    settings = PlanSettings.from_mapping({"split": False, "max_starts": 3, "min_pause": 30, "start_cost": 2})
    assert (settings.most_pieces, settings.min_pause_s, settings.start_cost) == (None, 0, 0)


@pytest.mark.parametrize("form", [{"split": True}, {"kind": "below", "price_cap": 5}])
def test_pauses_are_as_short_as_they_like_unless_the_form_says_otherwise(form: dict[str, Any]) -> None:
    assert PlanSettings.from_mapping(form).min_pause_s == 0
    assert PlanSettings.from_mapping({**form, "min_pause": 45}).min_pause_s == 45 * 60


@pytest.mark.parametrize("kind", ["below", "above"])
def test_a_price_limit_alone_makes_a_plan_of_all_hours_on_its_side(kind: str) -> None:
    settings = PlanSettings.from_mapping({"kind": kind, "price_cap": 12.5})
    assert (settings.duration_s, settings.min_piece_s, settings.price_limit) == (0, 900, 0.125)
    assert settings.kind.has_limit_instead_of_duration
    assert settings.kind.looks_for_high_prices == (kind == "above")


def test_fields_that_may_be_empty_may_be_none() -> None:
    empty = dict.fromkeys(("energy", "power", "tolerance", "max_starts", "earliest", "deadline", "price_cap"))
    assert PlanSettings.from_mapping({**empty, "split": True}) == PlanSettings.from_mapping({"split": True})
