"""Heating whose plan becomes longer when it is colder."""

from datetime import timedelta
from typing import Any, Final, override

import pytest
from homeassistant.components.weather import Forecast, WeatherEntity
from homeassistant.components.weather.const import DATA_COMPONENT, WeatherEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from tests.support.household.automations import restart
from tests.support.household.blueprints import use, window_of
from tests.support.household.home import DAY_S, PLAN_ID, Home, MakeHome, instant
from tests.support.household.steering import pieces
from tunnihind.core.market import HOUR_S

EVENING: Final = instant("2026-01-14T23:55:00+02:00")
SENSOR: Final = "sensor.outdoor"
HOURS: Final = {"mild": 10, "hours": 2, "per_degree": 0.5, "least": 1, "most": 12}


class Weather(WeatherEntity):
    """A weather service that expects the same temperatures each day."""

    entity_id = "weather.home"
    _attr_native_temperature = 4.0
    _attr_native_temperature_unit = "°C"

    def __init__(self, home: Home, features: int, *, days_have_offsets: bool = True) -> None:
        self._home = home
        self._days_have_offsets = days_have_offsets
        self._attr_supported_features = WeatherEntityFeature(features)

    @override
    async def async_forecast_hourly(self) -> list[Forecast] | None:
        """Return the present hour, the day after it with a mean of -3, and another day, which is warm."""
        first = self._home.now // HOUR_S * HOUR_S
        degrees = [30.0, *[-8.0] * 12, *[2.0] * 12, *[30.0] * 24]
        return [
            Forecast(datetime=dt_util.utc_from_timestamp(first + place * HOUR_S).isoformat(), native_temperature=one)
            for place, one in enumerate(degrees)
        ]

    @override
    async def async_forecast_daily(self) -> list[Forecast] | None:
        """Return the day that is over, the coming one with a mean of -6, and one after it."""
        midnight = dt_util.start_of_local_day(dt_util.as_local(dt_util.utc_from_timestamp(self._home.now)))
        midnight = midnight if self._days_have_offsets else midnight.replace(tzinfo=None)
        return [
            Forecast(
                datetime=(midnight + timedelta(days=place)).isoformat(),
                native_temperature=highest,
                native_templow=highest - 8,
            )
            for place, highest in enumerate((30.0, -2.0, 30.0))
        ]


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home in the evening, with a plan of three hours in pieces."""
    home = await make_home("2026-01-14T20:00:00+02:00", "2026-01-16T01:00:00+02:00")
    await home.add(plans={PLAN_ID: {"duration": 180, "split": True}})
    return home


def inputs(home: Home, **more: Any) -> dict[str, Any]:  # noqa: ANN401, values of any input
    return {"window": window_of(home), "outdoor": SENSOR, **HOURS, **more}


def duration(home: Home) -> float | None:
    """Return the duration in minutes that the automation has set."""
    changed: float | None = home.entry.runtime_data.planner.plans[PLAN_ID].changes.get("duration")
    return changed


async def outdoors(home: Home, degrees: float | str) -> None:
    home.hass.states.async_set(SENSOR, str(degrees), {"device_class": "temperature", "unit_of_measurement": "°C"})
    await home.settle()


@pytest.mark.parametrize(
    ("degrees", "minutes"), [(10, 120), (9, 150), (8.6, 165), (-5, 570), (-30, 720), (11, 90), (25, 60)], ids=str
)
async def test_each_degree_of_cold_makes_the_plan_longer_within_its_bounds(
    home: Home, degrees: float, minutes: int
) -> None:
    await use(home, "heat_longer_when_cold", inputs(home))
    await outdoors(home, degrees)
    await home.at(EVENING - 1)
    assert duration(home) is None
    await home.at(EVENING)
    assert duration(home) == minutes
    await home.at(EVENING + 300)
    assert sum(end - start for start, end in pieces(home)) == minutes * 60


@pytest.mark.parametrize(("features", "minutes"), [(2, 510), (3, 510), (1, 600), (0, 300)], ids=str)
async def test_the_mean_of_the_next_day_counts_as_far_as_the_forecast_goes(
    hass: HomeAssistant, home: Home, features: int, minutes: int
) -> None:
    assert await async_setup_component(hass, "weather", {})
    await hass.data[DATA_COMPONENT].async_add_entities([Weather(home, features)])
    await use(home, "heat_longer_when_cold", inputs(home, outdoor="weather.home"))
    await home.at(EVENING)
    assert duration(home) == minutes


async def test_a_service_may_leave_out_the_offsets_of_its_times(hass: HomeAssistant, home: Home) -> None:
    assert await async_setup_component(hass, "weather", {})
    await hass.data[DATA_COMPONENT].async_add_entities([Weather(home, 1, days_have_offsets=False)])
    await use(home, "heat_longer_when_cold", inputs(home, outdoor="weather.home"))
    await home.at(EVENING)
    assert duration(home) == 600


@pytest.mark.parametrize("degrees", ["unavailable", "unknown"])
async def test_without_a_temperature_the_last_duration_stays(home: Home, degrees: str) -> None:
    await use(home, "heat_longer_when_cold", inputs(home))
    await outdoors(home, 0)
    await home.at(EVENING)
    await outdoors(home, degrees)
    await home.at(EVENING + DAY_S)
    assert duration(home) == 420


async def test_a_start_catches_up_only_if_a_day_was_missed(home: Home) -> None:
    await use(home, "heat_longer_when_cold", inputs(home))
    await outdoors(home, 0)
    await home.at(EVENING)
    await outdoors(home, -10)
    await restart(home, at=EVENING + HOUR_S)
    home.hass.bus.async_fire("homeassistant_start")
    await home.settle()
    assert duration(home) == 420
    await restart(home, at=EVENING + DAY_S + HOUR_S)
    await outdoors(home, -10)
    home.hass.bus.async_fire("homeassistant_start")
    await home.settle()
    assert duration(home) == 720
