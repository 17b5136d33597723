"""Names and limits that the whole integration shares."""

import logging
from typing import Final

from homeassistant.const import MAJOR_VERSION, MINOR_VERSION

DOMAIN: Final = "tunnihind"
LOGGER: Final = logging.getLogger(__package__)

CONF_INSTANCE_ID: Final = "instance_id"
CONF_REHEARSAL: Final = "rehearsal"
# The ids of an entry's statistics contain a number. The entry's data has the number of each mode under this key.
CONF_STATISTICS: Final = "statistics"
CONF_CHEAP_HOURS: Final = "cheap_hours"
CONF_HOURS_AHEAD: Final = "hours_ahead"
SUBENTRY_PLAN: Final = "plan"

DEFAULT_CHEAP_HOURS: Final = 6
DEFAULT_HOURS_AHEAD: Final = 6
# The oldest version of the server that the integration supports. Servers that send no version are not checked.
OLDEST_SERVER: Final = "0.1.0"

ATTRIBUTION: Final = "Tunnihind"

EUR: Final = "EUR"
EUR_PER_KWH: Final = "EUR/kWh"
CENTS_PER_KWH: Final = "c/kWh"
EUR_PER_MWH: Final = "EUR/MWh"

# Features that older versions of Home Assistant lack. Remove a feature from this list when the oldest version in
# hacs.json has it.
_VERSION: Final = (MAJOR_VERSION, MINOR_VERSION)
# Before Home Assistant 2026.7, the triggers and conditions of integrations had no `for`, and did not handle several
# entities separately.
KNOWS_TRIGGERS: Final = _VERSION >= (2026, 7)
# Before Home Assistant 2026.8, a device named its parent device by identifiers. Newer versions expect the parent's
# device id instead.
KNOWS_VIA_DEVICE_ID: Final = _VERSION >= (2026, 8)
