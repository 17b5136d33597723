"""`import_prices` in Home Assistant, with a recorder and its database."""

import json
from typing import Any

import pytest
from aiohttp import web
from homeassistant.components.recorder.models import StatisticMeanType
from homeassistant.components.recorder.statistics import list_statistic_ids
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers.recorder import get_instance

from custom_components.tunnihind.errors import CannotConnect, InvalidAnswer, NoPastPrices
from tests.integration.household.test_services import ask
from tests.integration.past.conftest import Archive
from tests.support.household.energy_meter import METER, even, read, stored
from tests.support.household.home import instant
from tunnihind.core.market import HOUR_S, QUARTER_S

pytestmark = pytest.mark.usefixtures("recorder_mock")

PRICE = "tunnihind:price_paid"
TENTH = instant("2026-01-10T00:00:00+02:00")
NOW = instant("2026-01-14T10:00:00+02:00")
"""The present hour: the first that is not over."""


async def fill(archive: Archive, day: str = "2026-01-10") -> dict[str, Any]:
    return await ask(archive.home.hass, "import_prices", start=day)


async def test_each_past_hour_gets_its_paid_price(hass: HomeAssistant, archive: Archive) -> None:
    home = archive.home
    await home.add()
    answer = await fill(archive)
    assert await stored(hass, PRICE, "mean", "min", "max") == {
        start: dict.fromkeys(("mean", "min", "max"), home.consumer_price(start)) for start in range(TENTH, NOW, HOUR_S)
    }
    assert answer == {
        "statistic_id": PRICE,
        "start": "2026-01-10T00:00:00+02:00",
        "end": "2026-01-14T10:00:00+02:00",
        "hours": 106,
        "changed": 106,
        "left_out": [],
    }
    json.dumps(answer)


async def test_the_recorder_gets_all_the_metadata_that_it_requires(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    await fill(archive)
    [told] = await get_instance(hass).async_add_executor_job(list_statistic_ids, hass, {PRICE})
    assert {
        "statistic_id": PRICE,
        "source": "tunnihind",
        "name": "Tunnihind: price paid",
        "statistics_unit_of_measurement": "EUR/kWh",
        "unit_class": None,
        "mean_type": StatisticMeanType.ARITHMETIC,
        "has_sum": False,
    }.items() <= told.items()


async def test_a_second_run_writes_only_new_hours(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    first = await fill(archive)
    before = await stored(hass, PRICE, "mean")
    assert await fill(archive) == {**first, "changed": 0}
    assert await stored(hass, PRICE, "mean") == before
    archive.home.set_clock(NOW + HOUR_S)
    assert (await fill(archive))["changed"] == 1
    assert (await stored(hass, PRICE, "mean")).keys() == {*before, NOW}


async def test_a_corrected_price_is_written_over_the_old_one(hass: HomeAssistant, archive: Archive) -> None:
    home, old = archive.home, archive.home.price_of
    await home.add()
    await fill(archive)
    home.price_of = lambda start: 500.0 if start == TENTH else old(start)
    assert (await fill(archive))["changed"] == 1
    rows = await stored(hass, PRICE, "mean")
    assert (len(rows), rows[TENTH]["mean"]) == (106, 0.62)


async def test_hours_before_the_start_stay(hass: HomeAssistant, archive: Archive) -> None:
    home = archive.home
    await home.add()
    await fill(archive)
    home.price_of = lambda _: 0.0
    await fill(archive, "2026-01-12")
    rows = await stored(hass, PRICE, "mean")
    assert [start for start, row in rows.items() if row["mean"] == 0] == list(
        range(instant("2026-01-12T00:00:00+02:00"), NOW, HOUR_S)
    )


async def test_the_import_reaches_back_as_far_as_the_server_by_months(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    answer = await ask(hass, "import_prices")
    assert archive.asked == [f"{year}-{month:02}" for year in range(2021, 2026) for month in range(1, 13)] + ["2026-01"]
    assert min(await stored(hass, PRICE, "mean")) == archive.since
    assert answer["left_out"] == [
        {
            "start": "2021-01-01T00:00:00+02:00",
            "end": "2025-12-20T00:00:00+02:00",
            "hours": (archive.since - instant("2021-01-01T00:00:00+02:00")) // HOUR_S,
            "reason": "no_price",
        }
    ]


@pytest.mark.parametrize(
    ("now", "day", "hours"),
    [("2025-10-27T00:00:00+02:00", "2025-10-26", 25), ("2026-03-30T00:00:00+03:00", "2026-03-29", 23)],
)
async def test_the_days_when_the_clocks_change_have_all_their_hours(
    hass: HomeAssistant, archive: Archive, now: str, day: str, hours: int
) -> None:
    home = archive.home
    home.set_clock(instant(now))
    home.settled_until = instant(now)
    archive.since = instant("2025-01-01T00:00:00+02:00")
    home.serve()
    await home.add()
    assert (await fill(archive, day))["hours"] == hours
    rows = await stored(hass, PRICE, "mean")
    assert list(rows) == list(range(instant(now) - hours * HOUR_S, instant(now), HOUR_S))


async def test_billed_by_the_quarter_an_hour_has_its_mean_lowest_and_highest(
    hass: HomeAssistant, archive: Archive
) -> None:
    archive.quarter_of = lambda start: 100.0 + start % HOUR_S / QUARTER_S * 40
    await archive.home.add(options={"billed_by": "quarter"})
    await fill(archive)
    rows = await stored(hass, PRICE, "mean", "min", "max")
    assert rows[TENTH] == {"mean": 0.1984, "min": 0.124, "max": 0.2728}


async def test_a_date_without_a_parts_rate_has_no_price_and_is_listed(hass: HomeAssistant, archive: Archive) -> None:
    """The table's balancing fee begins with 2026."""
    await archive.home.add()
    await fill(archive, "2025-12-31")
    hass.config_entries.async_update_entry(
        archive.home.entry, options={"rows": [{"margin": 1.0, "from_table": ["balancing"]}]}
    )
    answer = await fill(archive, "2025-12-31")
    assert answer["left_out"] == [
        {
            "start": "2025-12-31T00:00:00+02:00",
            "end": "2026-01-01T00:00:00+02:00",
            "hours": 24,
            "reason": "no_rate",
            "parts": ["balancing"],
        }
    ]
    new_year = instant("2026-01-01T00:00:00+02:00")
    rows = await stored(hass, PRICE, "mean", "min", "max")
    assert rows[new_year - HOUR_S] == {"mean": None, "min": None, "max": None}
    assert rows[new_year]["mean"] == round((archive.home.price_of(new_year) / 1000 + 0.01 + 0.00373) * 1.24, 4)


async def test_a_month_without_any_rate_is_not_asked_for(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add(options={"rows": [{"valid_from": "2026-01-12", "margin": 1.0}]})
    answer = await ask(hass, "import_prices")
    assert archive.asked == ["2026-01"]
    assert (answer["start"], [span["reason"] for span in answer["left_out"]]) == (
        "2026-01-12T00:00:00+02:00",
        ["no_rate"],
    )


async def test_hours_that_the_server_lost_keep_their_price(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    await fill(archive)
    before = await stored(hass, PRICE, "mean")
    archive.since = TENTH + 24 * HOUR_S
    answer = await fill(archive)
    assert [(span["hours"], span["reason"]) for span in answer["left_out"]] == [(24, "no_price")]
    assert await stored(hass, PRICE, "mean") == before


async def test_statistics_of_others_are_left_alone(hass: HomeAssistant, archive: Archive) -> None:
    async def others() -> dict[str, Any]:
        known = await get_instance(hass).async_add_executor_job(list_statistic_ids, hass)
        # The recorder lists the entry's own sensors at some moment after it has seen their states.
        return {one["statistic_id"]: one for one in known if one["source"] not in ("tunnihind", "recorder")}

    await read(hass, even(TENTH, 5))
    await archive.home.add()
    known, rows = await others(), await stored(hass, METER, "state", "sum")
    await fill(archive)
    assert (await others(), await stored(hass, METER, "state", "sum")) == (known, rows)


async def test_a_busy_server_is_asked_again(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    archive.refusals = [web.Response(status=503, headers={"Retry-After": "0"}) for _ in range(2)]
    assert (await fill(archive))["hours"] == 106
    assert archive.asked == ["2026-01"] * 3


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (web.Response(status=404), NoPastPrices),
        (web.Response(status=500), CannotConnect),
        (web.json_response({"zone": "EE", "currency": "EUR", "prices": [{"ts": 7, "eurMwh": 1}]}), InvalidAnswer),
    ],
)
async def test_a_server_without_past_prices_gives_an_error_and_no_rows(
    hass: HomeAssistant, archive: Archive, refusal: web.Response, error: type[HomeAssistantError]
) -> None:
    await archive.home.add()
    archive.refusals = [refusal]
    with pytest.raises(error):
        await fill(archive)
    assert await stored(hass, PRICE, "mean") == {}


async def test_a_server_that_stays_busy_is_not_asked_for_ever(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    archive.refusals = [web.Response(status=503, headers={"Retry-After": "0"}) for _ in range(9)]
    with pytest.raises(CannotConnect):
        await fill(archive)
    assert len(archive.asked) == 5


async def test_a_day_without_a_past_hour_is_refused_by_name(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    with pytest.raises(ServiceValidationError) as refusal:
        await fill(archive, "2026-01-15")
    assert refusal.value.translation_key == "start_not_past"
    assert refusal.value.translation_placeholders == {"field": "start", "given": "2026-01-15"}


@pytest.mark.parametrize("day", ["0001-01-01", "2020-12-31"])
async def test_a_day_before_all_prices_means_the_first_day(hass: HomeAssistant, archive: Archive, day: str) -> None:
    await archive.home.add()
    answer = await ask(hass, "import_prices", start=day)
    assert answer["left_out"][0]["start"] == "2021-01-01T00:00:00+02:00"
    assert answer["start"] == "2025-12-20T00:00:00+02:00"
