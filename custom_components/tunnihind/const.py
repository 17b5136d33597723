"""Constants that several modules of the integration use."""

import logging
from typing import Final

from homeassistant.const import MAJOR_VERSION, MINOR_VERSION

DOMAIN: Final = "tunnihind"
LOGGER: Final = logging.getLogger(__package__)

CONF_INSTANCE_ID: Final = "instance_id"
CONF_REHEARSAL: Final = "rehearsal"
# Under this key, a config entry's data hold a number for each mode (live, demo or rehearsal) in which the entry has
# statistics. The number distinguishes these statistics from those of other entries with the same zone and mode.
CONF_STATISTIC_NUMBERS: Final = "statistics"
CONF_CHEAP_HOURS: Final = "cheap_hours"
CONF_HOURS_AHEAD: Final = "hours_ahead"
SUBENTRY_BATTERY: Final = "battery"
SUBENTRY_PLAN: Final = "plan"

DEFAULT_CHEAP_HOURS: Final = 6
DEFAULT_HOURS_AHEAD: Final = 6
# The oldest server version that the integration supports.
OLDEST_SERVER: Final = "1.0.0"

ATTRIBUTION: Final = "Tunnihind"

EUR: Final = "EUR"
EUR_PER_KWH: Final = "EUR/kWh"
CENTS_PER_KWH: Final = "c/kWh"
EUR_PER_MWH: Final = "EUR/MWh"

# Each `KNOWS_` constant is true if Home Assistant has the feature in the constant's name. Remove a `KNOWS_` constant
# when every version of Home Assistant that hacs.json allows has the feature.
_VERSION: Final = (MAJOR_VERSION, MINOR_VERSION)
# Before Home Assistant 2026.7, the triggers and conditions of integrations had no option `for`, and could not handle
# several entities separately.
KNOWS_TRIGGERS: Final = _VERSION >= (2026, 7)
# From Home Assistant 2026.8 on, a device refers to its parent device by id instead of by identifiers.
KNOWS_VIA_DEVICE_ID: Final = _VERSION >= (2026, 8)
