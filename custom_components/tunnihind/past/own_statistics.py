"""The integration's own statistics: their ids and their descriptions for the recorder.

An id says nothing of the entry but its place among the entries, so a server that is removed and added again, or
replaced by another one, goes on with the statistics of before. Live prices, a demo's and a rehearsal's never mix.
"""

from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from homeassistant.components.recorder.models import StatisticMeanType, StatisticMetaData
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import slugify

from ..const import CONF_STATISTICS, DOMAIN, EUR, EUR_PER_KWH
from ..server.answers import Mode

_ENGLISH: Final = "en"


@dataclass(frozen=True, slots=True)
class _Names:
    """How the statistics of an entry are called. Home Assistant does not translate names of statistics."""

    price: str
    cost: str


_NAMES: Final = {
    "en": _Names(price="{title}: price paid", cost="{title}: cost of {energy}"),
    "et": _Names(price="{title}: makstud hind", cost="{title}: kulu, {energy}"),
}


@callback
def async_price_statistic(hass: HomeAssistant, entry: ConfigEntry[Any], mode: Mode) -> StatisticMetaData:
    """Return the metadata of an entry's prices."""
    return StatisticMetaData(
        statistic_id=_id("price_paid", *_async_place(hass, entry, mode)),
        source=DOMAIN,
        name=_names(hass).price.format(title=entry.title),
        unit_of_measurement=EUR_PER_KWH,
        unit_class=None,
        mean_type=StatisticMeanType.ARITHMETIC,
        has_sum=False,
    )


@callback
def async_cost_statistic(
    hass: HomeAssistant, entry: ConfigEntry[Any], mode: Mode, *, energy_id: str, energy: str
) -> StatisticMetaData:
    """Return the metadata of what an energy statistic cost by an entry's prices; `energy` is its name."""
    return StatisticMetaData(
        statistic_id=_id("cost", *_async_place(hass, entry, mode), slugify(energy_id)),
        source=DOMAIN,
        name=_names(hass).cost.format(title=entry.title, energy=energy),
        unit_of_measurement=EUR,
        unit_class=None,
        mean_type=StatisticMeanType.NONE,
        has_sum=True,
    )


def _id(*parts: str) -> str:
    return f"{DOMAIN}:{'_'.join(parts)}"


@callback
def _async_place(hass: HomeAssistant, entry: ConfigEntry[Any], mode: Mode) -> list[str]:
    """Return the parts of an id that tell the entry from others; none for the only server of a home.

    The entry gets the lowest number that no other entry of its mode has, when it first writes, and keeps it.
    """
    numbers: dict[str, int] = entry.data.get(CONF_STATISTICS, {})
    if mode not in numbers:
        taken = {other.data.get(CONF_STATISTICS, {}).get(mode) for other in hass.config_entries.async_entries(DOMAIN)}
        numbers = {**numbers, mode: next(number for number in count(1) if number not in taken)}
        hass.config_entries.async_update_entry(entry, data={**entry.data, CONF_STATISTICS: numbers})
    parts = [] if mode is Mode.LIVE else [mode.value]
    return parts if numbers[mode] == 1 else [*parts, f"{numbers[mode]}"]


def _names(hass: HomeAssistant) -> _Names:
    return _NAMES.get(hass.config.language, _NAMES[_ENGLISH])
