"""The step of a flow that asks what a household pays; both set-up and options have it."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntryBaseFlow, ConfigFlowResult
from homeassistant.core import HomeAssistant, callback

from ..const import DOMAIN
from ..prices.days import local
from ..prices.rates import Package
from ..prices.units import unit_of
from ..prices.vat import default_vat_rate
from . import breakdown
from .breakdown import CurrentPeriod, OpenForm
from .reader import language_of_reader
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
    ordered,
)

_PERCENT: Final = 100
_DECIMALS: Final = 4


class TariffStep(ConfigEntryBaseFlow):
    """A flow with the form of prices, beside which Home Assistant shows the current price."""

    _form: RowForm
    _language: str

    @property
    @abstractmethod
    def _options(self) -> Mapping[str, Any]:
        """What is chosen so far."""

    @abstractmethod
    def _period(self) -> CurrentPeriod:
        """Return the current hour or quarter."""

    @staticmethod
    @override
    async def async_setup_preview(hass: HomeAssistant) -> None:
        """Let the form show the current price while somebody types."""
        breakdown.async_register(hass)

    @callback
    @override
    def async_remove(self) -> None:
        """Forget the form that was open."""
        breakdown.async_close(self.hass, self.flow_id)

    async def _open_form(
        self,
        step_id: str,
        row: Row | None,
        *,
        needs_date: bool | None,
        package: Package | None = None,
        with_contract: bool = True,
    ) -> ConfigFlowResult:
        """Show the form of a row with the figures of today, or of its first day if that is to come."""
        self._language = await language_of_reader(self.hass)
        self._form = RowForm(
            **self._first_day(row or {}),
            package=package or Package((row or {}).get(PACKAGE, Package.OWN)),
            unit=unit_of(self._options),
            needs_date=needs_date,
            with_contract=with_contract,
        )
        return self._show_form(step_id, self._form.suggested(self._form.at_start(row, self._contract)))

    def _take_form(
        self, step_id: str, user_input: dict[str, Any], others: Sequence[Row] = ()
    ) -> tuple[dict[str, Any], ConfigFlowResult | None]:
        """Return the options that were typed; or the form again, with what is wrong or with other figures of the table.

        The figures of a package or a date that is chosen are first shown for confirmation. `others` are the other rows.
        """
        figures = self._form.typed(user_input)
        contract = {**self._contract, **contract_of(figures)}
        before, form = self._form, replace(self._form.for_package(figures), **self._first_day(figures))
        self._form = form
        carried = form.carried_over(before, figures, fees_include_vat=contract[FEES_INCLUDE_VAT])
        if form.package is not before.package or carried != figures:
            return {}, self._show_form(step_id, form.suggested({**contract, **carried}))
        if errors := {**_date_taken(figures, others), **_no_day_rate(contract)}:
            return {}, self._show_form(step_id, user_input, errors)
        kept = contract if form.with_contract else {}
        return {**kept, ROWS: ordered([*others, form.row_from(figures)])}, None

    def _first_day(self, row: Row) -> dict[str, Any]:
        """Return the day whose figures the form of a row shows, today or its first if that is to come, with its VAT."""
        period = self._period()
        day = local(period.start).date()
        if row.get(VALID_FROM):
            day = max(day, date.fromisoformat(row[VALID_FROM]))
        return {"day": day, "vat_percent": round(default_vat_rate(period.server_vat_rate, day) * _PERCENT, _DECIMALS)}

    @property
    def _contract(self) -> dict[str, Any]:
        """What holds for all rows."""
        return {**CONTRACT_DEFAULTS, **contract_of(self._options)}

    def _show_form(
        self, step_id: str, values: dict[str, Any], errors: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        breakdown.async_show(self.hass, self.flow_id, OpenForm(self._form, self._contract, self._period))
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(self._form.schema, values),
            errors=errors,
            description_placeholders=self._form.placeholders(self._language),
            preview=DOMAIN,
        )


def _date_taken(figures: Mapping[str, Any], others: Sequence[Row]) -> dict[str, str]:
    taken = any(name_of(row) == name_of(figures) for row in others)
    return {VALID_FROM: "date_taken"} if taken else {}


def _no_day_rate(contract: Mapping[str, Any]) -> dict[str, str]:
    """Refuse a day rate without an hour. A section's error stands above the section; its text names the field."""
    starts, ends = (time.fromisoformat(contract[key]) for key in (DAY_STARTS, DAY_ENDS))
    return {NETWORK: "no_day_rate"} if starts == ends else {}
