"""The actions that answer."""

from itertools import pairwise
from typing import Any

import pytest
import voluptuous as vol
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from custom_components.tunnihind.const import DOMAIN
from tests.support.household.home import PUBLISHED_TODAY, Home, MakeHome, instant, shaped
from tunnihind.core.market import HOUR_S, QUARTER_S


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


async def test_prices_of_a_range_without_the_forecast(hass: HomeAssistant, home: Home) -> None:
    answer = await ask(
        hass, "get_prices", start="2026-01-14T23:00:00+02:00", end="2026-01-15T05:00:00+02:00", forecast=False
    )
    assert [price["start"] for price in answer["prices"]] == ["2026-01-14T23:00:00+02:00", "2026-01-15T00:00:00+02:00"]


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


@pytest.mark.parametrize("field", ["resolution", "shape"])
async def test_an_unknown_shape_or_resolution_is_refused_by_name(hass: HomeAssistant, home: Home, field: str) -> None:
    with pytest.raises(vol.Invalid, match=field):
        await ask(hass, "get_prices", **{field: "30m"})


async def test_a_time_without_a_zone_is_in_home_assistants_time_zone(hass: HomeAssistant, home: Home) -> None:
    await hass.config.async_set_time_zone("Europe/Tallinn")
    answer = await ask(hass, "get_prices", start="2026-01-14 12:00:00", end="2026-01-14 13:00:00")
    assert [price["start"] for price in answer["prices"]] == ["2026-01-14T12:00:00+02:00"]


async def test_a_range_that_ends_before_it_starts_is_refused_by_name(hass: HomeAssistant, home: Home) -> None:
    with pytest.raises(ServiceValidationError) as refusal:
        await ask(hass, "get_prices", start="2026-01-14T12:00:00+02:00", end="2026-01-14T11:00:00+02:00")
    assert refusal.value.translation_key == "invalid_time_range"


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


async def test_a_job_for_a_time_without_prices_has_the_reason_no_prices(hass: HomeAssistant, home: Home) -> None:
    bounds = {"earliest": "2126-01-14T00:00:00+00:00", "deadline": "9999-12-31T00:00:00+00:00"}
    answer = await ask(hass, "find_cheapest_hours", duration={"hours": 1}, **bounds)
    assert answer == {"found": False, "reason": "no_prices"}


async def test_a_split_job_keeps_to_its_shortest_piece(hass: HomeAssistant, home: Home) -> None:
    job = {"duration": {"hours": 4}, "split": True, "min_piece": {"hours": 2}}
    answer = await ask(hass, "find_cheapest_hours", **job)
    lengths = [instant(piece["end"]) - instant(piece["start"]) for piece in answer["pieces"]]
    assert sum(lengths) == 4 * HOUR_S
    assert min(lengths) >= 2 * HOUR_S


async def test_a_split_job_keeps_to_its_shortest_pause(hass: HomeAssistant, home: Home) -> None:
    job = {"duration": {"hours": 4}, "split": True, "min_piece": {"hours": 1}, "min_pause": {"hours": 3}}
    pieces = (await ask(hass, "find_cheapest_hours", **job))["pieces"]
    assert len(pieces) > 1
    assert all(instant(later["start"]) - instant(one["end"]) >= 3 * HOUR_S for one, later in pairwise(pieces))


@pytest.mark.parametrize("field", ["min_piece", "min_pause"])
async def test_a_job_in_one_go_has_no_settings_of_pieces(hass: HomeAssistant, home: Home, field: str) -> None:
    with pytest.raises(ServiceValidationError, match=f"{field}.*split: true"):
        await ask(hass, "find_cheapest_hours", duration={"hours": 1}, **{field: {"hours": 1}})


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
    ("field", "value"), [("kind", "below"), ("tolerance", -1), ("tolerance", "nan"), ("prefer", 1)]
)
async def test_an_unknown_choice_is_refused_by_the_name_of_its_field(
    hass: HomeAssistant, home: Home, field: str, value: object
) -> None:
    with pytest.raises(vol.Invalid, match=field):
        await ask(hass, "find_cheapest_hours", duration={"hours": 1}, **{field: value})


async def test_without_a_window_the_answer_has_the_reason(hass: HomeAssistant, home: Home) -> None:
    answer = await ask(hass, "find_cheapest_hours", duration={"hours": 2}, price_cap=0.5)
    assert answer == {"found": False, "reason": "above_cap"}


async def test_an_impossible_job_is_refused_with_the_fault(hass: HomeAssistant, home: Home) -> None:
    with pytest.raises(ServiceValidationError) as refusal:
        await ask(hass, "find_cheapest_hours", duration={"minutes": 20})
    assert refusal.value.translation_key == "invalid_length"
    assert refusal.value.translation_placeholders == {"field": "duration", "given": "20", "most": "1440"}
    with pytest.raises(ServiceValidationError) as refusal:
        await ask(hass, "find_cheapest_hours", duration={"hours": 1}, split=True, min_piece={"hours": 2})
    assert refusal.value.translation_placeholders == {"field": "min_piece", "given": "120", "most": "60"}


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


@pytest.mark.parametrize("action", ["get_prices", "find_cheapest_hours"])
async def test_a_household_that_sells_nothing_gets_an_error(hass: HomeAssistant, home: Home, action: str) -> None:
    job = {"duration": {"hours": 1}} if action == "find_cheapest_hours" else {}
    with pytest.raises(ServiceValidationError) as error:
        await ask(hass, action, direction="sell", **job)
    assert error.value.translation_key == "not_selling"
