"""Where and what weather moves the price of the Estonian zone, and why."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class WeatherPoint:
    """A place whose weather is asked for; degrees north and east (WGS 84)."""

    name: str
    latitude: float
    longitude: float
    why: str


@dataclass(frozen=True, slots=True)
class WeatherVariable:
    """A variable under Open-Meteo's name, with the unit it is asked for in and the bounds of what can be true.

    A `past_hour_mean` stands, as the service gives it, at the END of the hour that it is the mean of.
    """

    name: str
    unit: str
    low: float
    high: float
    past_hour_mean: bool = False


VARIABLES: Final = (
    WeatherVariable("wind_speed_100m", "m/s", 0.0, 60.0),
    WeatherVariable("temperature_2m", "°C", -60.0, 50.0),
    WeatherVariable("shortwave_radiation", "W/m²", 0.0, 1200.0, past_hour_mean=True),
)

POINTS: Final = (
    WeatherPoint("ee_west", 58.75, 23.60, "wind farms of the Estonian west coast, Aulepa to Virtsu"),
    WeatherPoint("ee_parnu", 58.40, 24.90, "Sopi-Tootsi and Saarde, the largest Estonian wind farms"),
    WeatherPoint("ee_tallinn", 59.44, 24.75, "half of Estonia's load and heating"),
    WeatherPoint("ee_tartu", 58.38, 26.72, "load and solar power of the inland"),
    WeatherPoint("lv_kurzeme", 56.80, 21.50, "Latvia's wind farms between Liepaja and Ventspils"),
    WeatherPoint("lv_riga", 56.95, 24.11, "Latvia's load, and solar power around it"),
    WeatherPoint("lt_west", 55.50, 21.70, "Silute and Pagegiai: Lithuania carries most of the Baltic wind power"),
    WeatherPoint("lt_kelme", 55.65, 22.95, "Kelme, Telsiai and Mazeikiai: Lithuania's inland wind farms"),
    WeatherPoint("lt_kaunas", 54.85, 24.40, "load and solar power of Kaunas and Vilnius"),
    WeatherPoint("fi_raahe", 64.60, 24.60, "wind farms of North Ostrobothnia"),
    WeatherPoint("fi_kokkola", 63.70, 23.40, "wind farms of Central Ostrobothnia"),
    WeatherPoint("fi_narpes", 62.50, 21.60, "wind farms of South Ostrobothnia"),
    WeatherPoint("fi_helsinki", 60.20, 24.95, "load and heating of southern Finland"),
    WeatherPoint("se_southeast", 57.00, 16.40, "wind farms where SE3 meets SE4, behind the link to Lithuania"),
)


def covariate_name(variable: WeatherVariable, point: WeatherPoint) -> str:
    """Return the name under which a series is kept, `wind_speed_100m@ee_west`."""
    return f"{variable.name}@{point.name}"
