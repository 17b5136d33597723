"""A simulated market with weather, wind and solar power, load, and the coupled prices of four zones.

A seed determines all values, for any instant from 1970 on. The values depend on each other as follows, so that a model
can learn to forecast the prices.

Wind speed has a roughly lognormal distribution around a seasonal mean. Wind speeds three days apart are almost
independent. Points of the same zone have similar wind speeds. Radiation depends on the sun's height, and on clouds that
last about a day. Temperature depends on the latitude, the season and the hour, and is partly random. Load depends on
the local hour, on the day of the week, and on temperatures below 15 degrees Celsius.

Here, residual load is the load minus wind, solar and constant power, divided by a weekday's mean load without heating.
A zone's price rises with a weighted mean of the Baltic and the Finnish residual load. All prices are multiplied by a
factor that changes slowly over months. Random noise is added to each price. At midday in summer, the price can be zero
or negative. On a cold evening without wind, the price is very high.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tunnihind.core.market import DAY_S, HARMONISED_LIMITS, HOUR_S, MARKETS, QUARTER_S, ZONES, Zone
from tunnihind.forecast.known_days.season import sine_of_sun_elevation
from tunnihind.known import Floats, Instants
from tunnihind.weather_points import POINTS, WeatherPoint, WeatherVariable

_YEAR_S: Final = 365.25 * DAY_S
_COLDEST_S: Final = 20 * DAY_S

_CURVE_RESIDUAL_LOADS: Final = (-1.5, -0.4, -0.1, 0.1, 0.3, 0.55, 0.8, 1.0, 1.2, 1.4, 1.8)
"""Residual loads as shares of a weekday's mean load without heating."""
_CURVE_PRICES: Final = (-60.0, -9.0, 0.5, 9.0, 40.0, 78.0, 108.0, 145.0, 230.0, 400.0, 1200.0)
"""The price in EUR/MWh at each residual load of `_CURVE_RESIDUAL_LOADS`."""

# The load in each local hour, as a share of the day's mean load.
_HOURLY_LOAD: Final = (
    *(0.80, 0.77, 0.76, 0.76, 0.78, 0.84, 0.93, 1.04, 1.10, 1.10, 1.08, 1.07),
    *(1.06, 1.05, 1.04, 1.05, 1.09, 1.15, 1.19, 1.18, 1.13, 1.04, 0.95, 0.86),
)
_WEEKEND_LOAD: Final = 0.92
_SATURDAY: Final = 5

_DRAWS_PER_NUMBER: Final = 4
"""The generator Philox yields four numbers at a time. Their sum has a distribution close enough to normal."""


class Noise:
    """Repeatable random numbers in named streams, with mean 0 and variance 1.

    The numbers depend only on the seed and on the arguments of `white` or `smooth`. The generator (Philox) is
    counter-based, so it can start at any index.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def white(self, stream: str, index: Instants) -> Floats:
        """Return the random number of each index, in the shape of `index`.

        Different indexes have independent numbers.
        """
        first = int(index.min())
        values: Floats = self._draw(stream, first, int(index.max()) - first + 1)[index - first]
        return values

    def smooth(self, stream: str, ts: Floats, knot_s: float) -> Floats:
        """Return the values of a continuous random process at `ts`.

        Values at least `2 * knot_s` seconds apart are independent.
        """
        knot, fraction = np.divmod(ts / knot_s, 1.0)
        index = knot.astype(np.int64)
        first = int(index.min())
        values = self._draw(stream, first, int(index.max()) - first + 2)
        # The squares of a cosine and a sine add up to 1, so the variance is 1 between two knots too.
        angle = (3.0 - 2.0 * fraction) * fraction**2 * (np.pi / 2)
        process: Floats = values[index - first] * np.cos(angle) + values[index - first + 1] * np.sin(angle)
        return process

    def _draw(self, stream: str, first: int, count: int) -> Floats:
        key = np.random.SeedSequence([self._seed, *stream.encode()]).generate_state(2, np.uint64)
        generator = np.random.Philox(key=key)
        generator.advance(first)
        raw = generator.random_raw(_DRAWS_PER_NUMBER * count).reshape(count, _DRAWS_PER_NUMBER)
        uniform = (raw >> np.uint64(11)) * 2.0**-53
        normal: Floats = (uniform.sum(axis=1) - _DRAWS_PER_NUMBER / 2) * np.sqrt(12 / _DRAWS_PER_NUMBER)
        return normal


@dataclass(frozen=True, slots=True)
class _PowerSystem:
    """A zone's load and power plants.

    `load_mw` is the mean load of a weekday without heating. `heating_mw` is the extra load for each degree below 15
    degrees Celsius. `firm_mw` is the constant power of plants without fuel costs. `wind_mw` and `solar_mw` are the
    capacities of wind and solar power. The load and the solar power depend on the weather at the place `city`.
    `baltic_share` is the weight of the Baltic residual load in the zone's price.
    """

    load_mw: float
    heating_mw: float
    firm_mw: float
    wind_mw: float
    solar_mw: float
    city: str
    baltic_share: float


_POWER_SYSTEMS: Final[dict[Zone, _PowerSystem]] = {
    "ee": _PowerSystem(850.0, 14.0, 0.0, 1000.0, 900.0, "tallinn", 0.7),
    "lv": _PowerSystem(760.0, 11.0, 120.0, 300.0, 500.0, "riga", 0.9),
    "lt": _PowerSystem(1350.0, 16.0, 0.0, 2000.0, 1900.0, "kaunas", 0.95),
    "fi": _PowerSystem(8300.0, 130.0, 3000.0, 8000.0, 1400.0, "helsinki", 0.1),
}


class SimulatedMarket:
    """The true weather and prices of the simulation.

    In the methods, the argument `ts` contains n instants in unix seconds UTC, shape (n,).
    """

    def __init__(self, seed: int) -> None:
        self._noise = Noise(seed)

    def weather(self, variable: WeatherVariable, point: WeatherPoint, ts: Floats) -> Floats:
        """Return the values of a weather variable at a point, in the variable's unit, shape (n,)."""
        match variable.name:
            case "wind_speed_100m":
                return self.wind_speed(point, ts)
            case "temperature_2m":
                return self.temperature(point, ts)
            case _:
                return self.radiation(point, ts)

    def wind_speed(self, point: WeatherPoint, ts: Floats) -> Floats:
        """Return the wind speed in m/s, 100 m above the ground."""
        noise = self._correlated_noise("wind", point, ts, 60 * HOUR_S, 15 * HOUR_S)
        mean = 7.6 + 0.9 * _yearly_cosine(ts)
        speed: Floats = np.clip(mean * np.exp(0.42 * noise - 0.09), 0.1, 40.0)
        return speed

    def temperature(self, point: WeatherPoint, ts: Floats) -> Floats:
        """Return the air temperature in degrees Celsius."""
        mean = 7.5 - 0.9 * (point.latitude - 57.0) - 11.0 * _yearly_cosine(ts)
        solar_time = ts + point.longitude / 360.0 * DAY_S
        daily = (2.8 - 1.8 * _yearly_cosine(ts)) * np.cos(2 * np.pi * (solar_time / DAY_S - 15 / 24))
        temperature: Floats = (
            mean + daily + 4.0 * self._correlated_noise("temperature", point, ts, 96 * HOUR_S, 24 * HOUR_S)
        )
        return temperature

    def radiation(self, point: WeatherPoint, ts: Floats) -> Floats:
        """Return the shortwave radiation on the ground in W/m2."""
        clouds = self._correlated_noise("clouds", point, ts, 36 * HOUR_S, 6 * HOUR_S)
        clearness = 0.25 + 0.75 / (1.0 + np.exp(-1.4 * clouds))
        return 1050.0 * np.maximum(sine_of_sun_elevation(ts, point), 0.0) ** 1.15 * clearness

    def prices(self, ts: Floats) -> dict[Zone, Floats]:
        """Return each zone's prices in EUR/MWh, shape (n,). `ts` contains the middle of each period."""
        residual = {zone: self._residual_load_mw(zone, ts) for zone in ZONES}
        baltic = _relative_residual_load(residual, ("ee", "lv", "lt"))
        finnish = _relative_residual_load(residual, ("fi",))
        level = np.exp(0.2 * self._noise.smooth("level", ts, 75 * DAY_S))
        hour, quarter = (ts // HOUR_S).astype(np.int64), (ts // QUARTER_S).astype(np.int64)
        common = 4.0 * self._noise.white("hour", hour) + 1.5 * self._noise.white("quarter", quarter)
        prices: dict[Zone, Floats] = {}
        for zone in ZONES:
            share = _POWER_SYSTEMS[zone].baltic_share
            supply = np.interp(share * baltic + (1 - share) * finnish, _CURVE_RESIDUAL_LOADS, _CURVE_PRICES)
            own = 3.0 * self._noise.smooth(f"price/{zone}", ts, 5 * HOUR_S)
            rounded = np.round(level * supply + common + own, 2)
            prices[zone] = np.clip(rounded, HARMONISED_LIMITS.floor, HARMONISED_LIMITS.cap) + 0.0
        return prices

    def daily_errors(self, covariate: str, ts: Floats, days: int) -> Floats:
        """Return random errors from which forecasts of `covariate` at `ts` are made, shape (days, n).

        The errors of different days are independent, with mean 0 and variance 1.
        """
        return np.stack([self._noise.smooth(f"error/{covariate}/{day}", ts, 30 * HOUR_S) for day in range(days)])

    def _correlated_noise(self, kind: str, point: WeatherPoint, ts: Floats, wide_s: float, local_s: float) -> Floats:
        """Return random values with a variance of about 1, similar at all points, and more similar within a zone."""
        return (
            0.65 * self._noise.smooth(f"{kind}/all", ts, wide_s)
            + 0.60 * self._noise.smooth(f"{kind}/{point.zone}", ts, wide_s)
            + 0.46 * self._noise.smooth(f"{kind}/{point.name}", ts, local_s)
        )

    def _residual_load_mw(self, zone: Zone, ts: Floats) -> Floats:
        system = _POWER_SYSTEMS[zone]
        points = [point for point in POINTS if point.zone == zone]
        city = next(point for point in points if point.place == system.city)
        farms = [point for point in points if point.kind == "wind"]
        wind = np.mean([_power_curve(self.wind_speed(point, ts)) for point in farms], axis=0)
        cold = np.maximum(15.0 - self.temperature(city, ts), 0.0)
        load = system.load_mw * relative_load(zone, ts) + system.heating_mw * cold
        sun = 0.85e-3 * self.radiation(city, ts)
        return np.asarray(load - system.firm_mw - system.wind_mw * wind - system.solar_mw * sun)


def _yearly_cosine(ts: Floats) -> Floats:
    """Return a yearly cosine: 1 around 21 January, the coldest time, and -1 half a year later."""
    season: Floats = np.cos(2 * np.pi * (ts - _COLDEST_S) / _YEAR_S)
    return season


def relative_load(zone: Zone, ts: Floats) -> Floats:
    """Return a zone's load without heating at each `ts`, as a share of the mean load of a weekday."""
    days, day_of = np.unique(ts // DAY_S, return_inverse=True)
    # On the day of a clock change, the UTC offset at noon is used for the whole day.
    noons = [MARKETS[zone].local_time((day + 0.5) * DAY_S) for day in days.tolist()]
    offsets = np.array([noon.utcoffset().total_seconds() for noon in noons])  # type: ignore[union-attr]
    local = ts + offsets[day_of]
    weekday = (local // DAY_S + 3) % 7
    hours = np.arange(25) + 0.5
    shape = np.interp(local % DAY_S / HOUR_S, hours, (*_HOURLY_LOAD, _HOURLY_LOAD[0]), left=0.83)
    return np.asarray(np.where(weekday >= _SATURDAY, _WEEKEND_LOAD, 1.0) * shape)


def _power_curve(wind_speed: Floats) -> Floats:
    """Return a wind farm's power at each wind speed in m/s, as a share of its capacity."""
    return np.interp(wind_speed, (3.0, 6.0, 9.0, 12.5, 25.0, 27.0), (0.0, 0.12, 0.48, 1.0, 1.0, 0.0))


def _relative_residual_load(residual: dict[Zone, Floats], zones: tuple[Zone, ...]) -> Floats:
    total: Floats = np.sum([residual[zone] for zone in zones], axis=0)
    return total / sum(_POWER_SYSTEMS[zone].load_mw for zone in zones)
