"""The places and the variables for which weather forecasts are requested."""

from dataclasses import dataclass
from typing import Final, Literal

REGIONS: Final = {
    "ee": "baltic",
    "lv": "baltic",
    "lt": "baltic",
    "fi": "fi",
    "se": "se",
    "se3": "se",
    "se4": "se",
    "pl": "pl",
}
"""Maps the zones in the names of covariates to their regions."""

type PointKind = Literal["wind", "load"]


@dataclass(frozen=True, slots=True)
class WeatherPoint:
    """A place whose weather forecasts are requested. The coordinates are degrees north and east (WGS 84).

    If `kind` is `wind`, the place has wind farms nearby. If `kind` is `load`, the place has many consumers.
    """

    zone: str
    place: str
    latitude: float
    longitude: float
    kind: PointKind
    why: str

    @property
    def name(self) -> str:
        """The name of the place in the names of covariates, such as `ee_west`."""
        return f"{self.zone}_{self.place}"


@dataclass(frozen=True, slots=True)
class WeatherVariable:
    """A weather variable with its name at Open-Meteo, its unit, and its lowest and highest possible values.

    If `past_hour_mean` is true, each value from Open-Meteo is the mean of the hour that ends at the value's instant.
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
    WeatherPoint("ee", "west", 58.75, 23.60, "wind", "farms of the Estonian west coast, Aulepa to Virtsu"),
    WeatherPoint("ee", "parnu", 58.40, 24.90, "wind", "Sopi-Tootsi and Saarde, the largest Estonian farms"),
    WeatherPoint("ee", "tallinn", 59.44, 24.75, "load", "half of Estonia's load and heating"),
    WeatherPoint("ee", "tartu", 58.38, 26.72, "load", "load and solar power of the inland"),
    WeatherPoint("lv", "kurzeme", 56.80, 21.50, "wind", "Latvia's farms between Liepaja and Ventspils"),
    WeatherPoint("lv", "riga", 56.95, 24.11, "load", "Latvia's load, and solar power around it"),
    WeatherPoint("lt", "west", 55.50, 21.70, "wind", "Silute and Pagegiai: Lithuania has most of the Baltic farms"),
    WeatherPoint("lt", "kelme", 55.65, 22.95, "wind", "Kelme, Telsiai and Mazeikiai: Lithuania's inland farms"),
    WeatherPoint("lt", "kaunas", 54.85, 24.40, "load", "load and solar power of Kaunas and Vilnius"),
    WeatherPoint("fi", "raahe", 64.60, 24.60, "wind", "farms of North Ostrobothnia"),
    WeatherPoint("fi", "kokkola", 63.70, 23.40, "wind", "farms of Central Ostrobothnia"),
    WeatherPoint("fi", "narpes", 62.50, 21.60, "wind", "farms of South Ostrobothnia"),
    WeatherPoint("fi", "helsinki", 60.20, 24.95, "load", "load and heating of southern Finland"),
    WeatherPoint("se", "southeast", 57.00, 16.40, "wind", "farms where SE3 meets SE4, behind the link to Lithuania"),
)


_WIND, _TEMPERATURE, _ = VARIABLES

SCORED_VARIABLES: Final[tuple[tuple[WeatherVariable, PointKind], ...]] = ((_WIND, "wind"), (_TEMPERATURE, "load"))
"""The scored weather variables, each with the `kind` of the places at which its forecasts are scored."""


def region_points(zone: str, kind: PointKind) -> tuple[WeatherPoint, ...]:
    """Return the places in a zone's region that have wind farms (`wind`) or many consumers (`load`)."""
    return tuple(point for point in POINTS if REGIONS[point.zone] == REGIONS[zone] and point.kind == kind)


def covariate_name(variable: WeatherVariable, point: WeatherPoint) -> str:
    """Return the name of the covariate for a variable at a place, such as `wind_speed_100m@ee_west`."""
    return f"{variable.name}@{point.name}"
