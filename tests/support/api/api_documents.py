"""Documents of the specification, and ways to break them."""

from copy import deepcopy
from typing import Any, Final

from tunnihind.core.market import HOUR_S

NOW: Final = 1_768_378_800
"""2026-01-14T10:20:00+02:00."""
_HOUR: Final = NOW - NOW % HOUR_S

ABOUT: Final[dict[str, Any]] = {
    "name": "Tunnihind",
    "version": "1.0.0",
    "instanceId": "other",
    "zone": "EE",
    "zones": [{"zone": "EE", "url": "http://localhost:8080"}],
    "vatRate": 0.24,
    "vatRateIsChosen": False,
    "attribution": "Other (other.example)",
    "publicUrl": None,
}
FORECAST: Final[dict[str, Any]] = {
    "zone": "EE",
    "currency": "EUR",
    "now": NOW,
    "madeAt": NOW - 600,
    "lastRefresh": NOW - 300,
    "freeUntil": _HOUR + 49 * HOUR_S,
    "gated": True,
    "backtest": {"mae": 12.5, "baselineMae": 31.25, "skill": 0.6, "horizonH": 24},
    "docs": "https://example.org/docs",
    "dayAhead": [
        {"ts": _HOUR, "startsAt": "2026-01-14T08:00:00Z", "eurMwh": 84.37, "eurKwh": 0.1029},
        {"ts": _HOUR + HOUR_S, "startsAt": "2026-01-14T09:00:00Z", "eurMwh": -1.5, "eurKwh": -0.0018},
    ],
    "forecast": [
        {
            "ts": _HOUR + 2 * HOUR_S,
            "startsAt": "2026-01-14T10:00:00Z",
            "p10": 40.0,
            "p50": 50.0,
            "p90": 65.5,
            "p10Kwh": 0.0488,
            "p50Kwh": 0.061,
            "p90Kwh": 0.0799,
        }
    ],
}
SERIES: Final[dict[str, Any]] = {
    "now": NOW,
    "actuals": [{"ts": _HOUR - HOUR_S, "eurMwh": 70.0, "eurKwh": 0.0854}],
    "forecast": [],
    "freeUntil": _HOUR + 49 * HOUR_S,
    "gated": True,
}

type Place = tuple[str | int, ...]
"""A place in a document: names and positions from the outside in."""


def altered(document: dict[str, Any], place: Place, value: object) -> dict[str, Any]:
    """Return the document with another value in that place."""
    copy = deepcopy(document)
    _inner(copy, place)[place[-1]] = value
    return copy


def lacking(document: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return the document without that place."""
    copy = deepcopy(document)
    del _inner(copy, place)[place[-1]]
    return copy


def _inner(document: Any, place: Place) -> Any:  # noqa: ANN401  any part of a JSON document
    for step in place[:-1]:
        document = document[step]
    return document
