"""Adds and changes plans. A new plan takes two steps: what it looks for, and the form for that."""

from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import (
    ConfigEntryState,
    ConfigSubentryData,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_NAME
from homeassistant.data_entry_flow import InvalidData

from ..const import SUBENTRY_PLAN
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..plans.steering import SteeredPlan
from ..prices.units import Unit, unit_of
from .changes_hint import changes_hint
from .meter_form import METER, wrong_meter
from .plan_form import (
    FIRST_PLAN,
    KIND,
    KIND_FORM,
    NEW_PLANS,
    PlanForm,
    errors_of,
    form_of,
    plan_of,
    schema_in,
    suggested,
    to_unfold,
)

# Named once, in the language of the installation; from then on the name is the household's own.
_FIRST_NAMES: Final = {"et": "3 odavaimat tundi"}
_FIRST_NAME: Final = "Cheapest 3 hours"


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

    _new: PlanForm = PlanForm.CHEAPEST

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask what a new plan looks for."""
        if user_input is None:
            return self.async_show_form(step_id="user", data_schema=KIND_FORM)
        self._new = PlanForm(user_input[KIND])
        return await self.async_step_plan(self._whole(user_input) if CONF_NAME in user_input else None)

    async def async_step_plan(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Take a new plan."""
        if user_input is None:
            return self._form("plan", self._new, suggested("", NEW_PLANS[self._new], self._unit))
        if errors := errors_of(user_input, self._titles(), self._new) | wrong_meter(self.hass, user_input):
            return self._form("plan", self._new, user_input, errors)
        plan = plan_of(user_input, self._unit, self._new)
        return self.async_create_entry(title=user_input[CONF_NAME].strip(), data=plan)

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change a plan."""
        subentry = self._get_reconfigure_subentry()
        form = form_of(subentry.data)
        hint = {"changes": await changes_hint(self.hass, self._steered(), self._unit)}
        if user_input is None:
            values = suggested(subentry.title, subentry.data, self._unit)
            return self._form("reconfigure", form, values, placeholders=hint)
        # Plans of one name that there are already stay, and may be changed.
        others = self._titles() - {subentry.title}
        meter = wrong_meter(self.hass, user_input, subentry.data.get(METER))
        if errors := errors_of(user_input, others, form) | meter:
            return self._form("reconfigure", form, user_input, errors, hint)
        await self._end_changes()
        plan = plan_of(user_input, self._unit, form)
        return self.async_update_and_abort(self._get_entry(), subentry, title=user_input[CONF_NAME].strip(), data=plan)

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

    def _whole(self, user_input: dict[str, Any]) -> dict[str, Any]:
        """Check a plan that came with the first step, as Home Assistant checks the input of a step."""
        try:
            checked: dict[str, Any] = schema_in(self._unit, self._new)(user_input)
        except vol.Invalid as error:
            field = ".".join(map(str, error.path))
            raise InvalidData(
                "Schema validation failed", error.path, error.error_message, {field: error.error_message}
            ) from error
        return checked

    @property
    def _unit(self) -> Unit:
        return unit_of(self._get_entry().options)

    def _titles(self) -> set[str]:
        plans = self._get_entry().subentries.values()
        return {plan.title for plan in plans if plan.subentry_type == SUBENTRY_PLAN}

    def _form(
        self,
        step_id: str,
        form: PlanForm,
        values: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        placeholders: dict[str, str] | None = None,
    ) -> SubentryFlowResult:
        fields = schema_in(self._unit, form, to_unfold(values, errors or (), form))
        schema = self.add_suggested_values_to_schema(fields, values)
        return self.async_show_form(
            step_id=step_id, data_schema=schema, errors=errors, description_placeholders=placeholders
        )
