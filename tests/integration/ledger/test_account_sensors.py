"""The saving of a plan in Home Assistant, with its statistics. Meters are read from a real recorder."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web
from homeassistant.components.recorder.tasks import StatisticsTask
from homeassistant.config_entries import SOURCE_RECONFIGURE, SOURCE_USER, SubentryFlowContext
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.recorder import get_instance
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from tests.integration.test_guide_examples import AUTOMATIONS, CHARGED, recorded
from tests.support.household.automations import restart
from tests.support.household.energy_meter import stored
from tests.support.household.flows import shown
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant, iso
from tests.support.household.recording_proxy import RecordingProxy
from tests.support.household.steering import switch
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries

MIDNIGHT = instant("2026-01-14T00:00:00+02:00")
MACHINE = {"duration": 60, "split": False}
BY_ENERGY = {"energy": 3.0, "power": 2.0, "split": False}
METER = "sensor.washing_machine"
METERED = {**MACHINE, "meter": METER}
KILOWATTS = 2.0
FIVE_MIN_S = 300
SUMS = ("saved_this_month", "saved_total")

with_recorder = pytest.mark.usefixtures("recorder_mock")


def figure(home: Home, key: str) -> float:
    return float(home.value(key, PLAN_ID))


def attributes(home: Home, key: str) -> dict[str, Any]:
    return dict(home.state("sensor", key, PLAN_ID).attributes)


def is_there(hass: HomeAssistant, key: str) -> bool:
    return er.async_get(hass).async_get_entity_id("sensor", "tunnihind", f"{PLAN_ID}_{key}") is not None


def window(home: Home) -> int:
    """Return the start of the plan's window."""
    return instant(home.value("window_start", PLAN_ID))


@pytest.fixture
async def by_energy(make_home: MakeHome) -> Home:
    """Return a home at midnight, with a plan by energy."""
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: BY_ENERGY})
    return home


def saved_per_kwh(home: Home, begins: int) -> float:
    """Return the saving of an hour in the window against an hour that starts at once, at midnight."""
    saved = home.consumer_price(MIDNIGHT) - home.consumer_price(begins)
    assert saved != 0, "otherwise the tests here would prove nothing"
    return saved


async def metered(
    make_home: MakeHome, unit: str = "kWh", per_kwh: float = 1.0, plan: str = PLAN_ID
) -> tuple[Meter, int]:
    """Return a meter a quarter of an hour before the window of its device, and the window's start."""
    home = await make_home("2026-01-14T00:00:00+02:00")
    meter = Meter(home, unit, per_kwh=per_kwh)
    meter.plan = plan
    meter.show()
    await home.add(plans={plan: METERED})
    begins = instant(home.value("window_start", plan))
    home.set_clock(begins - QUARTER_S)
    return meter, begins


def compile_statistics(hass: HomeAssistant, start: int) -> None:
    """Let the recorder compile the statistics of five minutes, and announce them, as it does ten seconds after them."""
    get_instance(hass).queue_task(StatisticsTask(datetime.fromtimestamp(start, UTC), fire_events=True))


class Meter:
    """A meter in Home Assistant, of a device that runs while the plan's window is on."""

    def __init__(self, home: Home, unit: str = "kWh", *, per_kwh: float = 1.0) -> None:
        self.home = home
        self.unit = unit
        self.per_kwh = per_kwh
        self.kwh = 123.0
        self.kilowatts = 0.0
        self.is_available = True
        self.plan = PLAN_ID
        self.shown_at: Callable[[int, float], float] = lambda _now, kwh: kwh
        """Maps a time and the right count to the count that the meter shows."""

    @property
    def counts(self) -> bool:
        return self.unit not in {"W", "kW"}

    def show(self) -> None:
        figure = self.shown_at(self.home.now, self.kwh) if self.counts else self.kilowatts
        self.home.hass.states.async_set(
            METER,
            str(figure * self.per_kwh) if self.is_available else "unavailable",
            {
                "unit_of_measurement": self.unit,
                "device_class": "energy" if self.counts else "power",
                "state_class": "total_increasing" if self.counts else "measurement",
            },
        )

    async def live(self, until: int) -> None:
        """Move time to `until`; every five minutes the meter is recorded and its statistics are compiled."""
        home, hass = self.home, self.home.hass
        while home.now < until:
            was_at = home.now - home.now % FIVE_MIN_S
            self.kwh += self.kilowatts * FIVE_MIN_S / HOUR_S
            home.set_clock(was_at + FIVE_MIN_S - 1)
            self.show()
            await home.at(was_at + FIVE_MIN_S)
            self.kilowatts = KILOWATTS if home.is_on("window", self.plan) else 0.0
            self.show()
            await async_wait_recording_done(hass)
            compile_statistics(hass, was_at)
            await async_wait_recording_done(hass)
            await home.settle()


@with_recorder
@pytest.mark.parametrize(("unit", "per_kwh"), [("kWh", 1.0), ("MJ", 3.6), ("W", 1_000.0)])
async def test_the_devices_real_energy_counts(make_home: MakeHome, unit: str, per_kwh: float) -> None:
    meter, begins = await metered(make_home, unit, per_kwh)
    home = meter.home
    await meter.live(begins + HOUR_S + 2 * QUARTER_S)
    assert attributes(home, "saved_this_month")["energy"] == pytest.approx(KILOWATTS, abs=0.01)
    assert figure(home, "saved_this_month") == pytest.approx(KILOWATTS * saved_per_kwh(home, begins), abs=2e-3)
    assert figure(home, "saved_total") == figure(home, "saved_this_month")
    assert attributes(home, "saved_total")["hours_without_reading"] == 0


@with_recorder
async def test_a_window_is_complete_as_soon_as_its_last_reading_is_recorded(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    """So the guide's automation reports the whole cost, without waiting for the next quarter of an hour."""
    meter, begins = await metered(make_home, plan="car")
    home = meter.home
    assert await async_setup_component(hass, "automation", {"automation": AUTOMATIONS[CHARGED]})
    told = recorded(home, "persistent_notification.create")
    await meter.live(begins + HOUR_S)
    last = home.state("sensor", "last_saving", "car").attributes
    assert (last["energy"], last["hours_without_reading"]) == (pytest.approx(KILOWATTS, abs=0.01), 0)
    cost = round(KILOWATTS * home.consumer_price(begins), 4)
    assert last["cost"] == pytest.approx(cost, abs=2e-3)
    [(_, data, at)] = told
    assert (data["message"], at) == (f"{last['energy']} kWh for {last['cost']} €", begins + HOUR_S)


@with_recorder
async def test_a_meter_that_restarts_at_zero_or_is_away_briefly_loses_no_energy(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    """Home Assistant restarts in the middle of the window too."""
    meter, begins = await metered(make_home)
    home = meter.home
    await meter.live(begins + QUARTER_S)
    await hass.config_entries.async_unload(home.entry.entry_id)
    meter.is_available = False
    meter.show()
    await async_wait_recording_done(hass)
    home.set_clock(begins + 2 * QUARTER_S)
    meter.kwh = KILOWATTS / 4 - 0.001  # of the second quarter, from zero on
    await restart(home)
    meter.is_available = True
    await meter.live(begins + HOUR_S + 2 * QUARTER_S)
    assert attributes(home, "saved_total")["energy"] == pytest.approx(KILOWATTS, abs=0.01)
    assert attributes(home, "saved_total")["hours_without_reading"] == 0


@with_recorder
async def test_a_meter_that_stays_away_counts_as_hours_without_a_reading(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: METERED})
    begins = window(home)
    await home.at(begins + HOUR_S + QUARTER_S)
    assert figure(home, "saved_total") == 0
    assert attributes(home, "saved_total")["hours_without_reading"] == 1
    assert figure(home, "last_saving") == pytest.approx(saved_per_kwh(home, begins), abs=1e-4)


@with_recorder
async def test_the_statistics_show_savings_at_their_time(hass: HomeAssistant, make_home: MakeHome) -> None:
    """They also show a loss: the plan's only possible hour is more expensive than the day's mean."""
    home = await make_home("2026-01-14T00:00:00+02:00", PUBLISHED_TOMORROW)
    await home.add(plans={PLAN_ID: {**BY_ENERGY, "energy": 2.0}})
    entity_id = home.state("sensor", "saved_total", PLAN_ID).entity_id
    begins = window(home)
    for at in (begins, begins + HOUR_S + QUARTER_S):
        await home.at(at)
        await async_wait_recording_done(hass)
        compile_statistics(hass, home.now - FIVE_MIN_S)
        home.set_clock(home.now + FIVE_MIN_S)
        compile_statistics(hass, home.now - FIVE_MIN_S)
        await async_wait_recording_done(hass)
    saved = 2 * saved_per_kwh(home, begins)
    assert figure(home, "saved_total") == pytest.approx(saved, abs=1e-3)
    short = await stored(hass, entity_id, "sum", period="5minute")  # type: ignore[arg-type]
    assert [row["sum"] for row in short.values()][-1] == pytest.approx(saved, abs=1e-3)
    assert attributes(home, "saved_total")["state_class"] == "total"
    assert attributes(home, "saved_total")["last_reset"] == iso(MIDNIGHT)
    assert "state_class" not in attributes(home, "saved_this_month")


async def test_a_plan_without_a_meter_saves_per_kilowatt_hour(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: MACHINE})
    assert not any(is_there(hass, key) for key in (*SUMS, "cost_total"))
    assert home.value("last_saving", PLAN_ID) == "unknown"
    begins = window(home)
    await home.at(begins + HOUR_S)
    shown = attributes(home, "last_saving")
    saved = pytest.approx(saved_per_kwh(home, begins), abs=1e-4)
    assert figure(home, "last_saving") == shown["expected"] == shown["p10"] == shown["p90"] == saved
    assert shown["today"] == shown["this_month"] == shown["ever"] == saved
    assert shown["average"] == pytest.approx(home.consumer_price(begins), abs=1e-4)
    assert instant(shown["start"]) == begins
    assert "saved" not in shown
    day = [home.consumer_price(start) for start in range(MIDNIGHT, MIDNIGHT + 24 * HOUR_S, HOUR_S)]
    assert shown["against_days_mean"] == pytest.approx(sum(day) / 24 - home.consumer_price(begins), abs=1e-4)


async def test_a_plan_by_energy_counts_the_energy_it_is_given(hass: HomeAssistant, by_energy: Home) -> None:
    assert all(is_there(hass, key) for key in (*SUMS, "cost_total"))
    begins = window(by_energy)
    await by_energy.at(begins + 2 * HOUR_S)
    month = attributes(by_energy, "saved_this_month")
    price = by_energy.consumer_price
    assert month["energy"] == month["energy_today"] == pytest.approx(3.0)
    assert month["cost"] == pytest.approx(2 * price(begins) + price(begins + HOUR_S), abs=1e-3)
    at_once = 2 * price(MIDNIGHT) + price(MIDNIGHT + HOUR_S)
    assert figure(by_energy, "saved_this_month") == pytest.approx(at_once - month["cost"], abs=1e-3)
    assert attributes(by_energy, "last_saving")["saved"] == figure(by_energy, "saved_total")


async def test_a_new_month_begins_at_zero_and_the_total_goes_on(make_home: MakeHome) -> None:
    """The saving of the last evening stays in the old month."""
    home = await make_home("2026-01-31T20:00:00+02:00", "2026-02-02T01:00:00+02:00")
    midnight = instant("2026-02-01T00:00:00+02:00")
    cheap = midnight - 2 * HOUR_S
    home.price_of = lambda start: 10.0 + start % 7 if start in {cheap, cheap + HOUR_S} else 100.0
    home.serve()
    await home.add(plans={PLAN_ID: BY_ENERGY})
    assert instant(home.value("window_end", PLAN_ID)) == midnight - HOUR_S // 2
    await home.at(midnight - QUARTER_S)
    january = figure(home, "saved_this_month")
    assert january == pytest.approx(0.09 * 1.24 * 3, abs=0.02)
    assert attributes(home, "saved_this_month")["today"] == january
    await home.at(midnight)
    assert figure(home, "saved_this_month") == 0
    assert attributes(home, "saved_this_month")["today"] == 0
    assert figure(home, "saved_total") == january
    await home.at(midnight + 2 * HOUR_S)
    assert figure(home, "saved_total") == pytest.approx(january + figure(home, "saved_this_month"), abs=1e-3)


async def test_sums_survive_a_restart_without_the_server(by_energy: Home, hass_storage: dict[str, Any]) -> None:
    await by_energy.at(window(by_energy) + 2 * HOUR_S)
    before = {key: (by_energy.value(key, PLAN_ID), attributes(by_energy, key)) for key in (*SUMS, "last_saving")}
    await by_energy.server.runner.cleanup()
    await restart(by_energy)
    assert {key: (by_energy.value(key, PLAN_ID), attributes(by_energy, key)) for key in before} == before
    assert hass_storage["tunnihind.entry"]["data"]["ledger"]["plans"].keys() == {PLAN_ID}


async def test_sums_that_were_lost_begin_a_new_cycle(
    hass: HomeAssistant, by_energy: Home, hass_storage: dict[str, Any]
) -> None:
    """The recorder counts a fall to zero as lost money, unless the reset is announced."""
    await by_energy.at(window(by_energy) + 3 * HOUR_S)
    await hass.config_entries.async_unload(by_energy.entry.entry_id)
    del hass_storage["tunnihind.entry"]["data"]["ledger"]
    await restart(by_energy)
    assert figure(by_energy, "saved_total") == 0
    assert attributes(by_energy, "saved_total")["last_reset"] == iso(by_energy.now)


async def test_after_a_switch_off_in_the_middle_only_the_time_before_counts(by_energy: Home) -> None:
    begins = window(by_energy)
    await by_energy.at(begins + 2 * QUARTER_S)
    await switch(by_energy, on=False)
    await by_energy.at(begins + 4 * HOUR_S)
    assert attributes(by_energy, "saved_total")["energy"] == pytest.approx(1.0)
    assert attributes(by_energy, "saved_total")["hours"] == 0.5


async def test_prices_of_days_without_the_server_are_asked_for(
    hass: HomeAssistant, make_home: MakeHome, proxy: RecordingProxy
) -> None:
    """A window on the forecast alone: its prices are settled while the server can't be reached, for three days."""
    since = instant("2026-01-01T00:00:00+02:00")

    def read(start_ts: int, end_ts: int) -> PriceHistory:
        known = range(max(start_ts, since), min(end_ts, home.settled_until), HOUR_S)
        prices = PriceSeries.of("ee", HOUR_S, {at: home.price_of(at) for at in known})
        return PriceHistory(home.now, {prices.key: prices})

    home = await make_home("2026-01-14T18:00:00+02:00", read_prices=read)
    proxy.upstream, home.port = home.server.port, proxy.port
    home.forecast_of = lambda start: 150.0 - start // HOUR_S % 24
    home.serve()
    plan = {**BY_ENERGY, "horizon": "expected", "earliest": "02:00:00", "deadline": "12:00:00", "weekdays": ["thu"]}
    await home.add(plans={PLAN_ID: plan})
    begins = window(home)
    assert begins == instant("2026-01-15T10:30:00+02:00")
    proxy.instead = lambda _: web.Response(status=503)
    home.set_clock(begins - QUARTER_S)
    await home.at(begins + 2 * HOUR_S)
    home.set_clock(begins + 3 * 24 * HOUR_S)
    await home.poll()
    assert attributes(home, "saved_total")["energy"] == 0
    proxy.instead = lambda _: None
    home.settled_until = home.now - home.now % HOUR_S + 12 * HOUR_S
    home.serve()
    await home.poll()
    await home.at(home.now + HOUR_S)
    assert attributes(home, "saved_total")["energy"] == pytest.approx(3.0)
    ten, eleven = (home.consumer_price(instant(f"2026-01-15T{hour}:00:00+02:00")) for hour in (10, 11))
    assert attributes(home, "saved_this_month")["cost"] == pytest.approx(ten + 2 * eleven, abs=1e-3)
    assert attributes(home, "last_saving")["p10"] < attributes(home, "last_saving")["p90"]


async def test_sensors_come_and_go_with_the_meter_but_keep_their_sums(hass: HomeAssistant, by_energy: Home) -> None:
    await by_energy.at(window(by_energy) + 2 * HOUR_S)
    saved = figure(by_energy, "saved_total")
    for data, has_sums in ((MACHINE, False), (METERED, True), ({**MACHINE, "kind": "dearest"}, False)):
        plan = by_energy.entry.subentries[PLAN_ID]
        hass.config_entries.async_update_subentry(by_energy.entry, plan, data=data)
        await by_energy.settle()
        assert is_there(hass, "saved_total") is has_sums
        assert not has_sums or figure(by_energy, "saved_total") == saved
    assert not is_there(hass, "last_saving")


async def test_deleting_a_plan_deletes_its_sums(
    hass: HomeAssistant, by_energy: Home, hass_storage: dict[str, Any]
) -> None:
    hass.config_entries.async_remove_subentry(by_energy.entry, PLAN_ID)
    await by_energy.settle()
    await hass.config_entries.async_unload(by_energy.entry.entry_id)
    assert hass_storage["tunnihind.entry"]["data"]["ledger"]["plans"] == {}


@pytest.mark.parametrize(
    ("described", "error"),
    [
        ({"unit_of_measurement": "kWh", "state_class": "total_increasing"}, None),
        ({"unit_of_measurement": "GJ", "state_class": "total"}, None),
        ({"unit_of_measurement": "W", "state_class": "measurement"}, None),
        ({"unit_of_measurement": "kWh"}, "no_meter"),
        ({"unit_of_measurement": "kWh", "state_class": "measurement"}, "no_meter"),
        ({"unit_of_measurement": "m³", "state_class": "total_increasing"}, "no_meter"),
        (None, "no_meter"),
    ],
)
async def test_the_form_takes_a_meter_that_has_statistics(
    hass: HomeAssistant, home: Home, described: dict[str, str] | None, error: str | None
) -> None:
    if described:
        hass.states.async_set(METER, "1", described)
    flows = hass.config_entries.subentries
    form = await flows.async_init((home.entry.entry_id, "plan"), context={"source": SOURCE_USER})
    form = await flows.async_configure(form["flow_id"], {"kind": "cheapest"})
    plan = {
        "name": "Washing machine",
        "duration": {"hours": 1},
        "pieces": {"split": "one_piece"},
        "when": {"weekdays": ["mon"], "days": 1},
        "prices": {"horizon": "published"},
        "saved": {"meter": METER},
    }
    result = await flows.async_configure(form["flow_id"], plan)
    if error:
        assert result["errors"] == {"saved": error}
    else:
        assert result["data"]["meter"] == METER


@pytest.mark.parametrize("is_there", [True, False])
async def test_the_form_shows_the_meter_and_keeps_it_also_while_it_is_away(
    hass: HomeAssistant, make_home: MakeHome, is_there: bool
) -> None:
    home = await make_home()
    entry = await home.add(plans={PLAN_ID: {"duration": 60, "split": False, "meter": METER, "horizon": "published"}})
    if is_there:
        hass.states.async_set(METER, "1", {"unit_of_measurement": "kWh", "state_class": "total"})
    flows = hass.config_entries.subentries
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=PLAN_ID)
    form = await flows.async_init((entry.entry_id, "plan"), context=context)
    answers = shown(form)
    assert answers["saved"] == {"meter": METER}
    whole = {**answers, "when": {"weekdays": ["mon"], "days": 1}}
    if not is_there:
        other = await flows.async_configure(form["flow_id"], {**whole, "saved": {"meter": "sensor.no_such_meter"}})
        assert other["errors"] == {"saved": "no_meter"}
    assert (await flows.async_configure(form["flow_id"], whole))["type"] is FlowResultType.ABORT
    assert entry.subentries[PLAN_ID].data["meter"] == METER
