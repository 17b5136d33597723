"""Computes an identifier of the model. If a stored forecast has another identifier, another model made it."""

from functools import cache
from hashlib import blake2b
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import tunnihind.core.market
import tunnihind.core.public_holidays
import tunnihind.forecast
from tunnihind import known, price_series, weather_points
from tunnihind.core.market import Market

MODULES: Final = (known, tunnihind.core.market, tunnihind.core.public_holidays, price_series, weather_points)
"""Tunnihind's modules outside this package that the model imports."""

_LIBRARIES: Final = ("numpy", "holidays")
"""The libraries whose version can change the model's forecasts."""


def model_identity(market: Market) -> str:
    """Return an identifier of the model for a market.

    The identifier changes with the versions of Tunnihind and of `_LIBRARIES`, the model's code, the zone and the price
    limits. The identifier does not contain the step, because the database stores the step with each forecast.
    """
    return f"{_code_digest()}:{market.zone}:{market.limits.floor:g}:{market.limits.cap:g}"


@cache
def _code_digest() -> str:
    folder = Path(next(iter(tunnihind.forecast.__path__)))
    digest = blake2b(digest_size=8)
    for name in ("tunnihind", *_LIBRARIES):
        # The whole METADATA text is hashed, because parsing it for the version would take longer than the rest of this
        # function.
        digest.update((distribution(name).read_text("METADATA") or "").encode())
    modules = (Path(module.__file__ or "") for module in MODULES)
    for path in sorted([*folder.rglob("*.py"), *modules]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
