"""Reads a covariate's zone and kind (load, wind or solar) from its name, and converts its values.

The model knows names of the forms `<zone>_<load|wind|solar>[_da]_mw` and `<variable>@<point>`. A `<point>`, such as
`ee_west`, begins with its zone. The zone must be in `REGIONS`, and the variable in `WEATHER_KINDS`.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from tunnihind.forecast.known_days.vintages import Floats32
from tunnihind.weather_points import REGIONS

WEATHER_KINDS: Final = {"wind_speed_100m": "wind", "shortwave_radiation": "solar", "temperature_2m": "load"}

_MEGAWATTS: Final = re.compile(r"(?P<zone>[a-z]{2}\d?)_(?P<kind>load|wind|solar)(_da)?_mw")
_POINT: Final = re.compile(r"(?P<variable>\w+)@(?P<zone>[a-z]{2}\d?)(_\w+)?")

KNOWN_NAMES: Final = (
    f"<zone>_<load|wind|solar>[_da]_mw and <{'|'.join(WEATHER_KINDS)}>@<point>, "
    f"where zone, and the beginning of point, is one of {', '.join(REGIONS)}"
)
"""The names that the model knows, described for a message to the operator."""

_HALF_POWER_M_S: Final = 7.5
_POWER_WIDTH_M_S: Final = 1.7
"""The half-power speed and the width of the power curve of many turbines, a logistic function of the wind speed.

The curve is smooth, because the wind differs between turbines (Norgaard & Holttinen 2004, A multi-turbine power curve
approach). Half of the capacity is reached at 7.5 m/s, a tenth at 3.8 m/s and nine tenths at 11.2 m/s. Among curves with
round figures, this curve fits ENTSO-E's Lithuanian wind power best (R2 .90 with the forecasts of four towns, first half
of 2025).
"""
_HEATING_BELOW_C: Final = 17.0
_FULL_SUN_W_M2: Final = 1000.0

NOMINAL_GW: Final = {
    ("baltic", "wind"): 2.5,
    ("baltic", "solar"): 2.7,
    ("baltic", "load"): 0.45,
    ("fi", "wind"): 7.5,
    ("fi", "solar"): 1.3,
    ("fi", "load"): 1.6,
    ("se", "wind"): 5.7,
    ("se", "solar"): 2.5,
    ("se", "load"): 3.0,
}
"""The nominal power in GW by region and kind.

Nominal power is the power of the wind turbines at full wind, the power of the solar plants at full sun, or the load per
ten degrees below 17 C. Weather is converted to GW with the nominal power, unless the factor is learnt from covariates
in MW. The figures come from the day-ahead forecasts that ENTSO-E published for 2025. For wind, the 99.9% quantile
counts as nine tenths of full power. For solar, the 99.9% quantile counts as the power at 780 W/m2. The load per ten
degrees comes from the mean load of February less the mean load of July. Sweden's figures cover SE3 and SE4. Unless a
region also has covariates in MW, only the proportions of its figures affect the model.
"""


class Quantity(NamedTuple):
    """The quantity to which a covariate's name refers.

    `kind` is load, wind or solar. `is_weather` is true for weather variables, and false for covariates in MW.
    """

    zone: str
    kind: str
    is_weather: bool

    @property
    def region(self) -> str:
        """The region of the power system to which the zone belongs."""
        return REGIONS[self.zone]


def parse_quantity(name: str) -> Quantity | None:
    """Return the quantity to which a covariate's name refers."""
    if found := _MEGAWATTS.fullmatch(name):
        zone, kind, is_weather = found["zone"], found["kind"], False
    elif (found := _POINT.fullmatch(name)) and found["variable"] in WEATHER_KINDS:
        zone, kind, is_weather = found["zone"], WEATHER_KINDS[found["variable"]], True
    else:
        return None
    return Quantity(zone, kind, is_weather) if zone in REGIONS else None


def unknown_covariate_names(names: Iterable[str]) -> list[str]:
    """Return a sorted list of the names that the model doesn't know."""
    return sorted(name for name in names if parse_quantity(name) is None)


def in_model_units(meaning: Quantity, values: Floats32) -> Floats32:
    """Convert the values of a covariate to the unit that the model uses.

    Load, wind power and solar power are converted from MW to GW. Wind speed (m/s) is converted to the share of capacity
    that wind turbines give. Radiation (W/m2) is divided by 1000 W/m2. A temperature (C) is converted to the number of
    degrees below 17 C, divided by 10. Temperatures above 17 C are converted to 0.
    """
    if not meaning.is_weather:
        return values / np.float32(1000)
    if meaning.kind == "wind":
        below = (np.float32(_HALF_POWER_M_S) - values) / np.float32(_POWER_WIDTH_M_S)
        share: Floats32 = 1 / (1 + np.exp(below))
        return share
    if meaning.kind == "solar":
        return values / np.float32(_FULL_SUN_W_M2)
    heating: Floats32 = np.maximum(np.float32(_HEATING_BELOW_C) - values, 0) / np.float32(10)
    return heating
