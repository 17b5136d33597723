"""Automations on a plan's window in a home."""

from datetime import datetime

import pytest

from tests.support.hass.api import Json
from tests.support.hass.real_home import AT_ONCE_S, RealHome
from tunnihind.core.market import HOUR_S

pytestmark = pytest.mark.timeout(300)

WINDOW = "binary_sensor.heating_window"


async def test_automations_follow_a_window_over_a_restart_without_a_server(
    real_home: RealHome,
) -> None:
    # Other hours are around it, so that no window of the day before or after can touch it.
    await real_home.add_plan("Heating", 2, earliest="16:00:00", deadline="20:00:00")
    target = {"target": {"entity_id": WINDOW}}
    boiler = await switched(
        real_home,
        "Boiler",
        on={"trigger": "state", "entity_id": WINDOW, "to": "on"},
        off={"trigger": "state", "entity_id": WINDOW, "to": "off"},
    )
    floor = await switched(
        real_home,
        "Floor",
        on={"trigger": "tunnihind.window_started", **target},
        off={"trigger": "tunnihind.window_ended", **target},
    )
    shown = await real_home.hass.until_state(WINDOW, lambda state: state.attributes.get("pieces"), say="a window")
    [piece] = shown.attributes["pieces"]
    start, end = (datetime.fromisoformat(piece[name]).timestamp() for name in ("start", "end"))

    await real_home.come_to(start)
    assert [await real_home.hass.shows(each) for each in (boiler, floor)] == ["off", "off"]
    await assert_switched(real_home, boiler, floor, to="on", at=start)

    await real_home.server.kill()
    await real_home.restart_home_assistant(later=HOUR_S)
    again = await real_home.hass.until_state(WINDOW, lambda state: state.state == "on", say="on after a restart")
    assert again.attributes["pieces"] == [piece]

    await real_home.come_to(end)
    assert [await real_home.hass.shows(each) for each in (boiler, floor)] == ["on", "on"]
    await assert_switched(real_home, boiler, floor, to="off", at=end)


async def switched(real_home: RealHome, name: str, *, on: Json, off: Json) -> str:
    """Return a helper that automations with these triggers switch on and off."""
    entity_id = await real_home.hass.add_helper("input_boolean", name)
    for state, trigger in (("on", on), ("off", off)):
        await real_home.hass.add_automation(
            f"{name.lower()}_{state}",
            triggers=[trigger],
            actions=[{"action": f"input_boolean.turn_{state}", "target": {"entity_id": entity_id}}],
        )
    return entity_id


async def assert_switched(real_home: RealHome, *entities: str, to: str, at: float) -> None:
    """All of them switch at the instant, and not at the next poll."""
    for entity_id in entities:
        state = await real_home.hass.until_state(entity_id, lambda state: state.state == to, say=to)
        assert 0 <= datetime.fromisoformat(state.last_changed).timestamp() - at < AT_ONCE_S
