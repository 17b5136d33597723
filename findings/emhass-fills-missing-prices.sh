#!/usr/bin/env bash
# EMHASS gets prices as a mapping of times. If the mapping ends before the plan does, EMHASS repeats its last price to the end
# of the plan, and says nothing. A cheap last price then draws a device into hours whose prices nobody knows. A plan can be kept
# to the hours with prices by `prediction_horizon`, but only with the action naive-mpc-optim: dayahead-optim ignores it.
# An argument is another version of EMHASS to try, such as ==0.18.6 or '>0' (the newest).
set -euo pipefail
version=${1:-==0.18.7}
run=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/run # fetches uv if the machine has none
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$run" uv --directory "$work" venv --quiet --python '>=3.11,<3.13' environment
"$run" uv --directory "$work" pip install --quiet --python environment "emhass$version"

cd "$work"
mkdir data
# A house with a heater of 3 kW that has to run for three hours, planned by the hour.
cat >config.json <<'JSON'
{
  "optimization_time_step": 60,
  "number_of_deferrable_loads": 1,
  "nominal_power_of_deferrable_loads": [3000],
  "operating_hours_of_each_deferrable_load": [3],
  "set_use_pv": false
}
JSON
cat >secrets.yaml <<'YAML'
hass_url: ""
long_lived_token: ""
time_zone: UTC
Latitude: 59.4
Longitude: 24.7
Altitude: 10
YAML

environment/bin/python - <<'PYTHON'
import csv
import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

PLAN = Path("data/opt_res_latest.csv")
KNOWN_HOURS = 12
LAST_PRICE = 0.05

this_hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
last_known = this_hour + timedelta(hours=KNOWN_HOURS)
# From before the first hour of the plan on. Only the last price is cheap.
prices = {str(this_hour + timedelta(hours=hour)): round(0.20 + hour / 1000, 3) for hour in range(-1, KNOWN_HOURS)}
prices[str(last_known)] = LAST_PRICE


def plan(action, hours, **more):
    """Return the rows of a plan, and EMHASS's warnings and errors."""
    data = {"load_cost_forecast": prices, "load_power_forecast": [500] * hours, "pv_power_forecast": [0] * hours}
    PLAN.unlink(missing_ok=True)
    files = ["--config", "config.json", "--secrets", "secrets.yaml", "--data", "data"]
    command = ["environment/bin/emhass", "--action", action, "--costfun", "cost", *files]
    done = subprocess.run([*command, "--runtimeparams", json.dumps(data | more)], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode or not PLAN.exists():
        sys.exit(f"This has changed: EMHASS made no plan (status {done.returncode}).\n{said}")
    return [*csv.DictReader(PLAN.open())], re.findall(r".*\b(?:WARNING|ERROR|CRITICAL)\b.*", said)


print(f"EMHASS {version('emhass')}. The last known price is {LAST_PRICE} EUR/kWh, at {last_known}. Its plan of 24 hours:\n")
rows, complaints = plan("dayahead-optim", 24)
print("time                       EUR/kWh  heater, W  status")
for row in rows:
    unknown = datetime.fromisoformat(row["timestamp"]) > last_known
    cells = f"{row['unit_load_cost']:8} {row['P_deferrable0']:10} {row['optim_status'].strip()}"
    print(row["timestamp"], "", cells, "  <- no price was given" if unknown else "")
print("Warnings and errors:", complaints or "none")

invented = [row for row in rows if datetime.fromisoformat(row["timestamp"]) > last_known]
if complaints or not invented or {row["optim_status"] for row in rows} != {"Optimal"}:
    sys.exit("This has changed: EMHASS no longer plans hours without a price as if nothing were missing.")
if {float(row["unit_load_cost"]) for row in invented} != {LAST_PRICE}:
    sys.exit("This has changed: EMHASS no longer repeats the last known price.")
if not any(float(row["P_deferrable0"]) for row in invented):
    sys.exit("This has changed: the heater no longer runs in hours without a price.")

lengths = {}
for action, hours in (("dayahead-optim", 24), ("naive-mpc-optim", KNOWN_HOURS)):
    rows, _ = plan(action, hours, prediction_horizon=KNOWN_HOURS)
    lengths[action] = len(rows)
    print(f"With prediction_horizon {KNOWN_HOURS}, {action} plans {len(rows)} hours.")
if lengths != {"dayahead-optim": 24, "naive-mpc-optim": KNOWN_HOURS}:
    sys.exit("This has changed: dayahead-optim obeys prediction_horizon, or naive-mpc-optim doesn't.")
PYTHON
