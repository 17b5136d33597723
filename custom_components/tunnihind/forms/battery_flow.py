"""Adds and changes batteries."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from homeassistant.config_entries import ConfigEntryState, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_NAME
from homeassistant.core import HomeAssistant, State

from ..battery.settings import METERS
from ..coordinator import TunnihindConfigEntry
from ..household.battery_planner import batteries_of
from ..household.home_energy import NoPlanReason, NotKnown, reading_of, sun_forecast_of
from ..prices.units import Unit, unit_of
from .battery_form import (
    LOAD,
    STATE_OF_CHARGE,
    SUN_FORECAST,
    battery_form_schema,
    battery_from_input,
    form_errors,
    place_of,
    sections_to_unfold,
    shown_values,
)
from .plan_flow import has_statistics


class BatteryFlow(ConfigSubentryFlow):
    """Adds or changes one battery. A loaded entry applies the change without a reload."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings of a new battery, and add the battery."""
        if user_input is None:
            return self._show_form("user", shown_values("", {}, self._unit))
        if form := self._form_with_errors("user", user_input):
            return form
        return self.async_create_entry(
            title=user_input[CONF_NAME].strip(), data=battery_from_input(user_input, self._unit)
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change a battery. The form shows the values that apply, with the changes of dashboards and automations."""
        subentry, entry = self._get_reconfigure_subentry(), self._entry
        coordinator = entry.runtime_data if entry.state is ConfigEntryState.LOADED else None
        battery = coordinator.battery_planner.battery(subentry.subentry_id) if coordinator else None
        if user_input is None:
            values = battery.current_values if battery else subentry.data
            return self._show_form("reconfigure", shown_values(subentry.title, values, self._unit))
        if form := self._form_with_errors("reconfigure", user_input, subentry.title, subentry.data):
            return form
        if coordinator and battery and battery.changes:
            coordinator.async_replace_plans({subentry.subentry_id: battery.without_changes()})
            await coordinator.async_save()
        return self.async_update_and_abort(
            entry,
            subentry,
            title=user_input[CONF_NAME].strip(),
            data=battery_from_input(user_input, self._unit),
        )

    def _form_with_errors(
        self, step_id: str, user_input: dict[str, Any], title: str = "", present: Mapping[str, Any] | None = None
    ) -> SubentryFlowResult | None:
        """Return the form with its errors, or None if there are none.

        The battery may keep the entities in `present`, even if they don't exist at the moment.
        """
        others = {battery.title for battery in batteries_of(self._entry).values()} - {title}
        errors, placeholders = form_errors(user_input, self._unit, others)
        wrong = dict(_entity_errors(self.hass, battery_from_input(user_input, self._unit), present or {}))
        errors = {**{place_of(field): error for field, (error, _) in wrong.items()}, **errors}
        if not errors:
            return None
        entities = ", ".join(entity for _, entity in wrong.values())
        return self._show_form(step_id, user_input, errors, {**placeholders, "entity": entities})

    @property
    def _entry(self) -> TunnihindConfigEntry:
        return self._get_entry()

    @property
    def _unit(self) -> Unit:
        return unit_of(self._entry.options)

    def _show_form(
        self,
        step_id: str,
        values: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        placeholders: dict[str, str] | None = None,
    ) -> SubentryFlowResult:
        fields = battery_form_schema(self._unit, sections_to_unfold(values, errors or (), self._unit))
        schema = self.add_suggested_values_to_schema(fields, values)
        return self.async_show_form(
            step_id=step_id, data_schema=schema, errors=errors, description_placeholders=placeholders
        )


def _state_of_charge_error(state: State) -> str | None:
    try:
        reading_of(state, 1.0)
    except NotKnown as unknown:
        return "state_of_charge_unit" if unknown.reason is NoPlanReason.STATE_OF_CHARGE_UNIT else None
    return None


def _meter_error(state: State) -> str | None:
    return None if has_statistics(state.attributes) else "no_meter"


# For each field with an entity: the error if there is no such entity, and a function that returns another error.
_ENTITY_CHECKS: Final[Mapping[str, tuple[str, Callable[[State], str | None]]]] = {
    STATE_OF_CHARGE: ("no_state_of_charge", _state_of_charge_error),
    SUN_FORECAST: (
        "no_sun_forecast",
        lambda state: None if sun_forecast_of(state.attributes) else "no_sun_forecast",
    ),
    **dict.fromkeys((LOAD, *METERS), ("no_meter", _meter_error)),
}


def _entity_errors(
    hass: HomeAssistant, battery: Mapping[str, Any], present: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the fields whose entities don't fit, each with the error and the entity."""
    for field, (missing, check) in _ENTITY_CHECKS.items():
        entity = battery.get(field)
        if entity is None:
            continue
        state = hass.states.get(entity)
        error = check(state) if state else missing
        if error and entity != present.get(field):
            yield field, (error, entity)
