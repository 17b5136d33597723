"""What a reader of the pages can choose. All of it is in the address, so that a view can be shared."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Final, Literal, Self
from urllib.parse import urlencode

from tunnihind.api.http.headers import weighted_members
from tunnihind.market import HOUR_S, QUARTER_S
from tunnihind.web.tariff import NETWORK, Package, Tariff

type Language = Literal["en", "et"]
type Unit = Literal["kwh", "mwh"]
type Period = Literal["hour", "quarter"]
type VatChoice = Literal["none", "api", "law"]
type PriceChoice = Literal["all", "market"]

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "lang": ("en", "et"),
    "unit": ("kwh", "mwh"),
    "period": ("", "hour", "quarter"),
    "vat": ("", "none", "api", "law"),
    "package": ("", *NETWORK),
    "price": ("", "all", "market"),
    "tz": ("tallinn", "utc"),
    "theme": ("auto", "light", "dark"),
    "score": ("30", "7", "90"),
    "ahead": ("1", "2", "3", "4", "5", "6", "7"),
    "embed": ("0", "1"),
}
"""The values of each parameter, its default first. An empty one tells that the reader hasn't chosen: what was chosen
before counts then, if the browser remembers it (`static/remembered.js`)."""

_MARGIN_CAP: Final = 100
_MARGIN_DECIMALS: Final = 3


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The options that the server's part of a page depends on; those of the chart belong to its script.

    `package` and `margin` (c/kWh without VAT) are what a household pays on top of the market's price; it is added
    unless `price` asks for the market's.
    """

    lang: Language = "en"
    unit: Unit = "kwh"
    period: Period | Literal[""] = ""
    vat: VatChoice | Literal[""] = ""
    package: Package | Literal[""] = ""
    margin: str = ""
    price: PriceChoice | Literal[""] = ""
    tz: Literal["tallinn", "utc"] = "tallinn"
    theme: Literal["auto", "light", "dark"] = "auto"
    score: Literal["30", "7", "90"] = "30"
    ahead: Literal["1", "2", "3", "4", "5", "6", "7"] = "1"
    embed: Literal["0", "1"] = "0"

    @property
    def shown_period(self) -> Period:
        """The periods that are shown, hours unless chosen otherwise."""
        return self.period or "hour"

    @property
    def step_s(self) -> int:
        """The length of the periods that are shown, seconds."""
        return HOUR_S if self.shown_period == "hour" else QUARTER_S

    @property
    def tariff(self) -> Tariff | None:
        """What is added to the market's price; None where the reader has named no package, or asks for the market's."""
        if not self.package or self.price == "market":
            return None
        return Tariff(self.package, float(self.margin or 0))

    @classmethod
    def read(cls, query: Mapping[str, str], accept_language: str = "") -> Self:
        """Read a query string's parameters; unknown ones are ignored."""
        known = {name: query[name] for name in query if query[name] in _CHOICES.get(name, ())}
        known["margin"] = _margin(query.get("margin", ""))
        return cls(**({"lang": preferred_language(accept_language)} | known))  # type: ignore[arg-type]  # checked above

    def link(self, **changes: str) -> str:
        """Return the query string of the same page with some options changed; defaults are left out of it."""
        changed = replace(self, **changes)  # type: ignore[arg-type]  # templates pass what is in _CHOICES
        given = {name: value for name, value in asdict(changed).items() if value not in _CHOICES.get(name, ("",))[:1]}
        return "?" + urlencode({"lang": changed.lang} | given)


def _margin(text: str) -> str:
    """Write a margin in one way, so that equal ones are one page; what is none, or can't be true, is none."""
    try:
        margin = float(text.strip().replace(",", "."))
    except ValueError:
        return ""
    return f"{round(margin, _MARGIN_DECIMALS) + 0.0:g}" if 0 <= margin <= _MARGIN_CAP else ""


@lru_cache(maxsize=256)
def preferred_language(accept_language: str) -> Language:
    """Choose between the pages' languages by an Accept-Language field value (RFC 9110, section 12.5.4)."""
    weights: dict[str, float] = {}
    for tag, weight in weighted_members(accept_language):
        weights.setdefault(tag.partition("-")[0], weight)
    return "et" if weights.get("et", 0.0) > weights.get("en", 0.0) else "en"
