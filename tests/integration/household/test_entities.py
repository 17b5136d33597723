"""The entities, those that are enabled at first, and their attributes in the recorder."""

import json

import pytest
from homeassistant.components.recorder.db_schema import MAX_STATE_ATTRS_BYTES, StateAttributes
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.entities.plan_sensor import WindowValueSensor
from tests.support.household.home import DEFAULT_PLAN, PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S

LISTS = {"raw_yesterday", "raw_today", "raw_tomorrow", "raw_forecast", "forecast", "rates"}


def registered(hass: HomeAssistant) -> list[er.RegistryEntry]:
    return [entry for entry in er.async_get(hass).entities.values() if entry.platform == DOMAIN]


async def enable_all(hass: HomeAssistant, home: Home) -> None:
    for entry in registered(hass):
        er.async_get(hass).async_update_entity(entry.entity_id, disabled_by=None)
    await hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()


def recorded_of(state: State) -> bytes:
    """Return the attributes that the recorder stores."""
    changed = EventStateChangedData(entity_id=state.entity_id, old_state=None, new_state=state)
    return StateAttributes.shared_attrs_bytes_from_event(Event(EVENT_STATE_CHANGED, changed), dialect=None)


async def test_a_plans_entities_are_on_its_device_and_all_others_on_the_servers(
    hass: HomeAssistant, home: Home
) -> None:
    devices = {device.name: device.id for device in dr.async_entries_for_config_entry(dr.async_get(hass), "entry")}
    for entry in registered(hass):
        assert entry.device_id == devices["Plan" if entry.config_subentry_id == PLAN_ID else "Tunnihind"]


async def test_every_entity_has_a_state_once_enabled(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T15:00:00+02:00", PUBLISHED_TOMORROW)
    await home.add(plans={PLAN_ID: {**DEFAULT_PLAN, "earliest": "15:00:00", "deadline": "07:00:00", "price_cap": 99}})
    await enable_all(hass, home)
    silent = {state.entity_id for state in hass.states.async_all() if state.state in {"unknown", "unavailable"}}
    accuracy = {
        home.state("sensor", f"forecast_{key}").entity_id for key in ("error", "baseline_error", "skill", "saving")
    }
    # No window has run yet, and the one after the present window has no prices.
    no_window = {home.state("sensor", key, PLAN_ID).entity_id for key in ("last_saving", "next_window")}
    assert silent == accuracy | no_window  # the server has no backtest
    assert instant(home.value("forecast_made_at")) == home.now
    assert instant(home.value("data_refreshed")) == home.now
    assert instant(home.value("settled_until")) == instant(PUBLISHED_TOMORROW)
    assert 1 <= int(home.value("price_rank")) <= 24
    assert home.value("window_forecast_share", PLAN_ID) == "0"


async def test_the_rank_is_the_hours_position_in_its_day(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T02:00:00+02:00", price_of=lambda start: float(start // HOUR_S % 24))
    await home.add()
    await enable_all(hass, home)
    for rank in range(1, 6):  # from midnight in UTC on ever dearer
        assert home.value("price_rank") == str(rank)
        await home.at(home.now + HOUR_S)


async def test_without_the_whole_day_there_is_no_rank(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:10:00+02:00", "2026-01-14T02:00:00+02:00")
    home.forecast_of = None
    home.serve()
    await home.add()
    await enable_all(hass, home)
    assert home.value("price_rank") == "unknown"
    assert home.value("price_level") == "unknown"
    assert home.state("binary_sensor", "cheap_hour").state == "unknown"
    assert home.value("average_today") == "unknown"
    assert home.value("forecast") == "unknown"
    assert "prices_late" in home.state("binary_sensor", "data_problem").attributes["problems"]


@pytest.mark.parametrize(
    ("now", "published"),
    [
        ("2026-01-14T15:00:00+02:00", PUBLISHED_TOMORROW),
        ("2026-10-24T15:00:00+03:00", "2026-10-26T01:00:00+02:00"),
    ],
)
async def test_the_recorder_stores_all_attributes_except_lists(
    hass: HomeAssistant, make_home: MakeHome, now: str, published: str
) -> None:
    home = await make_home(now, published)
    await home.add()
    await enable_all(hass, home)
    for state in hass.states.async_all():
        recorded = recorded_of(state)
        assert not LISTS & json.loads(recorded).keys()
        assert len(recorded) < 2_048 < MAX_STATE_ATTRS_BYTES
    assert json.loads(recorded_of(home.state("sensor", "current_price"))).keys() >= {"settled", "tomorrow_valid"}
    lists = home.state("sensor", "current_price").attributes
    assert len(json.dumps(lists["forecast"])) > 2_048


async def test_an_entity_that_fails_does_not_keep_a_device_from_running(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins = instant(home.value("window_start", PLAN_ID))

    def fail(_: WindowValueSensor) -> None:
        raise ValueError("this sensor fails")

    monkeypatch.setattr(WindowValueSensor, "native_value", property(fail))
    await home.at(begins)
    assert home.is_on("window", PLAN_ID)
