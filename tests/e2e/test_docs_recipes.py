"""Every recipe of the API reference, run as a reader would run it, against a running server."""

import asyncio
import json
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template

from tests.support import sample_views
from tests.support.api_server import HOUR, RunningServer, Serve
from tests.support.node import run_module
from tunnihind.api.served_data import ServedData
from tunnihind.market import HOUR_S, iso_utc
from tunnihind.web.recipes import RECIPES, recipe

type Document = dict[str, Any]


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    return await serve(sample_views.ordinary())


@pytest.fixture
async def body(server: RunningServer) -> Document:
    document: Document = json.loads((await server.ask("/api/v1/forecast")).body)
    return document


def code_of(file: str, server: RunningServer) -> str:
    return recipe(file, f"http://127.0.0.1:{server.port}").code


def prices_of(body: Document) -> dict[int, float]:
    """Return what a consumer is to reckon with: settled prices, and the median for the hours after them."""
    return {hour["ts"]: hour["p50Kwh"] for hour in body["forecast"]} | {h["ts"]: h["eurKwh"] for h in body["dayAhead"]}


async def run(*command: str | Path, folder: Path | None = None, stdin: str = "") -> str:
    program = shutil.which(command[0])
    if program is None:
        pytest.skip(f"needs {command[0]}")
    process = await asyncio.create_subprocess_exec(
        program,
        *command[1:],
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate(stdin.encode())
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def test_curl_prints_the_price_now_and_then_asks_for_nothing_twice(
    server: RunningServer, body: Document, tmp_path: Path
) -> None:
    for program in ("curl", "jq"):
        await run(program, "--version")
    for _ in range(2):
        output = await run("bash", "-euc", code_of("curl.sh", server), folder=tmp_path)
        assert float(output) == body["dayAhead"][0]["eurKwh"]
    assert json.loads((tmp_path / "tunnihind.json").read_text())["zone"] == "EE"
    assert 'route="/api/v1/forecast",status="304"} 1.0' in server.metrics.exposition().decode()


async def test_python_prints_the_cheapest_three_hours_in_a_row(server: RunningServer, body: Document) -> None:
    output = await run(sys.executable, "-c", code_of("python.py", server))
    instant, mean, unit = output.split("  ")[0], *output.split("  ")[1].split()
    prices = prices_of(body)
    means = {
        ts: sum(prices[ts + i * HOUR_S] for i in range(3)) / 3 for ts in sorted(prices) if ts + 2 * HOUR_S in prices
    }
    best = min(means, key=lambda ts: round(means[ts], 9))
    assert datetime.strptime(instant, "%Y-%m-%d %H:%M%z").timestamp() == best
    assert float(mean) == pytest.approx(means[best], abs=0.00006)
    assert unit.strip() == "EUR/kWh"


async def test_javascript_prints_the_price_now_and_the_forecast(server: RunningServer, body: Document) -> None:
    lines = (await run_module(code_of("javascript.js", server))).splitlines()
    assert lines[0] == f"{iso_utc(HOUR)}  {body['dayAhead'][0]['eurKwh']} EUR/kWh"
    last = body["forecast"][-1]
    assert lines[-1] == f"{last['startsAt']}  {last['p50Kwh']} ({last['p10Kwh']} to {last['p90Kwh']})"
    assert len(lines) == 1 + len(body["forecast"])


async def test_the_apexcharts_card_draws_settled_prices_and_the_band(server: RunningServer, body: Document) -> None:
    card = yaml.safe_load(code_of("apexcharts.yaml", server))
    assert card["type"] == "custom:apexcharts-card"
    entity = json.dumps({"attributes": {"dayAhead": body["dayAhead"], "forecast": body["forecast"]}})
    generators = ",".join(
        f"{json.dumps(series['name'])}: (() => {{ {series['data_generator']} }})()" for series in card["series"]
    )
    drawn = json.loads(await run_module(f"const entity = {entity};\nconsole.log(JSON.stringify({{{generators}}}));"))
    assert drawn["Settled"] == [[hour["ts"] * 1000, hour["eurKwh"]] for hour in body["dayAhead"]]
    for name, field in (("p10", "p10Kwh"), ("Forecast", "p50Kwh"), ("p90", "p90Kwh")):
        assert drawn[name] == [[hour["ts"] * 1000, hour[field]] for hour in body["forecast"]]


@pytest.mark.parametrize("view", [sample_views.ordinary(), sample_views.without_forecast(), ServedData("empty")])
async def test_evccs_tariff_has_one_price_for_every_hour(serve: Serve, view: ServedData) -> None:
    server = await serve(view)
    text = (await server.ask("/api/v1/forecast")).body.decode()
    forecast = yaml.safe_load(code_of("evcc.yaml", server))["tariffs"]["grid"]["forecast"]
    assert forecast["uri"].endswith("/api/v1/forecast")
    # evcc wants the list as a string, which is why the filter ends in `tostring`.
    rates = json.loads(json.loads(await run("jq", forecast["jq"], stdin=text)))
    assert rates == [
        {"start": iso_utc(ts), "end": iso_utc(ts + HOUR_S), "value": price}
        for ts, price in sorted(prices_of(json.loads(text)).items())
    ]


async def test_emhass_gets_the_next_24_hours_to_buy_and_to_sell(body: Document, tmp_path: Path) -> None:
    payload = yaml.safe_load(recipe("emhass.yaml", "").code)["rest_command"]["emhass_dayahead"]["payload"]
    body["dayAhead"] = body["dayAhead"][:10]
    hass = HomeAssistant(str(tmp_path))
    try:
        hass.states.async_set(
            "sensor.electricity_price", "0.1", {"dayAhead": body["dayAhead"], "forecast": body["forecast"]}
        )
        sent = json.loads(Template(payload, hass).async_render(parse_result=False))
    finally:
        await hass.async_stop(force=True)
    prices = prices_of(body)
    first = [prices[HOUR + i * HOUR_S] for i in range(24)]
    assert sent["load_cost_forecast"] == first
    market = {hour["ts"]: hour["p50"] for hour in body["forecast"]} | {h["ts"]: h["eurMwh"] for h in body["dayAhead"]}
    assert sent["prod_price_forecast"] == [round(market[HOUR + i * HOUR_S] / 1000, 5) for i in range(24)]


async def shelly(script: str, answers: list[Document], hours: int) -> list[tuple[float, bool]]:
    """Run the script for some hours and return what it switches when; our stand-in for the Shelly asks and waits."""
    stand_in = f"""
        const answers = {json.dumps(answers)};
        let now = answers[0].now * 1000;
        Date.now = () => now;
        const switched = [];
        let wake = null;
        const Timer = {{ set: (ms, again, callback) => (wake = callback) }};
        const Shelly = {{ call: (method, given, callback) => {{
          if (method === "Switch.Set") return switched.push([Math.floor(now / 1000), given.on]);
          const body = answers.find((one) => Math.floor(one.now / 3600) === Math.floor(now / 3600000));
          if (body) callback({{ code: 200, body: JSON.stringify(body) }}, 0);
          else callback(null, -104);
        }} }};
        {script}
        for (let minute = 0; minute < {hours} * 60; minute++) {{ now += 60000; wake(); }}
        console.log(JSON.stringify(switched));
    """
    return [tuple(given) for given in json.loads(await run_module(stand_in, timezone="Europe/Tallinn"))]


async def test_the_shelly_is_on_in_the_cheapest_hours_before_seven(server: RunningServer) -> None:
    answers = []
    for _ in range(19):
        answers.append(json.loads((await server.ask("/api/v1/forecast")).body))
        server.clock.instant += HOUR_S
    switched = await shelly(code_of("shelly.js", server), answers, hours=18)
    seven = HOUR + 19 * HOUR_S
    night = {ts: price for ts, price in prices_of(answers[0]).items() if HOUR <= ts < seven}
    cheapest = sorted(night, key=lambda ts: night[ts])[:3]
    assert sorted(ts // HOUR_S * HOUR_S for ts, is_on in switched if is_on) == sorted(cheapest)
    assert len(switched) == 19


async def test_the_shelly_leaves_its_switch_alone_while_there_is_no_answer(server: RunningServer) -> None:
    answer = json.loads((await server.ask("/api/v1/forecast")).body)
    switched = await shelly(code_of("shelly.js", server), [answer], hours=3)
    assert len(switched) == 1


def test_every_recipe_is_run_somewhere() -> None:
    in_home_assistant = Path(__file__).parents[1] / "integration" / "test_rest_sensor.py"
    source = Path(__file__).read_text() + in_home_assistant.read_text()
    assert [file for file in RECIPES if f'"{file}"' not in source] == []
