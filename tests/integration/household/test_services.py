"""The actions that answer."""

from typing import Any, Final

import pytest
import voluptuous as vol
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from custom_components.tunnihind.const import DOMAIN
from tests.support.household.home import PUBLISHED_TODAY, Home, MakeHome, instant, shaped
from tunnihind.core.market import HOUR_S, QUARTER_S

HOUR_LONG: Final = {"duration": {"hours": 1}}


async def ask(hass: HomeAssistant, action: str, **data: Any) -> dict[str, Any]:  # noqa: ANN401  an action's own
    answer: Any = await hass.services.async_call(DOMAIN, action, data, blocking=True, return_response=True)
    assert isinstance(answer, dict)
    return answer


async def test_prices_come_from_the_current_hour_on_with_the_forecast_marked(hass: HomeAssistant, home: Home) -> None:
    prices = (await ask(hass, "get_prices"))["prices"]
    hour = home.now - home.now % HOUR_S
    assert prices[0] == {
        "start": "2026-01-14T10:00:00+02:00",
        "end": "2026-01-14T11:00:00+02:00",
        "price": home.consumer_price(hour),
        "settled": True,
    }
    first_predicted = next(price for price in prices if not price["settled"])
    assert instant(first_predicted["start"]) == instant(PUBLISHED_TODAY)
    assert first_predicted["p10"] < first_predicted["price"] < first_predicted["p90"]


@pytest.mark.parametrize(("resolution", "step_s"), [("15m", QUARTER_S), ("60m", HOUR_S)])
async def test_prices_come_by_quarters_or_hours_as_asked(
    hass: HomeAssistant, make_home: MakeHome, resolution: str, step_s: int
) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"})
    hour = instant("2026-01-14T10:00:00+02:00")
    bounds = {"start": "2026-01-14T10:15:00+02:00", "end": "2026-01-14T11:00:00+02:00"}
    prices = (await ask(hass, "get_prices", **bounds, resolution=resolution))["prices"]
    consumer = [home.consumer_quarter_price(start) for start in range(hour, hour + HOUR_S, QUARTER_S)]
    expected = consumer[1:] if step_s == QUARTER_S else [round(sum(consumer) / 4, 4)]
    assert [price["price"] for price in prices] == pytest.approx(expected, abs=5.1e-5)
    assert [instant(price["end"]) - instant(price["start"]) for price in prices] == [step_s] * len(expected)


async def test_billed_by_the_hour_a_quarter_costs_the_same_as_its_hour(hass: HomeAssistant, home: Home) -> None:
    hours = (await ask(hass, "get_prices"))["prices"]
    quarters = (await ask(hass, "get_prices", resolution="15m"))["prices"]
    by_start = {instant(hour["start"]): hour["price"] for hour in hours}
    assert instant(quarters[0]["start"]) == home.now - home.now % QUARTER_S
    assert all(part["price"] == by_start[instant(part["start"]) // HOUR_S * HOUR_S] for part in quarters)


async def test_each_shape_has_the_same_prices(hass: HomeAssistant, home: Home) -> None:
    whole = (await ask(hass, "get_prices"))["prices"]
    rates = (await ask(hass, "get_prices", shape="rates"))["prices"]
    mapping = (await ask(hass, "get_prices", shape="mapping"))["prices"]
    assert rates == [{"start": item["start"], "end": item["end"], "value": item["price"]} for item in whole]
    assert {instant(time): price for time, price in mapping.items()} == {
        instant(item["start"]): item["price"] for item in whole
    }
    assert all(time.endswith("+00:00") for time in mapping)


async def test_prices_of_a_range_come_without_the_forecast_if_asked_and_in_the_homes_time_zone(
    hass: HomeAssistant, home: Home
) -> None:
    """A time without a zone is in Home Assistant's."""
    bounds = {"start": "2026-01-14T23:00:00+02:00", "end": "2026-01-15T05:00:00+02:00"}
    prices = (await ask(hass, "get_prices", **bounds, forecast=False))["prices"]
    assert [price["start"] for price in prices] == ["2026-01-14T23:00:00+02:00", "2026-01-15T00:00:00+02:00"]
    await hass.config.async_set_time_zone("Europe/Tallinn")
    prices = (await ask(hass, "get_prices", start="2026-01-14 12:00:00", end="2026-01-14 13:00:00"))["prices"]
    assert [price["start"] for price in prices] == ["2026-01-14T12:00:00+02:00"]


@pytest.mark.parametrize(
    ("action", "data", "says"),
    [
        ("get_prices", {"resolution": "30m"}, "resolution"),
        ("get_prices", {"shape": "30m"}, "shape"),
        ("find_cheapest_hours", {**HOUR_LONG, "kind": "below"}, "kind"),
        ("find_cheapest_hours", {**HOUR_LONG, "tolerance": -1}, "tolerance"),
        ("find_cheapest_hours", {**HOUR_LONG, "tolerance": "nan"}, "tolerance"),
        ("find_cheapest_hours", {**HOUR_LONG, "prefer": 1}, "prefer"),
    ],
)
async def test_an_unknown_choice_is_refused_by_the_name_of_its_field(
    hass: HomeAssistant, home: Home, action: str, data: dict[str, Any], says: str
) -> None:
    with pytest.raises(vol.Invalid, match=says):
        await ask(hass, action, **data)


async def test_what_contradicts_itself_or_the_household_is_refused_with_the_fault(
    hass: HomeAssistant, home: Home
) -> None:
    for action, data, key, placeholders in (
        ("get_prices", {"start": "2026-01-14T12:00:00Z", "end": "2026-01-14T11:00:00Z"}, "invalid_time_range", {}),
        ("get_prices", {"direction": "sell"}, "not_selling", {}),
        ("find_cheapest_hours", {**HOUR_LONG, "direction": "sell"}, "not_selling", {}),
        (
            "find_cheapest_hours",
            {"duration": {"minutes": 20}},
            "invalid_length",
            {"field": "duration", "given": "20", "most": "1440"},
        ),
        (
            "find_cheapest_hours",
            {**HOUR_LONG, "split": True, "min_piece": {"hours": 2}},
            "invalid_length",
            {"field": "min_piece", "given": "120", "most": "60"},
        ),
        ("find_cheapest_hours", {**HOUR_LONG, "min_piece": {"hours": 1}}, "split_needed", {"field": "min_piece"}),
        ("find_cheapest_hours", {**HOUR_LONG, "min_pause": {"hours": 1}}, "split_needed", {"field": "min_pause"}),
    ):
        with pytest.raises(ServiceValidationError) as refusal:
            await ask(hass, action, **data)
        assert (data, refusal.value.translation_key) == (data, key)
        assert (refusal.value.translation_placeholders or {}).items() >= placeholders.items()


async def test_the_cheapest_hours_until_a_deadline(hass: HomeAssistant, home: Home) -> None:
    deadline = instant("2026-01-14T20:00:00+02:00")
    answer = await ask(hass, "find_cheapest_hours", duration={"hours": 2}, deadline="2026-01-14T20:00:00+02:00")
    starts = range(instant("2026-01-14T11:00:00+02:00"), deadline - HOUR_S, HOUR_S)
    best = min(home.consumer_price(start) + home.consumer_price(start + HOUR_S) for start in starts)
    assert answer["found"] is True
    assert answer["average"] == pytest.approx(best / 2, abs=1e-4)
    assert instant(answer["end"]) <= deadline
    assert answer["chance"] in {0.0, 1.0}


async def test_a_job_asked_for_within_a_quarter_starts_with_the_next_one(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home(price_of=lambda _: 50.0)
    await home.add()
    await home.at(instant("2026-01-14T10:30:00+02:00"))
    home.set_clock(instant("2026-01-14T10:30:01+02:00"))
    answer = await ask(hass, "find_cheapest_hours", duration={"minutes": 15})
    assert answer["start"] == "2026-01-14T10:45:00+02:00"


async def test_a_deadline_after_the_last_price_works_like_no_deadline(hass: HomeAssistant, home: Home) -> None:
    job = {"duration": {"hours": 2}, "split": True, "horizon": "expected"}
    far = await ask(hass, "find_cheapest_hours", **job, deadline="9999-12-31T00:00:00+00:00")
    assert far == await ask(hass, "find_cheapest_hours", **job)


async def test_a_split_job_keeps_to_its_shortest_piece_and_pause(hass: HomeAssistant, home: Home) -> None:
    job = {"duration": {"hours": 4}, "split": True, "min_piece": {"hours": 2}, "min_pause": {"hours": 3}}
    answer = await ask(hass, "find_cheapest_hours", **job)
    pieces = [(instant(piece["start"]), instant(piece["end"])) for piece in answer["pieces"]]
    assert [end - start for start, end in pieces] == [2 * HOUR_S, 2 * HOUR_S]
    assert pieces[1][0] - pieces[0][1] >= 3 * HOUR_S


async def test_the_dearest_hours_come_without_a_saving(hass: HomeAssistant, home: Home) -> None:
    bounds = {"earliest": "2026-01-14T12:00:00+02:00", "deadline": "2026-01-14T20:00:00+02:00"}
    answer = await ask(hass, "find_cheapest_hours", duration={"hours": 1}, kind="dearest", **bounds)
    starts = range(instant("2026-01-14T12:00:00+02:00"), instant("2026-01-14T20:00:00+02:00"), HOUR_S)
    assert answer["average"] == pytest.approx(max(home.consumer_price(start) for start in starts), abs=1e-4)
    assert not answer.keys() & {"saving", "chance"}


async def test_an_earlier_or_later_time_is_taken_within_the_tolerance(hass: HomeAssistant, home: Home) -> None:
    bounds = {"earliest": "2026-01-14T12:00:00+02:00", "deadline": "2026-01-14T20:00:00+02:00"}
    job = {"duration": {"hours": 1}, "tolerance": 100, **bounds}
    assert (await ask(hass, "find_cheapest_hours", **job))["start"] == "2026-01-14T12:00:00+02:00"
    assert (await ask(hass, "find_cheapest_hours", **job, prefer="latest"))["start"] == "2026-01-14T19:00:00+02:00"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"price_cap": 0.5}, "above_cap"),
        ({"earliest": "2126-01-14T00:00:00+00:00", "deadline": "9999-12-31T00:00:00+00:00"}, "no_prices"),
    ],
)
async def test_without_a_window_the_answer_has_the_reason(
    hass: HomeAssistant, home: Home, data: dict[str, Any], reason: str
) -> None:
    answer = await ask(hass, "find_cheapest_hours", **HOUR_LONG, **data)
    assert answer == {"found": False, "reason": reason}


async def test_actions_say_when_no_server_is_loaded(hass: HomeAssistant, home: Home) -> None:
    await hass.config_entries.async_unload(home.entry.entry_id)
    with pytest.raises(ServiceValidationError):
        await ask(hass, "get_prices", config_entry=home.entry.entry_id)


@pytest.mark.parametrize(
    ("action", "data"),
    [("get_prices", {}), ("update_plan", {"entity_id": "binary_sensor.plan_window", "enabled": False})],
)
async def test_an_action_waits_for_a_reload_that_is_under_way(
    hass: HomeAssistant, home: Home, action: str, data: dict[str, Any]
) -> None:
    reload = hass.async_create_task(hass.config_entries.async_reload(home.entry.entry_id))
    answer = await ask(hass, action, **data)
    assert reload.done()
    assert answer


async def test_without_a_server_or_with_several_the_error_says_what_to_do(hass: HomeAssistant, home: Home) -> None:
    await home.add(entry_id="another")
    with pytest.raises(ServiceValidationError) as refusal:
        await ask(hass, "get_prices")
    assert refusal.value.translation_key == "several_servers"
    for entry in hass.config_entries.async_entries(DOMAIN):
        await hass.config_entries.async_remove(entry.entry_id)
    with pytest.raises(ServiceValidationError) as refusal:
        await ask(hass, "get_prices")
    assert refusal.value.translation_key == "no_server"


async def test_with_the_direction_sell_actions_use_selling_prices(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"selling": {"resolution": "quarter", "rows": [{"margin": 1.0}]}})
    prices = (await ask(hass, "get_prices", direction="sell", forecast=False))["prices"]
    expected = {start: round(shaped(start) / 1000 - 0.01, 4) for start in map(_start, prices)}
    assert [price["price"] for price in prices] == list(expected.values())
    found = await ask(hass, "find_cheapest_hours", direction="sell", duration={"minutes": 15})
    assert _start(found) == min(expected, key=lambda start: (expected[start], start))


def _start(item: dict[str, Any]) -> int:
    return instant(item["start"])
