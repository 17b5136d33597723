"""The texts of the pages, and the format of numbers and dates, in each language."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final, override

import msgspec

from tunnihind.api.openapi.document import vat_text
from tunnihind.core.market import Zone
from tunnihind.web.options import Language

_SHARED_KEYS: Final = (
    "decimal",
    "about",
    "days.today",
    "days.tomorrow",
    "now.level",
    "now.forecast",
    "now.unknown.hour",
    "now.unknown.quarter",
    "start.later",
    "start.now",
    "start.either",
    "start.either.little",
    "start.unknown",
    "start.when.today",
    "start.when",
    "start.device",
    "start.device.split",
    "level.very_low",
    "level.low",
    "level.normal",
    "level.high",
    "level.very_high",
    "price.t0",
    "price.t1",
    "price.t2",
    "price.t3",
    "price.t4",
    "price.negative",
    "price.free",
    "chart.legend.now",
    "shortDate",
    "shorterDate",
)
"""The keys of the texts that the pages' scripts use besides those under the key `script`."""

_VAT_IN_ESTONIA: Final = re.compile(r"\bналог(?:а|у|ом|е)?\b(?: с оборота)?", re.IGNORECASE)
"""The Russian name of VAT in Estonia in any case, in full or short."""
_VAT_ELSEWHERE: Final = "НДС"

_MINUS: Final = "\N{MINUS SIGN}"


class ClockTime(str):
    """A time of day, such as 21:00.

    Estonian texts add a case ending to a time. So a placeholder with an ending, such as `{end:ni}`, writes 21:00 as
    21ni, and 21:15 as 21.15ni.
    """

    __slots__ = ()

    @override
    def __format__(self, ending: str) -> str:
        if not ending:
            return str(self)
        clock, _, zone = self.partition(" ")
        hour, minute = clock.split(":")
        stem = f"{int(hour)}" if minute == "00" else f"{int(hour)}.{minute}"
        return f"{stem}{ending} ({zone})" if zone else f"{stem}{ending}"


def named_for_zone(text: str, zone: Zone) -> str:
    """Return a text in any language with VAT named as in the zone's country."""
    return text if zone == "ee" else _VAT_IN_ESTONIA.sub(_VAT_ELSEWHERE, text)


class Texts:
    """The texts of one language. `texts("key", n=3)` returns a text in which the placeholder `{n}` is replaced by 3."""

    def __init__(self, language: Language, table: Mapping[str, Any]) -> None:
        self.language = language
        self._table = table

    def __call__(self, key: str, **gaps: object) -> str:
        """Return the text for `key`, with `gaps` in place of its placeholders. Raises KeyError for an unknown key.

        If the text has plural forms, return the form for the whole number `n`.
        """
        forms: str | Mapping[str, str] = self._table[key]
        text = forms if isinstance(forms, str) else forms[plural_category(self.language, gaps["n"])]
        return text.format(**gaps) if gaps else text

    def script_texts(self) -> Mapping[str, Any]:
        """Return the texts that the pages' scripts need."""
        shared = {key: text for key, text in self._table.items() if key in _SHARED_KEYS}
        return {**self._table["script"], **shared}

    def comparison_texts(self) -> Mapping[str, Any]:
        """Return the texts that the comparison page's scripts need."""
        texts: Mapping[str, Any] = self._table["comparisonScript"]
        return texts

    @property
    def month_names(self) -> list[str]:
        """The names of the months."""
        names: list[str] = self._table["months"]
        return names

    @property
    def decimal_mark(self) -> str:
        """The decimal point or comma."""
        mark: str = self._table["decimal"]
        return mark

    def number(self, value: float, decimals: int) -> str:
        """Write a number. A number that is rounded to zero has no minus sign."""
        written = f"{round(value, decimals) + 0.0:.{decimals}f}"
        return written.replace("-", _MINUS).replace(".", self._table["decimal"])

    def rounded_number(self, value: float, decimals: int) -> str:
        """Write a number. Halves are rounded away from zero, as in the pages' scripts."""
        return self.number(half_up(value, decimals), decimals)

    def whole_number(self, value: float) -> str:
        """Write a number without decimals, with halves rounded away from zero."""
        return self.rounded_number(value, 0)

    def whole_number_range(self, low: float, high: float) -> str:
        """Write a range of numbers without decimals.

        If the lower number is written as negative, an ellipsis joins the numbers, because a dash would look like a
        minus sign.
        """
        lower = self.whole_number(low)
        between = " … " if lower.startswith(_MINUS) else "–"
        return f"{lower}{between}{self.whole_number(high)}"

    def percent(self, share: float) -> str:
        """Write a fraction as a whole percentage."""
        return f"{self.number(share * 100, 0)}%"

    def vat_percent(self, rate: float) -> str:
        """Write a VAT rate in percent, with decimals if needed."""
        return vat_text(rate).replace(".", self._table["decimal"])

    def country_forms(self, zone: Zone) -> Mapping[str, str]:
        """Return the name of a zone's country in the forms that the texts need.

        Such forms are "Estonia", "in Estonia" and "Estonian".
        """
        names: Mapping[str, str] = self._table["zones"][zone]
        return names

    def full_date(self, day: date) -> str:
        """Write a day with its month and year."""
        return self("fullDate", day=day.day, month=self._table["months"][day.month - 1], year=day.year)

    def short_date(self, day: date) -> str:
        """Write a day with its short weekday and month, as `Wording.dayText` in wording.js does."""
        weekday = self.date_names["weekdays"][day.weekday()]
        return self("shortDate", weekday=weekday, day=day.day, month=self.date_names["months"][day.month - 1])

    def short_month(self, day: date) -> str:
        """Write the short name of a day's month, with the year."""
        return self("shortMonth", month=self.date_names["months"][day.month - 1], year=day.year)

    @property
    def date_names(self) -> Mapping[str, Sequence[str]]:
        """The short names of the weekdays and of the months. The first weekday is Monday."""
        return {"weekdays": self._table["weekdaysShort"], "months": self._table["monthsShort"]}

    def on_weekday(self, day: date) -> str:
        """Return the text for "on Monday" or another weekday, such as "esmaspäeval" in Estonian."""
        name: str = self._table["onWeekdays"][day.weekday()]
        return name


def half_up(value: float, decimals: int) -> float:
    """Round a number. Halves are rounded away from zero, as by `toFixed` in JavaScript."""
    return float(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def plural_category(language: Language, n: object) -> str:
    """Return the Unicode plural category of a whole number, like JavaScript's `Intl.PluralRules`.

    Raises TypeError if `n` isn't a whole number.
    """
    if not isinstance(n, int):
        raise TypeError(f"plural forms are for whole numbers, not {n!r}")
    if language != "ru":
        return "one" if n == 1 else "other"
    if n % 10 == 1 and n % 100 != 11:  # noqa: PLR2004  Russian counts by last digits
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


@cache
def texts_in(language: Language, zone: Zone = "ee") -> Texts:
    """Return a language's texts for a zone's pages, read from the file at the first call for both."""
    source = files("tunnihind.web").joinpath("locales", f"{language}.json").read_text(encoding="utf-8")
    return Texts(language, msgspec.json.decode(named_for_zone(source, zone)))
