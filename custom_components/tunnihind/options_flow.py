"""The options: what the household pays on top of the market's price, how it is billed, and how many hours are cheap."""

from collections.abc import Mapping
from datetime import date, time
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult, OptionsFlow
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)

from . import breakdown
from .billing_form import BILLING_FORM
from .breakdown import Hour, OpenForm
from .clock import home_now
from .const import CONF_CHEAP_HOURS, DEFAULT_CHEAP_HOURS, DOMAIN
from .prices.days import local
from .prices.rates import Package
from .prices.timeline import HOUR_S
from .prices.vat import SPECIFICATION_VAT_RATE, default_vat_rate
from .tariff_form import (
    CONTRACT_DEFAULTS,
    DAY_ENDS,
    DAY_STARTS,
    FEES_INCLUDE_VAT,
    NETWORK,
    PACKAGE,
    ROWS,
    VALID_FROM,
    Row,
    RowForm,
    contract_of,
    name_of,
    named,
    ordered,
    without,
)
from .units import CONF_UNIT, Unit, unit_of

ROW: Final = "row"

_CHEAP: Final = vol.Schema(
    {
        vol.Required(CONF_CHEAP_HOURS): vol.All(
            NumberSelector(NumberSelectorConfig(min=1, max=24, mode=NumberSelectorMode.SLIDER)),
            vol.Coerce(int),
        )
    }
)

UNIT_FORM: Final = vol.Schema(
    {
        vol.Required(CONF_UNIT): SelectSelector(
            SelectSelectorConfig(options=list(Unit), translation_key=CONF_UNIT, mode=SelectSelectorMode.LIST)
        )
    }
)


class TunnihindOptionsFlow(OptionsFlow):
    """Changes options in place; the entry takes them up without a reload."""

    _form: RowForm

    def __init__(self) -> None:
        self._chosen: str | None = None

    @staticmethod
    @override
    async def async_setup_preview(hass: HomeAssistant) -> None:
        """Let the form of prices show the price of this hour while somebody types."""
        breakdown.async_register(hass)

    @callback
    @override
    def async_remove(self) -> None:
        """Forget the form that was open."""
        breakdown.async_close(self.hass, self.flow_id)

    async def async_step_init(self, _: None = None) -> ConfigFlowResult:
        """Offer what can be changed."""
        removal = ["remove_row"] if self._rows else []
        return self.async_show_menu(
            step_id="init", menu_options=["prices", "add_row", *removal, "billing", "cheap", "unit"]
        )

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
            row = named(self._rows, self._chosen) if self._chosen else None
            return self._open("edit_row", row, needs_date=False, with_contract=True)
        others = without(self._rows, self._chosen) if self._chosen else self._rows
        return self._take("edit_row", user_input, others)

    async def async_step_add_row(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Add figures that hold from a date on, starting from the newest ones."""
        if user_input is None:
            newest = {**self._rows[-1], VALID_FROM: None} if self._rows else None
            return self._open("add_row", newest, needs_date=True, with_contract=not self._rows)
        return self._take("add_row", user_input, self._rows)

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

    async def async_step_unit(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Say whether forms and texts show cents or euros."""
        if user_input is not None:
            return self._save(user_input)
        schema = self.add_suggested_values_to_schema(UNIT_FORM, {CONF_UNIT: unit_of(self._options).value})
        return self.async_show_form(step_id="unit", data_schema=schema)

    @property
    def _options(self) -> Mapping[str, Any]:
        return self.config_entry.options

    @property
    def _rows(self) -> list[Row]:
        return ordered(self._options.get(ROWS, []))

    def _hour(self) -> Hour:
        """Return the current hour, of which the market's price is known while the entry is loaded."""
        entry = self.config_entry
        if entry.state is not ConfigEntryState.LOADED:
            now = home_now()
            return Hour(now - now % HOUR_S, None, SPECIFICATION_VAT_RATE)
        coordinator = entry.runtime_data
        now = coordinator.clock.now()
        return Hour(now - now % HOUR_S, coordinator.market_price, coordinator.tariff.server_vat_rate)

    def _open(self, step_id: str, row: Row | None, *, needs_date: bool, with_contract: bool) -> ConfigFlowResult:
        """Show the form of a row with the figures of today, or of its first day if that is to come."""
        hour = self._hour()
        day = local(hour.start).date()
        if row and row.get(VALID_FROM):
            day = max(day, date.fromisoformat(row[VALID_FROM]))
        self._form = RowForm(
            day=day,
            vat_percent=round(default_vat_rate(hour.server_vat_rate, day) * 100, 4),
            package=Package((row or {}).get(PACKAGE, Package.OWN)),
            unit=unit_of(self._options),
            needs_date=needs_date,
            with_contract=with_contract,
        )
        return self._tariff_form(step_id, self._form.suggested(self._form.at_start(row, self._contract)))

    def _take(self, step_id: str, user_input: dict[str, Any], others: list[Row]) -> ConfigFlowResult:
        """Keep what was typed. Where another package was chosen, first show its figures."""
        figures = self._form.typed(user_input)
        contract = {**self._contract, **contract_of(figures)}
        form = self._form.for_package(figures)
        if form != self._form:
            self._form = form
            network = form.network_from_table(fees_include_vat=contract[FEES_INCLUDE_VAT])
            return self._tariff_form(step_id, form.suggested({**contract, **figures, **network}))
        if errors := {**_date_taken(figures, others), **_no_day_rate(contract)}:
            return self._tariff_form(step_id, user_input, errors)
        kept = contract if self._form.with_contract else {}
        return self._save({**kept, ROWS: ordered([*others, self._form.row_from(figures)])})

    @property
    def _contract(self) -> dict[str, Any]:
        """What holds for all rows."""
        return {**CONTRACT_DEFAULTS, **contract_of(self._options)}

    def _tariff_form(
        self, step_id: str, values: dict[str, Any], errors: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        breakdown.async_show(self.hass, self.flow_id, OpenForm(self._form, self._contract, self._hour))
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(self._form.schema, values),
            errors=errors,
            description_placeholders=self._form.placeholders,
            preview=DOMAIN,
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
