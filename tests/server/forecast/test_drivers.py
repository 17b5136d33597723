import numpy as np
import pytest

from tunnihind.forecast.known_days.drivers import MIN_ISSUE_DAYS, joined, make_drivers
from tunnihind.forecast.known_days.quantities import NOMINAL_GW, Quantity, in_units, quantity, unknown_names
from tunnihind.forecast.known_days.vintages import Singles
from tunnihind.sources.entsoe import AREAS
from tunnihind.sources.weather_points import POINTS, VARIABLES, covariate_name

DAYS = 2 * MIN_ISSUE_DAYS
RNG = np.random.default_rng(5)


def far(scale: float = 1000.0) -> Singles:
    return (scale * RNG.uniform(0.2, 1.0, (DAYS, 11, 24))).astype(np.float32)


def near(scale: float = 1000.0) -> Singles:
    return (scale * RNG.uniform(0.2, 1.0, (DAYS + 1, 24))).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("ee_load_da_mw", Quantity("baltic", "load", is_weather=False)),
        ("fi_wind_mw", Quantity("fi", "wind", is_weather=False)),
        ("se3_solar_da_mw", Quantity("se", "solar", is_weather=False)),
        ("wind_speed_100m@lt_west", Quantity("baltic", "wind", is_weather=True)),
        ("temperature_2m@fi_helsinki", Quantity("fi", "load", is_weather=True)),
        ("shortwave_radiation@ee_tartu", Quantity("baltic", "solar", is_weather=True)),
        ("soil_moisture@ee_tartu", None),
        ("no_wind_mw", None),
        ("wind_speed_100m@nowhere", None),
    ],
)
def test_a_covariates_name_says_what_it_is(name: str, meaning: Quantity | None) -> None:
    assert quantity(name) == meaning


def test_the_weather_and_the_zones_that_the_sources_ask_for_mean_something() -> None:
    weather = [covariate_name(variable, point) for variable in VARIABLES for point in POINTS]
    megawatts = [f"{zone}_{kind}_da_mw" for zone in AREAS for kind in ("load", "wind", "solar")]
    assert unknown_names([*weather, *megawatts, "no_wind_mw"]) == ["no_wind_mw"]


def test_weather_becomes_shares_of_capacity_and_heating_degrees() -> None:
    wind = in_units(Quantity("fi", "wind", is_weather=True), np.array([0.0, 8.5, 25.0], np.float32))
    assert wind == pytest.approx([0.0067, 0.5, 0.9999], abs=1e-3)
    heating = in_units(Quantity("fi", "load", is_weather=True), np.array([-3.0, 17.0, 30.0], np.float32))
    assert heating == pytest.approx([2.0, 0.0, 0.0])


def test_a_missing_member_keeps_its_ratio_to_those_that_are_there() -> None:
    big, small = np.full((10, 24), 3.0, np.float32), np.full((10, 24), 1.0, np.float32)
    small[-1] = np.nan
    assert joined([big, small], total=True) == pytest.approx(np.full((10, 24), 4.0))
    big[-1] = np.nan
    assert np.isnan(joined([big, small], total=True)[-1]).all()


def test_a_member_that_vanishes_leaves_no_mark_on_the_days_before() -> None:
    members = [far(), far()]
    before = joined(members, total=True)
    members[1][50:] = np.nan
    assert np.array_equal(joined(members, total=True)[:50], before[:50])


def test_one_kind_of_a_region_is_its_driver_and_several_make_a_residual_load() -> None:
    wind, load = far(), 1000 + 0.2 * far()
    assert list(make_drivers({"fi_wind_mw": wind}, {}).far) == ["wind_fi"]
    both = make_drivers({"fi_wind_mw": wind, "fi_load_mw": load}, {}).far["residual_fi"]
    assert both == pytest.approx((load - wind) / 1000, abs=1e-4)


def test_next_day_covariates_make_residual_loads_and_the_baltic_wind() -> None:
    parts = {name: near() for name in ("ee_load_da_mw", "lt_wind_da_mw", "fi_load_da_mw", "fi_wind_da_mw")}
    drivers = make_drivers({}, parts)
    assert set(drivers.near) == {"residual_baltic", "residual_fi", "wind_baltic"}
    assert drivers.members["residual_baltic"] == ("ee_load_da_mw", "lt_wind_da_mw")


def test_weather_is_worth_the_megawatts_that_it_went_with() -> None:
    share, heat = far(1.0), far(-10.0)
    speed = (8.5 + 1.7 * np.log(share / (1 - np.minimum(share, 0.999)))).astype(np.float32)
    weather = {"wind_speed_100m@lt_west": speed, "temperature_2m@lt_kaunas": heat}
    fitted = make_drivers(weather, {"lt_wind_da_mw": np.concatenate([near()[:1], 500 * share[:, 2]])})
    nominal = make_drivers(weather, {})
    wind = in_units(Quantity("baltic", "wind", is_weather=True), speed)
    gap = fitted.far["residual_baltic"] - nominal.far["residual_baltic"]
    assert gap == pytest.approx((NOMINAL_GW["baltic", "wind"] - 0.5) * wind, rel=0.02, abs=0.02)


def test_a_covariate_of_few_days_is_not_used() -> None:
    young = far()
    young[MIN_ISSUE_DAYS - 1 :] = np.nan
    assert make_drivers({"fi_wind_mw": young}, {}).far == {}


def test_a_load_with_a_digit_too_many_is_held_near_the_last_weeks() -> None:
    load = near()
    load[60] *= 10
    drivers = make_drivers({}, {"ee_load_da_mw": load})
    assert drivers.near["residual_baltic"][60].max() < 1.5
