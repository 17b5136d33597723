"""The price zones with their countries and legal VAT rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

CONF_ZONE: Final = "zone"


class Zone(StrEnum):
    """A price zone. The value is the zone's code in the API and the country's ISO 3166 code.

    All four countries have the same local time. So days and times of day need no zone.
    """

    EE = "EE"
    LV = "LV"
    LT = "LT"
    FI = "FI"

    @property
    def suffix(self) -> str:
        """The suffix of names and ids in this zone. The suffix of Estonia is empty."""
        return "" if self is Zone.EE else f"-{self.lower()}"

    def country(self, language: str) -> str:
        """Return the name of the zone's country. If a language has no names here, the name is in English."""
        return _COUNTRIES.get(language, _COUNTRIES[_ENGLISH])[self]


def zone_of(data: Mapping[str, Any]) -> Zone:
    """Return the zone of an entry from its data. If the data have no zone, the zone is Estonia."""
    return Zone(data.get(CONF_ZONE, Zone.EE))


_ENGLISH: Final = "en"
_COUNTRIES: Final[Mapping[str, Mapping[Zone, str]]] = {
    "en": {Zone.EE: "Estonia", Zone.LV: "Latvia", Zone.LT: "Lithuania", Zone.FI: "Finland"},
    "et": {Zone.EE: "Eesti", Zone.LV: "Läti", Zone.LT: "Leedu", Zone.FI: "Soome"},
    "ru": {Zone.EE: "Эстония", Zone.LV: "Латвия", Zone.LT: "Литва", Zone.FI: "Финляндия"},
}


@dataclass(frozen=True, slots=True)
class _VatLaw:
    """The VAT rate from `since` on, as a fraction.

    If network and state fees have another rate, `on_network` is that rate.
    """

    since: date
    rate: float
    on_network: float | None = None


_LAW: Final[Mapping[Zone, Sequence[_VatLaw]]] = {
    # Käibemaksuseadus § 15
    Zone.EE: (_VatLaw(date(2009, 7, 1), 0.20), _VatLaw(date(2024, 1, 1), 0.22), _VatLaw(date(2025, 7, 1), 0.24)),
    # Pievienotās vērtības nodokļa likums, 41. pants
    Zone.LV: (_VatLaw(date(2012, 7, 1), 0.21),),
    # Pridėtinės vertės mokesčio įstatymas, 19 straipsnis
    Zone.LT: (_VatLaw(date(2009, 9, 1), 0.21),),
    # Arvonlisäverolaki 84 §. In the winter of 2022/23, the sale of electricity had a lower rate. Transmission and the
    # electricity tax kept the higher rate.
    Zone.FI: (
        _VatLaw(date(2013, 1, 1), 0.24),
        _VatLaw(date(2022, 12, 1), 0.10, on_network=0.24),
        _VatLaw(date(2023, 5, 1), 0.24),
        _VatLaw(date(2024, 9, 1), 0.255),
    ),
}


def legal_vat_rate(zone: Zone, day: date, *, on_network: bool = False) -> float:
    """Return the legal VAT rate of a day as a fraction.

    Days before the first known rate get the first known rate. With `on_network`, return the rate on network and state
    fees. Without `on_network`, return the rate on electricity and the supplier's fees.
    """
    laws = _LAW[zone]
    law = next((law for law in reversed(laws) if law.since <= day), laws[0])
    return law.rate if law.on_network is None or not on_network else law.on_network
