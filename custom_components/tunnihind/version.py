"""What older versions of Home Assistant lack. hacs.json names the oldest one; each of these goes when that is newer."""

from typing import Final

from homeassistant.const import MAJOR_VERSION, MINOR_VERSION

_VERSION: Final = (MAJOR_VERSION, MINOR_VERSION)

# Before 2026.7 the triggers and conditions of integrations knew neither `for` nor each of several entities.
KNOWS_TRIGGERS: Final = _VERSION >= (2026, 7)
# Before 2026.8 a device named the one that it belongs to by identifiers, which is deprecated since.
KNOWS_VIA_DEVICE_ID: Final = _VERSION >= (2026, 8)
