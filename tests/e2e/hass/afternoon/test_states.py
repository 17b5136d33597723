"""The integration added to a real Home Assistant by its flow: its states and attributes have the API's values."""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.hass.expected_states import ExpectedStates, local, utc
from tests.support.hass.real_home import RealHome
from tests.support.machine.processes import UNREACHABLE_URL, until
from tunnihind.core.market import HOUR_S

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def expected(real_home: RealHome) -> ExpectedStates:
    """Return the API's data when Home Assistant has it too, because the demo's forecast gets better as it runs."""
    price = await real_home.entity("current_price")

    async def look() -> ExpectedStates | None:
        await real_home.hass.call("homeassistant.update_entity", entity_id=price)
        expected = await ExpectedStates.from_api(real_home.server)
        shown = (await real_home.shows("current_price")).attributes
        return expected if all(shown[name] == hours for name, hours in expected.lists().items()) else None

    found = await until(look, progress=lambda: len(real_home.server.log))
    assert found is not None, (
        (await real_home.shows("current_price")).attributes,
        (await ExpectedStates.from_api(real_home.server)).lists(),
    )
    return found


async def test_an_address_at_which_nobody_answers_is_refused(real_home: RealHome) -> None:
    outcome = await real_home.hass.flow("tunnihind", {"url": UNREACHABLE_URL})
    assert (outcome["type"], outcome["errors"]) == ("form", {"url": "connection_refused"})


async def test_an_address_at_which_something_else_answers_is_refused(real_home: RealHome) -> None:
    outcome = await real_home.hass.flow("tunnihind", {"url": real_home.hass.process.url})
    assert (outcome["type"], outcome["errors"]) == ("form", {"url": "not_tunnihind"})


async def test_one_server_is_added_only_once(real_home: RealHome) -> None:
    outcome = await real_home.hass.flow("tunnihind", {"url": f"{real_home.server.url}/"})
    assert (outcome["type"], outcome["reason"]) == ("abort", "already_configured")


async def test_the_entry_bears_the_server_s_identity(real_home: RealHome) -> None:
    about = (await real_home.server.get("/api/about")).json()
    diagnostics = await real_home.hass.get(f"/api/diagnostics/config_entry/{(await real_home.entry())['entry_id']}")
    assert diagnostics["data"]["about"]["version"] == about["version"]
    assert about["instanceId"] not in str(diagnostics), "an identity that finds the server on its network"


async def test_the_states_are_the_api_s_values(real_home: RealHome, expected: ExpectedStates) -> None:
    numbers = expected.numbers()
    assert {key: (await real_home.shows(key)).number for key in numbers} == numbers
    assert (await real_home.shows("settled_until")).state == utc(max(expected.settled) + HOUR_S)
    assert (await real_home.shows("tomorrow_known")).state == "on"
    assert (await real_home.shows("data_problem")).state == "off"


async def test_lists_of_a_day_have_every_hour_and_only_published_ones(expected: ExpectedStates) -> None:
    lists = expected.lists()
    assert [len(lists[name]) for name in ("raw_today", "raw_tomorrow")] == [24, 24]
    last = datetime.fromisoformat(lists["raw_tomorrow"][-1]["end"])
    assert all(datetime.fromisoformat(hour["start"]) >= last for hour in lists["raw_forecast"])
    assert len(lists["raw_forecast"]) > 24


async def test_the_first_plan_is_there_with_the_cheapest_three_hours_of_the_day(
    real_home: RealHome, expected: ExpectedStates
) -> None:
    left = sorted(price for ts, price in expected.day(0).items() if ts > expected.now)
    average = float(await real_home.hass.shows("sensor.cheapest_3_hours_average_price"))
    # Its pieces are an hour or longer and may begin at a quarter, so they cost at most the three cheapest whole hours.
    assert min(expected.day(0).values()) <= average <= round(sum(left[:3]) / 3, 4)
    assert await real_home.hass.shows("binary_sensor.cheapest_3_hours_window") == "off"


async def test_the_recorder_keeps_the_price_and_none_of_the_lists(
    real_home: RealHome, expected: ExpectedStates
) -> None:
    price = await real_home.entity("current_price")

    def recorded() -> list[tuple[str, str]]:
        file = real_home.hass.process.folder / "home-assistant_v2.db"
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            rows = database.execute(
                "select states.state, state_attributes.shared_attrs from states"
                " join states_meta using (metadata_id) join state_attributes using (attributes_id)"
                " where states_meta.entity_id = ?",
                (price,),
            )
            return rows.fetchall()

    async def look() -> list[tuple[str, str]]:
        return [row for row in recorded() if row[0] == str(expected.numbers()["current_price"])]

    rows = await until(look)
    assert rows
    assert not any(name in attributes for _, attributes in rows for name in expected.lists())


async def test_a_plan_added_on_its_page_has_its_window_at_once(real_home: RealHome, expected: ExpectedStates) -> None:
    deadline = local(expected.hour + 6 * HOUR_S)
    await real_home.add_plan("Dishwasher", 2, deadline=f"{deadline:%H:%M:%S}")
    window = await real_home.hass.until_state(
        "binary_sensor.dishwasher_window", lambda state: state.attributes.get("pieces"), say="a window"
    )
    [piece] = window.attributes["pieces"]
    start, end = (datetime.fromisoformat(piece[name]) for name in ("start", "end"))
    assert end - start == timedelta(hours=2)
    assert end <= deadline
    cost = price_between(expected, start, end)
    assert cost == min(price_between(expected, at, at + timedelta(hours=2)) for at in starts(expected, deadline))


def starts(expected: ExpectedStates, deadline: datetime) -> list[datetime]:
    """Return every quarter at which two hours can begin and end by the deadline."""
    first = -(-expected.now // 900) * 900
    return [local(ts) for ts in range(first, int(deadline.timestamp()) - 2 * HOUR_S + 1, 900)]


def price_between(expected: ExpectedStates, start: datetime, end: datetime) -> float:
    """Return the average settled price between two instants on quarters."""
    quarters = range(int(start.timestamp()), int(end.timestamp()), 900)
    return round(sum(expected.settled[ts - ts % HOUR_S] for ts in quarters) / len(quarters), 6)


async def change_prices(
    real_home: RealHome, *, vat_percent: float, margin: float, network: float, levies: float
) -> None:
    """Fill in the household's fees, in c/kWh."""
    figures: dict[str, Any] = {
        "supply": {"vat_percent": vat_percent, "margin": margin, "fees_include_vat": False},
        "network": {
            "network_day": network,
            "network_night": network,
        },
        "levies": {"excise": levies, "renewable": levies},
    }
    entry_id = (await real_home.entry())["entry_id"]
    outcome = await real_home.hass.flow(entry_id, {"next_step_id": "prices"}, figures, kind="options/flow")
    assert outcome["type"] == "create_entry", outcome


async def test_fees_added_on_the_options_page_are_in_the_price_at_once(
    real_home: RealHome, expected: ExpectedStates
) -> None:
    market = (await real_home.server.get("/api/v1/forecast")).json()["dayAhead"][0]["eurMwh"]
    await change_prices(real_home, vat_percent=24, margin=1, network=5, levies=0.5)
    price = round((market / 1000 + 0.07) * 1.24, 4)
    await real_home.until_shows("current_price", lambda state: state.number == price, say=f"{price}")
    await change_prices(real_home, vat_percent=24, margin=0, network=0, levies=0)
    price = expected.numbers()["current_price"]
    await real_home.until_shows("current_price", lambda state: state.number == price, say=f"{price}")


async def test_the_actions_answer(real_home: RealHome, expected: ExpectedStates) -> None:
    prices = (await real_home.hass.call("tunnihind.get_prices"))["prices"]
    assert [hour["settled"] for hour in prices].count(False) == len(expected.forecast)
    found = await real_home.hass.call("tunnihind.find_cheapest_hours", duration="02:00:00")
    assert found["found"] is True


async def test_nothing_is_complained_of_in_the_log(real_home: RealHome) -> None:
    assert real_home.hass.process.complaints_about_us() == []
