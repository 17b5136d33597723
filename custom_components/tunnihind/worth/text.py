"""Writes an answer in words: tables in Markdown, and notes on what is missing."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

from ..const import DOMAIN
from ..core.comparison import Bills
from ..prices.units import figure_in_language
from .answer import Answer
from .battery import BatteryWorth

# Texts beside forms are in the translations of choices.
_TEXT_KEY_PREFIX: Final = f"component.{DOMAIN}.selector.comparison.options"
_PACKAGE_KEY_PREFIX: Final = f"component.{DOMAIN}.selector.package.options"
CONTRACTS: Final = ("spot", "fixed", "half", "capped")
"""The contracts that a table has, by their names in `Bills` and in the translations."""
_HYPHEN: Final = "\N{NON-BREAKING HYPHEN}"
_CENTS: Final = 100
_PERCENT: Final = 100


async def notes_on(hass: HomeAssistant, answer: Answer, language: str) -> list[str]:
    """Return what the answer leaves out, in `language`."""
    return [*(await _writer(hass, language)).notes(answer)]


async def answer_text(hass: HomeAssistant, answer: Answer, language: str) -> str:
    """Return the whole answer in Markdown, in `language`."""
    return "\n\n".join((await _writer(hass, language)).paragraphs(answer))


async def _writer(hass: HomeAssistant, language: str) -> _Writer:
    return _Writer(await async_get_translations(hass, language, "selector", {DOMAIN}), language)


class _Writer:
    def __init__(self, words: Mapping[str, str], language: str) -> None:
        self._words = words
        self._language = language

    def _say(self, key: str, **figures: str) -> str:
        return self._words[f"{_TEXT_KEY_PREFIX}.{key}"].format(**figures)

    def _figure(self, value: float, decimals: int = 2) -> str:
        return figure_in_language(f"{round(value, decimals) + 0.0:.{decimals}f}", self._language)

    def paragraphs(self, answer: Answer) -> Iterator[str]:
        year, total = answer.year, answer.present.total
        local = year.tariff.zone.local_time
        yield self._say(
            "period",
            start=f"{local(year.first_reading):%d.%m.%Y}",
            end=f"{local(year.end - 1):%d.%m.%Y}",
            day=f"{year.today:%d.%m.%Y}",
        )
        # A month stays on one line also on a phone.
        months = {month.replace("-", _HYPHEN): bills for month, bills in answer.present.months.items()}
        yield self._table(self._say("month"), {**months, self._say("all"): total})
        packages = {self._say("present"): total} | {
            self._words[f"{_PACKAGE_KEY_PREFIX}.{package}"]: bills for package, bills in answer.packages.items()
        }
        if answer.packages:
            yield self._say("packages")
            yield self._table(self._say("package"), packages)
        if year.sold is not None:
            yield self._say("sold", kwh=self._figure(answer.sold_kwh, 0), earned=self._figure(answer.earned))
        if answer.battery:
            yield self._battery(answer.battery)
        yield "\n".join(f"- {note}" for note in self.notes(answer))

    def _table(self, title: str, rows: Mapping[str, Bills]) -> str:
        """Return a table of sums in EUR, each with the average in c/kWh."""
        [*_, total] = rows.values()
        names = [name for name in CONTRACTS if getattr(total, name) is not None]
        lines = [[title, "kWh", *map(self._say, names)], ["---", *["---:"] * (1 + len(names))]]
        for label, bills in rows.items():
            lines.append(
                [label, self._figure(bills.kwh, 0), *(self._sum(getattr(bills, name), bills.kwh) for name in names)]
            )
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def _sum(self, eur: float | None, kwh: float) -> str:
        if eur is None:
            return "–"
        average = f" ({self._figure(_CENTS * eur / kwh)})" if kwh else ""
        return f"{self._figure(eur)}{average}"

    def _battery(self, worth: BatteryWorth) -> str:
        said = self._say(
            "battery",
            ideal=self._figure(worth.ideal),
            share=f"{_PERCENT * worth.share:.0f}",
            expected=self._figure(worth.expected),
            cycles=self._figure(worth.cycles, 0),
            hours=f"{worth.hours}",
        )
        if worth.price is None:
            return said
        if worth.payback_years is None:
            return f"{said} {self._say('no_payback')}"
        figures = {"price": (worth.price, 0), "yearly": (worth.yearly, 2), "years": (worth.payback_years, 1)}
        return f"{said} {self._say('payback', **{name: self._figure(*figure) for name, figure in figures.items()})}"

    def notes(self, answer: Answer) -> Iterator[str]:
        yield self._say("past_year")
        year, missing = answer.year, answer.year.missing_hours
        if year.month_of(year.first_reading) != year.month_of(year.start):
            yield self._say("short", start=f"{year.tariff.zone.local_time(year.first_reading):%d.%m.%Y}")
        if missing:
            months = _listed(f"{month}: {hours}" for month, hours in missing.items())
            yield self._say("missing", hours=f"{sum(missing.values())}", months=months)
        if answer.present.months_without_price:
            yield self._say("without_price", months=_listed(answer.present.months_without_price))
        if not year.has_fees:
            yield self._say("no_fees")
        yield self._say("left_out")
        if answer.battery and year.selling is None:
            yield self._say("not_selling")


def _listed(items: Iterable[str]) -> str:
    return ", ".join(items)
