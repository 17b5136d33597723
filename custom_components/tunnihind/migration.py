"""Brings entries of older versions up to date.

Minor version 2: VAT is the law's by date. Before, it was that of the server, whose 22 % nobody had chosen. Options stay
as they are: a row with a rate keeps it, a row without one now follows the law. So an older version can read the entry
again. What has changed for the household is told once, as soon as the price of the hour is known.
"""

from dataclasses import replace
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import CONF_INSTANCE_ID, DOMAIN
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .prices.days import local
from .prices.tariff import Tariff, TariffRow
from .prices.timeline import HOUR_S
from .prices.vat import SPECIFICATION_VAT_RATE
from .units import unit_of

VERSION: Final = 1
MINOR_VERSION: Final = 2

VAT_BY_LAW: Final = "vat_by_law"
# In the entry's data until the household has been told.
CONF_TELL_OF_VAT: Final = "tell_of_vat"


async def async_migrate_entry(hass: HomeAssistant, entry: TunnihindConfigEntry) -> bool:
    """Take up an entry of an older version. One of a later major version can't be read."""
    if entry.version > VERSION:
        return False
    if entry.minor_version < MINOR_VERSION:
        hass.config_entries.async_update_entry(
            entry, data={**entry.data, CONF_TELL_OF_VAT: True}, minor_version=MINOR_VERSION
        )
    return True


@callback
def async_tell_of_vat(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Tell once what the law's VAT changes for an entry that followed the server's rate."""

    @callback
    def look() -> None:
        coordinator = entry.runtime_data
        if not entry.data.get(CONF_TELL_OF_VAT) or _is_server_unknown(coordinator):
            return
        market = coordinator.market_price
        if market is None:
            return
        data = {key: value for key, value in entry.data.items() if key != CONF_TELL_OF_VAT}
        hass.config_entries.async_update_entry(entry, data=data)
        if _has_changed(coordinator):
            _raise(hass, entry, market)

    entry.async_on_unload(entry.runtime_data.async_add_listener(look))
    look()


@callback
def async_forget(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Take the notice of a removed entry away."""
    ir.async_delete_issue(hass, DOMAIN, _issue_id(entry))


def _is_server_unknown(coordinator: TunnihindCoordinator) -> bool:
    """Tell whether the server's own rate is still to come: it said who it is when it was added."""
    return coordinator.about is None and coordinator.config_entry.data[CONF_INSTANCE_ID] is not None


def _has_changed(coordinator: TunnihindCoordinator) -> bool:
    """Tell whether the price of this hour followed the server's 22%, and no longer does."""
    start, tariff = _hour(coordinator), coordinator.tariff
    if tariff.server_vat_rate != SPECIFICATION_VAT_RATE:
        return False
    return tariff.charges(start).vat_rate != _as_before(tariff).charges(start).vat_rate


def _hour(coordinator: TunnihindCoordinator) -> int:
    now = coordinator.clock.now()
    return now - now % HOUR_S


def _as_before(tariff: Tariff) -> Tariff:
    """Return the tariff as older versions read it: a row without a rate bears the server's."""
    followed = tariff.server_vat_rate
    rows = [replace(row, vat_rate=followed if row.vat_rate is None else row.vat_rate) for row in tariff.rows]
    return replace(tariff, rows=[TariffRow(vat_rate=followed), *rows])


def _raise(hass: HomeAssistant, entry: TunnihindConfigEntry, market: float) -> None:
    coordinator = entry.runtime_data
    hour, tariff, unit = _hour(coordinator), coordinator.tariff, unit_of(entry.options)
    language = hass.config.language
    ir.async_create_issue(
        hass,
        DOMAIN,
        _issue_id(entry),
        is_fixable=True,
        # Home Assistant keeps it over restarts, so that it is told even if nobody looks today.
        is_persistent=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key=VAT_BY_LAW,
        translation_placeholders={
            "name": entry.title,
            "hour": f"{local(hour):%d.%m.%Y %H:%M}",
            "old": unit.text(_as_before(tariff).price(market, hour), language),
            "new": unit.text(tariff.price(market, hour), language),
            "old_vat": f"{tariff.server_vat_rate * 100:g}",
            "new_vat": f"{tariff.charges(hour).vat_rate * 100:g}",
        },
    )


def _issue_id(entry: TunnihindConfigEntry) -> str:
    return f"{VAT_BY_LAW}_{entry.entry_id}"
