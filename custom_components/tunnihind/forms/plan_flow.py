"""Adds and changes plans. For a new plan, people first choose the kind of hours, for example the cheapest hours."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.components.sensor import ATTR_STATE_CLASS, SensorStateClass
from homeassistant.config_entries import (
    ConfigEntryState,
    ConfigSubentryData,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import ATTR_UNIT_OF_MEASUREMENT, CONF_NAME
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import InvalidData
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.unit_conversion import EnergyConverter, PowerConverter

from ..const import DOMAIN, SUBENTRY_PLAN
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..core.market import ESTONIA, Market
from ..household.planner import plans_of
from ..plans.outcome import Window
from ..plans.settings import PlanError, PlanSettings
from ..plans.steering import SteeredPlan
from ..prices.units import Unit, figure_in_language, unit_of
from ..prices.zones import country_name, id_suffix
from .plan_form import (
    FIRST_PLAN_VALUES,
    KIND,
    KIND_FORM,
    METER,
    METER_SECTION,
    NEW_PLAN_VALUES,
    PRICE_CAP,
    TOGETHER_SECTION,
    PlanForm,
    form_errors,
    form_for_plan,
    plan_form_schema,
    plan_from_input,
    sections_to_unfold,
    shown_values,
)
from .plan_notes import note_on_group, note_on_limit, notes_on_start
from .reader import language_of_reader

_HINT_KEY: Final = f"component.{DOMAIN}.selector.plan_changes.options.hint"
_LABEL_PREFIX: Final = f"component.{DOMAIN}.config_subentries.plan.step.reconfigure."
_CENTS: Final = 100
_EMPTY_VALUE_TEXT: Final = "–"
# The first plan's names by language. In all other languages, the first plan's name is `_FIRST_PLAN_NAME`.
_FIRST_PLAN_NAMES: Final = {"et": "3 odavaimat tundi", "ru": "3 самых дешёвых часа"}
_FIRST_PLAN_NAME: Final = "Cheapest 3 hours"


async def _changes_hint(hass: HomeAssistant, plan: SteeredPlan | None, unit: Unit) -> str:
    """Return a Markdown list of the changes that entities and actions made to the plan, with a hint above the list.

    If there are no changes, return an empty string.
    """
    if plan is None or not plan.changes:
        return ""
    language = await language_of_reader(hass)
    of_forms = await async_get_translations(hass, language, "config_subentries", {DOMAIN})
    labels = {
        key.rpartition(".")[2]: label
        for key, label in of_forms.items()
        if key.startswith(_LABEL_PREFIX) and key.split(".")[-2] == "data"
    }
    words = await async_get_translations(hass, language, "selector", {DOMAIN})
    changes = (
        f"- {labels.get(field, field)}: {_value_text(field, value, unit, language, words)}"
        for field, value in plan.changes.items()
    )
    return "\n".join((f"\n\n{words[_HINT_KEY]}\n", *changes))


def _value_text(field: str, value: Any, unit: Unit, language: str, words: dict[str, str]) -> str:  # noqa: ANN401  JSON
    written: dict[str, Callable[[], str]] = {
        **dict.fromkeys(
            ("duration", "min_piece", "min_pause", "max_pause"), lambda: f"{value // 60:.0f}:{value % 60:02.0f}"
        ),
        **dict.fromkeys(("earliest", "deadline", "deadline_2"), lambda: str(value).removesuffix(":00")),
        **dict.fromkeys(("price_cap", "more_below", "tolerance"), lambda: unit.price_text(value / _CENTS, language)),
        **dict.fromkeys(("energy", "energy_full"), lambda: f"{figure_in_language(f'{value:g}', language)} kWh"),
        **dict.fromkeys(("power", "group_limit"), lambda: f"{figure_in_language(f'{value:g}', language)} kW"),
        **dict.fromkeys(("horizon", "starts"), lambda: words[f"component.{DOMAIN}.selector.{field}.options.{value}"]),
    }
    return _EMPTY_VALUE_TEXT if value is None else written.get(field, lambda: f"{value}")()


def first_plan(language: str, zone: Market = ESTONIA) -> ConfigSubentryData:
    """Return the plan that every new entry has at first."""
    name = _FIRST_PLAN_NAMES.get(language, _FIRST_PLAN_NAME)
    return ConfigSubentryData(
        subentry_type=SUBENTRY_PLAN,
        title=f"{name}, {country_name(zone, language)}" if id_suffix(zone) else name,
        data=FIRST_PLAN_VALUES,
        unique_id=None,
    )


class PlanFlow(ConfigSubentryFlow):
    """Adds or changes one plan. A loaded entry applies the change without a reload."""

    _new_form: PlanForm = PlanForm.CHEAPEST

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask which kind of hours a new plan looks for. If a program has sent the whole plan, add the plan."""
        if user_input is None:
            return self.async_show_form(step_id="user", data_schema=KIND_FORM)
        self._new_form = PlanForm(user_input[KIND])
        return await self.async_step_plan(self._plan_from_program(user_input) if CONF_NAME in user_input else None)

    async def async_step_plan(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings of a new plan, and add the plan."""
        if user_input is None:
            return self._show_form(
                "plan", self._new_form, shown_values("", NEW_PLAN_VALUES[self._new_form], self._unit)
            )
        meter = _meter_errors(self.hass, user_input)
        errors = form_errors(user_input, self._plan_titles(), self._new_form) | meter
        if errors := errors or self._group_errors(plan_from_input(user_input, self._unit, self._new_form)):
            return self._show_form("plan", self._new_form, user_input, errors)
        plan = plan_from_input(user_input, self._unit, self._new_form)
        return self.async_create_entry(
            title=user_input[CONF_NAME].strip(), data=plan, description_placeholders={"notes": await self._notes(plan)}
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change a plan."""
        subentry = self._get_reconfigure_subentry()
        form = form_for_plan(subentry.data)
        hint = {"changes": await _changes_hint(self.hass, self._plan_with_changes(), self._unit)}
        if user_input is None:
            values = shown_values(subentry.title, subentry.data, self._unit)
            return self._show_form("reconfigure", form, values, placeholders=hint)
        # If two plans already have the same name, both may keep the name.
        others = self._plan_titles() - {subentry.title}
        meter = _meter_errors(self.hass, user_input, subentry.data.get(METER))
        errors = form_errors(user_input, others, form) | meter
        plan = plan_from_input(user_input, self._unit, form)
        if errors := errors or self._group_errors(plan, subentry.subentry_id):
            return self._show_form("reconfigure", form, user_input, errors, hint)
        await self._drop_changes()
        notes = {"notes": await self._notes(plan, subentry.subentry_id)}
        self.hass.config_entries.async_update_subentry(
            self._get_entry(), subentry, title=user_input[CONF_NAME].strip(), data=plan
        )
        return self.async_abort(reason="reconfigure_successful", description_placeholders=notes)

    async def _notes(self, plan: Mapping[str, Any], plan_id: str = "") -> str:
        """Return what people should know when they save the plan, as Markdown. `plan_id` is empty if it is new."""
        entry: TunnihindConfigEntry = self._get_entry()
        language = await language_of_reader(self.hass)
        limit = plan.get(PRICE_CAP) if self._unit is Unit.CENTS else None
        notes = [await note_on_limit(self.hass, limit, language)]
        if entry.state is ConfigEntryState.LOADED:
            coordinator = entry.runtime_data
            prices, now = coordinator.prices, coordinator.clock.now()
            saved = (coordinator.planner.plan(plan_id) or SteeredPlan.made(plan, now)).with_form(plan, now)
            if saved.enabled:
                last = prices.outcomes.get(plan_id)
                settings = saved.settings(coordinator.zone)
                outcome, others = coordinator.planner.outcome_in_group(plan_id, settings, prices.timeline, now, last)
                notes.append(await note_on_group(self.hass, others, language))
                if not (isinstance(last, Window) and last.has_started_by(now)):
                    notes += await notes_on_start(self.hass, settings, outcome, prices, now, self._unit, language)
        return "".join(f"\n\n{note}" for note in notes if note)

    def _group_errors(self, plan: Mapping[str, Any], plan_id: str = "") -> dict[str, str]:
        """Return an error if the plan doesn't fit its group. `plan_id` is empty if it is new."""
        entry: TunnihindConfigEntry = self._get_entry()
        if entry.state is not ConfigEntryState.LOADED:
            return {}
        coordinator = entry.runtime_data
        settings = PlanSettings.from_mapping(plan, coordinator.zone)
        try:
            coordinator.planner.check_group(plan_id, {(entry.entry_id, plan_id): settings})
        except PlanError as error:
            return {TOGETHER_SECTION: error.key}
        return {}

    def _plan_with_changes(self) -> SteeredPlan | None:
        entry: TunnihindConfigEntry = self._get_entry()
        is_loaded = entry.state is ConfigEntryState.LOADED
        return entry.runtime_data.planner.plan(self._reconfigure_subentry_id) if is_loaded else None

    async def _drop_changes(self) -> None:
        """Drop the changes that entities and actions made to the plan, because the saved form replaces them."""
        plan = self._plan_with_changes()
        if plan is not None and plan.changes:
            coordinator: TunnihindCoordinator = self._get_entry().runtime_data
            coordinator.async_replace_plans({self._reconfigure_subentry_id: plan.without_changes()})
            await coordinator.async_save()

    def _plan_from_program(self, user_input: dict[str, Any]) -> dict[str, Any]:
        """Return the plan that a program sent to the first form. Raises InvalidData if a field is missing or wrong."""
        try:
            checked: dict[str, Any] = plan_form_schema(self._unit, self._new_form)(user_input)
        except vol.Invalid as error:
            field = ".".join(map(str, error.path))
            raise InvalidData(
                "Schema validation failed", error.path, error.error_message, {field: error.error_message}
            ) from error
        return checked

    @property
    def _unit(self) -> Unit:
        return unit_of(self._get_entry().options)

    def _plan_titles(self) -> set[str]:
        return {plan.title for plan in plans_of(self._get_entry()).values()}

    def _show_form(
        self,
        step_id: str,
        form: PlanForm,
        values: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        placeholders: dict[str, str] | None = None,
    ) -> SubentryFlowResult:
        fields = plan_form_schema(self._unit, form, sections_to_unfold(values, errors or (), form))
        schema = self.add_suggested_values_to_schema(fields, values)
        return self.async_show_form(
            step_id=step_id, data_schema=schema, errors=errors, description_placeholders=placeholders
        )


def _meter_errors(
    hass: HomeAssistant, user_input: Mapping[str, Any], present_meter: str | None = None
) -> dict[str, str]:
    """Return an error if the chosen meter doesn't exist, or has no statistics of energy or power.

    The plan may keep `present_meter` even if this meter no longer exists, so that people can change other fields.
    """
    meter: str | None = user_input.get(METER_SECTION, {}).get(METER)
    if meter is None:
        return {}
    state = hass.states.get(meter)
    is_fit = has_statistics(state.attributes) if state else meter == present_meter
    return {} if is_fit else {METER_SECTION: "no_meter"}


def has_statistics(attributes: Mapping[str, Any]) -> bool:
    """Return whether the recorder stores sums of energy or means of power for a sensor with these attributes."""
    unit, state_class = attributes.get(ATTR_UNIT_OF_MEASUREMENT), attributes.get(ATTR_STATE_CLASS)
    if unit in EnergyConverter.VALID_UNITS:
        return state_class in {SensorStateClass.TOTAL, SensorStateClass.TOTAL_INCREASING}
    return unit in PowerConverter.VALID_UNITS and state_class == SensorStateClass.MEASUREMENT
