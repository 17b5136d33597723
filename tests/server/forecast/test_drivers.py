import tracemalloc
from collections.abc import Mapping

import numpy as np
import pytest

from tunnihind.forecast.known_days.drivers import (
    MIN_ISSUE_DAYS,
    Drivers,
    grouped_covariate_names,
    make_drivers,
    sum_or_mean,
    usual_values,
)
from tunnihind.forecast.known_days.quantities import (
    NOMINAL_GW,
    Quantity,
    in_model_units,
    parse_quantity,
    unknown_covariate_names,
)
from tunnihind.forecast.known_days.vintages import Floats32
from tunnihind.sources.entsoe import AREA_CODES
from tunnihind.weather_points import POINTS, VARIABLES, covariate_name

DAYS = 2 * MIN_ISSUE_DAYS
RNG = np.random.default_rng(5)


def drivers_of(far: Mapping[str, Floats32], near: Mapping[str, Floats32], fit_row: int = DAYS - 1) -> Drivers:
    """Make drivers on the last day of the grid."""
    parts = ({name: far[name] for name in names} for names in grouped_covariate_names(far))
    return make_drivers(parts, near, DAYS - 1, fit_row)


def far(scale: float = 1000.0) -> Floats32:
    return (scale * RNG.uniform(0.2, 1.0, (DAYS, 11, 24))).astype(np.float32)


def near(scale: float = 1000.0) -> Floats32:
    return (scale * RNG.uniform(0.2, 1.0, (DAYS + 1, 24))).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("ee_load_da_mw", Quantity("ee", "load", is_weather=False)),
        ("fi_wind_mw", Quantity("fi", "wind", is_weather=False)),
        ("se3_solar_da_mw", Quantity("se3", "solar", is_weather=False)),
        ("wind_speed_100m@lt_west", Quantity("lt", "wind", is_weather=True)),
        ("temperature_2m@fi_helsinki", Quantity("fi", "load", is_weather=True)),
        ("shortwave_radiation@ee_tartu", Quantity("ee", "solar", is_weather=True)),
        ("soil_moisture@ee_tartu", None),
        ("no_wind_mw", None),
        ("wind_speed_100m@nowhere", None),
    ],
)
def test_a_covariates_name_says_what_it_is(name: str, meaning: Quantity | None) -> None:
    assert parse_quantity(name) == meaning


def test_the_weather_and_the_zones_that_the_sources_ask_for_mean_something() -> None:
    weather = [covariate_name(variable, point) for variable in VARIABLES for point in POINTS]
    megawatts = [f"{zone}_{kind}_da_mw" for zone in AREA_CODES for kind in ("load", "wind", "solar")]
    assert unknown_covariate_names([*weather, *megawatts, "no_wind_mw"]) == ["no_wind_mw"]


def test_weather_becomes_shares_of_capacity_and_heating_degrees() -> None:
    wind = in_model_units(Quantity("fi", "wind", is_weather=True), np.array([0.0, 7.5, 25.0], np.float32))
    assert wind == pytest.approx([0.012, 0.5, 1.0], abs=1e-3)
    heating = in_model_units(Quantity("fi", "load", is_weather=True), np.array([-3.0, 17.0, 30.0], np.float32))
    assert heating == pytest.approx([2.0, 0.0, 0.0])


def test_a_missing_member_keeps_its_ratio_to_those_that_are_there() -> None:
    big, small = np.full((10, 24), 3.0, np.float32), np.full((10, 24), 1.0, np.float32)
    small[-1] = np.nan
    assert sum_or_mean([big, small], total=True) == pytest.approx(np.full((10, 24), 4.0))
    big[-1] = np.nan
    assert np.isnan(sum_or_mean([big, small], total=True)[-1]).all()


def test_a_member_that_vanishes_leaves_no_mark_on_the_days_before() -> None:
    members = [far(), far()]
    before = sum_or_mean(members, total=True)
    members[1][50:] = np.nan
    assert np.array_equal(sum_or_mean(members, total=True)[:50], before[:50])


def test_one_kind_of_a_region_is_its_driver_and_several_make_a_residual_load() -> None:
    wind, load = far(), 1000 + 0.2 * far()
    assert list(drivers_of({"fi_wind_mw": wind}, {}).far) == ["wind_fi"]
    both = drivers_of({"fi_wind_mw": wind, "fi_load_mw": load}, {}).far["residual_fi"]
    assert both == pytest.approx((load - wind) / 1000, abs=1e-4)


def test_next_day_covariates_make_residual_loads_and_the_baltic_wind() -> None:
    parts = {name: near() for name in ("ee_load_da_mw", "lt_wind_da_mw", "fi_load_da_mw", "fi_wind_da_mw")}
    drivers = drivers_of({}, parts)
    assert set(drivers.near) == {"residual_baltic", "residual_fi", "wind_baltic"}
    assert drivers.members["residual_baltic"] == ("ee_load_da_mw", "lt_wind_da_mw")


def test_weather_is_worth_the_megawatts_that_it_went_with() -> None:
    share, heat = far(1.0), far(-10.0)
    speed = (7.5 + 1.7 * np.log(share / (1 - np.minimum(share, 0.999)))).astype(np.float32)
    weather = {"wind_speed_100m@lt_west": speed, "temperature_2m@lt_kaunas": heat}
    fitted = drivers_of(weather, {"lt_wind_da_mw": np.concatenate([near()[:1], 500 * share[:, 2]])})
    nominal = drivers_of(weather, {})
    wind = in_model_units(Quantity("lt", "wind", is_weather=True), speed)
    gap = fitted.far["residual_baltic"] - nominal.far["residual_baltic"]
    assert gap == pytest.approx((NOMINAL_GW["baltic", "wind"] - 0.5) * wind, rel=0.02, abs=0.02)


def test_a_covariate_of_few_days_is_not_used() -> None:
    young = far()
    young[MIN_ISSUE_DAYS - 1 :] = np.nan
    assert drivers_of({"fi_wind_mw": young}, {}).far == {}


def test_a_load_with_a_digit_too_many_is_held_near_the_last_weeks() -> None:
    load = near()
    load[60] *= 10
    drivers = drivers_of({}, {"ee_load_da_mw": load})
    assert drivers.near["residual_baltic"][60].max() < 1.5


def test_the_parts_that_are_there_make_a_residual_load_without_the_rest() -> None:
    wind, sun = near(), near()
    both = drivers_of({}, {"lt_wind_da_mw": wind, "lt_solar_da_mw": sun})
    assert both.near["residual_baltic"] == pytest.approx(-(wind + sun) / 1000, abs=1e-4)
    assert set(both.near) == {"residual_baltic", "wind_baltic", "solar_baltic"}
    alone = drivers_of({}, {"lt_wind_da_mw": wind})
    assert set(alone.near) == {"residual_baltic"}


def test_a_part_that_is_not_known_for_the_next_day_is_done_without() -> None:
    wind, load = near(), near()
    load[-1] = np.nan
    rest = drivers_of({}, {"lt_wind_da_mw": wind})
    assert np.array_equal(
        drivers_of({}, {"lt_wind_da_mw": wind, "lt_load_da_mw": load}).near["residual_baltic"],
        rest.near["residual_baltic"],
    )
    week, gone = far(), far()
    gone[-1] = np.nan
    drivers = drivers_of({"lt_wind_mw": week, "lt_load_mw": gone}, {})
    assert np.array_equal(drivers.far["wind_baltic"], drivers_of({"lt_wind_mw": week}, {}).far["wind_baltic"])


def test_a_part_that_begins_later_counts_as_usual_before() -> None:
    wind, load = near(), np.full((DAYS + 1, 24), 1500, np.float32)
    load[:30] = np.nan
    residual = drivers_of({}, {"lt_wind_da_mw": wind, "lt_load_da_mw": load}).near["residual_baltic"]
    assert residual == pytest.approx(1.5 - wind / 1000, abs=1e-4)


def test_what_is_usual_is_the_mean_of_a_fortnight_and_later_days_leave_it_as_it_is() -> None:
    days = near().astype(np.float64)
    days[:10] = days[40:60] = np.nan
    usual = usual_values(days)
    assert usual[30] == pytest.approx(days[17:31].mean(axis=0))
    assert np.array_equal(usual[53:60], np.repeat(usual[52:53], 7, axis=0))
    known = days[np.isfinite(days[:, 0])]
    assert usual[0] == pytest.approx(known[:MIN_ISSUE_DAYS].mean(axis=0))
    assert np.array_equal(usual_values(days[:-10]), usual[:-10])


def test_baltic_weather_of_a_week_makes_drivers_of_the_next_day_too() -> None:
    week = {"wind_speed_100m@lt_west": far(12.0), "shortwave_radiation@lt_kaunas": far(), "fi_wind_mw": far()}
    drivers = drivers_of(week, {})
    assert set(drivers.near) == {"residual_baltic", "wind_baltic", "solar_baltic"}
    assert np.array_equal(drivers.near["residual_baltic"][1:], drivers.far["residual_baltic"][:, 2])
    assert not drivers.uses_next_day_covariates
    assert not drivers_of({"fi_wind_mw": far()}, {}).near
    megawatts = near()
    both = drivers_of(week, {"lt_wind_da_mw": megawatts})
    assert both.near["wind_baltic"] == pytest.approx(megawatts / 1000)
    assert both.uses_next_day_covariates
    assert both.members["residual_baltic"] == (
        "wind_speed_100m@lt_west",
        "shortwave_radiation@lt_kaunas",
        "lt_wind_da_mw",
    )


def test_points_say_nothing_more_where_the_megawatts_of_their_zone_are_known() -> None:
    megawatts, speed = near(), near(10.0)
    both = {"lt_wind_da_mw": megawatts, "wind_speed_100m@lt_west": speed}
    assert drivers_of({}, both).members["residual_baltic"] == ("lt_wind_da_mw",)
    late = megawatts.copy()
    late[-1] = np.nan
    drivers = drivers_of({}, {**both, "lt_wind_da_mw": late})
    assert drivers.members["residual_baltic"] == tuple(both)
    assert np.isfinite(drivers.near["residual_baltic"]).all()
    elsewhere = {"ee_wind_da_mw": megawatts, "wind_speed_100m@lt_west": speed}
    assert drivers_of({}, elsewhere).members["residual_baltic"] == tuple(elsewhere)


def test_drivers_are_made_in_less_memory_than_the_weather_takes() -> None:
    names = [covariate_name(variable, point) for variable in VARIABLES for point in POINTS]
    weather = ({name: far() for name in part} for part in grouped_covariate_names(names))
    tracemalloc.start()
    make_drivers(weather, {}, DAYS - 1, DAYS - 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.75 * len(names) * far().nbytes
