"""The integration's own statistics: their ids, and what the recorder is told of them."""

from dataclasses import dataclass
from typing import Final

from homeassistant.components.recorder.models import StatisticMeanType, StatisticMetaData
from homeassistant.util import slugify

from ..const import DOMAIN, EUR, EUR_PER_KWH

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


def price_statistic(entry_id: str, title: str, language: str) -> StatisticMetaData:
    """Return the metadata of an entry's prices."""
    return StatisticMetaData(
        statistic_id=f"{DOMAIN}:price_{slugify(entry_id)}",
        source=DOMAIN,
        name=_names(language).price.format(title=title),
        unit_of_measurement=EUR_PER_KWH,
        unit_class=None,
        mean_type=StatisticMeanType.ARITHMETIC,
        has_sum=False,
    )


def cost_statistic(entry_id: str, title: str, language: str, *, energy_id: str, energy: str) -> StatisticMetaData:
    """Return the metadata of what an energy statistic cost by an entry's prices; `energy` is its name."""
    return StatisticMetaData(
        statistic_id=f"{DOMAIN}:cost_{slugify(entry_id)}_{slugify(energy_id)}",
        source=DOMAIN,
        name=_names(language).cost.format(title=title, energy=energy),
        unit_of_measurement=EUR,
        unit_class=None,
        mean_type=StatisticMeanType.NONE,
        has_sum=True,
    )


def _names(language: str) -> _Names:
    return _NAMES.get(language, _NAMES[_ENGLISH])
