"""The guide's settings for other programs: each program reads the paid prices from Home Assistant by its own rules."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any, Final

import pytest
import yaml
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from tests.integration.household.test_entities import enable_all
from tests.support import documents
from tests.support.household.home import PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.price_readers import (
    EvccTariff,
    HaeoSeries,
    PredbatRates,
    emhass_steps,
    ev_smart_charging_prices,
)
from tunnihind.core.market import HOUR_S, QUARTER_S

MIDNIGHT: Final = instant("2026-01-14T00:00:00+02:00")
AFTERNOON: Final = "2026-01-14T15:20:00+02:00"
DAY_S: Final = 24 * HOUR_S

type Paid = Callable[[int], float]
"""The household's price at an instant, EUR/kWh: published, or the median of its forecast."""


@pytest.fixture(params=["hour", "quarter"])
async def home(request: pytest.FixtureRequest, hass: HomeAssistant, make_home: MakeHome) -> Home:
    """Return a home in the afternoon, billed by the hour and by the quarter, with all its entities."""
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW)
    home.serve_quarters()
    await home.add(options={"billed_by": request.param})
    await enable_all(hass, home)
    return home


@pytest.fixture
def paid(home: Home) -> Paid:
    timeline = home.entry.runtime_data.prices.timeline

    def at(ts: int) -> float:
        period = timeline.period_at(ts)
        assert period is not None
        return float(period.price)

    return at


def setting(program: str) -> str:
    """Return the setting for that program from the guide's table."""
    [row] = re.findall(rf"^\| {program} \| (.*) \|$", documents.section("For other programs"), re.MULTILINE)
    [first, *_] = documents.codes(row)
    return first.replace("\\|", "|")


def named_entity(hass: HomeAssistant, program: str) -> State:
    [entity_id] = re.findall(r"sensor\.\w+", setting(program))
    state = hass.states.get(entity_id)
    assert state is not None
    # As it comes over the wire.
    return State(entity_id, state.state, json.loads(json_dumps(dict(state.attributes))))


def known_until(home: Home) -> int:
    return int(home.entry.runtime_data.prices.timeline.periods[-1].end)


def quarters(first: int, last: int) -> range:
    return range(first, last, QUARTER_S)


def jq(program: str, document: str) -> str:
    return subprocess.run(["jq", "-r", program], input=document, capture_output=True, text=True, check=True).stdout


def emhass_script() -> list[dict[str, Any]]:
    """Return the script that the guide describes, with a request whose data can be seen."""
    guide = documents.section("For other programs")
    steps = documents.codes(" ".join(re.findall(r"^\d\. .*(?:\n   .*)*", guide, re.MULTILINE)))
    get_prices, *fields, stop = steps
    data = yaml.safe_load("\n".join(fields))
    [row] = re.findall(r"^\| EMHASS \|.*", guide, re.MULTILINE)
    request = yaml.safe_load("\n".join(documents.codes(row.replace("\\|", "|"))))
    response = {"response_variable": data.pop("response_variable")}
    return [
        {"action": get_prices, "data": data, **response},
        yaml.safe_load(stop),
        {"event": "request", "event_data": request},
    ]


async def emhass_requests(hass: HomeAssistant) -> list[dict[str, Any]]:
    """Run the guide's script, and return the data of the requests to EMHASS."""
    requests = async_capture_events(hass, "request")
    assert await async_setup_component(hass, "script", {"script": {"plan": {"sequence": emhass_script()}}})
    await hass.services.async_call("script", "plan", blocking=True)
    return [event.data for event in requests]


async def test_emhass_gets_each_quarter_of_a_day_from_the_nearest_on(
    hass: HomeAssistant, home: Home, paid: Paid
) -> None:
    [request] = await emhass_requests(hass)
    start = (home.now + QUARTER_S // 2) // QUARTER_S * QUARTER_S
    assert 95 <= request["prediction_horizon"] <= 96
    steps = emhass_steps(json_dumps(request["load_cost_forecast"]), start, request["prediction_horizon"], QUARTER_S)
    assert steps == pytest.approx([paid(start + step * QUARTER_S) for step in range(request["prediction_horizon"])])


@pytest.mark.parametrize(
    ("now", "planned"),
    [("11:00", [52]), ("12:00", [48]), ("12:07", [48]), ("12:08", []), ("12:30", []), ("23:59", [])],
)
async def test_emhass_plans_known_quarters_only_and_at_least_12_hours(
    hass: HomeAssistant, make_home: MakeHome, now: str, planned: list[int]
) -> None:
    home = await make_home(f"2026-01-14T{now}:00+02:00", "2026-01-15T00:00:00+02:00")
    home.forecast_of = None
    home.serve()
    await home.add()
    requests = await emhass_requests(hass)
    assert [request["prediction_horizon"] for request in requests] == planned
    assert [len(request["load_cost_forecast"]) for request in requests] == planned


async def test_predbat_knows_every_minute_to_the_end_of_the_forecast(
    hass: HomeAssistant, home: Home, paid: Paid
) -> None:
    assert setting("Predbat").startswith("metric_octopus_import: ")
    rates = PredbatRates.read_attributes(named_entity(hass, "Predbat").attributes, MIDNIGHT)
    every = quarters(MIDNIGHT, known_until(home))
    assert [rates.at(ts) for ts in every] == pytest.approx([paid(ts) * 100 for ts in every])


async def test_haeo_takes_the_price_of_each_quarter_to_the_end_of_the_list(
    hass: HomeAssistant, home: Home, paid: Paid
) -> None:
    series = HaeoSeries.read(named_entity(hass, "HAEO").attributes)
    assert series.unit == "EUR/kWh"
    every = quarters(home.now - home.now % QUARTER_S, known_until(home))
    taken = [series.mean(max(ts, home.now), ts + QUARTER_S, now=home.now) for ts in every]
    assert taken == pytest.approx([paid(ts) for ts in every], abs=1e-6)


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
async def test_evcc_gets_one_rate_after_the_other(hass: HomeAssistant, home: Home, paid: Paid) -> None:
    blocks = map(yaml.safe_load, documents.blocks("yaml"))
    [forecast] = [block["tariffs"]["grid"]["forecast"] for block in blocks if "tariffs" in block]
    [entity_id] = re.findall(r"/api/states/(sensor\.\w+)$", forecast["uri"])
    state = hass.states.get(entity_id)
    assert state is not None
    answer = json_dumps(state.as_dict())
    tariff = EvccTariff.read(await hass.async_add_executor_job(jq, forecast["jq"], answer))
    assert [tariff.at(ts) for ts in quarters(MIDNIGHT, known_until(home))] == [
        paid(ts) for ts in quarters(MIDNIGHT, known_until(home))
    ]


async def test_ev_smart_charging_gets_the_published_prices_of_today_and_tomorrow(
    hass: HomeAssistant, home: Home, paid: Paid
) -> None:
    prices = ev_smart_charging_prices(named_entity(hass, "EV Smart Charging").attributes)
    assert min(prices) == MIDNIGHT
    assert max(prices) + HOUR_S >= MIDNIGHT + 2 * DAY_S
    assert prices == {start: paid(start) for start in prices}


@pytest.mark.parametrize("heading", ["For other programs", "What stored energy is worth", "The server's chart"])
async def test_the_estonian_guide_has_the_same_settings(heading: str) -> None:
    both = [
        {re.sub(r"\W+", "", code) for code in documents.codes(documents.section(heading, language))}
        for language in documents.LANGUAGES
    ]
    assert both[0] == both[1]
