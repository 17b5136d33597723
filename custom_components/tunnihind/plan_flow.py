"""Adds and changes plans: the form of a plan, and what its subentry stores."""

import math
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import (
    ConfigEntryState,
    ConfigSubentryData,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_NAME
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    DurationSelector,
    DurationSelectorConfig,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TimeSelector,
)

from .changes_hint import changes_hint
from .const import SUBENTRY_PLAN
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .plans.settings import (
    DEFAULT_MIN_PIECE_MIN,
    LONGEST_DURATION_MIN,
    MOST_DAYS,
    QUARTER_MIN,
    WEEKDAYS,
    Horizon,
    PlanSettings,
)
from .plans.spans import longest_span_s
from .plans.steering import SteeredPlan
from .units import Unit, price_selector, unit_of

DURATION: Final = "duration"
PIECES: Final = "pieces"
SPLIT: Final = "split"
MIN_PIECE: Final = "min_piece"
WHEN: Final = "when"
EARLIEST: Final = "earliest"
DEADLINE: Final = "deadline"
CHOSEN_DAYS: Final = "weekdays"
DAYS: Final = "days"
PRICES: Final = "prices"
HORIZON: Final = "horizon"
PRICE_CAP: Final = "price_cap"

ONE_PIECE: Final = "one_piece"

_MINUTE_S: Final = 60

# Three hours wherever in the day they are cheapest, as people speak of the cheapest hours; in pieces of whole hours, so
# that nothing is switched for minutes; on published prices only, so that the first thing seen rests on facts.
FIRST_PLAN: Final[Mapping[str, Any]] = {
    DURATION: 180,
    SPLIT: True,
    MIN_PIECE: 60,
    CHOSEN_DAYS: list(WEEKDAYS),
    DAYS: 1,
    HORIZON: Horizon.PUBLISHED.value,
}
# A washing machine's programme: the form of a new plan begins with it.
NEW_PLAN: Final[Mapping[str, Any]] = {**FIRST_PLAN, SPLIT: False}

_DURATION: Final = DurationSelector(DurationSelectorConfig(enable_second=False))
MOST_CENTS: Final = 500
_DAYS: Final = NumberSelector(NumberSelectorConfig(min=1, max=MOST_DAYS, mode=NumberSelectorMode.SLIDER))
# Named once, in the language of the installation; from then on the name is the household's own.
_FIRST_NAMES: Final = {"et": "3 odavaimat tundi"}
_FIRST_NAME: Final = "Cheapest 3 hours"


def _choice(options: tuple[str, ...], translation_key: str, *, multiple: bool = False) -> SelectSelector:
    listed = SelectSelectorMode.LIST
    return SelectSelector(
        SelectSelectorConfig(options=list(options), translation_key=translation_key, multiple=multiple, mode=listed)
    )


def schema_in(unit: Unit) -> vol.Schema:
    """Return the form's fields, with the price in that unit."""
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            vol.Required(DURATION): _DURATION,
            vol.Required(PIECES): section(
                vol.Schema(
                    {
                        vol.Required(SPLIT): _choice((ONE_PIECE, SPLIT), SPLIT),
                        vol.Optional(MIN_PIECE): _DURATION,
                    }
                ),
                {"collapsed": False},
            ),
            vol.Required(WHEN): section(
                vol.Schema(
                    {
                        vol.Optional(EARLIEST): TimeSelector(),
                        vol.Optional(DEADLINE): TimeSelector(),
                        vol.Optional(CHOSEN_DAYS): _choice(WEEKDAYS, CHOSEN_DAYS, multiple=True),
                        vol.Required(DAYS): _DAYS,
                    }
                ),
                {"collapsed": False},
            ),
            vol.Required(PRICES): section(
                vol.Schema(
                    {
                        vol.Required(HORIZON): _choice(tuple(Horizon), HORIZON),
                        vol.Optional(PRICE_CAP): price_selector(unit, -MOST_CENTS, MOST_CENTS),
                    }
                ),
                {"collapsed": False},
            ),
        }
    )


def first_plan(language: str) -> ConfigSubentryData:
    """Return the plan that every server begins with."""
    return ConfigSubentryData(
        subentry_type=SUBENTRY_PLAN,
        title=_FIRST_NAMES.get(language, _FIRST_NAME),
        data=FIRST_PLAN,
        unique_id=None,
    )


class PlanFlow(ConfigSubentryFlow):
    """Adds or changes one plan; the entry takes it up without a reload."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Take a new plan."""
        if user_input is None:
            return self._form("user", suggested("", NEW_PLAN, self._unit))
        if errors := errors_of(user_input, self._titles()):
            return self._form("user", user_input, errors)
        return self.async_create_entry(title=user_input[CONF_NAME].strip(), data=plan_of(user_input, self._unit))

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change a plan."""
        subentry = self._get_reconfigure_subentry()
        hint = {"changes": await changes_hint(self.hass, self._steered(), self._unit)}
        if user_input is None:
            return self._form("reconfigure", suggested(subentry.title, subentry.data, self._unit), placeholders=hint)
        # Plans of one name that there are already stay, and may be changed.
        if errors := errors_of(user_input, self._titles() - {subentry.title}):
            return self._form("reconfigure", user_input, errors, hint)
        await self._end_changes()
        return self.async_update_and_abort(
            self._get_entry(), subentry, title=user_input[CONF_NAME].strip(), data=plan_of(user_input, self._unit)
        )

    def _steered(self) -> SteeredPlan | None:
        """Return the plan with what was changed beside this form; None while it is not at work."""
        entry: TunnihindConfigEntry = self._get_entry()
        is_loaded = entry.state is ConfigEntryState.LOADED
        return entry.runtime_data.planner.plan(self._reconfigure_subentry_id) if is_loaded else None

    async def _end_changes(self) -> None:
        """Let the form be all that holds, also where nothing is changed in it."""
        plan = self._steered()
        if plan is not None and plan.changes:
            coordinator: TunnihindCoordinator = self._get_entry().runtime_data
            coordinator.async_take_plans({self._reconfigure_subentry_id: plan.without_changes()})
            await coordinator.async_save()

    @property
    def _unit(self) -> Unit:
        return unit_of(self._get_entry().options)

    def _titles(self) -> set[str]:
        plans = self._get_entry().subentries.values()
        return {plan.title for plan in plans if plan.subentry_type == SUBENTRY_PLAN}

    def _form(
        self,
        step_id: str,
        values: dict[str, Any],
        errors: dict[str, str] | None = None,
        placeholders: dict[str, str] | None = None,
    ) -> SubentryFlowResult:
        schema = self.add_suggested_values_to_schema(schema_in(self._unit), values)
        return self.async_show_form(
            step_id=step_id, data_schema=schema, errors=errors, description_placeholders=placeholders
        )


def suggested(name: str, plan: Mapping[str, Any], unit: Unit = Unit.CENTS) -> dict[str, Any]:
    """Return a plan as the form shows it."""
    prices = {key: plan[key] for key in (HORIZON, PRICE_CAP) if key in plan}
    if PRICE_CAP in prices:
        prices[PRICE_CAP] = unit.from_cents(prices[PRICE_CAP])
    return {
        CONF_NAME: name,
        DURATION: _clock(plan[DURATION]),
        PIECES: {
            SPLIT: SPLIT if plan[SPLIT] else ONE_PIECE,
            MIN_PIECE: _clock(plan.get(MIN_PIECE, DEFAULT_MIN_PIECE_MIN)),
        },
        WHEN: {key: plan[key] for key in (EARLIEST, DEADLINE, CHOSEN_DAYS, DAYS) if key in plan},
        PRICES: prices,
    }


def plan_of(user_input: Mapping[str, Any], unit: Unit = Unit.CENTS) -> dict[str, Any]:
    """Return what the plan's subentry keeps of the form. Durations are in minutes, the cap in c/kWh."""
    cap = user_input[PRICES].get(PRICE_CAP)
    pieces, when, prices = user_input[PIECES], user_input[WHEN], user_input[PRICES]
    split = pieces[SPLIT] == SPLIT
    chosen = set(when.get(CHOSEN_DAYS, ()))
    plan = {
        DURATION: _minutes(user_input[DURATION]),
        SPLIT: split,
        MIN_PIECE: _minutes(pieces.get(MIN_PIECE) or _clock(DEFAULT_MIN_PIECE_MIN)) if split else None,
        EARLIEST: when.get(EARLIEST),
        DEADLINE: when.get(DEADLINE),
        CHOSEN_DAYS: [day for day in WEEKDAYS if day in chosen],
        DAYS: int(when[DAYS]),
        HORIZON: prices[HORIZON],
        PRICE_CAP: None if cap is None else unit.to_cents(cap),
    }
    return {key: value for key, value in plan.items() if value is not None}


def errors_of(user_input: Mapping[str, Any], others: Iterable[str] = ()) -> dict[str, str]:
    """Return what is wrong, by field or, inside a section, by section: that is where the form shows it.

    `others` are the names that a plan can't take.
    """
    plan = plan_of(user_input)
    found = {
        CONF_NAME: _wrong_name(user_input[CONF_NAME], others),
        DURATION: _wrong_duration(plan),
        PIECES: _wrong_piece(plan) if plan[SPLIT] else None,
        WHEN: None if plan[CHOSEN_DAYS] else "no_weekday",
    }
    return {field: error for field, error in found.items() if error}


def _wrong_name(name: str, others: Iterable[str]) -> str | None:
    if not name.strip():
        return "no_name"
    return "name_taken" if name.strip().casefold() in {other.casefold() for other in others} else None


def _wrong_duration(plan: Mapping[str, Any]) -> str | None:
    duration = plan[DURATION]
    if not 0 < duration <= LONGEST_DURATION_MIN:
        return "duration_out_of_range"
    if duration % QUARTER_MIN:
        return "duration_not_quarters"
    return "longer_than_span" if duration > _span_min(plan) else None


def _wrong_piece(plan: Mapping[str, Any]) -> str | None:
    piece = plan[MIN_PIECE]
    if piece <= 0 or piece % QUARTER_MIN:
        return "min_piece_not_quarters"
    return "min_piece_too_long" if piece > plan[DURATION] and not _wrong_duration(plan) else None


def _span_min(plan: Mapping[str, Any]) -> int:
    """Return the minutes between the plan's bounds, on a day without a change of clocks."""
    bounds = {key: plan[key] for key in (EARLIEST, DEADLINE, DAYS) if key in plan}
    return longest_span_s(PlanSettings.from_mapping(bounds)) // _MINUTE_S


def _minutes(clock: Mapping[str, float]) -> int:
    """Return a typed duration in minutes; a part of a minute is a minute, so that it is refused."""
    return math.ceil(timedelta(**clock) / timedelta(minutes=1))


def _clock(minutes: int) -> dict[str, int]:
    return {"hours": minutes // 60, "minutes": minutes % 60}
