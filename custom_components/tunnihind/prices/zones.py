"""The price zones, the names of their countries, and their legal VAT rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

CONF_ZONE: Final = "zone"


class Zone(StrEnum):
    """A price zone. The value is both the zone's code in the API and the country's ISO 3166 code."""

    EE = "EE"
    LV = "LV"
    LT = "LT"
    FI = "FI"

    @property
    def id_suffix(self) -> str:
        """The suffix that marks this zone in a server's id, or an empty string for Estonia."""
        return "" if self is Zone.EE else f"-{self.lower()}"

    def country_name(self, language: str) -> str:
        """Return the name of the zone's country in `language`, or in English if `_COUNTRIES` lacks the language."""
        return _COUNTRIES.get(language, _COUNTRIES[_ENGLISH])[self]


def zone_of(data: Mapping[str, Any]) -> Zone:
    """Return the zone in an entry's data, or Estonia if the data contain no zone."""
    return Zone(data.get(CONF_ZONE, Zone.EE))


_ENGLISH: Final = "en"
_COUNTRIES: Final[Mapping[str, Mapping[Zone, str]]] = {
    "en": {Zone.EE: "Estonia", Zone.LV: "Latvia", Zone.LT: "Lithuania", Zone.FI: "Finland"},
    "et": {Zone.EE: "Eesti", Zone.LV: "Läti", Zone.LT: "Leedu", Zone.FI: "Soome"},
    "ru": {Zone.EE: "Эстония", Zone.LV: "Латвия", Zone.LT: "Литва", Zone.FI: "Финляндия"},
}


@dataclass(frozen=True, slots=True)
class _VatLaw:
    """The legal VAT rate from `since` on, as a fraction.

    If network and state fees have a VAT rate of their own, `network_rate` is that rate.
    """

    since: date
    rate: float
    network_rate: float | None = None


_VAT_LAWS: Final[Mapping[Zone, Sequence[_VatLaw]]] = {
    # Estonia's VAT law: Käibemaksuseadus § 15
    Zone.EE: (_VatLaw(date(2009, 7, 1), 0.20), _VatLaw(date(2024, 1, 1), 0.22), _VatLaw(date(2025, 7, 1), 0.24)),
    # Latvia's VAT law: Pievienotās vērtības nodokļa likums, 41. pants
    Zone.LV: (_VatLaw(date(2012, 7, 1), 0.21),),
    # Lithuania's VAT law: Pridėtinės vertės mokesčio įstatymas, 19 straipsnis
    Zone.LT: (_VatLaw(date(2009, 9, 1), 0.21),),
    # Finland's VAT law: Arvonlisäverolaki 84 §. In the winter of 2022/23, Finland lowered the VAT rate on electricity,
    # but not on transmission or on the electricity tax.
    Zone.FI: (
        _VatLaw(date(2013, 1, 1), 0.24),
        _VatLaw(date(2022, 12, 1), 0.10, network_rate=0.24),
        _VatLaw(date(2023, 5, 1), 0.24),
        _VatLaw(date(2024, 9, 1), 0.255),
    ),
}


def legal_vat_rate(zone: Zone, day: date, *, on_network: bool = False) -> float:
    """Return the legal VAT rate of `zone` on `day`, as a fraction.

    If `on_network` is true, return the rate on network and state fees. Otherwise, return the rate on electricity and on
    the supplier's fees. If all known rates begin after `day`, return the oldest of them.
    """
    laws = _VAT_LAWS[zone]
    law = next((law for law in reversed(laws) if law.since <= day), laws[0])
    return law.rate if law.network_rate is None or not on_network else law.network_rate
