"""`get_prices` in Home Assistant for the time before the hours that it already knows."""

from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from custom_components.tunnihind.errors import CannotConnect
from tests.integration.household.test_services import ask
from tests.integration.past.conftest import Archive
from tests.support.household.home import PUBLISHED_TODAY, MakeHome, instant, iso, shaped
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S, QUARTER_S

FIRST = "2025-12-20T00:00:00+02:00"
"""The archive's first hour."""


def starts(answer: dict[str, Any]) -> list[int]:
    return [instant(price["start"]) for price in answer["prices"]]


async def refusal(hass: HomeAssistant, **bounds: str) -> dict[str, str]:
    """Return what fills the text of the refusal of a range."""
    with pytest.raises(ServiceValidationError) as refused:
        await ask(hass, "get_prices", **bounds)
    assert refused.value.translation_key == "no_prices_before"
    return refused.value.translation_placeholders or {}


@pytest.mark.parametrize(
    ("start", "end", "months"),
    [
        (FIRST, "2025-12-31T00:00:00+02:00", ["2025-12"]),
        (FIRST, "2026-01-01T00:00:00+02:00", ["2025-12"]),
        ("2025-12-31T23:00:00+02:00", "2026-01-01T01:00:00+02:00", ["2025-12", "2026-01"]),
        ("2026-01-01T00:00:00+02:00", PUBLISHED_TODAY, ["2026-01"]),
        ("2026-01-14T00:00:00+02:00", PUBLISHED_TODAY, []),
    ],
)
async def test_all_past_hours_of_a_range_are_returned(
    hass: HomeAssistant, archive: Archive, start: str, end: str, months: list[str]
) -> None:
    await archive.home.add()
    answer = await ask(hass, "get_prices", start=start, end=end)
    expected = range(instant(start), instant(end), HOUR_S)
    assert starts(answer) == [*expected]
    assert [price["price"] for price in answer["prices"]] == [archive.home.consumer_price(hour) for hour in expected]
    assert all(price["settled"] for price in answer["prices"])
    assert archive.asked == months


@pytest.mark.parametrize("hour", ["2026-01-01T00:00:00+02:00", "2026-01-12T10:00:00+02:00"])
async def test_a_part_of_a_past_hour_of_quarters_has_the_hours_mean(
    hass: HomeAssistant, archive: Archive, hour: str
) -> None:
    """The second hour is the one whose first quarters are no longer known."""
    archive.quarter_of = shaped
    archive.home.set_clock(instant("2026-01-14T11:20:00+02:00"))
    archive.home.serve_quarters()
    await archive.home.add(options={"billed_by": "quarter"})
    begins = instant(hour)
    answer = await ask(hass, "get_prices", start=iso(begins + 1800), end=iso(begins + 2400), resolution="60m")
    quarters = [archive.home.consumer_quarter_price(begins + place * QUARTER_S) for place in range(4)]
    assert starts(answer) == [begins]
    assert answer["prices"][0]["price"] == pytest.approx(sum(quarters) / 4, abs=1e-4)


async def test_a_range_from_the_past_goes_on_with_the_forecast(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    answer = await ask(hass, "get_prices", start=FIRST)
    found = starts(answer)
    assert found == [*range(found[0], found[-1] + HOUR_S, HOUR_S)]
    assert found[:1] == [instant(FIRST)]
    settled = [instant(price["start"]) for price in answer["prices"] if price["settled"]]
    assert settled[-1] + HOUR_S == instant(PUBLISHED_TODAY) < found[-1]


@pytest.mark.parametrize(("resolution", "step_s"), [("15m", QUARTER_S), ("60m", HOUR_S)])
@pytest.mark.parametrize("day", ["2025-10-26", "2025-03-30"])
async def test_both_days_of_the_clock_change_are_returned_whole(
    hass: HomeAssistant, archive: Archive, day: str, resolution: str, step_s: int
) -> None:
    archive.since = instant("2024-05-01T00:00:00+03:00")
    archive.quarter_of = shaped
    archive.home.serve_quarters()
    await archive.home.add(options={"billed_by": "quarter"})
    await hass.config.async_set_time_zone("Europe/Tallinn")
    answer = await ask(hass, "get_prices", start=f"{day} 00:00:00", end=f"{day} 23:59:59", resolution=resolution)
    found = starts(answer)
    assert found == [*range(found[0], found[-1] + step_s, step_s)]
    assert len(found) * step_s == (25 if day == "2025-10-26" else 23) * HOUR_S
    if step_s == QUARTER_S:
        assert [price["price"] for price in answer["prices"]] == [
            archive.home.consumer_quarter_price(quarter) for quarter in found
        ]


@pytest.mark.parametrize(
    ("since", "start", "end"),
    [
        ("2021-01-01T00:00:00+02:00", "2020-03-01T00:00:00+02:00", "2020-04-01T00:00:00+03:00"),
        (FIRST, "2020-03-01T00:00:00+02:00", "2020-04-01T00:00:00+03:00"),
        (FIRST, "2020-03-01T00:00:00+02:00", PUBLISHED_TODAY),
        (FIRST, "2025-12-19T23:00:00+02:00", "2025-12-19T23:30:00+02:00"),
        (FIRST, "2025-12-19T23:00:00+02:00", PUBLISHED_TODAY),
    ],
)
async def test_a_range_from_before_the_servers_first_price_is_refused_with_its_time(
    hass: HomeAssistant, archive: Archive, since: str, start: str, end: str
) -> None:
    archive.since = instant(since)
    await archive.home.add()
    assert instant((await refusal(hass, start=start, end=end))["first"]) == archive.since


async def test_the_first_price_is_found_with_a_few_requests(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    await refusal(hass, start="2020-03-01T00:00:00+02:00", end="2020-04-01T00:00:00+03:00")
    assert len(archive.asked) < 8


@pytest.mark.parametrize(
    ("since", "begins", "ends"),
    [
        ("2025-11-05T00:00:00+02:00", "2025-12-01T00:00:00+02:00", "2026-01-01T00:00:00+02:00"),
        ("2021-01-01T00:00:00+02:00", "2023-07-01T00:00:00+03:00", "2023-10-01T00:00:00+03:00"),
        ("2023-01-01T00:00:00+02:00", "2023-06-28T00:00:00+03:00", "2023-08-02T00:00:00+03:00"),
        ("2023-05-01T00:00:00+02:00", "2023-06-28T00:00:00+03:00", "2023-11-01T00:00:00+02:00"),
    ],
)
async def test_a_range_that_begins_in_a_gap_has_the_hours_after_the_gap(
    hass: HomeAssistant, archive: Archive, since: str, begins: str, ends: str
) -> None:
    """The search for the first month begins in July 2023."""
    archive.since, first = instant(since), instant(ends)
    archive.gap = range(instant(begins), first, HOUR_S)
    await archive.home.add()
    answer = await ask(hass, "get_prices", start=iso(first - 24 * HOUR_S), end=iso(first + 2 * HOUR_S))
    assert starts(answer) == [first, first + HOUR_S]


async def test_a_server_without_months_gives_the_last_14_days(
    hass: HomeAssistant, make_home: MakeHome, proxy: RecordingProxy
) -> None:
    """A server of another make has only what the specification asks of it."""
    home = await make_home()
    home.known_for_s = 14 * 24 * HOUR_S
    home.serve()
    proxy.upstream, home.port = home.server.port, proxy.port
    proxy.answer("/api/v1/history", status=404)
    await home.add()
    first = home.now - home.now % HOUR_S - home.known_for_s
    assert starts(await ask(hass, "get_prices", start=iso(first), end=iso(first + 2 * HOUR_S))) == [
        first,
        first + HOUR_S,
    ]
    assert instant((await refusal(hass, start=iso(first - 60)))["first"]) == first


async def test_a_household_that_sells_gets_its_past_selling_prices(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add(options={"selling": {"resolution": "hour", "rows": [{"margin": 1.0}]}})
    answer = await ask(hass, "get_prices", start=FIRST, end="2025-12-20T01:00:00+02:00", direction="sell")
    assert [price["price"] for price in answer["prices"]] == [
        pytest.approx(archive.home.price_of(instant(FIRST)) / 1000 - 0.01, abs=1e-4)
    ]


async def test_without_the_network_the_error_says_so(
    hass: HomeAssistant, archive: Archive, proxy: RecordingProxy
) -> None:
    await archive.home.add()
    proxy.refuse(503)
    with pytest.raises(CannotConnect):
        await ask(hass, "get_prices", start=FIRST)
    assert starts(await ask(hass, "get_prices"))
