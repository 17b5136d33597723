"""Tells in a plan's form what was changed beside it."""

from collections.abc import Callable
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

from ..const import DOMAIN
from ..plans.steering import SteeredPlan
from ..prices.units import Unit, in_language
from .reader import language_of_reader

_HINT: Final = f"component.{DOMAIN}.selector.plan_changes.options.hint"
_FORM: Final = f"component.{DOMAIN}.config_subentries.plan.step.reconfigure."
_CENTS: Final = 100
_NONE: Final = "–"


async def changes_hint(hass: HomeAssistant, plan: SteeredPlan | None, unit: Unit) -> str:
    """Return Markdown that lists the fields with their values, as the form names them; empty without changes."""
    if plan is None or not plan.changes:
        return ""
    language = await language_of_reader(hass)
    of_forms = await async_get_translations(hass, language, "config_subentries", {DOMAIN})
    labels = {
        key.rpartition(".")[2]: label
        for key, label in of_forms.items()
        if key.startswith(_FORM) and key.split(".")[-2] == "data"
    }
    words = await async_get_translations(hass, language, "selector", {DOMAIN})
    changes = (
        f"- {labels.get(field, field)}: {_text(field, value, unit, language, words)}"
        for field, value in plan.changes.items()
    )
    return "\n".join((f"\n\n{words[_HINT]}\n", *changes))


def _text(field: str, value: Any, unit: Unit, language: str, words: dict[str, str]) -> str:  # noqa: ANN401  JSON
    """Write the value of a field as the form does."""
    written: dict[str, Callable[[], str]] = {
        **dict.fromkeys(("duration", "min_piece"), lambda: f"{value // 60:.0f}:{value % 60:02.0f}"),
        **dict.fromkeys(("earliest", "deadline"), lambda: str(value).removesuffix(":00")),
        **dict.fromkeys(("price_cap", "tolerance"), lambda: unit.text(value / _CENTS, language)),
        "energy": lambda: f"{in_language(f'{value:g}', language)} kWh",
        "power": lambda: f"{in_language(f'{value:g}', language)} kW",
        "horizon": lambda: words[f"component.{DOMAIN}.selector.horizon.options.{value}"],
    }
    return _NONE if value is None else written.get(field, lambda: f"{value}")()
