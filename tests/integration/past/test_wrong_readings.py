"""A meter whose count falls or rises and comes back, in Home Assistant with a real recorder."""

from collections.abc import Callable

import pytest
from homeassistant.core import HomeAssistant

from tests.integration.household.test_services import ask
from tests.integration.ledger.test_account_sensors import KILOWATTS, METER, METERED, Meter, attributes, window
from tests.integration.past.conftest import Archive
from tests.support.household.home import PLAN_ID
from tunnihind.core.market import HOUR_S

pytestmark = pytest.mark.usefixtures("recorder_mock")

MINUTE_S = 60


@pytest.mark.parametrize(
    ("first", "last"),  # minutes of the window
    [(20, 30), (-15, -5), (-5, 5), (50, 60), (55, 65), (60, 70)],
)
@pytest.mark.parametrize(
    "shown", [lambda kwh: kwh - 1, lambda kwh: kwh + 3, lambda _: 0.0], ids=["dip", "spike", "zero"]
)
async def test_the_plan_and_import_costs_count_a_meter_that_comes_back_once(
    hass: HomeAssistant, archive: Archive, first: int, last: int, shown: Callable[[float], float]
) -> None:
    """The energy of the time with wrong readings is spread evenly, so a part of it may lie outside the window."""
    home = archive.home
    meter = Meter(home)
    meter.show()
    await home.add(plans={PLAN_ID: METERED})
    begins = window(home)
    wrong = range(begins + first * MINUTE_S, begins + last * MINUTE_S)
    meter.shown_at = lambda now, kwh: shown(kwh) if now in wrong else kwh
    home.set_clock(begins - HOUR_S)
    await meter.live(begins + 2 * HOUR_S)
    total = attributes(home, "saved_total")
    assert total["hours_without_reading"] == 0
    assert KILOWATTS * 0.94 < total["energy"] < KILOWATTS * 1.001
    assert (await ask(hass, "import_costs", energy=METER))["kwh"] == pytest.approx(KILOWATTS, abs=0.02)


async def test_a_dip_that_may_be_a_reset_is_unknown_to_the_plan_and_import_costs(
    hass: HomeAssistant, archive: Archive
) -> None:
    """The meter is new. Home Assistant restarts in the middle, while the meter shows nothing."""
    home = archive.home
    meter = Meter(home)
    meter.kwh = 0.0
    meter.show()
    await home.add(plans={PLAN_ID: METERED})
    begins = window(home)
    wrong = range(begins + 16 * MINUTE_S, begins + 26 * MINUTE_S)
    meter.shown_at = lambda now, kwh: 0.0 if now in wrong else kwh
    home.set_clock(begins - HOUR_S)
    await meter.live(begins + 20 * MINUTE_S)
    await hass.config_entries.async_reload(home.entry.entry_id)
    await meter.live(begins + 2 * HOUR_S)
    total = attributes(home, "saved_total")
    assert total["hours_without_reading"] == 0.25
    assert total["energy"] == pytest.approx(KILOWATTS * 3 / 4, abs=0.02)
    answer = await ask(hass, "import_costs", energy=METER)
    assert [(one["hours"], one["reason"]) for one in answer["left_out"]] == [(1, "no_reading")]
    assert answer["kwh"] == 0
