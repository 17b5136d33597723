"""Every recipe of the API reference, run as a reader would run it, against a running server."""

import asyncio
import json
import shutil
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template

from tests.support import documents
from tests.support.api.api_server import HOUR, RunningServer, Serve, with_series
from tests.support.household.price_readers import EvccTariff, PredbatRates, emhass_steps, eos_prices
from tests.support.machine.node import run_module
from tests.support.pages import sample_views
from tunnihind.api.served_data import ServedSeries
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, consumer_price, iso_utc
from tunnihind.price_series import PriceSeries
from tunnihind.web.reference import RECIPE_CLIENTS, read_recipe

type Document = dict[str, Any]


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    return await serve(sample_views.ordinary())


@pytest.fixture
async def body(server: RunningServer) -> Document:
    document: Document = json.loads((await server.ask("/api/v1/forecast")).body)
    return document


def code_of(file: str, server: RunningServer) -> str:
    return read_recipe(file, f"http://127.0.0.1:{server.port}")


def prices_of(body: Document) -> dict[int, float]:
    """Return the prices for consumers: settled prices, and the median for the hours after them."""
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
    assert 'route="/api/v1/forecast",status="304"} 1.0' in server.metrics.prometheus_text().decode()


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


async def test_javascript_prints_the_prices_and_the_forecast(server: RunningServer, body: Document) -> None:
    lines = (await run_module(code_of("javascript.js", server))).splitlines()
    assert lines[0] == f"{iso_utc(HOUR)}  {body['dayAhead'][0]['eurKwh']} EUR/kWh"
    last = body["forecast"][-1]
    assert lines[-1] == f"{last['startsAt']}  {last['p50Kwh']} ({last['p10Kwh']} to {last['p90Kwh']})"
    assert len(lines) == len(body["dayAhead"]) + len(body["forecast"])


async def test_the_apexcharts_card_draws_settled_prices_and_the_band(server: RunningServer, body: Document) -> None:
    card = yaml.safe_load(code_of("apexcharts.yaml", server))
    assert card["type"] == "custom:apexcharts-card"
    entity = json.dumps({"attributes": {"dayAhead": body["dayAhead"], "forecast": body["forecast"]}})
    generators = ",".join(
        f"{json.dumps(series['name'])}: (() => {{ {series['data_generator']} }})()" for series in card["series"]
    )
    drawn = json.loads(await run_module(f"const entity = {entity};\nconsole.log(JSON.stringify({{{generators}}}));"))
    assert drawn["Market price"] == [[hour["ts"] * 1000, hour["eurKwh"]] for hour in body["dayAhead"]]
    for name, field in (("p10", "p10Kwh"), ("Forecast", "p50Kwh"), ("p90", "p90Kwh")):
        assert drawn[name] == [[hour["ts"] * 1000, hour[field]] for hour in body["forecast"]]


@pytest.fixture
async def server_of_quarters(serve: Serve) -> RunningServer:
    """Return a server of an ordinary day whose quarters are known too."""
    view = sample_views.ordinary()
    known = {hour + n * QUARTER_S: price + 3 * n - 4.5 for hour, price in view.hours.settled.items() for n in range(4)}
    quarters = ServedSeries.of(view.hours.settled, PriceSeries.of("ee", QUARTER_S, known))
    assert view.hours.run
    issued = {hour + n * QUARTER_S: said for hour, said in view.hours.issued.items() for n in range(4)}
    run = view.hours.run.as_flat_run(QUARTER_S)
    return await serve(with_series(view, QUARTER_S, settled=quarters.settled, issued=issued, run=run), now=HOUR + 612)


async def market_by_quarter(server: RunningServer) -> dict[int, float]:
    """Return the best known price of each quarter from the current one on, EUR/MWh without VAT."""
    body = json.loads((await server.ask("/api/v1/quarters")).body)
    market = {one["ts"]: one["p50"] for one in body["forecast"]} | {
        one["ts"]: one["eurMwh"] for one in body["dayAhead"]
    }
    return dict(sorted((ts, price) for ts, price in market.items() if ts >= HOUR))


async def feed(server: RunningServer, uri: str) -> str:
    """Return the answer to a program that requests an address of a recipe."""
    answer = await server.ask(uri.removeprefix(f"http://127.0.0.1:{server.port}"))
    assert answer.status == 200, answer.body
    return answer.body.decode()


async def test_evcc_pays_market_price_fees_and_vat_and_gets_the_price_less_the_margin(
    server_of_quarters: RunningServer,
) -> None:
    tariffs = yaml.safe_load(code_of("evcc.yaml", server_of_quarters))["tariffs"]
    market = await market_by_quarter(server_of_quarters)
    for name in ("grid", "feedin"):
        tariff = tariffs[name]
        assert (tariff["type"], tariff["forecast"]["source"]) == ("custom", "http")
        text = await feed(server_of_quarters, tariff["forecast"]["uri"])
        read = EvccTariff.read(text, charges=tariff["charges"], tax=tariff.get("tax", 0.0))
        for ts, price in market.items():
            expected = (price / 1000 + 0.0627) * 1.24 if name == "grid" else price / 1000 - 0.01
            assert read.at(ts) == pytest.approx(expected, abs=1e-9)


async def test_emhass_gets_what_is_paid_and_what_is_got_for_a_day_of_quarters(
    server_of_quarters: RunningServer, tmp_path: Path
) -> None:
    configuration = yaml.safe_load(code_of("emhass.yaml", server_of_quarters))
    fetch, plan = (configuration["rest_command"][name] for name in ("tunnihind_for_emhass", "emhass_dayahead"))
    *_, last = configuration["script"]["emhass_dayahead"]["sequence"]
    answer = {"status": 200, "content": json.loads(await feed(server_of_quarters, fetch["url"]))}
    hass = HomeAssistant(str(tmp_path))
    try:
        prices = Template(last["data"]["prices"], hass).async_render({"answer": answer})
        sent = json.loads(Template(plan["payload"], hass).async_render({"prices": prices}, parse_result=False))
    finally:
        await hass.async_stop(force=True)
    market = [price / 1000 for price in (await market_by_quarter(server_of_quarters)).values()][:96]
    paid = emhass_steps(json.dumps(sent["load_cost_forecast"]), HOUR, 96, QUARTER_S)
    assert paid == pytest.approx([(price + 0.0627) * 1.24 for price in market], abs=1e-5)
    got = emhass_steps(json.dumps(sent["prod_price_forecast"]), HOUR, 96, QUARTER_S)
    assert got == pytest.approx([price - 0.01 for price in market], abs=1e-5)


async def test_predbat_pays_with_vat_and_gets_without(server_of_quarters: RunningServer) -> None:
    settings = yaml.safe_load(code_of("predbat.yaml", server_of_quarters))["pred_bat"]
    midnight = ESTONIA.midnight(datetime.fromtimestamp(HOUR, ESTONIA.time_zone).date())
    paid = PredbatRates.read([await feed(server_of_quarters, settings["rates_import_octopus_url"])], midnight)
    got = PredbatRates.read([await feed(server_of_quarters, settings["rates_export_octopus_url"])], midnight)
    for ts, price in (await market_by_quarter(server_of_quarters)).items():
        assert paid.at(ts) == pytest.approx(100 * consumer_price(price, 0.24))
        assert got.at(ts) == pytest.approx(price / 10)
    # The fees of day and night cover every minute once.
    spans = [(one["start"], one["end"]) for one in settings["rates_import_override"]]
    assert spans == [("07:00:00", "22:00:00"), ("22:00:00", "07:00:00")]


async def test_eos_imports_what_is_paid(server_of_quarters: RunningServer) -> None:
    for program in ("curl", "jq"):
        await run(program, "--version")
    taken = []

    async def take(request: web.Request) -> web.Response:
        taken.append(await request.text())
        return web.Response()

    eos = web.Application()
    eos.router.add_put("/v1/prediction/import/ElecPriceImport", take)
    async with TestServer(eos) as played:
        code = code_of("eos.sh", server_of_quarters).replace("http://eos.local:8503", str(played.make_url("")))
        await run("bash", "-euc", code)
    [body] = taken
    imported = eos_prices(body)
    for ts, price in (await market_by_quarter(server_of_quarters)).items():
        assert imported[ts] == pytest.approx((consumer_price(price, 0.24) + 0.0777) / 1000)


async def shelly(script: str, answers: list[Document], hours: int) -> list[tuple[float, bool]]:
    """Run the script for some hours and return its switchings. Our stand-in for the Shelly makes requests and waits."""
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


@pytest.mark.parametrize("day", ["2025-10-25", "2026-03-28"])
async def test_the_shelly_is_on_for_three_hours_in_a_night_in_which_the_clocks_change(
    server: RunningServer, day: str
) -> None:
    """Three cheap hours come before midnight, and three after it."""
    seven = ESTONIA.midnight(date.fromisoformat(day)) + 7 * HOUR_S
    hours = range(seven, seven + 24 * HOUR_S, HOUR_S)

    def price(ts: int) -> float:
        return 0.01 if 14 <= (ts - seven) // HOUR_S < 20 else 0.1

    answers = [
        {"now": now, "forecast": [], "dayAhead": [{"ts": ts, "eurKwh": price(ts)} for ts in hours if ts >= now]}
        for now in hours
    ]
    switched = await shelly(code_of("shelly.js", server), answers, hours=22)
    assert sum(is_on for _, is_on in switched) == 3


async def test_the_shelly_leaves_its_switch_alone_without_the_price_of_the_hour(server: RunningServer) -> None:
    answer = json.loads((await server.ask("/api/v1/forecast")).body)
    answer["dayAhead"] = []
    assert await shelly(code_of("shelly.js", server), [answer], hours=1) == []


async def test_the_shelly_leaves_its_switch_alone_while_there_is_no_answer(server: RunningServer) -> None:
    answer = json.loads((await server.ask("/api/v1/forecast")).body)
    switched = await shelly(code_of("shelly.js", server), [answer], hours=3)
    assert len(switched) == 1


def test_every_recipe_is_run_somewhere() -> None:
    in_home_assistant = Path(__file__).parents[1] / "integration" / "test_rest_sensor.py"
    source = Path(__file__).read_text() + in_home_assistant.read_text()
    assert [file for file in RECIPE_CLIENTS if f'"{file}"' not in source] == []


async def test_the_guides_example_of_price_paths_runs(serve: Serve) -> None:
    server = await serve()
    (code,) = (code for kind, code in documents.fences(documents.guide("docs/api")) if kind == "python")
    code = code.replace("http://localhost:8080", f"http://127.0.0.1:{server.port}")
    low, _, high, unit = (await run(sys.executable, "-c", code)).split()
    assert float(low) <= float(high)
    assert unit == "EUR/MWh"
