"""The form in which a household enters its fees, with a preview of the current price and its parts.

Two flows show the form: the flow that adds a server, and the flow that changes an entry's options. While somebody
types, the form requests the preview with the websocket command `tunnihind/start_preview`. The preview looks like an
entity: its name lists the price's parts, and its state is the price.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Self, override

import voluptuous as vol
from homeassistant.components.websocket_api import async_register_command
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.const import ERR_INVALID_FORMAT, ERR_NOT_FOUND
from homeassistant.components.websocket_api.decorators import async_response, websocket_command
from homeassistant.components.websocket_api.messages import event_message
from homeassistant.config_entries import ConfigEntryBaseFlow, ConfigFlowResult
from homeassistant.const import ATTR_FRIENDLY_NAME, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.hass_dict import HassKey

from ..client.answers import MarketPrices
from ..const import DOMAIN
from ..core.market import Market
from ..core.rates import Package
from ..core.tariff import Charges, Tariff
from ..prices.billing import Resolution
from ..prices.tariff_options import tariff_from
from ..prices.units import Unit, unit_of
from .reader import language_of_reader
from .tariff_form import (
    FEES_INCLUDE_VAT,
    PACKAGE,
    ROWS,
    SHARED_DEFAULTS,
    VALID_FROM,
    Row,
    RowForm,
    day_rate_errors,
    ordered_rows,
    row_name,
    shared_settings_of,
)

# The parts of a price in the preview that are not in `Part`.
MARKET: Final = "market"
VAT: Final = "vat"
# The translation keys for the names of a price's parts begin with this text.
PART_NAME_KEY_PREFIX: Final = f"component.{DOMAIN}.selector.part.options"
# The translation keys of sentences that depend on the zone begin with this text.
_SENTENCE_KEY_PREFIX: Final = f"component.{DOMAIN}.selector.tariff_sentence.options"
# The translation keys for the names of periods begin with this text.
_PERIOD_NAME_KEY_PREFIX: Final = f"component.{DOMAIN}.selector.period.options"
_PERCENT: Final = 100
_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class BillingPeriodNow:
    """The current hour or quarter-hour.

    `start` is in UTC seconds. `market_eur_mwh` is the market price, or None if the price is unknown. `chosen_vat_rate`
    is the VAT rate that the server's operator chose, as a fraction, or None if the legal rate applies.
    """

    start: int
    resolution: Resolution
    market_eur_mwh: float | None
    zone: Market
    chosen_vat_rate: float | None

    @classmethod
    def of(
        cls,
        answer: MarketPrices | None,
        now: int,
        billed_by: Resolution,
        zone: Market,
        chosen_vat_rate: float | None = None,
    ) -> Self:
        """Return the billing period at `now` (UTC seconds). If `answer` has hourly prices, the period is an hour."""
        if answer and billed_by is Resolution.HOUR:
            answer = answer.with_hourly_prices()
        step_s = answer.step_s if answer else billed_by.step_s
        resolution = next(one for one in Resolution if one.step_s == step_s)
        market = answer.market_price(now) if answer else None
        return cls(now - now % step_s, resolution, market, zone, chosen_vat_rate)

    def default_vat_rate(self, day: date) -> float:
        """Return the VAT rate, as a fraction, that applies on `day` if a row of fees states no VAT rate."""
        return Tariff(zone=self.zone, chosen_vat_rate=self.chosen_vat_rate).default_vat_rate(day)


@dataclass(frozen=True, slots=True)
class _OpenForm:
    """A form that somebody is filling in.

    `shared_settings` contains the settings that apply to all rows of fees. `period` returns the current period, whose
    price the preview shows.
    """

    form: RowForm
    shared_settings: Mapping[str, Any]
    period: Callable[[], BillingPeriodNow]

    def charges(self, user_input: Mapping[str, Any], period: BillingPeriodNow) -> Charges:
        """Compute the charges in `period` from the figures typed so far."""
        figures = self.form.figures_from_input(_filled_fields(user_input))
        shared = {**self.shared_settings, **shared_settings_of(figures)}
        form = self.form.with_package_of(figures)
        figures = form.adapted_figures(self.form, figures, fees_include_vat=shared[FEES_INCLUDE_VAT])
        row: Row = {key: value for key, value in form.row_from_figures(figures).items() if key != VALID_FROM}
        # If the form is for a future date, the preview uses the figures in the form, because the rate table may have
        # other figures for today.
        if form.day > period.zone.local_time(period.start).date():
            row = form.row_with_own_figures(row, fees_include_vat=shared[FEES_INCLUDE_VAT])
        tariff = tariff_from({**shared, ROWS: [row]}, zone=period.zone, chosen_vat_rate=period.chosen_vat_rate)
        return tariff.charges(period.start)


_OPEN_FORMS: Final[HassKey[dict[str, _OpenForm]]] = HassKey(f"{DOMAIN}_open_forms")


def price_parts(charges: Charges, market: float | None) -> dict[str, float]:
    """Return the parts of a price in EUR/kWh. `market` is the market price in EUR/MWh, or None if it is unknown.

    Parts that are 0 are left out, but a known market price is always listed.
    """
    lines = {MARKET: charges.market_part(market or 0.0)}
    lines |= {charge.part.value: charge.eur_kwh for charge in charges.charges}
    lines[VAT] = charges.vat(market or 0.0)
    return {line: eur_kwh for line, eur_kwh in lines.items() if eur_kwh or (line == MARKET and market is not None)}


async def price_sentence(
    hass: HomeAssistant, charges: Charges, period: BillingPeriodNow, unit: Unit, language: str
) -> str:
    """Return a text that shows the price of `period` as a sum of its parts."""
    names = await async_get_translations(hass, language, "selector", {DOMAIN})
    parts = " + ".join(
        f"{names[f'{PART_NAME_KEY_PREFIX}.{line}']} {unit.part_text(eur_kwh, language)}"
        for line, eur_kwh in price_parts(charges, period.market_eur_mwh).items()
    )
    return f"{names[f'{_PERIOD_NAME_KEY_PREFIX}.{period.resolution}']}: {parts}"


@websocket_command(
    {
        vol.Required("type"): f"{DOMAIN}/start_preview",
        vol.Required("flow_id"): str,
        vol.Required("flow_type"): vol.Any("config_flow", "options_flow"),
        vol.Required("user_input"): dict,
    }
)
@async_response
async def _send_preview(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send a preview to the form: the current price, computed from the figures typed so far."""
    shown = hass.data.get(_OPEN_FORMS, {}).get(msg["flow_id"])
    if shown is None:
        connection.send_error(msg["id"], ERR_NOT_FOUND, "this form is closed")
        return
    period = shown.period()
    try:
        charges = shown.charges(msg["user_input"], period)
    except (TypeError, ValueError) as error:  # some figures are still missing or invalid
        connection.send_error(msg["id"], ERR_INVALID_FORMAT, str(error))
        return
    unit = shown.form.unit
    language = await language_of_reader(hass, connection.user.id)
    price = None if period.market_eur_mwh is None else charges.price(period.market_eur_mwh)
    state = STATE_UNKNOWN if price is None else unit.price_text(price, language)
    name = await price_sentence(hass, charges, period, unit, language)
    connection.subscriptions[msg["id"]] = lambda: None
    connection.send_result(msg["id"])
    attributes = {ATTR_FRIENDLY_NAME: name, "icon": "mdi:cash"}
    connection.send_message(event_message(msg["id"], {"state": state, "attributes": attributes}))


def _filled_fields(user_input: Mapping[str, Any]) -> dict[str, Any]:
    readable: dict[str, Any] = {}
    for key, value in user_input.items():
        if isinstance(value, dict):
            readable[key] = _filled_fields(value)
        elif value is not None and value != "":
            readable[key] = value
    return readable


class TariffFlow(ConfigEntryBaseFlow):
    """A flow that shows the form for fees and a preview of the current price."""

    _form: RowForm
    _language: str
    _texts: Mapping[str, str]

    @property
    @abstractmethod
    def _options(self) -> Mapping[str, Any]:
        """The options that the household has chosen so far."""

    @abstractmethod
    def _billing_period_now(self) -> BillingPeriodNow:
        """Return the hour or quarter-hour whose price the preview shows."""

    @staticmethod
    @override
    async def async_setup_preview(hass: HomeAssistant) -> None:
        """Register the websocket command with which a form requests a preview."""
        async_register_command(hass, _send_preview)

    @callback
    @override
    def async_remove(self) -> None:
        """Forget the open form when the flow has ended."""
        self.hass.data.get(_OPEN_FORMS, {}).pop(self.flow_id, None)

    async def _start_form(
        self,
        step_id: str,
        row: Row | None,
        *,
        needs_date: bool | None,
        package: Package | None = None,
        with_shared_settings: bool = True,
    ) -> ConfigFlowResult:
        """Show the form for a row of fees. If `row` is None, the form shows the rate table's figures."""
        self._language = await language_of_reader(self.hass)
        self._texts = await async_get_translations(self.hass, self._language, "selector", {DOMAIN})
        self._form = RowForm(
            **self._row_form_arguments(row or {}),
            package=package or Package((row or {}).get(PACKAGE, Package.OWN)),
            unit=unit_of(self._options),
            needs_date=needs_date,
            with_shared_settings=with_shared_settings,
        )
        return self._show_form(step_id, self._form.shown_values(self._form.first_figures(row, self._shared_settings)))

    def _read_form(
        self, step_id: str, user_input: dict[str, Any], others: Sequence[Row] = ()
    ) -> tuple[dict[str, Any], ConfigFlowResult | None]:
        """Return the changed options and None, or no options and the form to show again.

        The form is shown again if it contains errors, or if the household has to confirm the figures of another package
        or date. `others` are the household's other rows of fees.
        """
        figures = self._form.figures_from_input(user_input)
        shared = {**self._shared_settings, **shared_settings_of(figures)}
        earlier_form, form = (
            self._form,
            replace(self._form.with_package_of(figures), **self._row_form_arguments(figures)),
        )
        self._form = form
        carried = form.adapted_figures(earlier_form, figures, fees_include_vat=shared[FEES_INCLUDE_VAT])
        if form.package is not earlier_form.package or carried != figures:
            return {}, self._show_form(step_id, form.shown_values({**shared, **carried}))
        if errors := {**_date_errors(figures, others), **day_rate_errors(figures)}:
            return {}, self._show_form(step_id, user_input, errors)
        kept = shared if form.with_shared_settings else {}
        return {**kept, ROWS: ordered_rows([*others, form.row_from_figures(figures)])}, None

    def _row_form_arguments(self, row: Row) -> dict[str, Any]:
        """Return a row form's zone, day and default VAT rate. The day is the later of today and the row's first day."""
        period = self._billing_period_now()
        day = period.zone.local_time(period.start).date()
        if row.get(VALID_FROM):
            day = max(day, date.fromisoformat(row[VALID_FROM]))
        vat_percent = round(period.default_vat_rate(day) * _PERCENT, _DECIMALS)
        return {"day": day, "vat_percent": vat_percent, "zone": period.zone}

    @property
    def _shared_settings(self) -> dict[str, Any]:
        """The settings that apply to all rows of fees."""
        return {**SHARED_DEFAULTS, **shared_settings_of(self._options)}

    def _show_form(
        self, step_id: str, values: dict[str, Any], errors: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        open_form = _OpenForm(self._form, self._shared_settings, self._billing_period_now)
        self.hass.data.setdefault(_OPEN_FORMS, {})[self.flow_id] = open_form
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(self._form.schema, values),
            errors=errors,
            description_placeholders=self._placeholders,
            preview=DOMAIN,
        )

    @property
    def _placeholders(self) -> dict[str, str]:
        figures = self._form.placeholders(self._language)

        def sentence_of(name: str) -> str:
            return self._texts[f"{_SENTENCE_KEY_PREFIX}.{name}"].format(**figures)

        has_rates = bool(self._form.rate_table.fees)
        return {
            "default_vat": figures["default_vat"],
            "figures": sentence_of("filled_in" if has_rates else "own"),
            "dispute": f"{sentence_of('disputed')} " if has_rates else "",
        }


def _date_errors(figures: Mapping[str, Any], others: Sequence[Row]) -> dict[str, str]:
    taken = any(row_name(row) == row_name(figures) for row in others)
    return {VALID_FROM: "date_taken"} if taken else {}
