"""An open card gets all fields once, and then only changes."""

from bisect import bisect_right
from dataclasses import replace
from statistics import fmean, quantiles
from types import MappingProxyType
from typing import Final

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntryDisabler, ConfigSubentry
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.card.columns import household_columns
from custom_components.tunnihind.card.contents import CardContents, ContentsBuilder
from custom_components.tunnihind.card.subscription import ENTRY_BROADCASTERS
from custom_components.tunnihind.core.market import ESTONIA
from custom_components.tunnihind.prices.days import day_at
from tests.integration.card.conftest import Cards, OpenCard, price_at
from tests.integration.household.test_options import change
from tests.support.household.home import DEFAULT_PLAN, PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.steering import switch
from tunnihind.core.market import HOUR_S, QUARTER_S

FEES: Final = {"rows": [{"margin": 0.5, "network_day": 4, "network_night": 2}]}


@pytest.fixture
async def card(home: Home, cards: Cards) -> OpenCard:
    """Return an open card of the home."""
    return await cards.open(entry_id="entry")


async def live_until(home: Home, instant: int) -> None:
    """Move time on by the minute, so that the server is polled in between."""
    while home.now < instant:
        await home.at(min(home.now + 60, instant))


async def stop_server(home: Home) -> None:
    await home.server.runner.cleanup()


async def start_server(home: Home, port: int) -> None:
    home.serve()
    await home.server.runner.setup()
    await web.TCPSite(home.server.runner, "127.0.0.1", port).start()


async def test_a_card_gets_everything_at_first_and_then_shows_what_the_sensors_show(home: Home, card: OpenCard) -> None:
    """This covers every hour of a day, and midnight, at which the next day begins; the card gets only the changes."""
    assert card.shown.keys() == CardContents.__annotations__.keys()
    for _ in range(24):
        await card.events()
        assert card.shown["prices"]["start"] == day_at(ESTONIA, home.now).start
        today = card.shown["prices"]["price"][:24]
        assert price_at(card, "prices", home.now) == float(home.value("current_price"))
        assert [min(today), max(today)] == [float(home.value(f"{which}_today")) for which in ("lowest", "highest")]
        if home.now >= instant("2026-01-14T15:00:00+02:00"):
            await home.publish(instant(PUBLISHED_TOMORROW))
        await home.at(home.now - home.now % HOUR_S + HOUR_S)


async def test_each_period_has_the_level_that_the_sensor_has_then(home: Home, card: OpenCard) -> None:
    prices, shown = card.shown["prices"], []
    start = home.now - home.now % HOUR_S
    for hour in range(start, start + 12 * HOUR_S, HOUR_S):
        await home.at(hour)
        shown.append(home.value("price_level"))
    places = prices["level"][(start - prices["start"]) // HOUR_S :][:12]
    assert [("very_low", "low", "normal", "high", "very_high")[place] for place in places] == shown


async def test_each_price_has_its_colour_by_the_servers_scale_or_the_known_prices(home: Home, card: OpenCard) -> None:
    prices = card.shown["prices"]
    known = [price for price in prices["price"] if price is not None]
    tariff, now = home.entry.runtime_data.tariff, home.entry.runtime_data.prices
    start, end = prices["start"], prices["start"] + len(prices["price"]) * HOUR_S
    assert len(now.price_scale) == 4
    for scale in (now.price_scale, ()):
        bounds = [fmean(tariff.price(bound, start + i * HOUR_S) for i in range(len(known))) for bound in scale]
        made = household_columns(replace(now, price_scale=scale), tariff, start, end)
        assert made is not None
        assert made["tint"] == [bisect_right(bounds or quantiles(known, n=5), price) for price in known]
    below = household_columns(replace(now, price_scale=(1e6,) * 4), tariff, start, end)
    assert below is not None
    assert set(below["tint"]) == {0}


async def test_colours_follow_a_new_scale_of_the_server(home: Home, card: OpenCard) -> None:
    coordinator = home.entry.runtime_data
    contents = ContentsBuilder(coordinator)
    before = contents.current_contents()["prices"]
    coordinator.prices = replace(coordinator.prices, price_scale=(1e6,) * 4)
    after = contents.current_contents()["prices"]
    assert before is not None
    assert after is not None
    assert set(after["tint"]) == {0} != set(before["tint"])


async def test_nothing_is_sent_until_the_new_hour_and_then_only_the_hour(home: Home, card: OpenCard) -> None:
    next_hour = home.now - home.now % HOUR_S + HOUR_S
    await live_until(home, next_hour - 1)
    assert await card.events() == []
    await live_until(home, next_hour)
    [event] = await card.events()
    assert event.keys() == {"now"}


async def test_new_prices_and_a_new_forecast_are_sent_when_they_come(home: Home, card: OpenCard) -> None:
    await home.publish(instant(PUBLISHED_TOMORROW))
    [event] = await card.events()
    assert event.keys() >= {"prices"}
    assert [low is None for low in card.shown["prices"]["low"][:50]] == [True] * 49 + [False]
    home.forecast_of = lambda _: 77.0
    home.serve()
    await home.poll()
    [event] = await card.events()
    assert event.keys() == {"prices"}


async def test_prices_change_with_the_households_options_and_their_parts_and_vat_add_up(
    home: Home, card: OpenCard
) -> None:
    await change(home, **FEES, unit="euros")
    [event] = await card.events()
    assert event.keys() >= {"unit", "prices"}
    assert event["unit"] == "euros"
    prices = event["prices"]
    place = prices["charged"][(home.now - prices["start"]) // HOUR_S]
    assert prices["charges"][place] == {"margin": 0.005, "network": 0.04}
    columns = zip(prices["price"], prices["market"], prices["charged"], strict=True)
    without_vat = [(price, market + sum(prices["charges"][place].values())) for price, market, place in columns]
    assert len(without_vat) > 48
    assert all(price == pytest.approx(rest * 1.24, abs=6e-5) for price, rest in without_vat)


async def test_a_home_that_begins_to_sell_sees_its_selling_prices(home: Home, card: OpenCard) -> None:
    home.serve_quarters()
    assert card.shown.get("selling", ...) is None
    await change(home, selling={"resolution": "quarter", "rows": []})
    await card.events()
    assert card.shown["selling"]["step"] == QUARTER_S
    assert price_at(card, "selling", home.now) == float(home.value("selling_price"))
    await change(home)
    await card.events()
    assert card.shown["selling"] is None


async def test_plans_come_change_their_names_and_go(hass: HomeAssistant, home: Home, card: OpenCard) -> None:
    async def names() -> list[str]:
        await home.settle()
        await card.events()
        return [each["name"] for each in card.shown["plans"]]

    [first] = card.shown["plans"]
    assert (first["id"], first["name"]) == (PLAN_ID, "Plan")
    assert first["entity_id"] == home.state("binary_sensor", "window", PLAN_ID).entity_id
    added = ConfigSubentry(
        data=MappingProxyType(dict(DEFAULT_PLAN)),
        subentry_id="boiler",
        subentry_type="plan",
        title="Boiler",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(home.entry, added)
    assert await names() == ["Plan", "Boiler"]
    hass.config_entries.async_update_subentry(home.entry, added, title="Soe vesi")
    assert await names() == ["Plan", "Soe vesi"]
    hass.config_entries.async_remove_subentry(home.entry, "boiler")
    assert await names() == ["Plan"]


async def test_a_window_that_ran_stays_beside_the_next_ones_as_long_as_its_prices_are_shown(
    make_home: MakeHome, cards: Cards
) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: {"duration": 60, "split": False, "deadline": "18:00"}})
    card = await cards.open()
    [[first]] = [each["windows"] for each in card.shown["plans"]]
    for published, now in (
        (PUBLISHED_TOMORROW, "2026-01-14T18:30:00+02:00"),
        ("2026-01-17T01:00:00+02:00", "2026-01-16T19:00:00+02:00"),
    ):
        await home.publish(instant(published))
        await home.at(instant(now))
        await card.events()
        [windows] = [each["windows"] for each in card.shown["plans"]]
        assert windows[0] == first
        assert len(windows) > 1


async def test_a_plan_that_is_switched_off_shows_only_past_pieces(make_home: MakeHome, cards: Cards) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: {"duration": 240, "split": False, "deadline": "18:00"}})
    card = await cards.open()
    [[[[start, _]]]] = [each["windows"] for each in card.shown["plans"]]
    await home.at(start + HOUR_S)
    await switch(home, on=False)
    await card.events()
    assert [each["windows"] for each in card.shown["plans"]] == [[[[start, start + HOUR_S]]]]


async def test_a_lost_server_is_reported_once_with_its_time(home: Home, card: OpenCard) -> None:
    port, answered_at = home.server.port, home.now
    await stop_server(home)
    await home.at(home.now + HOUR_S // 2)
    await card.events()
    assert card.shown["problems"] == ["server_unreachable"]
    assert card.shown["lost_since"] == answered_at
    await home.at(home.now - home.now % HOUR_S + HOUR_S)
    assert [event.keys() for event in await card.events()] == [{"now"}]
    await start_server(home, port)
    await home.poll()
    await card.events()
    assert (card.shown["problems"], card.shown["lost_since"]) == ([], None)


async def test_stored_prices_are_shown_after_a_restart_without_the_server(home: Home, card: OpenCard) -> None:
    before = dict(card.shown)
    await stop_server(home)
    await home.hass.config_entries.async_reload("entry")
    await home.settle()
    events = await card.events()
    assert [event["state"] for event in events if "state" in event] == ["starting", "ready"]
    assert not any("prices" in event for event in events), "the prices are the same as before"
    assert card.shown["prices"] == before["prices"]


async def test_an_open_card_follows_a_server_that_answers_only_later(make_home: MakeHome, cards: Cards) -> None:
    home = await make_home()
    port = home.server.port
    await stop_server(home)
    await home.add()
    card = await cards.open()
    assert card.shown == {"state": "retrying"}
    await start_server(home, port)
    await home.at(home.now + 60)
    await card.events()
    assert card.shown["state"] == "ready"
    assert price_at(card, "prices", home.now) == float(home.value("current_price"))


async def test_a_disabled_entry_has_nothing_to_show_until_it_is_enabled(home: Home, card: OpenCard) -> None:
    for disabled_by, state in ((ConfigEntryDisabler.USER, "stopped"), (None, "ready")):
        await home.hass.config_entries.async_set_disabled_by("entry", disabled_by)
        await home.settle()
        await card.events()
        assert card.shown["state"] == state


async def test_a_removed_entry_is_reported_and_sends_no_more_requests(home: Home, card: OpenCard, cards: Cards) -> None:
    await home.hass.config_entries.async_remove("entry")
    await home.settle()
    await card.events()
    assert card.shown["state"] == "removed"
    assert await cards.refusal() == (
        "not_found",
        "Tunnihind has no server yet: add it under Settings → Devices & services",
    )
    assert (await cards.refusal(entry_id="entry"))[0] == "not_found"


async def test_all_open_cards_get_events_and_a_closed_one_does_not(home: Home, cards: Cards) -> None:
    listeners = len(home.entry.runtime_data._listeners)
    one, other = await cards.open(), await cards.open()
    await one.close()
    await live_until(home, home.now - home.now % HOUR_S + HOUR_S)
    assert await one.events() == []
    [event] = await other.events()
    assert event.keys() == {"now"}
    await other.close()
    assert len(home.entry.runtime_data._listeners) == listeners, "closed cards cost something"


async def test_a_card_names_an_entry_or_any_of_its_entities_or_nothing(home: Home, cards: Cards) -> None:
    price = home.state("sensor", "current_price").entity_id
    window = home.state("binary_sensor", "window", PLAN_ID).entity_id
    named: list[dict[str, str]] = [{"entry_id": "entry"}, {"entity_id": price}, {"entity_id": window}, {}]
    for of in named:
        await cards.open(None, **of)
    assert [len(broadcaster.cards) for broadcaster in home.hass.data[ENTRY_BROADCASTERS].values()] == [4]


async def test_a_wrong_name_is_refused_with_its_field(hass: HomeAssistant, home: Home, cards: Cards) -> None:
    refusals = [await cards.refusal(entry_id="nowhere"), await cards.refusal(entity_id="sensor.nowhere")]
    assert refusals == [
        ("not_found", "entry_id: nowhere is no entry of Tunnihind"),
        ("not_found", "entity_id: sensor.nowhere is no entity of Tunnihind"),
    ]


async def test_the_default_is_the_first_entry_with_todays_prices(make_home: MakeHome, cards: Cards) -> None:
    """A rehearsal beside the home's own server must not take its place."""
    for entry_id, rehearsal in (("past", True), ("first", False), ("second", False)):
        home = await make_home(mode="rehearsal" if rehearsal else "live")
        await home.add(entry_id=entry_id, rehearsal=rehearsal)
    await cards.open()
    assert home.hass.data[ENTRY_BROADCASTERS].keys() == {"first"}
    assert (await cards.open(entry_id="past")).shown["mode"] == "rehearsal"
