"""The options: what the household pays on top of the market's price, how it is billed, and how many hours are cheap."""

from collections.abc import Mapping
from datetime import time
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult, OptionsFlow
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)

from .billing_form import BILLING_FORM
from .const import CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS
from .prices.vat import SPECIFICATION_VAT_RATE as DEFAULT_VAT_RATE
from .tariff_form import (
    CONTRACT_DEFAULTS,
    DAY_ENDS,
    DAY_STARTS,
    NETWORK,
    ROWS,
    VALID_FROM,
    VAT_PERCENT,
    Row,
    contract_of,
    figures_of,
    name_of,
    named,
    ordered,
    prices_schema,
    row_from,
    row_schema,
    suggested,
    without,
)

ROW: Final = "row"
# The Value Added Tax Act's rate, in force from 2025-07-01 (Käibemaksuseadus § 15).
LEGAL_VAT_PERCENT: Final = 24

_CHEAP: Final = vol.Schema(
    {
        vol.Required(CONF_CHEAP_HOURS): vol.All(
            NumberSelector(NumberSelectorConfig(min=1, max=24, mode=NumberSelectorMode.SLIDER)),
            vol.Coerce(int),
        )
    }
)


class TunnihindOptionsFlow(OptionsFlow):
    """Changes options in place; the entry takes them up without a reload."""

    def __init__(self) -> None:
        self._chosen: str | None = None

    async def async_step_init(self, _: None = None) -> ConfigFlowResult:
        """Offer what can be changed."""
        removal = ["remove_row"] if self._rows else []
        return self.async_show_menu(step_id="init", menu_options=["prices", "add_row", *removal, "billing", "cheap"])

    async def async_step_prices(self, _: None = None) -> ConfigFlowResult:
        """Change the figures of the only row, or ask first of which."""
        if len(self._rows) > 1:
            return await self.async_step_pick_row()
        self._chosen = name_of(self._rows[0]) if self._rows else None
        return await self.async_step_edit_row()

    async def async_step_pick_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask which row to change."""
        if user_input is not None:
            self._chosen = user_input[ROW]
            return await self.async_step_edit_row()
        return self.async_show_form(step_id="pick_row", data_schema=self._choice(default=name_of(self._rows[-1])))

    async def async_step_edit_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Change the figures of one row, and the settings that hold for all rows."""
        if user_input is None:
            return self._tariff_form("edit_row", prices_schema(), suggested(self._as_it_stands()))
        figures = figures_of(user_input)
        others = without(self._rows, self._chosen) if self._chosen else self._rows
        if errors := {**_date_taken(figures, others), **_no_day_rate(figures)}:
            return self._tariff_form("edit_row", prices_schema(), user_input, errors)
        return self._save({**contract_of(figures), ROWS: ordered([*others, self._row_from(figures)])})

    async def async_step_add_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Add figures that hold from a date on, starting from the newest ones."""
        if user_input is None:
            newest = dict(self._rows[-1]) if self._rows else {}
            figures = {VAT_PERCENT: self._server_vat_percent, **newest, VALID_FROM: None}
            return self._tariff_form("add_row", row_schema(), suggested(figures))
        figures = figures_of(user_input)
        if errors := _date_taken(figures, self._rows):
            return self._tariff_form("add_row", row_schema(), user_input, errors)
        return self._save({ROWS: ordered([*self._rows, self._row_from(figures)])})

    async def async_step_remove_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Remove the row that is chosen."""
        if user_input is not None:
            return self._save({ROWS: without(self._rows, user_input[ROW])})
        return self.async_show_form(step_id="remove_row", data_schema=self._choice())

    async def async_step_billing(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Say by which periods the household is billed, and by which ones its prices are compared."""
        if user_input is not None:
            return self._save(user_input)
        schema = self.add_suggested_values_to_schema(BILLING_FORM, self._options)
        return self.async_show_form(step_id="billing", data_schema=schema)

    async def async_step_cheap(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Say how many hours of a day are cheap."""
        if user_input is not None:
            return self._save(user_input)
        hours = self._options.get(CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS)
        schema = self.add_suggested_values_to_schema(_CHEAP, {CONF_CHEAP_HOURS: hours})
        return self.async_show_form(step_id="cheap", data_schema=schema)

    @property
    def _options(self) -> Mapping[str, Any]:
        return self.config_entry.options

    @property
    def _rows(self) -> list[Row]:
        return ordered(self._options.get(ROWS, []))

    @property
    def _server_vat_percent(self) -> float:
        """The rate in the server's own consumer prices, where it can be asked."""
        entry = self.config_entry
        about = entry.runtime_data.about if entry.state is ConfigEntryState.LOADED else None
        return round((about.vat_rate if about else DEFAULT_VAT_RATE) * 100, 4)

    def _as_it_stands(self) -> dict[str, Any]:
        row = named(self._rows, self._chosen) if self._chosen else {}
        return {VAT_PERCENT: self._server_vat_percent, **CONTRACT_DEFAULTS, **self._options, **row}

    def _row_from(self, figures: Mapping[str, Any]) -> Row:
        return row_from(figures, server_vat_percent=self._server_vat_percent)

    def _tariff_form(
        self, step_id: str, schema: vol.Schema, values: dict[str, Any], errors: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, values),
            errors=errors,
            description_placeholders={
                "server_vat": f"{self._server_vat_percent:g}",
                "legal_vat": f"{LEGAL_VAT_PERCENT:g}",
            },
        )

    def _choice(self, *, default: str | None = None) -> vol.Schema:
        """Return a list of the rows to choose one from."""
        names = [SelectOptionDict(value=name_of(row), label=name_of(row)) for row in self._rows]
        marker = vol.Required(ROW, default=default) if default else vol.Required(ROW)
        listed = SelectSelectorConfig(options=names, mode=SelectSelectorMode.LIST, translation_key=ROW)
        return vol.Schema({marker: SelectSelector(listed)})

    def _save(self, changes: Mapping[str, Any]) -> ConfigFlowResult:
        return self.async_create_entry(data={**self._options, **changes})


def _date_taken(figures: Mapping[str, Any], others: list[Row]) -> dict[str, str]:
    taken = any(name_of(row) == name_of(figures) for row in others)
    return {VALID_FROM: "date_taken"} if taken else {}


def _no_day_rate(figures: Mapping[str, Any]) -> dict[str, str]:
    """Refuse a day rate without an hour. A section's error stands above the section; its text names the field."""
    starts, ends = (time.fromisoformat(figures[key]) for key in (DAY_STARTS, DAY_ENDS))
    return {NETWORK: "no_day_rate"} if starts == ends else {}
