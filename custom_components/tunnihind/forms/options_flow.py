"""The flow in which a household changes its fees, billing, selling contract, cheap hours and unit of prices.

The flow also compares contracts by the past year, which changes nothing.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult, OptionsFlow
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import EVENT_DATA_ENTRY_FLOW_PROGRESSED
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.selector import (
    BooleanSelector,
    DateSelector,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)
from homeassistant.helpers.service import async_get_config_entry

from ..client.clock import home_assistant_now
from ..const import CONF_CHEAP_HOURS, CONF_HOURS_AHEAD, DEFAULT_CHEAP_HOURS, DEFAULT_HOURS_AHEAD, DOMAIN
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..prices.billing import BILLED_BY, LEVELS_BY, NEGATIVE_IS_ZERO, RESOLUTION, SELLING, Resolution, billing_from
from ..prices.units import CONF_UNIT, Unit, unit_of
from ..prices.zones import zone_of
from ..worth.answer import answer_question
from ..worth.question import Question
from ..worth.text import answer_text
from .comparison_form import comparison_form, meters_to_suggest, place_of_error, question_from_input, reason_of
from .fields import choice_field, count_field, price_field
from .reader import language_of_reader
from .tariff_form import ROWS, VALID_FROM, Row, find_row, ordered_rows, row_name, rows_without
from .tariff_step import BillingPeriodNow, TariffFlow

ROW: Final = "row"
SELLS: Final = "sells"
MARGIN: Final = "margin"
BALANCING: Final = "balancing"
_MAX_CENTS: Final = 100
_LISTENS_WITHIN_S: Final = 10.0
_LISTENS_STEP_S: Final = 0.1

# The default billing period is an hour, because most homes are billed by the hour.
BILLING_QUESTION: Final = vol.Schema(
    {vol.Optional(BILLED_BY, default=Resolution.HOUR.value): choice_field(Resolution, BILLED_BY)}
)
BILLING_FORM: Final = BILLING_QUESTION.extend(
    {vol.Optional(LEVELS_BY, default=Resolution.HOUR.value): choice_field(Resolution, LEVELS_BY)}
)
CHEAP_HOURS_FORM: Final = vol.Schema(
    {
        vol.Required(CONF_CHEAP_HOURS): count_field(24),
        vol.Optional(CONF_HOURS_AHEAD): count_field(48),
    }
)
UNIT_FORM: Final = vol.Schema({vol.Required(CONF_UNIT): choice_field(Unit, CONF_UNIT)})


def selling_form(unit: Unit) -> vol.Schema:
    """Return the form in which a household enters its contract for selling electricity."""
    deduction = price_field(unit, -_MAX_CENTS, _MAX_CENTS)
    return vol.Schema(
        {
            vol.Required(SELLS, default=False): BooleanSelector(),
            vol.Required(RESOLUTION, default=Resolution.QUARTER.value): choice_field(Resolution, "sold_by"),
            vol.Optional(MARGIN): deduction,
            vol.Optional(BALANCING): deduction,
            vol.Required(NEGATIVE_IS_ZERO, default=False): BooleanSelector(),
            vol.Optional(VALID_FROM): DateSelector(),
        }
    )


def _shown_selling_values(options: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Return the values that the selling form shows at first, or an empty mapping if the household sells nothing."""
    contract = options.get(SELLING)
    if not contract:
        return {}
    newest = contract[ROWS][-1]
    figures = {key: unit.from_cents(newest[key]) for key in (MARGIN, BALANCING)}
    others = {key: newest[key] for key in (NEGATIVE_IS_ZERO, VALID_FROM) if newest.get(key)}
    return {SELLS: True, RESOLUTION: contract[RESOLUTION], **figures, **others}


def _options_with_selling(options: Mapping[str, Any], typed: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Return the options with the selling contract that the household typed.

    The typed deductions replace only stored deductions with the same first day. If the household no longer sells
    electricity, the whole contract is removed.
    """
    others = {key: value for key, value in options.items() if key != SELLING}
    if not typed[SELLS]:
        return others
    row: dict[str, Any] = {key: unit.to_cents(float(typed.get(key) or 0)) for key in (MARGIN, BALANCING)}
    row |= {key: typed[key] for key in (NEGATIVE_IS_ZERO, VALID_FROM) if typed.get(key)}
    rows = rows_without(options.get(SELLING, {}).get(ROWS, ()), row_name(row))
    return {**others, SELLING: {RESOLUTION: typed[RESOLUTION], ROWS: ordered_rows([*rows, row])}}


async def _until_dialog_listens(hass: HomeAssistant) -> None:
    """Wait until a dialog listens for the end of a step with progress, at most `_LISTENS_WITHIN_S` seconds.

    Home Assistant's dialog begins to listen only after it has shown the step. If the step ended before, the dialog
    would wait for ever.
    """
    for _ in range(round(_LISTENS_WITHIN_S / _LISTENS_STEP_S)):
        if hass.bus.async_listeners().get(EVENT_DATA_ENTRY_FLOW_PROGRESSED):
            return
        await asyncio.sleep(_LISTENS_STEP_S)


class TunnihindOptionsFlow(TariffFlow, OptionsFlow):
    """The flow in which a household changes the options of an entry. A loaded entry applies them without a reload."""

    _comparing: asyncio.Task[str]

    def __init__(self) -> None:
        self._chosen_row: str | None = None
        self._compared_input: dict[str, Any] = {}

    async def async_step_init(self, _: None = None) -> ConfigFlowResult:
        """Show the menu of the options that the household can change."""
        removal = ["remove_row"] if self._rows else []
        return self.async_show_menu(
            step_id="init",
            menu_options=["prices", "add_row", *removal, "billing", "selling", "cheap", "unit", "compare"],
        )

    async def async_step_prices(self, _: None = None) -> ConfigFlowResult:
        """Change a row of fees, or add the first row. If there are several rows, first ask which row to change."""
        if len(self._rows) > 1:
            return await self.async_step_pick_row()
        self._chosen_row = row_name(self._rows[0]) if self._rows else None
        return await self.async_step_edit_row()

    async def async_step_pick_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask which row of fees the household wants to change."""
        if user_input is not None:
            self._chosen_row = user_input[ROW]
            return await self.async_step_edit_row()
        return self.async_show_form(
            step_id="pick_row", data_schema=self._row_choice_form(default=row_name(self._rows[-1]))
        )

    async def async_step_edit_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Change the chosen row of fees, or add the first row. Also change the settings that apply to all rows."""
        if user_input is None:
            return await self._start_form("edit_row", find_row(self._rows, self._chosen_row), needs_date=False)
        others = rows_without(self._rows, self._chosen_row) if self._chosen_row else self._rows
        changes, form = self._read_form("edit_row", user_input, others)
        return form or self._save_options(changes)

    async def async_step_add_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Add a row of fees that apply from a date on. At first, the form shows the fees of the newest row, if any."""
        if user_input is None:
            newest = {**self._rows[-1], VALID_FROM: None} if self._rows else None
            return await self._start_form("add_row", newest, needs_date=True, with_shared_settings=not self._rows)
        changes, form = self._read_form("add_row", user_input, self._rows)
        return form or self._save_options(changes)

    async def async_step_remove_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask which row of fees to remove, and remove this row."""
        if user_input is not None:
            return self._save_options({ROWS: rows_without(self._rows, user_input[ROW])})
        return self.async_show_form(step_id="remove_row", data_schema=self._row_choice_form())

    async def async_step_billing(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether bills and price levels use hours or quarter-hours."""
        return self._ask_or_save("billing", BILLING_FORM, {}, user_input)

    async def async_step_selling(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether the household sells electricity, and ask for its selling contract."""
        unit = unit_of(self._options)
        if user_input is not None:
            return self.async_create_entry(data=_options_with_selling(self._options, user_input, unit))
        schema = self.add_suggested_values_to_schema(selling_form(unit), _shown_selling_values(self._options, unit))
        return self.async_show_form(step_id="selling", data_schema=schema)

    async def async_step_cheap(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask how many hours of a day are cheap, and how many hours the sensor "Average of the next hours" covers."""
        defaults = {CONF_CHEAP_HOURS: DEFAULT_CHEAP_HOURS, CONF_HOURS_AHEAD: DEFAULT_HOURS_AHEAD}
        return self._ask_or_save("cheap", CHEAP_HOURS_FORM, defaults, user_input)

    async def async_step_unit(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask whether prices are shown in cents or in euros. Sensors ignore this choice."""
        return self._ask_or_save("unit", UNIT_FORM, {CONF_UNIT: Unit.CENTS.value}, user_input)

    async def async_step_compare(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask what to compare by the past year, and begin."""
        if user_input is None:
            self._compared_input = self._compared_input or await meters_to_suggest(self.hass)
            return self._comparison_form()
        self._compared_input, language = user_input, await language_of_reader(self.hass)
        try:
            question = question_from_input(user_input, unit_of(self._options))
        except HomeAssistantError as error:
            return self._comparison_form(error, await reason_of(self.hass, error, language))
        self._comparing = self.hass.async_create_task(self._compare(question, language))
        return await self.async_step_comparing()

    async def async_step_comparing(self, _: None = None) -> ConfigFlowResult:
        """Show the progress until the comparison is done."""
        if not self._comparing.done():
            return self.async_show_progress(
                step_id="comparing", progress_action="comparing", progress_task=self._comparing
            )
        return self.async_show_progress_done(next_step_id="compared")

    async def async_step_compared(self, _: None = None) -> ConfigFlowResult:
        """Show the comparison, or the form again with the reason why there is none."""
        try:
            text = self._comparing.result()
        except HomeAssistantError as error:
            language = await language_of_reader(self.hass)
            return self._comparison_form(error, await reason_of(self.hass, error, language))
        return self.async_show_menu(
            step_id="compared", menu_options=["compare", "init"], description_placeholders={"answer": text}
        )

    async def _compare(self, question: Question, language: str) -> str:
        await _until_dialog_listens(self.hass)
        entry: TunnihindConfigEntry = async_get_config_entry(self.hass, DOMAIN, self.config_entry.entry_id)
        answer = await answer_question(self.hass, entry.runtime_data, question, self.async_update_progress)
        return await answer_text(self.hass, answer, language)

    def _comparison_form(self, error: HomeAssistantError | None = None, reason: str = "") -> ConfigFlowResult:
        schema = comparison_form(unit_of(self._options))
        return self.async_show_form(
            step_id="compare",
            data_schema=self.add_suggested_values_to_schema(schema, self._compared_input),
            errors={place_of_error(error): "comparison_failed"} if error else None,
            description_placeholders={"reason": reason},
        )

    def _ask_or_save(
        self, step_id: str, form: vol.Schema, defaults: Mapping[str, Any], user_input: dict[str, Any] | None
    ) -> ConfigFlowResult:
        if user_input is not None:
            return self._save_options(user_input)
        schema = self.add_suggested_values_to_schema(form, {**defaults, **self._options})
        return self.async_show_form(step_id=step_id, data_schema=schema)

    @property
    @override
    def _options(self) -> Mapping[str, Any]:
        return self.config_entry.options

    @property
    def _rows(self) -> list[Row]:
        return ordered_rows(self._options.get(ROWS, []))

    @override
    def _billing_period_now(self) -> BillingPeriodNow:
        entry, billed_by = self.config_entry, billing_from(self._options).billed_by
        if entry.state is not ConfigEntryState.LOADED:
            return BillingPeriodNow.of(None, home_assistant_now(), billed_by, zone_of(entry.data))
        coordinator: TunnihindCoordinator = entry.runtime_data
        tariff = coordinator.tariff
        return BillingPeriodNow.of(
            coordinator.data, coordinator.clock.now(), billed_by, tariff.zone, tariff.chosen_vat_rate
        )

    def _row_choice_form(self, *, default: str | None = None) -> vol.Schema:
        """Return a form in which the household chooses a row of fees. `default` names the row chosen at first."""
        names = [SelectOptionDict(value=row_name(row), label=row_name(row)) for row in self._rows]
        marker = vol.Required(ROW, default=default) if default else vol.Required(ROW)
        listed = SelectSelectorConfig(options=names, mode=SelectSelectorMode.LIST, translation_key=ROW)
        return vol.Schema({marker: SelectSelector(listed)})

    def _save_options(self, changes: Mapping[str, Any]) -> ConfigFlowResult:
        return self.async_create_entry(data={**self._options, **changes})
