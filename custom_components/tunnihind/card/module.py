"""The card's own file: served at an address that changes with it, and made known to the frontend."""

from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

_ADDRESS: Final[HassKey[str]] = HassKey(f"{DOMAIN}_card_module")


def module_address(hass: HomeAssistant) -> str | None:
    """Return where the card's module is served; None where there is no frontend."""
    return hass.data.get(_ADDRESS)
