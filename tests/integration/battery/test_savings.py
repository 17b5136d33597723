"""What a battery really saved, by the home's meters in a real recorder."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import pytest
from aiohttp import web
from homeassistant.components.recorder.db_schema import StatisticsShortTerm
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from tests.integration.ledger.test_account_sensors import compile_statistics
from tests.support.api.api_server import no_prices
from tests.support.household.automations import restart
from tests.support.household.battery import (
    BATTERY,
    BATTERY_ID,
    FIVE_MIN_S,
    GRID,
    LOAD,
    ROOF,
    STORE,
    charge,
    count,
    count_by_five_minutes,
    entity,
    forecast_sun,
    set_up_dashboard,
)
from tests.support.household.energy_meter import METER, read, read_counter
from tests.support.household.home import DAY_S, PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant, iso
from tests.support.household.recording_proxy import RecordingProxy
from tests.support.household.steering import call
from tunnihind.api.history import ReadMonthPrices
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries

pytestmark = pytest.mark.usefixtures("recorder_mock")

MIDNIGHT = instant("2026-01-14T00:00:00+02:00")
SELLING = {"selling": {"resolution": "hour", "rows": [{"margin": 1.0}]}}
# A kWh costs 12.4 cents in even hours and 24.8 cents in odd hours, with the VAT of 24%.
CHEAP, DEAR = 100.0, 200.0


def in_turns(start: int) -> float:
    return DEAR if (start - MIDNIGHT) // HOUR_S % 2 else CHEAP


async def home_at_midnight(
    make_home: MakeHome,
    now: str = "2026-01-14T00:00:00+02:00",
    settled_until: str = PUBLISHED_TOMORROW,
    read_prices: ReadMonthPrices = no_prices,
) -> Home:
    """Return a home with a half full battery, whose Energy dashboard has all meters but the sun's."""
    home = await make_home(now, settled_until, price_of=in_turns, read_prices=read_prices)
    await count(home, LOAD)
    charge(home.hass, 50)
    await set_up_dashboard(home.hass, GRID, STORE)
    return home


async def add(home: Home, options: Mapping[str, Any] | None = None, **changes: object) -> None:
    await home.add(options=options, batteries={BATTERY_ID: {**BATTERY, **changes}})


def saved(home: Home) -> float:
    return float(home.value("saved_total", BATTERY_ID))


def told(home: Home) -> Mapping[str, Any]:
    return home.state("sensor", "saved_total", BATTERY_ID).attributes


async def test_the_saving_is_what_the_home_paid_against_a_home_without_battery(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    # At 0:00 the home uses 1 kWh and the battery charges 3. At 1:00 the home uses .5 kWh and the battery gives 2.5.
    await count_by_five_minutes(
        home, MIDNIGHT, {"import": [4, 0], "export": [0, 2], "charged": [3, 0], "discharged": [0, 2.5]}
    )
    await add(home, SELLING, wear=2)
    assert saved(home) == 0
    await home.at(MIDNIGHT + 2 * HOUR_S)
    # Paid: 4 × .124 - 2 × .19 = .116. Without the battery: 1 × .124 + .5 × .248 = .248. Wear: 2.5 × .02 = .05.
    assert saved(home) == pytest.approx(0.248 - 0.116 - 0.05)
    assert {name: told(home)[name] for name in ("paid", "without_battery", "wear", "charged", "discharged")} == {
        "paid": 0.116, "without_battery": 0.248, "wear": 0.05, "charged": 3.0, "discharged": 2.5,
    }  # fmt: skip
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (2, 0)
    assert (told(home)["state_class"], told(home)["last_reset"]) == ("total", iso(MIDNIGHT))
    assert "missing" not in told(home)


async def test_stored_sun_costs_what_selling_it_would_have_brought(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await set_up_dashboard(home.hass, GRID, STORE, ROOF)
    forecast_sun(home.hass, {MIDNIGHT: 0})
    await count_by_five_minutes(
        home, MIDNIGHT, {"import": [0, 0], "export": [0, 0], "charged": [2, 0], "discharged": [0, 1.8]}
    )
    await add(home, SELLING)
    await home.at(MIDNIGHT + 2 * HOUR_S)
    assert saved(home) == pytest.approx(1.8 * 0.248 - 2 * 0.09)


async def test_a_household_that_sells_nothing_gets_nothing_for_its_surplus(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(
        home, MIDNIGHT, {"import": [0, 0], "export": [1, 0], "charged": [2, 0], "discharged": [0, 1.8]}
    )
    await add(home)
    await home.at(MIDNIGHT + 2 * HOUR_S)
    assert saved(home) == pytest.approx(1.8 * 0.248)


@pytest.mark.parametrize(
    ("sources", "options", "missing"),
    [
        ([GRID], None, ["charge_meter", "discharge_meter"]),
        ([STORE], None, ["import_meter"]),
        ([STORE], SELLING, ["import_meter", "export_meter"]),
        ([{**GRID, "stat_energy_to": None}, STORE, ROOF], None, ["export_meter"]),
        ([], None, ["import_meter", "charge_meter", "discharge_meter"]),
        ([GRID, STORE], None, ["discharge_meter"]),
    ],
    ids=["no battery", "no grid", "selling", "a roof", "empty", "no reading"],
)
async def test_without_a_meter_there_is_no_saving_and_the_meter_is_named(
    make_home: MakeHome, sources: list[Any], options: Mapping[str, Any] | None, missing: list[str]
) -> None:
    home = await home_at_midnight(make_home)
    await set_up_dashboard(home.hass, *sources)
    await count_by_five_minutes(home, MIDNIGHT, {"import": [1, 1], "export": [0, 0], "charged": [0, 0]})
    await add(home, options)
    await home.at(MIDNIGHT + HOUR_S)
    assert home.value("saved_total", BATTERY_ID) == "unknown"
    assert told(home)["missing"] == missing


async def test_the_missing_meters_are_named_at_once(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await set_up_dashboard(home.hass, STORE)
    await add(home)
    assert told(home)["missing"] == ["import_meter"]


async def test_a_home_that_neither_sells_nor_has_sun_needs_no_meter_of_sold_energy(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await set_up_dashboard(home.hass, {**GRID, "stat_energy_to": None}, STORE)
    await count_by_five_minutes(home, MIDNIGHT, {"import": [3], "charged": [2], "discharged": [0]})
    await add(home)
    await home.at(MIDNIGHT + HOUR_S)
    assert saved(home) == pytest.approx(-2 * 0.124)


async def test_meters_of_the_form_count_in_place_of_the_dashboards(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(
        home, MIDNIGHT, {"better": [0.5], "import": [3], "export": [0], "charged": [2], "discharged": [0]}
    )
    await add(home, charge_meter="sensor.better")
    await home.at(MIDNIGHT + HOUR_S)
    assert saved(home) == pytest.approx(-0.5 * 0.124)


async def test_hours_in_which_a_meter_was_not_read_are_counted_and_never_guessed(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(
        home,
        MIDNIGHT,
        {
            "import": [3, 3, 3, 3, 3],
            "export": [0, 0, 0, 0, 0],
            "charged": [2, 2, None, 2, 2],
            "discharged": [0, 0, 0, 0, 0],
        },
    )
    await add(home)
    await home.at(MIDNIGHT + 5 * HOUR_S)
    # The count at 3:00 is not known, so neither is the energy of the hour after it.
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (3, 2)
    assert saved(home) == pytest.approx(-2 * (0.124 + 0.248 + 0.124))


async def test_a_reading_that_comes_within_two_days_still_counts(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(home, MIDNIGHT, {"import": [3], "export": [0], "charged": [2]})
    await count_by_five_minutes(home, MIDNIGHT - DAY_S, {"discharged": [0]})
    await add(home)
    await home.at(MIDNIGHT + 5 * HOUR_S)
    assert (saved(home), told(home)["hours_without_reading"]) == (0, 5)
    await count_by_five_minutes(home, MIDNIGHT, {"discharged": [0]})
    await home.at(MIDNIGHT + 6 * HOUR_S)
    assert saved(home) == pytest.approx(-2 * 0.124)
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (1, 5)


async def test_a_meter_that_starts_again_at_zero_or_dips_is_read_rightly(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(home, MIDNIGHT, {"import": [3, 3], "export": [0, 0], "discharged": [0, 0]})
    counts = [1_000 + index / 10 for index in range(25)]
    counts[5] = 0.0  # a dip
    counts[15:] = [index / 10 for index in range(10)]  # a new start
    readings, total = {}, 1_000.0
    for index, counted in enumerate(counts):
        if index and index != 15:
            total += 0.1
        readings[MIDNIGHT + (index - 1) * FIVE_MIN_S] = counted, total
    await read_counter(home.hass, "sensor.charged", readings, StatisticsShortTerm)
    await add(home)
    await home.at(MIDNIGHT + 2 * HOUR_S)
    assert told(home)["charged"] == pytest.approx(1.2 + 1.1)
    assert saved(home) == pytest.approx(-1.2 * 0.124 - 1.1 * 0.248)


async def test_only_hours_with_the_plan_switched_on_count(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(
        home, MIDNIGHT, {"import": [3] * 6, "export": [0] * 6, "charged": [2] * 6, "discharged": [0] * 6}
    )
    await add(home)
    await home.at(MIDNIGHT + HOUR_S + QUARTER_S)
    await call(home, "switch.turn_off", entity_id=entity(home, "switch", "enabled"))
    await home.at(MIDNIGHT + 3 * HOUR_S + QUARTER_S)
    assert told(home)["hours"] == 1
    await call(home, "switch.turn_on", entity_id=entity(home, "switch", "enabled"))
    await home.at(MIDNIGHT + 6 * HOUR_S)
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (3, 0)
    assert saved(home) == pytest.approx(-2 * (0.124 + 0.124 + 0.248))


async def test_the_saving_survives_a_restart_and_goes_on(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(
        home, MIDNIGHT, {"import": [3] * 4, "export": [0] * 4, "charged": [2] * 4, "discharged": [0] * 4}
    )
    await add(home, SELLING)
    await home.at(MIDNIGHT + HOUR_S + QUARTER_S)
    before = home.state("sensor", "saved_total", BATTERY_ID)
    await restart(home)
    after = home.state("sensor", "saved_total", BATTERY_ID)
    assert (before.state, before.attributes) == (after.state, after.attributes)
    await home.at(MIDNIGHT + 3 * HOUR_S)
    # The hour of the restart doesn't count: its first reading may contain the energy of the time before.
    assert told(home)["hours"] == 2
    assert saved(home) == pytest.approx(-2 * (0.124 + 0.124))


async def test_quarters_are_paid_by_the_quarter(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    home.serve_quarters(lambda start: 100.0 * (1 + start % HOUR_S // QUARTER_S))
    # The battery charges with 4 kW in the first quarter, and covers 3 kW in the last.
    nothing = [0.0] * 12
    powers = {"import": [4.0] * 3 + [0.0] * 9, "export": nothing, "discharged": [0.0] * 9 + [3.0] * 3}
    for meter, by_five_minutes in {**powers, "charged": powers["import"]}.items():
        counts = accumulate((kw * FIVE_MIN_S / HOUR_S for kw in by_five_minutes), initial=1_000.0)
        readings = {MIDNIGHT + (index - 1) * FIVE_MIN_S: (count, count) for index, count in enumerate(counts)}
        await read_counter(home.hass, f"sensor.{meter}", readings, StatisticsShortTerm)
    await add(home, {"billed_by": "quarter"})
    await home.at(MIDNIGHT + HOUR_S)
    assert told(home)["hours"] == 1
    assert saved(home) == pytest.approx(0.75 * 0.496 - 1 * 0.124)


async def test_an_hourly_meter_is_read_for_hours_and_never_for_quarters(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    home.serve_quarters(in_turns)
    await set_up_dashboard(home.hass, {**GRID, "stat_energy_from": METER}, STORE)
    await count_by_five_minutes(home, MIDNIGHT, {"export": [0] * 4, "charged": [2] * 4, "discharged": [0] * 4})
    await add(home)
    await home.at(MIDNIGHT + 2 * HOUR_S)
    await read(home.hass, {MIDNIGHT - HOUR_S: 3.0, MIDNIGHT: 3.0, MIDNIGHT + HOUR_S: 3.0, MIDNIGHT + 2 * HOUR_S: 3.0})
    await home.at(MIDNIGHT + 2 * HOUR_S + QUARTER_S)
    assert saved(home) == pytest.approx(-2 * (0.124 + 0.248))
    home.hass.config_entries.async_update_entry(home.entry, options={"billed_by": "quarter"})
    await home.at(MIDNIGHT + 3 * HOUR_S)
    assert told(home)["hours"] == 2
    assert told(home)["hours_without_reading"] == 1.0


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29T00:00:00+02:00", 23), ("2026-10-25T00:00:00+03:00", 25)])
async def test_each_hour_of_a_day_on_which_clocks_change_counts(make_home: MakeHome, day: str, hours: int) -> None:
    start = instant(day)
    home = await make_home(day, iso(start + 2 * DAY_S), price_of=in_turns)
    await count(home, LOAD)
    charge(home.hass, 50)
    await set_up_dashboard(home.hass, GRID, STORE)
    await count_by_five_minutes(
        home,
        start,
        {"import": [3] * hours, "export": [0] * hours, "charged": [2] * hours, "discharged": [0] * hours},
    )
    await add(home)
    await home.at(start + hours * HOUR_S)
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (hours, 0)
    prices = [home.consumer_price(start + hour * HOUR_S) for hour in range(hours)]
    assert saved(home) == pytest.approx(-2 * sum(prices), abs=1e-3)


async def test_the_plans_and_the_battery_keep_accounts_of_their_own(make_home: MakeHome) -> None:
    home = await home_at_midnight(make_home)
    await count_by_five_minutes(home, MIDNIGHT, {"import": [3], "export": [0], "charged": [2], "discharged": [0]})
    await home.add(plans={PLAN_ID: {"energy": 3.0, "power": 2.0, "split": False}}, batteries={BATTERY_ID: BATTERY})
    await home.at(MIDNIGHT + HOUR_S)
    assert saved(home) == pytest.approx(-2 * 0.124)
    assert "paid" not in home.state("sensor", "saved_total", PLAN_ID).attributes


async def test_prices_of_days_without_the_server_are_asked_for(make_home: MakeHome, proxy: RecordingProxy) -> None:
    since = instant("2026-01-01T00:00:00+02:00")

    def read_prices(start_ts: int, end_ts: int) -> PriceHistory:
        known = range(max(start_ts, since), min(end_ts, home.settled_until), HOUR_S)
        prices = PriceSeries.of("ee", HOUR_S, {at: home.price_of(at) for at in known})
        return PriceHistory(home.now, {prices.key: prices})

    home = await home_at_midnight(make_home, settled_until="2026-01-14T01:00:00+02:00", read_prices=read_prices)
    proxy.upstream, home.port = home.server.port, proxy.port
    await count_by_five_minutes(
        home, MIDNIGHT, {"import": [0] * 3, "export": [1] * 3, "charged": [2] * 3, "discharged": [0] * 3}
    )
    await add(home, SELLING)
    proxy.instead = lambda _: web.Response(status=503)
    await home.at(MIDNIGHT + 3 * HOUR_S)
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (1, 0)
    home.set_clock(MIDNIGHT + 3 * DAY_S)
    await home.poll()
    proxy.instead = lambda _: None
    home.settled_until = MIDNIGHT + 4 * DAY_S
    home.serve()
    await home.poll()
    await home.at(home.now + HOUR_S)
    assert told(home)["hours"] == 3
    assert saved(home) == pytest.approx(-2 * (0.09 + 0.19 + 0.09))


async def test_meters_that_the_recorder_reads_live_are_counted_within_the_hour(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await home_at_midnight(make_home, "2026-01-13T23:50:00+02:00")
    await add(home)
    counts = dict.fromkeys(("import", "export", "charged", "discharged"), 100.0)
    powers = {"import": 3.0, "export": 0.0, "charged": 2.4, "discharged": 0.0}
    while home.now < MIDNIGHT + HOUR_S + FIVE_MIN_S:
        began = home.now
        for meter, power in powers.items():
            counts[meter] += power * FIVE_MIN_S / HOUR_S
        home.set_clock(began + FIVE_MIN_S - 1)
        for meter, counted in counts.items():
            hass.states.async_set(
                f"sensor.{meter}",
                str(counted),
                {"unit_of_measurement": "kWh", "device_class": "energy", "state_class": "total_increasing"},
            )
        await home.at(began + FIVE_MIN_S)
        await async_wait_recording_done(hass)
        compile_statistics(hass, began)
        await async_wait_recording_done(hass)
        await home.settle()
    assert (told(home)["hours"], told(home)["hours_without_reading"]) == (1, 0)
    assert saved(home) == pytest.approx(-2.4 * 0.124)
    assert told(home)["charged"] == pytest.approx(2.4)
    assert entity(home, "sensor", "saved_total")
