"""The price of this hour, part by part, beside the form in which a household types what it pays.

Home Assistant's forms show a preview that follows the typing: they ask for it by the websocket command
`tunnihind/start_preview`, and show what comes as the name and the state of an entity.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import voluptuous as vol
from homeassistant.components.websocket_api import async_register_command
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.const import ERR_INVALID_FORMAT, ERR_NOT_FOUND
from homeassistant.components.websocket_api.decorators import async_response, websocket_command
from homeassistant.components.websocket_api.messages import event_message
from homeassistant.const import ATTR_FRIENDLY_NAME, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN
from .prices.rates import Part
from .prices.tariff import Charges, tariff_from
from .tariff_form import FEES_INCLUDE_VAT, ROWS, VALID_FROM, RowForm, contract_of
from .units import Unit

_KWH_PER_MWH: Final = 1_000
# The first and the last line of a breakdown; the others are parts.
MARKET: Final = "market"
VAT: Final = "vat"
LINES: Final = (MARKET, *Part, VAT)
# Where their names are among the translations.
PART_NAMES: Final = f"component.{DOMAIN}.selector.part.options"


@dataclass(frozen=True, slots=True)
class Hour:
    """The current hour: its start (UTC seconds), the market's price (EUR/MWh, if known) and the server's VAT rate."""

    start: int
    market: float | None
    server_vat_rate: float


@dataclass(frozen=True, slots=True)
class OpenForm:
    """A form that somebody fills in, what else holds for its rows, and the hour for which the price is shown."""

    form: RowForm
    contract: Mapping[str, Any]
    hour: Callable[[], Hour]

    def charges(self, user_input: Mapping[str, Any], hour: Hour) -> Charges:
        """Return what the typed figures add to the market's price in this hour."""
        figures = self.form.typed(_readable(user_input))
        contract = {**self.contract, **contract_of(figures)}
        form = self.form.for_package(figures)
        if form.package is not self.form.package:
            figures |= form.network_from_table(fees_include_vat=contract[FEES_INCLUDE_VAT])
        row = {key: value for key, value in form.row_from(figures).items() if key != VALID_FROM}
        return tariff_from({**contract, ROWS: [row]}, server_vat_rate=hour.server_vat_rate).charges(hour.start)


_OPEN: Final[HassKey[dict[str, OpenForm]]] = HassKey(f"{DOMAIN}_open_forms")


@callback
def async_show(hass: HomeAssistant, flow_id: str, shown: OpenForm) -> None:
    """Let the flow's form have a preview."""
    hass.data.setdefault(_OPEN, {})[flow_id] = shown


@callback
def async_close(hass: HomeAssistant, flow_id: str) -> None:
    """Forget the form of a flow that is over."""
    hass.data.get(_OPEN, {}).pop(flow_id, None)


@callback
def async_register(hass: HomeAssistant) -> None:
    """Register the command by which forms ask for their preview."""
    async_register_command(hass, _start_preview)


def lines_of(charges: Charges, market: float | None) -> dict[str, float]:
    """Return the parts of a price, EUR/kWh, which add up to it; those that are nothing are left out."""
    lines = {MARKET: (market or 0.0) / _KWH_PER_MWH}
    lines |= {charge.part.value: charge.eur_kwh for charge in charges.charges}
    lines[VAT] = charges.vat(market or 0.0)
    return {line: eur_kwh for line, eur_kwh in lines.items() if eur_kwh or (line == MARKET and market is not None)}


async def sentence(hass: HomeAssistant, charges: Charges, market: float | None, unit: Unit) -> str:
    """Write the parts of a price as a sum: market + each part, VAT at the end."""
    language = hass.config.language
    names = await async_get_translations(hass, language, "selector", {DOMAIN})
    return " + ".join(
        f"{names[f'{PART_NAMES}.{line}']} {unit.part(eur_kwh, language)}"
        for line, eur_kwh in lines_of(charges, market).items()
    )


@websocket_command(
    {
        vol.Required("type"): f"{DOMAIN}/start_preview",
        vol.Required("flow_id"): str,
        vol.Required("flow_type"): vol.Any("config_flow", "options_flow"),
        vol.Required("user_input"): dict,
    }
)
@async_response
async def _start_preview(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send the price of this hour with the figures as they are typed now. A change asks again."""
    shown = hass.data.get(_OPEN, {}).get(msg["flow_id"])
    if shown is None:
        connection.send_error(msg["id"], ERR_NOT_FOUND, "this form is closed")
        return
    hour = shown.hour()
    try:
        charges = shown.charges(msg["user_input"], hour)
    except (TypeError, ValueError) as error:  # half typed: the form itself says what is wrong once it is sent
        connection.send_error(msg["id"], ERR_INVALID_FORMAT, str(error))
        return
    unit = shown.form.unit
    price = None if hour.market is None else charges.price(hour.market)
    state = STATE_UNKNOWN if price is None else unit.text(price, hass.config.language)
    name = await sentence(hass, charges, hour.market, unit)
    connection.subscriptions[msg["id"]] = lambda: None
    connection.send_result(msg["id"])
    attributes = {ATTR_FRIENDLY_NAME: name, "icon": "mdi:cash"}
    connection.send_message(event_message(msg["id"], {"state": state, "attributes": attributes}))


def _readable(user_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed so far, without figures that are no numbers yet."""
    readable: dict[str, Any] = {}
    for key, value in user_input.items():
        if isinstance(value, dict):
            readable[key] = _readable(value)
        elif value is not None and value != "":
            readable[key] = value
    return readable
