"""Triggers in real automations: they fire exactly when they should."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er

from tests.support.household.automations import (
    ONE_PIECE,
    automate,
    cheap_in,
    hours_from,
    put_into_one_area,
    restart,
    the_plan,
    the_server,
)
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.steering import switch
from tunnihind.core.market import HOUR_S, QUARTER_S

EVENING = "2026-01-14T20:00:00+02:00"
MIDNIGHT = instant("2026-01-15T00:00:00+02:00")
NOON = instant("2026-01-14T12:00:00+02:00")


@pytest.fixture
async def noon(make_home: MakeHome) -> Home:
    """Return a home whose plan runs for three hours from noon on."""
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3)))
    await home.add(plans={PLAN_ID: ONE_PIECE})
    return home


def window_triggers(target: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {what: {"trigger": f"tunnihind.window_{what}", "target": target} for what in ("started", "ended")}


async def test_a_window_that_is_switched_off_and_on_ends_and_starts(hass: HomeAssistant, noon: Home) -> None:
    runs = await automate(hass, window_triggers(the_plan(hass)))
    for hour, on in ((1, False), (2, True)):
        await noon.at(NOON + hour * HOUR_S)
        await switch(noon, on)
    await noon.at(NOON + 5 * HOUR_S)
    hours = (("started", 0), ("ended", 1), ("started", 2), ("ended", 3))
    assert runs == [(what, NOON + hour * HOUR_S) for what, hour in hours]


async def test_every_piece_of_a_window_starts_and_ends(hass: HomeAssistant, make_home: MakeHome) -> None:
    pieces = [NOON, NOON + 4 * HOUR_S]
    home = await make_home(price_of=cheap_in(pieces))
    await home.add(plans={PLAN_ID: {"duration": 120, "split": True}})
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await home.at(NOON + 6 * HOUR_S)
    assert runs == [(what, start + HOUR_S * (what == "ended")) for start in pieces for what in ("started", "ended")]


async def test_of_two_windows_without_a_gap_both_start_and_the_last_ends(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    begins = MIDNIGHT - 3 * HOUR_S
    home = await make_home(EVENING, PUBLISHED_TOMORROW, price_of=cheap_in(hours_from(begins, 6)))
    await home.add(plans={PLAN_ID: ONE_PIECE})
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await home.at(MIDNIGHT + 5 * HOUR_S)
    assert runs == [("started", begins), ("started", MIDNIGHT), ("ended", MIDNIGHT + 3 * HOUR_S)]


async def test_cheap_hours_over_midnight_start_and_end_once(hass: HomeAssistant, make_home: MakeHome) -> None:
    begins, ends = MIDNIGHT - 3 * HOUR_S, MIDNIGHT + 3 * HOUR_S
    home = await make_home(EVENING, PUBLISHED_TOMORROW, price_of=cheap_in(hours_from(begins, 6)))
    await home.add(plans={PLAN_ID: {"kind": "below", "price_cap": 5}})
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await home.at(MIDNIGHT + 900)
    assert instant(home.value("window_start", PLAN_ID)) == begins
    assert instant(home.value("window_end", PLAN_ID)) == ends
    await restart(home)
    await home.at(MIDNIGHT + 5 * HOUR_S)
    assert runs == [("started", begins), ("ended", ends)]


async def test_pieces_added_late_trigger_too_and_the_running_one_only_once(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    late = hours_from(MIDNIGHT + 4 * HOUR_S, 2)
    home = await make_home(EVENING, price_of=cheap_in(late))
    await home.add()
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await home.at(MIDNIGHT + 900)
    await home.publish(instant(PUBLISHED_TOMORROW))
    await home.at(MIDNIGHT + 8 * HOUR_S)
    pieces = [(MIDNIGHT, MIDNIGHT + HOUR_S), (late.start, late.stop)]
    ran = [run for start, end in pieces for run in (("started", start), ("ended", end))]
    assert [run for run in runs if run[1] >= MIDNIGHT] == ran


@pytest.mark.parametrize(
    ("now", "settled_until", "begins"),
    [
        (EVENING, PUBLISHED_TOMORROW, "2026-01-14T23:00:00+02:00"),
        ("2026-03-29T00:10:00+02:00", "2026-03-29T23:00:00+02:00", "2026-03-29T02:00:00+02:00"),
        ("2026-10-25T00:10:00+03:00", "2026-10-25T23:00:00+02:00", "2026-10-25T02:00:00+03:00"),
    ],
    ids=["midnight", "spring", "autumn"],
)
async def test_a_window_over_midnight_or_a_clock_change_starts_once_and_lasts_its_hours(
    hass: HomeAssistant, make_home: MakeHome, now: str, settled_until: str, begins: str
) -> None:
    start = instant(begins)
    home = await make_home(now, settled_until, price_of=cheap_in(hours_from(start, 3)))
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "deadline": "07:00:00"}})
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await home.at(start + 3 * HOUR_S + 1800)
    assert runs == [("started", start), ("ended", start + 3 * HOUR_S)]


async def test_a_restart_within_a_window_triggers_only_its_end(hass: HomeAssistant, noon: Home) -> None:
    await noon.at(NOON + HOUR_S)
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await restart(noon)
    assert noon.is_on("window", PLAN_ID)
    assert runs == []
    await noon.at(NOON + 4 * HOUR_S)
    assert runs == [("ended", NOON + 3 * HOUR_S)]


async def test_a_window_that_ends_during_a_restart_triggers_nothing(hass: HomeAssistant, noon: Home) -> None:
    await noon.at(NOON + HOUR_S)
    runs = await automate(hass, window_triggers(the_plan(hass)))
    await restart(noon, at=NOON + 4 * HOUR_S)
    assert not noon.is_on("window", PLAN_ID)
    assert runs == []


async def test_publication_of_a_whole_day_triggers_once(hass: HomeAssistant, home: Home) -> None:
    target = the_server(hass)
    runs = await automate(hass, {"published": {"trigger": "tunnihind.prices_published", "target": target}})
    first, second = instant("2026-01-14T14:05:00+02:00"), instant("2026-01-15T13:55:00+02:00")
    await home.at(first)
    await home.publish(instant("2026-01-15T23:00:00+02:00"))
    assert runs == []
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert runs == [("published", first)]
    await restart(home)
    await restart(home, at=second)
    assert runs == [("published", first)]
    await home.publish(instant(PUBLISHED_TOMORROW) + 24 * HOUR_S)
    assert runs == [("published", first), ("published", second)]


@pytest.mark.parametrize("native", [True, False], ids=["trigger", "state"])
async def test_published_prices_can_be_read_at_once(hass: HomeAssistant, home: Home, native: bool) -> None:
    known, average = home.state("binary_sensor", "tomorrow_known"), home.state("sensor", "average_tomorrow")
    trigger = (
        {"trigger": "tunnihind.prices_published", "target": the_server(hass)}
        if native
        else {"trigger": "state", "entity_id": known.entity_id, "to": "on"}
    )
    runs = await automate(hass, {"published": trigger}, say=f"is {{{{ states('{average.entity_id}') }}}}")
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert float(home.value("average_tomorrow")) > 0
    assert runs == [(f"is {home.value('average_tomorrow')}", home.now)]


@pytest.mark.parametrize(
    ("fees", "turns"),
    [({}, [NOON, NOON + 5 * HOUR_S]), ({"rows": [{"network_day": 5.0, "network_night": 5.0}]}, [])],
    ids=["none", "that lift it above zero"],
)
async def test_the_price_turns_negative_in_its_first_such_hour(
    hass: HomeAssistant, make_home: MakeHome, fees: dict[str, Any], turns: list[int]
) -> None:
    home = await make_home(price_of=cheap_in([*hours_from(NOON, 2), NOON + 5 * HOUR_S], cheap=-5.0))
    await home.add(options=fees)
    trigger = {"trigger": "tunnihind.price_turned_negative", "target": the_server(hass)}
    runs = await automate(hass, {"negative": trigger})
    await home.at(NOON + HOUR_S)
    await restart(home)
    await home.at(NOON + 7 * HOUR_S)
    assert runs == [("negative", at) for at in turns]


async def test_a_price_by_the_quarter_turns_negative_before_half_an_hour_below_zero(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home()
    below = {
        NOON + QUARTER_S,  # alone
        NOON + HOUR_S + 2 * QUARTER_S,
        NOON + HOUR_S + 3 * QUARTER_S,
        NOON + 2 * HOUR_S,
        NOON + 3 * HOUR_S,  # alone again
    }
    home.serve_quarters(lambda start: -5.0 if start in below else 80.0)
    await home.add(options={"billed_by": "quarter"})
    runs = await automate(
        hass, {"negative": {"trigger": "tunnihind.price_turned_negative", "target": the_server(hass)}}
    )
    seen = []
    while home.now < NOON + 4 * HOUR_S:
        await home.at(home.now - home.now % QUARTER_S + QUARTER_S)
        if home.is_on("negative_price"):
            seen.append(home.now)
    assert seen == sorted(below)
    assert runs == [("negative", NOON + HOUR_S + 2 * QUARTER_S)]


async def test_conditions_see_the_hour_in_which_the_price_crossed(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3), cheap=-5.0))
    await home.add(plans={PLAN_ID: ONE_PIECE})
    below = {"options": {"threshold": {"type": "below", "value": {"number": 0.05}}}}
    seen = " ".join(
        f"{{{{ states('{home.state('binary_sensor', key, owner).entity_id}') }}}}"
        for key, owner in (("cheap_hour", "entry"), ("negative_price", "entry"), ("window", PLAN_ID))
    )
    trigger = {"trigger": "tunnihind.price_crossed", "target": the_server(hass), **below}
    runs = await automate(hass, {"crossed": trigger}, say=seen)
    await home.at(NOON)
    assert runs == [("on on on", NOON)]


async def test_the_price_crosses_a_number_and_another_price(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3)))
    await home.add()
    average = home.state("sensor", "average_today").entity_id
    target = the_server(hass)
    crossed = {
        "below a number": {"type": "below", "value": {"number": 0.05}},
        "above a number": {"type": "above", "value": {"number": 0.05}},
        "below the day": {"type": "below", "value": {"entity": average}},
        "below cents": {"type": "below", "value": {"number": 5, "unit_of_measurement": "c/kWh"}},
        "outside of cents": {
            "type": "outside",
            "value_min": {"number": 5, "unit_of_measurement": "c/kWh"},
            "value_max": {"number": 500, "unit_of_measurement": "c/kWh"},
        },
        "below euros": {"type": "below", "value": {"number": 0.05, "unit_of_measurement": "EUR/kWh"}},
    }
    runs = await automate(
        hass,
        {
            name: {"trigger": "tunnihind.price_crossed", "target": target, "options": {"threshold": threshold}}
            for name, threshold in crossed.items()
        },
    )
    await home.at(NOON + HOUR_S)
    await restart(home)
    await home.at(NOON + 5 * HOUR_S)
    assert sorted(runs) == [
        ("above a number", NOON + 3 * HOUR_S),
        ("below a number", NOON),
        ("below cents", NOON),
        ("below euros", NOON),
        ("below the day", NOON),
        ("outside of cents", NOON),
    ]


async def test_other_entities_in_the_same_area_trigger_nothing(hass: HomeAssistant, home: Home) -> None:
    area = ar.async_get(hass).async_create("Home").id
    put_into_one_area(hass, area)
    registry = er.async_get(hass)
    others = [
        registry.async_get_or_create(
            platform, "other", key, suggested_object_id=f"other_{key}", translation_key=key, unit_of_measurement=unit
        )
        for platform, key, unit in (
            ("binary_sensor", "window", None),
            ("binary_sensor", "negative_price", None),
            ("binary_sensor", "tomorrow_known", None),
            ("sensor", "current_price", "EUR/kWh"),
        )
    ]
    for other in others:
        registry.async_update_entity(other.entity_id, area_id=area)
    own = [home.state("binary_sensor", "cheap_hour").entity_id, home.state("sensor", "next_price").entity_id]
    named = [*(other.entity_id for other in others), "binary_sensor.not_registered"]
    target = {"area_id": area, "entity_id": named}
    below = {"options": {"threshold": {"type": "below", "value": {"number": 0.05}}}}
    names = ("window_started", "window_ended", "price_turned_negative", "prices_published")
    triggers = {name: {"trigger": f"tunnihind.{name}", "target": target} for name in names}
    runs = await automate(
        hass, {**triggers, "price_crossed": {"trigger": "tunnihind.price_crossed", "target": target, **below}}
    )
    for value in ("off", "on", "off", "0.1", "0.01"):
        for entity_id in [*named, *own]:
            hass.states.async_set(entity_id, value, {"unit_of_measurement": "EUR/kWh"})
        await hass.async_block_till_done()
    assert runs == []


async def test_an_area_means_its_plans(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3)))
    await home.add(plans={"boiler": ONE_PIECE, "car": {**ONE_PIECE, "duration": 60}})
    area = ar.async_get(hass).async_create("Home").id
    put_into_one_area(hass, area)
    runs = await automate(hass, window_triggers({"area_id": area}))
    await home.at(NOON + 5 * HOUR_S)
    assert sorted(runs) == [
        ("ended", NOON + HOUR_S),
        ("ended", NOON + 3 * HOUR_S),
        ("started", NOON),
        ("started", NOON),
    ]


async def test_a_negative_selling_price_counts_if_its_entity_is_named(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 2), cheap=5.0))
    await home.add(options={"selling": {"resolution": "hour", "rows": [{"margin": 1.0}]}})
    named = {"entity_id": home.state("binary_sensor", "negative_selling_price").entity_id}
    triggers = {"all": the_server(hass), "sold": named}
    runs = await automate(
        hass,
        {name: {"trigger": "tunnihind.price_turned_negative", "target": target} for name, target in triggers.items()},
    )
    await home.at(NOON + 3 * HOUR_S)
    assert runs == [("sold", NOON)]
