"""Serves the card's JavaScript file from Home Assistant's web server, and adds it to every page."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from homeassistant.components import frontend

# Home Assistant offers this class to integrations, but does not export it to type checkers.
from homeassistant.components.http import StaticPathConfig  # type: ignore[attr-defined]
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

MODULE: Final = Path(__file__).parents[1] / "frontend" / "tunnihind-card.js"
_PATH: Final = f"/{DOMAIN}/{MODULE.name}"
_ADDRESS: Final[HassKey[str]] = HassKey(f"{DOMAIN}_card_module")
_DIGITS: Final = 12


async def async_serve(hass: HomeAssistant) -> None:
    """Serve the file at an address without a host, so that it works over https, from outside and behind a proxy.

    Caches may keep it for a month. New contents get a new query in the address. The path stays the same, so the old
    address in a cached page still works.
    """
    if frontend.DOMAIN not in hass.config.components:
        return
    digest = await hass.async_add_executor_job(_digest)
    await hass.http.async_register_static_paths([StaticPathConfig(_PATH, str(MODULE), cache_headers=True)])
    hass.data[_ADDRESS] = f"{_PATH}?v={digest}"


@callback
def async_offer(hass: HomeAssistant) -> None:
    """Let pages load the card from now on. Pages load it once, even with several entries."""
    if address := module_address(hass):
        frontend.add_extra_js_url(hass, address)


@callback
def async_withdraw(hass: HomeAssistant) -> None:
    """Stop pages from loading the card."""
    if address := module_address(hass):
        frontend.remove_extra_js_url(hass, address)


def module_address(hass: HomeAssistant) -> str | None:
    """Return the address of the card's module; None without a frontend."""
    return hass.data.get(_ADDRESS)


def _digest() -> str:
    return sha256(MODULE.read_bytes()).hexdigest()[:_DIGITS]
