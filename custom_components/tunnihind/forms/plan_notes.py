"""Notes about a plan that was just saved: an early start, a limit typed in euros, and plans to which it gives way."""

from collections.abc import Collection, Iterator
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

from ..const import DOMAIN
from ..core.market import QUARTER_S
from ..household.prices_now import PricesNow
from ..plans.outcome import Outcome, Window
from ..plans.settings import PlanSettings
from ..prices.units import Unit, figure_in_language

# The notes are beside the text that appears when a plan is saved.
_KEY_PREFIX: Final = f"component.{DOMAIN}.config_subentries.plan.create_entry"
_CENTS: Final = 100
# A limit below this many c/kWh is likely meant in EUR/kWh: hardly anybody pays as much as 50 c/kWh, or waits for hours
# that cost nearly nothing.
_LIKELY_EUROS_BELOW: Final = 0.5


async def note_on_limit(hass: HomeAssistant, cents: float | None, language: str) -> str | None:
    """Return a note in `language` if a price limit, given in c/kWh, is likely meant in EUR/kWh."""
    if cents is None or not 0 < abs(cents) < _LIKELY_EUROS_BELOW:
        return None
    words = await async_get_translations(hass, language, "config_subentries", {DOMAIN})
    given, meant = (figure_in_language(f"{figure:g}", language) for figure in (cents, cents * _CENTS))
    return words[f"{_KEY_PREFIX}.limit_in_cents"].format(given=given, meant=meant)


async def note_on_group(hass: HomeAssistant, others: Collection[str], language: str) -> str | None:
    """Return a note in `language` if a plan gives way to other plans of its group."""
    if not others:
        return None
    words = await async_get_translations(hass, language, "config_subentries", {DOMAIN})
    return words[f"{_KEY_PREFIX}.gave_way"].format(plans=", ".join(others))


async def notes_on_start(
    hass: HomeAssistant,
    settings: PlanSettings,
    outcome: Outcome,
    prices: PricesNow,
    now: int,
    unit: Unit,
    language: str,
) -> list[str]:
    """Return notes in `language` if a plan starts within a quarter-hour, shortened or at an unusually high price.

    `outcome` is the decision about the plan. `now` is in UTC seconds.
    """
    if not isinstance(outcome, Window) or outcome.start >= now + QUARTER_S:
        return []
    words = await async_get_translations(hass, language, "config_subentries", {DOMAIN})
    figures = {
        "start": f"{settings.zone.local_time(outcome.start):%H:%M}",
        "end": f"{settings.zone.local_time(outcome.end):%H:%M}",
        "average": unit.price_text(outcome.average, language),
    }
    found = [*_surprises(settings, outcome, prices)]
    notes = ["starts_now", *found, "switch_off"] if found else []
    return [words[f"{_KEY_PREFIX}.{note}"].format(**figures) for note in notes]


def _surprises(settings: PlanSettings, window: Window, prices: PricesNow) -> Iterator[str]:
    if window.shortened:
        yield "shortened"
    summary = prices.today_summary
    if summary and not settings.kind.looks_for_high_prices and window.average > summary.average:
        yield "above_average"
