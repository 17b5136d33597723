"""The price zone of a config entry, and the names of the zones' countries."""

from collections.abc import Mapping
from typing import Any, Final

from ..core.market import ESTONIA, MARKET_OF_CODE, Market

CONF_ZONE: Final = "zone"

_ENGLISH: Final = "en"
_COUNTRIES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {"EE": "Estonia", "LV": "Latvia", "LT": "Lithuania", "FI": "Finland"},
    "et": {"EE": "Eesti", "LV": "Läti", "LT": "Leedu", "FI": "Soome"},
    "ru": {"EE": "Эстония", "LV": "Латвия", "LT": "Литва", "FI": "Финляндия"},
}


def zone_of(data: Mapping[str, Any]) -> Market:
    """Return the zone in an entry's data, or Estonia if the data contain no zone."""
    return MARKET_OF_CODE[data.get(CONF_ZONE, ESTONIA.code)]


def id_suffix(zone: Market) -> str:
    """Return the suffix that marks a zone in a server's id, or an empty string for Estonia."""
    return "" if zone is ESTONIA else f"-{zone.zone}"


def country_name(zone: Market, language: str) -> str:
    """Return the name of the zone's country in `language`, or in English if `_COUNTRIES` lacks the language."""
    return _COUNTRIES.get(language, _COUNTRIES[_ENGLISH])[zone.code]
