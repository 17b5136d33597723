#!/usr/bin/env bash
# In the autumn night when clocks go back, an event of a calendar may begin before the change and end after it. Home Assistant
# gets both times in UTC, but compares them as local clocks show them: an event of half an hour then ends half an hour before
# its start, and is refused.
# An argument is another version of Home Assistant to try, such as ==2026.9.1 or '>0' (the newest).
set -euo pipefail
version=${1:-==2026.10.4}
run=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/run # fetches uv if the machine has none
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$run" uv --directory "$work" venv --quiet --python 3.14 environment
"$run" uv --directory "$work" pip install --quiet --python environment "homeassistant$version"

cd "$work"
environment/bin/python - <<'PYTHON'
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from homeassistant.components.calendar import CalendarEvent
from homeassistant.const import __version__
from homeassistant.exceptions import HomeAssistantError
from homeassistant.util import dt as dt_util

# In Tallinn, the hour from 03:00 to 04:00 comes twice in this night: from 00:00 and from 01:00 UTC on.
dt_util.set_default_time_zone(ZoneInfo("Europe/Tallinn"))


def error_of(start):
    """Return Home Assistant's error about an event of 30 minutes, or None."""
    try:
        CalendarEvent(start=start, end=start + timedelta(minutes=30), summary="Water heater")
    except HomeAssistantError as error:
        return str(error)
    return None


print(f"Home Assistant {__version__}, in Tallinn, an event of 30 minutes:")
errors = {}
for minutes in (-60, 0, 60):
    start = datetime(2026, 10, 25, 0, 45, tzinfo=UTC) + timedelta(minutes=minutes)
    errors[minutes] = error_of(start)
    print(f"  from {start:%H:%M} UTC: {errors[minutes] or 'accepted'}")
if errors[-60] or errors[60]:
    sys.exit("This has changed: Home Assistant also refuses an event beside the change of the clock.")
if "Expected minimum event duration" not in (errors[0] or ""):
    sys.exit("This has changed: Home Assistant no longer takes the event for one that ends before its start.")
PYTHON
