"""Names and limits that the whole integration shares."""

import logging
from typing import Final

DOMAIN: Final = "tunnihind"
LOGGER: Final = logging.getLogger(__package__)

CONF_INSTANCE_ID: Final = "instance_id"
CONF_REHEARSAL: Final = "rehearsal"
CONF_CHEAP_HOURS: Final = "cheap_hours"
SUBENTRY_PLAN: Final = "plan"

# What the API's specification says, for servers that don't tell their own rate.
DEFAULT_VAT_RATE: Final = 0.22
DEFAULT_CHEAP_HOURS: Final = 6
# The oldest server that this integration knows to get along with; servers that tell no version are not judged.
OLDEST_SERVER: Final = "0.1.0"

ATTRIBUTION: Final = "Tunnihind"

EUR_PER_KWH: Final = "EUR/kWh"
EUR_PER_MWH: Final = "EUR/MWh"
