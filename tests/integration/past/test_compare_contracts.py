"""`compare_contracts` in Home Assistant, with a recorder and a server that has prices of a year."""

import asyncio
import threading
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import pytest
import voluptuous as vol
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from custom_components.tunnihind.worth import answer as worth
from tests.integration.household.test_services import ask
from tests.integration.past.conftest import Archive
from tests.support.household.compared_homes import COMPARED_HOMES
from tests.support.household.energy_meter import METER, even, read
from tunnihind.core.comparison import Bills, compare_contracts, fees_today
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S
from tunnihind.core.rates import FEE_RATES, NETWORK_RATES, Package, Part

pytestmark = pytest.mark.usefixtures("recorder_mock")

SOLD: Final = "estfeed:export"
OCTOBER, DECEMBER = (ESTONIA.midnight(date(2025, month, 1)) for month in (10, 12))
NEW_YEAR: Final = ESTONIA.midnight(date(2026, 1, 1))
TODAY: Final = date(2026, 1, 14)
FROM_TABLE: Final = [Part.NETWORK.value, *FEE_RATES]


@pytest.fixture(autouse=True)
def year(archive: Archive) -> Archive:
    """Give the server the prices of a whole year."""
    archive.since = ESTONIA.midnight(date(2025, 1, 1))
    return archive


def hours_of(first: int, end: int, kwh: float = 1.0) -> dict[int, float]:
    return even(first, (end - first) // HOUR_S, kwh)


def sums(bills: Bills) -> dict[str, Any]:
    names = ("kwh", "spot", "fixed", "half", "capped")
    return {name: pytest.approx(eur, abs=0.0051) for name in names if (eur := getattr(bills, name)) is not None}


async def compare(hass: HomeAssistant, **data: Any) -> dict[str, Any]:  # noqa: ANN401  an action's own
    return await ask(hass, "compare_contracts", **{"energy": METER, **data})


async def test_two_months_by_hand(hass: HomeAssistant, archive: Archive) -> None:
    """October has 745 hours, because its clocks go back. All figures can be checked with a pocket calculator."""
    archive.home.price_of = lambda start: -50.0 if start % (2 * HOUR_S) else 150.0
    await read(hass, hours_of(OCTOBER, DECEMBER, 2.0) | hours_of(DECEMBER, NEW_YEAR, 0.0))
    await archive.home.add(options={"rows": [{"margin": 0.5, "excise": 0.1}]})
    answer = await compare(hass, monthly=1, fixed=10, fixed_monthly=2, cap=8)
    october, november, december = answer["months"]
    # October begins at 21:00 UTC, an odd hour: 373 hours at -50 and 372 at 150 EUR/MWh.
    assert october == {
        "month": "2025-10",
        "kwh": 1490.0,
        "spot": round((2 * (372 * 0.15 - 373 * 0.05) + 1490 * 0.006 + 1) * 1.24, 2),
        "fixed": round((1490 * 0.101 + 2) * 1.24, 2),
        "half": round((2 * (372 * 0.15 - 373 * 0.05 + 745 * 0.105) / 2 + 1490 * 0.001 + 1) * 1.24, 2),
        "capped": round((2 * (372 * 0.08 - 373 * 0.045) + 1490 * 0.001 + 1) * 1.24, 2),
        "missing_hours": 0,
    }
    assert november["spot"] == round((1440 * 0.05 + 1440 * 0.006 + 1) * 1.24, 2)
    assert december == {
        "month": "2025-12", "kwh": 0, "spot": 1.24, "fixed": 2.48, "half": 1.24, "capped": 1.24, "missing_hours": 0
    }  # fmt: skip
    assert (answer["start"], answer["end"]) == ("2025-10-01T00:00:00+03:00", "2026-01-01T00:00:00+02:00")
    assert answer["spot"] == pytest.approx(sum(month["spot"] for month in answer["months"]), abs=0.02)
    assert answer["rates_on"] == "2026-01-14"


@pytest.mark.parametrize("zero", [False, True])
async def test_the_bills_are_those_of_the_page_and_the_command(
    hass: HomeAssistant, archive: Archive, *, zero: bool
) -> None:
    """The household's own margin and fees give the same bills as the terms of the shared case."""
    case = COMPARED_HOMES["all contracts over a change of clocks"]
    prices = case.prices
    archive.home.price_of = lambda start: prices.get(start, 0.0)
    await read(hass, case.use)
    row = {"margin": 0.45, "package": "vork_2", "from_table": FROM_TABLE, "negative_price_is_zero": zero}
    await archive.home.add(options={"rows": [row]})
    answer = await compare(hass, monthly=1.5, fixed=11.2, fixed_monthly=2.41, cap=15)
    found = {
        package: compare_contracts(
            case.use, HOUR_S, prices, fees_today(ESTONIA, package, TODAY, negative_price_is_zero=zero), case.offer
        )
        for package in NETWORK_RATES
    }
    assert {name: answer[name] for name in sums(found[Package.VORK_2].total)} == sums(found[Package.VORK_2].total)
    assert [{**month} for month in answer["months"]] == [
        {"month": month, "missing_hours": 0, **sums(bills)} for month, bills in found[Package.VORK_2].months.items()
    ]
    assert answer["packages"] == [{"package": package, **sums(one.total)} for package, one in found.items()]


async def test_quarters_are_billed_by_the_quarter_for_those_who_are(hass: HomeAssistant, archive: Archive) -> None:
    archive.quarter_of = lambda start: 400.0 if start % HOUR_S == 0 else -100.0
    archive.home.price_of = lambda _: 25.0
    await read(hass, hours_of(DECEMBER, NEW_YEAR))
    row = {"negative_price_is_zero": True}
    await archive.home.add(options={"billed_by": "quarter", "rows": [row]})
    assert (await compare(hass))["spot"] == round(744 * 0.1 * 1.24, 2)


async def test_what_is_missing_is_said_in_words(hass: HomeAssistant, archive: Archive) -> None:
    """The readings begin in October, a day of November has none, and a day of December has no price."""
    november = ESTONIA.midnight(date(2025, 11, 1))
    kwh = hours_of(OCTOBER + DAY_S, NEW_YEAR)
    for hour in even(november, 24):
        del kwh[hour]
    archive.gap = range(DECEMBER + 5 * HOUR_S, DECEMBER + 6 * HOUR_S)
    await read(hass, kwh)
    await archive.home.add()
    answer = await compare(hass, battery_capacity=10, battery_power=5)
    assert [month["month"] for month in answer["months"]] == ["2025-10", "2025-11"]
    assert [month["missing_hours"] for month in answer["months"]] == [0, 24]
    assert (answer["missing_hours"], answer["months_without_price"]) == (24, ["2025-12"])
    assert answer["battery"]["hours"] == len(kwh) - 1
    assert answer["start"] == "2025-10-02T00:00:00+03:00"
    notes = "\n".join(answer["notes"])
    for said in ("not a year to come", "begin on 02.10.2025", "reading: 24 (2025-11: 24)", "prices: 2025-12"):
        assert said in notes
    assert "no fees for today" in notes


async def test_a_whole_year_has_no_notes_of_gaps(hass: HomeAssistant, archive: Archive) -> None:
    """A year has 8,760 hours also with both changes of clocks. The present month doesn't count."""
    start = ESTONIA.midnight(date(2025, 1, 1))
    await read(hass, hours_of(start, NEW_YEAR + DAY_S))
    await archive.home.add(options={"rows": [{"margin": 0.5}], "selling": {"resolution": "hour", "rows": [{}]}})
    answer = await compare(hass)
    assert answer["kwh"] == 8760
    assert [round(month["kwh"]) for month in answer["months"]][2:4] == [743, 720]
    assert (answer["missing_hours"], len(answer["months"]), len(answer["notes"])) == (0, 12, 2)


async def test_sold_energy_earns_by_the_selling_contract(hass: HomeAssistant, archive: Archive) -> None:
    archive.home.price_of = lambda start: -20.0 if start % (2 * HOUR_S) else 60.0
    await read(hass, hours_of(DECEMBER, NEW_YEAR))
    await read(hass, hours_of(DECEMBER, NEW_YEAR, 3.0), statistic_id=SOLD)
    row = {"margin": 1.0, "negative_price_is_zero": True}
    await archive.home.add(options={"selling": {"resolution": "hour", "rows": [row]}})
    answer = await compare(hass, sold=SOLD)
    assert answer["sold"] == {"kwh": 3 * 744, "earned": round(372 * 3 * (0.06 - 0.01) - 372 * 3 * 0.01, 2)}


async def test_a_battery_moves_use_to_cheap_hours_and_pays_for_itself(hass: HomeAssistant, archive: Archive) -> None:
    """Every other hour is cheap. Of 1 kWh charged, .9 kWh are left, so each pair of hours saves 1 * .1 - .9 * .3."""
    archive.home.price_of = lambda start: 300.0 if start % (2 * HOUR_S) else 100.0
    await read(hass, hours_of(DECEMBER, NEW_YEAR))
    await archive.home.add()
    answer = await compare(hass, battery_capacity=5, battery_power=1, battery_price=1000)
    # December begins at 22:00 UTC, an even and cheap hour.
    ideal = 372 * (0.9 * 0.3 - 0.1) * 1.24
    yearly = ideal * 0.98 * 365.25 / 31
    assert answer["battery"] == {
        "ideal_saving": pytest.approx(ideal, abs=0.01),
        "share": 0.98,
        "expected_saving": pytest.approx(ideal * 0.98, abs=0.01),
        "yearly_saving": pytest.approx(yearly, abs=0.1),
        "cycles": pytest.approx(372 * 0.9**0.5 / 5, abs=0.1),
        "hours": 744,
        "payback_years": pytest.approx(1000 / yearly, abs=0.06),
    }


async def test_a_battery_that_saves_nothing_never_pays_for_itself(hass: HomeAssistant, archive: Archive) -> None:
    archive.home.price_of = lambda _: 100.0
    await read(hass, hours_of(DECEMBER, NEW_YEAR))
    await archive.home.add()
    battery = (await compare(hass, battery_capacity=5, battery_power=1, battery_price=1000))["battery"]
    assert (battery["ideal_saving"], battery["payback_years"]) == (0, None)


@pytest.mark.parametrize(
    ("data", "key", "field"),
    [
        ({"energy": "sensor.nothing"}, "unknown_statistic", "energy"),
        ({"sold": "sensor.nothing"}, "unknown_statistic", "sold"),
        ({"energy": "estfeed:new"}, "no_reading_in_year", "energy"),
        ({"fixed_monthly": 3}, "field_needed", "fixed"),
        ({"battery_capacity": 10}, "field_needed", "battery_power"),
        ({"battery_power": 5}, "field_needed", "battery_capacity"),
        ({"battery_price": 5000}, "field_needed", "battery_capacity"),
        ({"battery_capacity": 0, "battery_power": 5}, "more_than_nothing", "battery_capacity"),
        ({"battery_capacity": 10, "battery_power": 500}, "battery_power_too_high", "battery_power"),
    ],
)
async def test_what_cannot_be_compared_is_refused_by_the_name_of_its_field(
    hass: HomeAssistant, archive: Archive, data: Mapping[str, Any], key: str, field: str
) -> None:
    await read(hass, even(DECEMBER, 5))
    await read(hass, even(NEW_YEAR, 5), statistic_id="estfeed:new")
    await archive.home.add()
    with pytest.raises(ServiceValidationError) as refusal:
        await compare(hass, **data)
    assert refusal.value.translation_key == key
    assert (refusal.value.translation_placeholders or {})["field"] == field


@pytest.mark.parametrize("field", ["fixed", "battery_power", "monthly", "cap"])
@pytest.mark.parametrize("given", ["much", "nan", -5_000])
async def test_a_figure_that_is_none_is_refused_by_the_name_of_its_field(
    hass: HomeAssistant, archive: Archive, field: str, given: object
) -> None:
    await archive.home.add()
    with pytest.raises(vol.Invalid, match=field):
        await compare(hass, **{field: given})


async def test_home_assistant_goes_on_while_bills_are_computed(
    hass: HomeAssistant, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arithmetic waits for the event loop, which would never answer if it computed the bills itself."""
    computing, looked = asyncio.Event(), threading.Event()

    def waiting(name: str) -> None:
        real = getattr(worth, name)

        def computed(*args: Any) -> Any:  # noqa: ANN401  whatever the function takes and returns
            looked.clear()
            hass.loop.call_soon_threadsafe(computing.set)
            assert looked.wait(20), "the event loop is busy"
            return real(*args)

        monkeypatch.setattr(worth, name, computed)

    waiting("contracts_in_year")
    waiting("battery_in_year")
    await read(hass, even(DECEMBER, 5))
    await archive.home.add()
    asked = hass.async_create_task(compare(hass, battery_capacity=5, battery_power=1))
    for _ in range(2 + len(NETWORK_RATES)):
        await computing.wait()
        computing.clear()
        looked.set()
    assert (await asked)["kwh"] == 5
