"""EMHASS itself plans with the prices of a running server. By hand and weekly: `./run test-emhass`.

EMHASS has its own environment, because its pins need an older Python than ours. The variable TUNNIHIND_EMHASS names its
`emhass`.
"""

import asyncio
import csv
import json
import os
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template

from tests.support.machine.processes import Launch, Server
from tunnihind.core.market import HOUR_S
from tunnihind.web.reference import read_recipe

EMHASS: Final = os.environ["TUNNIHIND_EMHASS"]

HEATER_W: Final = 3000
HEATER_HOURS: Final = 3
BASE_LOAD_W: Final = 500

SECRETS: Final = {
    "hass_url": "",
    "long_lived_token": "",
    "time_zone": "Europe/Tallinn",
    "Latitude": 59.4,
    "Longitude": 24.7,
    "Altitude": 10,
}


def configuration(step_s: int) -> dict[str, Any]:
    """Return a house with one heater that can run at any time, without requests for its load and its sun."""
    one_heater = {
        "nominal_power_of_deferrable_loads": HEATER_W,
        "operating_hours_of_each_deferrable_load": HEATER_HOURS,
        "minimum_power_of_deferrable_loads": 0,
        "treat_deferrable_load_as_semi_cont": True,
        "set_deferrable_load_single_constant": False,
        "set_deferrable_startup_penalty": 0.0,
        "set_deferrable_max_startups": 0,
        "start_timesteps_of_each_deferrable_load": 0,
        "end_timesteps_of_each_deferrable_load": 0,
        "def_minimum_on_time": 0,
        "def_minimum_off_time": 0,
        "is_electric_load": True,
        "cost_forecast_per_deferrable_load": None,
        "deferrable_load_max_cost": 0.0,
    }
    return {
        "optimization_time_step": step_s // 60,
        "number_of_deferrable_loads": 1,
        "set_use_battery": False,
        "set_use_pv": False,
        "costfun": "cost",
        "lp_solver_mip_rel_gap": 0,
    } | {name: [value] for name, value in one_heater.items()}


COMMANDS: Final = yaml.safe_load(read_recipe("emhass.yaml", "http://tunnihind.example"))["rest_command"]


async def prices_of(server: Server, resolution: str) -> dict[str, float]:
    """Return the answer of the server to the recipe's request."""
    _, _, path = COMMANDS["tunnihind_for_emhass"]["url"].partition("http://tunnihind.example")
    prices: dict[str, float] = (await server.get(f"{path}&resolution={resolution}")).json()
    return prices


async def recipe_parameters(prices: dict[str, float], folder: Path) -> dict[str, Any]:
    """Return the data that the recipe for Home Assistant sends to EMHASS."""
    hass = HomeAssistant(str(folder))
    try:
        payload = Template(COMMANDS["emhass_dayahead"]["payload"], hass)
        sent: dict[str, Any] = json.loads(payload.async_render({"prices": prices}, parse_result=False))
    finally:
        await hass.async_stop(force=True)
    return sent


async def planned(folder: Path, parameters: dict[str, Any], step_s: int) -> list[dict[str, str]]:
    """Let EMHASS plan, and return the rows of its plan."""
    (folder / "data").mkdir()
    (folder / "config.json").write_text(json.dumps(configuration(step_s)))
    (folder / "secrets.yaml").write_text(yaml.safe_dump(SECRETS))
    steps = parameters["prediction_horizon"]
    parameters |= {"load_power_forecast": [BASE_LOAD_W] * steps, "pv_power_forecast": [0] * steps}
    process = await asyncio.create_subprocess_exec(
        EMHASS,
        *("--action", COMMANDS["emhass_dayahead"]["url"].rpartition("/")[2], "--costfun", "cost"),
        *("--config", "config.json", "--secrets", "secrets.yaml", "--data", "data"),
        *("--runtimeparams", json.dumps(parameters)),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == 0, output.decode()
    with (folder / "data" / "opt_res_latest.csv").open(newline="") as stream:
        return [*csv.DictReader(stream)]


@pytest.mark.parametrize(
    ("resolution", "step_s", "known_hours"), [("15m", 900, None), ("15m", 900, 15), ("60m", 3600, 15)]
)
async def test_emhass_heats_in_the_cheapest_known_periods_of_the_feed(
    launch: Launch, tmp_path: Path, resolution: str, step_s: int, known_hours: int | None
) -> None:
    server = launch("--demo")
    await server.until_ready()
    prices = await prices_of(server, resolution)
    if known_hours:
        until = (datetime.now(UTC) + timedelta(hours=known_hours)).isoformat()
        prices = {time: price for time, price in prices.items() if time < until}
    parameters = await recipe_parameters(prices, tmp_path)
    rows = await planned(tmp_path, parameters, step_s)

    starts = [int(datetime.fromisoformat(row["timestamp"]).timestamp()) for row in rows]
    # EMHASS counts from its nearest step, and the recipe from the nearest quarter-hour.
    hours = known_hours or 24
    assert len(rows) == parameters["prediction_horizon"]
    assert hours * HOUR_S - 2 * step_s <= len(rows) * step_s <= hours * HOUR_S + step_s
    assert all(late - early == step_s for early, late in pairwise(starts))
    assert {row["optim_status"] for row in rows} == {"Optimal"}
    for column, name in (("unit_load_cost", "load_cost_forecast"), ("unit_prod_price", "prod_price_forecast")):
        sent = {int(datetime.fromisoformat(time).timestamp()): price for time, price in parameters[name].items()}
        assert [float(row[column]) for row in rows] == pytest.approx([sent[ts] for ts in starts])

    heated = [float(row["unit_load_cost"]) for row in rows if float(row["P_deferrable0"]) > HEATER_W / 2]
    cheapest = sorted(float(row["unit_load_cost"]) for row in rows)[: HEATER_HOURS * HOUR_S // step_s]
    assert sorted(heated) == pytest.approx(cheapest)
