#!/usr/bin/env bash
# An integration's entities listen to its coordinator. In Home Assistant 2026.4.0, after one listener raised an error, the
# coordinator calls none of the listeners after it: one faulty entity freezes others. Newer versions log the error and go on.
# Arguments are another new and another old version of Home Assistant to try, such as ==2026.9.1 or '>0' (the newest).
set -euo pipefail
new=${1:-==2026.10.4}
old=${2:-==2026.4.0}
run=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/run # fetches uv if the machine has none
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/update.py" <<'PYTHON'
import asyncio
import logging
import tempfile

from homeassistant.const import __version__
from homeassistant.core import HomeAssistant
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator

logging.disable()
called = []


def listener(name, error=None):
    def listen():
        called.append(name)
        if error:
            raise error

    return listen


async def main(folder):
    hass = HomeAssistant(folder)
    coordinator = DataUpdateCoordinator(hass, logging.getLogger(), config_entry=None, name="prices")
    coordinator.async_add_listener(listener("first"))
    coordinator.async_add_listener(listener("faulty", ValueError("one entity fails")))
    coordinator.async_add_listener(listener("last"))
    try:
        coordinator.async_set_updated_data({})
    except ValueError:
        called.append("(error)")
    await hass.async_stop(force=True)


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(folder))
print(f"Home Assistant {__version__}:", *called)
PYTHON

observe() { # FOLDER VERSION EXPECTED
  "$run" uv --directory "$work" venv --quiet --python 3.14 "$1"
  "$run" uv --directory "$work" pip install --quiet --python "$1" "homeassistant$2"
  (cd "$work" && "$1/bin/python" update.py >"$1.txt")
  cat "$work/$1.txt"
  if [[ $(cat "$work/$1.txt") != *": $3" ]]; then
    echo "This has changed: the $1 version was expected to call its listeners like this: $3" >&2
    exit 1
  fi
}
observe old "$old" "first faulty (error)"
observe new "$new" "first faulty last"
