"""The statistics of a server that is removed and added again, and those of two servers in one home."""

from typing import Any

import pytest
from homeassistant.components.recorder.statistics import list_statistic_ids
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance

from tests.integration.household.test_services import ask
from tests.integration.past.conftest import Archive
from tests.support.household.energy_meter import METER, even, read, stored
from tests.support.household.home import MakeHome, instant
from tunnihind.api.models.service import Mode
from tunnihind.core.market import HOUR_S
from tunnihind.settings import Settings

pytestmark = pytest.mark.usefixtures("recorder_mock")

TENTH = instant("2026-01-10T00:00:00+02:00")
TWELFTH = instant("2026-01-12T00:00:00+02:00")
PRICE = "tunnihind:price_paid"
COST = "tunnihind:cost_estfeed_import"


async def fill(hass: HomeAssistant, entry_id: str, start: str = "2026-01-10") -> set[str]:
    """Import prices and costs with that entry, and return the statistics that were written."""
    prices = await ask(hass, "import_prices", config_entry=entry_id, start=start)
    costs = await ask(hass, "import_costs", config_entry=entry_id, energy=METER, start=start)
    return {prices["statistic_id"], costs["statistic_id"]}


async def own_statistics(hass: HomeAssistant) -> set[str]:
    known: list[dict[str, Any]] = await get_instance(hass).async_add_executor_job(list_statistic_ids, hass)
    return {one["statistic_id"] for one in known if one["source"] == "tunnihind"}


async def test_a_server_removed_and_added_again_continues_its_statistics(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 48))
    await archive.home.add(entry_id="first")
    await fill(hass, "first")
    await hass.config_entries.async_remove("first")
    await read(hass, even(TENTH, 72))
    await archive.home.add(entry_id="again")
    await fill(hass, "again", start="2026-01-12")
    assert await own_statistics(hass) == {PRICE, COST}
    assert min(await stored(hass, PRICE, "mean")) == TENTH
    costs = await stored(hass, COST, "change")
    assert {start: row["change"] for start, row in costs.items()} == {
        start: pytest.approx(archive.home.consumer_price(start), abs=1e-6)
        for start in range(TENTH, TWELFTH + 24 * HOUR_S, HOUR_S)
    }


async def test_two_servers_keep_their_statistics_apart_and_each_its_own(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 2))
    await archive.home.add(entry_id="home")
    await archive.home.add(entry_id="cottage")
    mine = await fill(hass, "home")
    assert mine == {PRICE, COST}
    theirs = {"tunnihind:price_paid_2", "tunnihind:cost_2_estfeed_import"}
    assert await fill(hass, "cottage") == theirs
    await hass.config_entries.async_remove("home")
    await archive.home.add(entry_id="home again")
    assert await fill(hass, "home again") == mine
    assert await fill(hass, "cottage") == theirs


async def test_two_zones_keep_their_statistics_apart_whichever_is_written_first(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    await read(hass, even(TENTH, 2))
    home = await make_home(settings=Settings(zones=("ee", "lv")))
    await home.add(entry_id="latvia", zone="LV")
    await home.add(entry_id="home")
    assert await fill(hass, "latvia") == {"tunnihind:price_paid_lv", "tunnihind:cost_lv_estfeed_import"}
    assert await fill(hass, "home") == {PRICE, COST}


@pytest.mark.parametrize("mode", ["demo", "rehearsal"])
async def test_made_up_and_past_prices_never_mix_with_those_that_were_paid(
    hass: HomeAssistant, make_home: MakeHome, mode: Mode
) -> None:
    await read(hass, even(TENTH, 2))
    home = await make_home(mode=mode)
    await home.add(rehearsal=mode == "rehearsal")
    assert await fill(hass, "entry") == {f"tunnihind:price_paid_{mode}", f"tunnihind:cost_{mode}_estfeed_import"}
