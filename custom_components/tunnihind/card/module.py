"""The card's own file: served by Home Assistant's web server, and loaded by its frontend with every page."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from homeassistant.components import frontend

# Meant for integrations, but not exported to type checkers.
from homeassistant.components.http import StaticPathConfig  # type: ignore[attr-defined]
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

MODULE: Final = Path(__file__).parents[1] / "frontend" / "tunnihind-card.js"
_PATH: Final = f"/{DOMAIN}/{MODULE.name}"
_ADDRESS: Final[HassKey[str]] = HassKey(f"{DOMAIN}_card_module")
_DIGITS: Final = 12


async def async_serve(hass: HomeAssistant) -> None:
    """Serve the file, at an address without a host: it is the same over https, from afar and behind a proxy.

    Caches may keep it for a month. Another content has another address. It differs only in its query, so that a page
    from a cache, which still has the old one, gets a card too.
    """
    if frontend.DOMAIN not in hass.config.components:
        return
    digest = await hass.async_add_executor_job(_digest)
    await hass.http.async_register_static_paths([StaticPathConfig(_PATH, str(MODULE), cache_headers=True)])
    hass.data[_ADDRESS] = f"{_PATH}?v={digest}"


@callback
def async_offer(hass: HomeAssistant) -> None:
    """Let pages load the card from now on. For several entries, it is loaded once."""
    if address := module_address(hass):
        frontend.add_extra_js_url(hass, address)


@callback
def async_withdraw(hass: HomeAssistant) -> None:
    """Let pages load it no longer."""
    if address := module_address(hass):
        frontend.remove_extra_js_url(hass, address)


def module_address(hass: HomeAssistant) -> str | None:
    """Return where the card's module is served; None where there is no frontend."""
    return hass.data.get(_ADDRESS)


def _digest() -> str:
    return sha256(MODULE.read_bytes()).hexdigest()[:_DIGITS]
