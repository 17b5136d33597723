"""The identity of a model. It shows which stored forecasts come from an earlier model."""

from functools import cache
from hashlib import blake2b
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import tunnihind.forecast
import tunnihind.market
import tunnihind.price_series
from tunnihind.market import Market

_LIBRARIES: Final = ("numpy", "holidays")
"""Another version of these libraries may forecast other numbers."""


def model_identity(market: Market) -> str:
    """Return a word that changes with the models' code, their libraries, the zone and the price limits.

    The word is the same for all steps, because the rows of the store have the step in their key.
    """
    return f"{_code()}:{market.zone}:{market.limits.floor:g}:{market.limits.cap:g}"


@cache
def _code() -> str:
    folder = Path(next(iter(tunnihind.forecast.__path__)))
    digest = blake2b(digest_size=8)
    for name in ("tunnihind", *_LIBRARIES):
        # The whole METADATA text contains the version. Parsing it would take longer than the rest of the function.
        digest.update((distribution(name).read_text("METADATA") or "").encode())
    seen = (tunnihind.market, tunnihind.price_series)
    modules = [Path(module.__file__ or "") for module in seen]
    for path in sorted([*folder.rglob("*.py"), *modules]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
