"""The price sensors through a day."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity

from tests.support.household.home import PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

MIDNIGHT = instant("2026-01-15T00:00:00+02:00")
TODAY = range(instant("2026-01-14T00:00:00+02:00"), MIDNIGHT, HOUR_S)
TOMORROW = range(MIDNIGHT, instant("2026-01-16T00:00:00+02:00"), HOUR_S)


async def test_the_current_price_is_the_servers_consumer_price(home: Home) -> None:
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert float(home.value("next_price")) == home.consumer_price(hour + HOUR_S)


async def test_every_hour_of_a_day_shows_its_own_price_from_its_first_second_on(home: Home) -> None:
    await home.publish(instant(PUBLISHED_TOMORROW))
    for hour in range(TODAY.start + 11 * HOUR_S, TOMORROW.stop, HOUR_S):
        await home.at(hour)
        assert float(home.value("current_price")) == home.consumer_price(hour)


async def test_a_price_is_a_measurement_in_eur_per_kwh_without_device_class(home: Home) -> None:
    attributes = home.state("sensor", "current_price").attributes
    assert attributes["unit_of_measurement"] == "EUR/kWh"
    assert attributes["state_class"] == "measurement"
    assert "device_class" not in attributes


async def test_sensors_that_are_useful_in_a_chart_have_long_term_statistics(
    hass: HomeAssistant, make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Entity, "entity_registry_enabled_default", True)
    home = await make_home()
    sells = {"selling": {"resolution": "hour", "rows": [{"margin": 0.8}]}}
    await home.add(options=sells, plans={"car": {"energy": 20, "power": 10}})
    kept = {state.entity_id for state in hass.states.async_all("sensor") if "state_class" in state.attributes}
    registry = er.async_get(hass)
    assert {registry.entities[entity_id].translation_key for entity_id in kept} == {
        "current_price",
        "selling_price",
        "spread_today",
        "forecast_error",
        "forecast_baseline_error",
        "forecast_skill",
        "forecast_saving",
        "last_saving",
        "saved_total",
        "cost_total",
    }


async def test_entities_have_the_operators_attribution(home: Home) -> None:
    assert home.state("sensor", "current_price").attributes["attribution"] == "Tunnihind (localhost)"


async def test_today_begins_at_tallinns_midnight(
    home: Home,
) -> None:
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert [hour["value"] for hour in raw] == [home.consumer_price(start) for start in TODAY]
    assert raw[0]["start"] == "2026-01-14T00:00:00+02:00"
    assert raw[-1]["end"] == "2026-01-15T00:00:00+02:00"


@pytest.mark.parametrize("quarters", [False, True], ids=["hours", "quarters"])
async def test_yesterday_is_known_from_the_start_and_over_a_restart(
    hass: HomeAssistant, make_home: MakeHome, quarters: bool
) -> None:
    """Autumn repeats an hour that day. At its last minute Home Assistant starts again, without the server."""
    home = await make_home("2026-10-25T21:50:00+02:00", "2026-10-26T01:00:00+02:00")
    step = QUARTER_S if quarters else HOUR_S
    if quarters:
        home.serve_quarters()
    await home.add(options={"billed_by": "quarter"} if quarters else {})
    day = range(instant("2026-10-24T00:00:00+03:00"), instant("2026-10-25T00:00:00+03:00"), step)
    price = home.consumer_quarter_price if quarters else home.consumer_price

    def shown() -> list[float]:
        return [item["value"] for item in home.state("sensor", "current_price").attributes["raw_yesterday"]]

    assert shown() == [price(start) for start in day]
    await home.at(instant("2026-10-25T23:59:00+02:00"))
    await hass.config_entries.async_unload("entry")
    await home.server.runner.cleanup()
    await hass.config_entries.async_setup("entry")
    await home.settle()
    assert shown() == [price(start) for start in day]


async def test_a_server_without_yesterday_is_no_problem(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T10:20:00+02:00")
    home.known_for_s = 12 * HOUR_S
    home.serve()
    await home.add()
    assert home.state("sensor", "current_price").attributes["raw_yesterday"][0]["start"] == "2026-01-13T22:00:00+02:00"
    assert not home.is_on("data_problem")


async def test_todays_average_lowest_and_highest(home: Home) -> None:
    prices = {start: home.consumer_price(start) for start in TODAY}
    cheapest, dearest = min(prices, key=prices.__getitem__), max(prices, key=prices.__getitem__)
    assert float(home.value("average_today")) == pytest.approx(sum(prices.values()) / 24, abs=5e-5)
    assert float(home.value("lowest_today")) == prices[cheapest]
    assert float(home.value("highest_today")) == prices[dearest]
    assert instant(home.state("sensor", "lowest_today").attributes["start"]) == cheapest
    assert instant(home.state("sensor", "highest_today").attributes["end"]) == dearest + HOUR_S


async def test_tomorrow_is_unknown_until_it_is_published(home: Home) -> None:
    assert [home.value(f"{what}_tomorrow") for what in ("average", "lowest", "highest")] == ["unknown"] * 3
    assert not home.is_on("tomorrow_known")
    assert home.state("sensor", "current_price").attributes["tomorrow_valid"] is False


async def test_publication_at_two_fills_in_tomorrow(home: Home) -> None:
    await home.at(instant("2026-01-14T14:00:00+02:00"))
    await home.publish(instant(PUBLISHED_TOMORROW))
    attributes = home.state("sensor", "current_price").attributes
    assert home.is_on("tomorrow_known")
    assert [hour["value"] for hour in attributes["raw_tomorrow"]] == [home.consumer_price(start) for start in TOMORROW]
    assert attributes["tomorrow_valid"] is True
    assert float(home.value("lowest_tomorrow")) == min(home.consumer_price(start) for start in TOMORROW)


async def test_at_midnight_tomorrow_becomes_today(home: Home) -> None:
    await home.publish(instant(PUBLISHED_TOMORROW))
    await home.at(MIDNIGHT)
    assert not home.is_on("tomorrow_known")
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert [hour["value"] for hour in raw] == [home.consumer_price(start) for start in TOMORROW]
    assert float(home.value("average_today")) == pytest.approx(
        sum(home.consumer_price(start) for start in TOMORROW) / 24, abs=5e-5
    )


async def test_predicted_prices_never_pass_for_published_ones(home: Home) -> None:
    attributes = home.state("sensor", "current_price").attributes
    first_unpublished = instant(PUBLISHED_TODAY)
    assert attributes["raw_tomorrow"] == [
        {
            "start": "2026-01-15T00:00:00+02:00",
            "end": "2026-01-15T01:00:00+02:00",
            "value": home.consumer_price(MIDNIGHT),
        }
    ]
    assert instant(attributes["forecast"][0]["start"]) == first_unpublished
    assert instant(attributes["raw_forecast"][0]["start"]) == first_unpublished


async def test_the_forecast_bears_the_same_vat_as_the_prices(home: Home) -> None:
    first = home.state("sensor", "current_price").attributes["forecast"][0]
    assert home.forecast_of
    median = home.forecast_of(instant(PUBLISHED_TODAY))
    expected = [round((median + width) / 1000 * 1.24, 4) for width in (-10, 0, 10)]
    assert [first["p10"], first["p50"], first["p90"]] == expected


async def test_the_forecast_sensor_is_the_mean_median_of_the_first_unpublished_day(home: Home) -> None:
    assert home.forecast_of
    begins = instant(PUBLISHED_TODAY)
    medians = [round(home.forecast_of(begins + i * HOUR_S) / 1000 * 1.24, 4) for i in range(24)]
    state = home.state("sensor", "forecast")
    assert float(state.state) == pytest.approx(sum(medians) / 24, abs=5e-5)
    assert instant(state.attributes["start"]) == begins
    assert instant(state.attributes["end"]) == begins + 24 * HOUR_S
    assert state.attributes["p10"] < float(state.state) < state.attributes["p90"]


async def test_an_unpublished_current_hour_shows_its_forecast_as_not_settled(make_home: MakeHome) -> None:
    home = await make_home("2026-01-15T00:30:00+02:00", PUBLISHED_TODAY)
    await home.add()
    await home.at(instant(PUBLISHED_TODAY))
    state = home.state("sensor", "current_price")
    assert state.attributes["settled"] is False
    assert home.forecast_of
    assert float(state.state) == round(home.forecast_of(instant(PUBLISHED_TODAY)) / 1000 * 1.24, 4)


async def test_negative_prices_are_shown_as_they_are(make_home: MakeHome) -> None:
    home = await make_home(price_of=lambda _: -5.0)
    await home.add()
    assert home.value("current_price") == "-0.0062"
    assert home.is_on("negative_price")


async def test_a_price_that_rounds_to_zero_is_not_negative_zero(make_home: MakeHome) -> None:
    home = await make_home(price_of=lambda _: -0.01)
    await home.add()
    assert home.value("current_price") == "0.0"
    assert not home.is_on("negative_price")


async def test_level_and_cheap_hour_follow_the_days_order(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=lambda start: float(start // HOUR_S % 24))
    await home.add(options={"cheap_hours": 3})
    levels, cheap = [], []
    for hour in TODAY:
        await home.at(hour)
        levels.append(home.value("price_level"))
        cheap.append(home.is_on("cheap_hour"))
    # The day begins with the two hours that are 22:00 and 23:00 in UTC, the dearest here.
    assert cheap == [hour in {2, 3, 4} for hour in range(24)]
    assert (levels[0], levels[2], levels[11], levels[12], levels[17], levels[23]) == (
        "very_high", "very_low", "low", "normal", "high", "very_high"
    )  # fmt: skip


async def test_every_hour_of_a_flat_day_is_normal_and_the_first_six_are_cheap(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=lambda _: 50.0)
    await home.add()
    cheap = []
    for hour in TODAY:
        await home.at(hour)
        assert home.value("price_level") == "normal"
        cheap.append(home.is_on("cheap_hour"))
    assert cheap == [hour < 6 for hour in range(24)]


@pytest.mark.parametrize(
    ("day", "next_day", "published", "hours"),
    [
        ("2026-03-29T00:00:00+02:00", "2026-03-30T00:00:00+03:00", "2026-03-30T01:00:00+03:00", 23),
        ("2026-10-25T00:00:00+03:00", "2026-10-26T00:00:00+02:00", "2026-10-26T01:00:00+02:00", 25),
    ],
)
async def test_a_day_on_which_the_clocks_change_has_all_its_hours(
    make_home: MakeHome, day: str, next_day: str, published: str, hours: int
) -> None:
    home = await make_home(day, published)
    await home.add()
    shown = []
    for hour in range(instant(day), instant(next_day), HOUR_S):
        await home.at(hour)
        shown.append(float(home.value("current_price")))
    starts = range(instant(day), instant(next_day), HOUR_S)
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert len(raw) == hours
    assert len({hour["start"] for hour in raw}) == hours
    assert shown == [home.consumer_price(start) for start in starts]
    assert float(home.value("average_today")) == pytest.approx(sum(shown) / hours, abs=5e-5)
