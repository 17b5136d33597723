"""What a covariate's name means: a region of the power system, a kind of quantity, and the value in its unit.

Names are `<zone>_<load|wind|solar>[_da]_mw`, or `<variable>@<point>` with a point whose name begins with its zone.
"""

import re
from typing import Final, NamedTuple

import numpy as np

from tunnihind.forecast.model.vintages import Singles

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
WEATHER: Final = {"wind_speed_100m": "wind", "shortwave_radiation": "solar", "temperature_2m": "load"}

_MEGAWATTS: Final = re.compile(r"(?P<zone>[a-z]{2}\d?)_(?P<kind>load|wind|solar)(_da)?_mw")
_POINT: Final = re.compile(r"(?P<variable>\w+)@(?P<zone>[a-z]{2}\d?)(_\w+)?")

_HALF_POWER_M_S: Final = 8.5
_POWER_WIDTH_M_S: Final = 1.7
"""A fleet's power curve as a logistic: half of its capacity at 8.5 m/s, a tenth at 4.8, nine tenths at 12.2, in the
range of the multi-turbine curves of Norgaard & Holttinen 2004 (Nordic Wind Power Conference)."""
_HEATING_BELOW_C: Final = 17.0
_FULL_SUN_W_M2: Final = 1000.0

NOMINAL_GW: Final = {
    ("baltic", "wind"): 3.0,
    ("baltic", "solar"): 4.0,
    ("baltic", "load"): 0.6,
    ("fi", "wind"): 8.5,
    ("fi", "solar"): 1.2,
    ("fi", "load"): 1.6,
    ("se", "wind"): 9.0,
    ("se", "solar"): 4.0,
    ("se", "load"): 2.0,
}
"""What weather is worth where no megawatts are known to fit it to: the fleet at full power, GW, and load per ten
heating degrees, GW. Round figures of 2025; only their proportions within a region matter to the model."""


class Quantity(NamedTuple):
    """`kind` is load, wind or solar; `is_weather` where it stands for it without being in MW."""

    region: str
    kind: str
    is_weather: bool


def quantity(name: str) -> Quantity | None:
    """Return what a name means, None where it means nothing to the model."""
    if found := _MEGAWATTS.fullmatch(name):
        zone, kind, is_weather = found["zone"], found["kind"], False
    elif (found := _POINT.fullmatch(name)) and found["variable"] in WEATHER:
        zone, kind, is_weather = found["zone"], WEATHER[found["variable"]], True
    else:
        return None
    region = REGIONS.get(zone)
    return None if region is None else Quantity(region, kind, is_weather)


def in_units(meaning: Quantity, values: Singles) -> Singles:
    """Return GW; of weather the share of capacity at a wind speed (m/s) or radiation (W/m2), or ten heating degrees."""
    if not meaning.is_weather:
        return values / np.float32(1000)
    if meaning.kind == "wind":
        below = (np.float32(_HALF_POWER_M_S) - values) / np.float32(_POWER_WIDTH_M_S)
        share: Singles = 1 / (1 + np.exp(below))
        return share
    if meaning.kind == "solar":
        return values / np.float32(_FULL_SUN_W_M2)
    heating: Singles = np.maximum(np.float32(_HEATING_BELOW_C) - values, 0) / np.float32(10)
    return heating
