#!/usr/bin/env bash
# In the autumn night when clocks go back, an input_datetime (a helper for a date and a time) can be set to the second of two
# equal clock times, and its attribute `timestamp` says so. A time trigger that waits for this helper fires at the first of
# them, an hour too early.
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
import asyncio
import sys
from datetime import UTC, datetime
from unittest.mock import patch
from zoneinfo import ZoneInfo

from homeassistant.components.homeassistant.triggers import time as time_trigger
from homeassistant.components.input_datetime import InputDatetime
from homeassistant.const import __version__
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

HELPER = "input_datetime.wash"
EVENING = datetime(2026, 10, 24, 20, tzinfo=UTC)
# Both are 03:30 in Tallinn.
FIRST = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
SECOND = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)

dt_util.set_default_time_zone(ZoneInfo("Europe/Tallinn"))


async def fires_at(hass, wanted):
    """Set the helper to an instant, and return what the helper says and when the trigger would fire."""
    helper = InputDatetime.from_yaml({"id": "wash", "has_date": True, "has_time": True, "initial": "2026-10-01 00:00:00"})
    # Home Assistant would write the state itself for a helper that it set up.
    with patch.object(helper, "async_write_ha_state"):
        helper.async_set_datetime(timestamp=wanted.timestamp())
    hass.states.async_set(HELPER, helper.state, helper.capability_attributes | helper.extra_state_attributes)
    timers = []
    with (
        patch.object(dt_util, "now", lambda: EVENING),
        patch.object(time_trigger, "async_track_point_in_time", lambda hass, action, at: timers.append(at)),
    ):
        await time_trigger.async_attach_trigger(hass, {"at": [HELPER]}, None, {"trigger_data": {}, "variables": None})
    [timer] = timers
    return datetime.fromtimestamp(hass.states.get(HELPER).attributes["timestamp"], UTC), timer.astimezone(UTC)


async def main():
    hass = HomeAssistant(".")
    print(f"Home Assistant {__version__}, in Tallinn:")
    found = {}
    for wanted in (FIRST, SECOND):
        said, fires = found[wanted] = await fires_at(hass, wanted)
        print(f"  helper set to {wanted:%H:%M} UTC: timestamp of {said:%H:%M} UTC, and the trigger fires at {fires:%H:%M} UTC")
    await hass.async_stop(force=True)
    if found[FIRST] != (FIRST, FIRST) or found[SECOND][0] != SECOND:
        sys.exit("This has changed: the helper says another time than the one that it was set to.")
    if found[SECOND][1] != FIRST:
        sys.exit("This has changed: the trigger no longer fires an hour before the time of its helper.")


asyncio.run(main())
PYTHON
