"""The options of the pages. The page's address holds the options, so that a reader can share a view."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import time
from functools import lru_cache
from typing import Final, Literal, Self, get_args
from urllib.parse import urlencode

from tunnihind.api.http.headers import names_with_weights
from tunnihind.core.market import HOUR_S, MARKETS, QUARTER_S, Zone
from tunnihind.core.network_clock import DAY_RATE_TIMES, RateTimes
from tunnihind.core.rates import FEE_RATES, NETWORK_RATES, Package, Part, rate_table_of
from tunnihind.core.tariff import Tariff, TariffRow
from tunnihind.numerals import decimal_number

type Language = Literal["en", "et", "ru"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language.__value__)
"""The pages' languages. If the browser accepts none of these languages, the first is the default."""
type Unit = Literal["kwh", "mwh"]
type Period = Literal["hour", "quarter"]
type VatChoice = Literal["none", "api", "law"]
type PriceChoice = Literal["all", "market"]
type TimesChoice = Literal["every_day", "winter_days", "winter_time"]

DAY_RATE_CHOICES: Final[Mapping[TimesChoice | Literal[""], RateTimes]] = {
    "": DAY_RATE_TIMES,
    "every_day": RateTimes(weekdays=frozenset(range(7)), on_holidays=True),
    "winter_days": RateTimes(months=frozenset({11, 12, 1, 2, 3}), weekdays=frozenset(range(6)), on_holidays=True),
    "winter_time": RateTimes(ends=time(23), in_winter_time=True),
}
"""The times of the network's day rate from which a household chooses in a zone without packages."""

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "lang": LANGUAGES,
    "unit": ("kwh", "mwh"),
    "period": ("", "hour", "quarter"),
    "vat": ("", "none", "api", "law"),
    "package": ("", *NETWORK_RATES),
    "times": tuple(DAY_RATE_CHOICES),
    "price": ("", "all", "market"),
    "tz": ("local", "utc"),
    "theme": ("auto", "light", "dark"),
    "ahead": ("1", "2", "3", "4", "5", "6", "7"),
    "embed": ("0", "1"),
}
"""The possible values of each parameter that the server reads, except the rates. An empty value means no choice.

The default comes first, but the default language is the one that the browser prefers.
"""

_SCRIPT_PATTERNS: Final[Mapping[str, str]] = {
    "span": "near|ahead|week|all",
    "from": r"\d+",
    "to": r"\d+",
    "past": "[01]",
    "hours": r"\d*\.?\d+",
    "kw": r"\d*\.?\d+",
    "kwh": r"\d*\.?\d+",
    "by": r"24h|morning|none|\d+|\d{4}-\d\d-\d\dT\d\d:\d\d",
    "split": "[01]",
    "predicted": "[01]",
}
"""The values of each parameter that only the page's scripts read (`moves.js`, `finder.js`), as regular expressions."""

_RATE_NAMES: Final = ("network", "night", "other", "margin")
"""The rates that a household enters in a zone without packages, in the order of the form."""

_PARTS_FROM_TABLE: Final = frozenset({Part.NETWORK, *FEE_RATES})

_RATE_CAP: Final = 100
_CENTS: Final = 100
_RATE_DECIMALS: Final = 3


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The options that the server reads to make a page. The page's scripts read further options from the address.

    `zone` comes from the page's path. In Estonia, a household chooses a `package` and may enter a `margin`. Outside
    Estonia, a household enters the rates `network` (by day), `night`, `other` and `margin`, and chooses the `times` at
    which the rate by day applies. All rates are in c/kWh without VAT. If `price` is "market", the page shows market
    prices, even if the reader has chosen or entered fees.

    If the address names one of the pages' languages, `has_chosen_lang` is true. Otherwise, `lang` is the language that
    the browser prefers. `unknown_parameters` lists the parameters of the address whose values are not allowed.
    """

    zone: Zone = "ee"
    lang: Language = "en"
    unit: Unit = "kwh"
    period: Period | Literal[""] = ""
    vat: VatChoice | Literal[""] = ""
    package: Package | Literal[""] = ""
    network: str = ""
    night: str = ""
    other: str = ""
    margin: str = ""
    times: TimesChoice | Literal[""] = ""
    price: PriceChoice | Literal[""] = ""
    tz: Literal["local", "utc"] = "local"
    theme: Literal["auto", "light", "dark"] = "auto"
    ahead: Literal["1", "2", "3", "4", "5", "6", "7"] = "1"
    embed: Literal["0", "1"] = "0"
    has_chosen_lang: bool = False
    unknown_parameters: tuple[str, ...] = ()

    @property
    def shown_period(self) -> Period:
        """The kind of the shown periods: hours (the default) or quarters."""
        return self.period or "hour"

    @property
    def step_s(self) -> int:
        """The length of the shown periods in seconds."""
        return HOUR_S if self.shown_period == "hour" else QUARTER_S

    @property
    def has_packages(self) -> bool:
        """True if households in this zone choose a network package instead of entering network fees."""
        return _has_packages(self.zone)

    @property
    def rate_parameters(self) -> tuple[str, ...]:
        """The names of the address's parameters for a household's rates in this zone."""
        return _rate_parameters(self.zone)

    @property
    def has_chosen_rates(self) -> bool:
        """True if the reader has chosen a package, or entered rates in a zone without packages."""
        return bool(self.package) if self.has_packages else any(getattr(self, rate) for rate in self.rate_parameters)

    @property
    def tariff(self) -> Tariff | None:
        """The reader's tariff, or None if the page shows the market's price."""
        if self.price == "market" or not self.has_chosen_rates:
            return None
        margin, day, night, other = (
            float(rate or 0) / _CENTS for rate in (self.margin, self.network, self.night or self.network, self.other)
        )
        times = DAY_RATE_CHOICES[self.times]
        row = TariffRow(margin=margin, network_day=day, network_night=night, other=other, day_rate_times=times)
        if self.package:
            row = TariffRow(margin=margin, package=Package(self.package), parts_from_table=_PARTS_FROM_TABLE)
        return Tariff(zone=MARKETS[self.zone], rows=[row])

    @classmethod
    def read(cls, query: Mapping[str, str], accept_language: str = "", zone: Zone = "ee") -> Self:
        """Read the options from the query string of a zone's page.

        If the query string names none of the pages' languages, choose the language by `accept_language`, an
        Accept-Language value.
        """
        elsewhere = _parameters_of_other_zones(zone)
        choices = {name: values for name, values in _CHOICES.items() if name not in elsewhere}
        known = {name: query[name] for name in query if query[name] in choices.get(name, ())}
        rates = {name: _normalised_rate(query.get(name, "")) for name in _rate_parameters(zone)}
        unknown = [name for name in choices if name in query and name not in known]
        unknown += [name for name, rate in rates.items() if query.get(name) and not rate]
        unknown += [name for name in elsewhere if query.get(name)]
        unknown += [
            name
            for name, pattern in _SCRIPT_PATTERNS.items()
            if not re.fullmatch(f"(?:{pattern})?", query.get(name, ""))
        ]
        given = {"lang": preferred_language(accept_language)} | known | rates
        return cls(zone, **given, has_chosen_lang="lang" in known, unknown_parameters=tuple(unknown))  # type: ignore[arg-type]  # checked above

    def link(self, **changes: str) -> str:
        """Return the query string for the present page with some options changed.

        Options with their default value are left out of the link, except the language. The link names a language only
        if the present address or `changes` names one. Without a language in the link, the page appears in the language
        that the reader's browser prefers.
        """
        given = asdict(replace(self, **changes))  # type: ignore[arg-type]  # templates pass what is in _CHOICES
        lang = {"lang": given["lang"]} if self.has_chosen_lang or "lang" in changes else {}
        for name in ("zone", "lang", "has_chosen_lang", "unknown_parameters"):
            del given[name]
        chosen = {name: value for name, value in given.items() if value not in _CHOICES.get(name, ("",))[:1]}
        query = urlencode(lang | chosen)
        # An empty link would keep the present options, so a link that changes all options to their defaults is `?`.
        return f"?{query}" if query or changes else ""

    def link_to_zone(self) -> str:
        """Return the query string for the present page in another zone, without fees, because they differ by zone."""
        return replace(self, package="", times="", price="", **dict.fromkeys(_RATE_NAMES, "")).link()  # type: ignore[arg-type]  # rates


def _rate_parameters(zone: Zone) -> tuple[str, ...]:
    return ("margin",) if _has_packages(zone) else _RATE_NAMES


def _parameters_of_other_zones(zone: Zone) -> tuple[str, ...]:
    return ("network", "night", "other", "times") if _has_packages(zone) else ("package",)


def _has_packages(zone: Zone) -> bool:
    return bool(rate_table_of(MARKETS[zone]).packages)


def _normalised_rate(text: str) -> str:
    """Normalise a rate, so that equal rates lead to the same cached page.

    If the text is not a number from 0 to 100, return an empty string.
    """
    try:
        rate = decimal_number(text.strip().replace(",", "."))
    except ValueError:
        return ""
    return f"{round(rate, _RATE_DECIMALS) + 0.0:g}" if 0 <= rate <= _RATE_CAP else ""


@lru_cache(maxsize=256)
def preferred_language(accept_language: str) -> Language:
    """Choose the page's language from an Accept-Language field value (RFC 9110, section 12.5.4).

    If several languages have the same weight, choose the one that comes first in `LANGUAGES`.
    """
    weights: dict[str, float] = {}
    for tag, weight in names_with_weights(accept_language):
        weights.setdefault(tag.partition("-")[0], weight)
    return max(LANGUAGES, key=lambda language: weights.get(language, 0.0))
