"""The comparison page in a real browser: a file, a typical year, what is sent, and what the address holds."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date, time
from urllib.parse import parse_qs, urlsplit

import pytest_asyncio
from playwright.async_api import Browser, FilePayload, Page, Request, Route, expect

from tests.support.api.api_server import NOW, Serve
from tests.support.pages import sample_views
from tests.support.pages.browser import WatchedPage, address_of, location_of, open_page
from tunnihind.core.comparison import Offer, compare_contracts, fees_today
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, SeriesKey, day_start, rounded_market_price
from tunnihind.core.network_clock import RateTimes
from tunnihind.core.rates import FEE_RATES, Package
from tunnihind.core.tariff import Tariff, TariffRow
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries

TODAY = ESTONIA.local_time(NOW).date()
QUARTERS_FROM = day_start(date(2025, 10, 1))


def hourly_price(ts: int) -> float:
    return round(40 + 60 * (ts // HOUR_S * 7919 % 100) / 100, 2)


def month_prices(start: int, end: int) -> PriceHistory:
    hours = {ts: hourly_price(ts) for ts in range(start, end, HOUR_S)}
    quarters = {
        ts: hourly_price(ts - ts % HOUR_S) + (ts % HOUR_S / QUARTER_S - 1.5) * 10
        for ts in range(max(start, QUARTERS_FROM), end, QUARTER_S)
    }
    return PriceHistory(
        end,
        {
            SeriesKey("ee", HOUR_S): PriceSeries.of("ee", HOUR_S, hours),
            SeriesKey("ee", QUARTER_S): PriceSeries.of("ee", QUARTER_S, quarters),
        },
    )


@dataclass
class ComparisonPage:
    """The page, all requests that it makes, and the starts of the months that the server reads."""

    watched: WatchedPage
    read_months: list[int]
    requests: list[Request] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.watched.page

    @property
    def months(self) -> list[tuple[str, str]]:
        """The months and resolutions that were asked for."""
        asked = [parse_qs(urlsplit(request.url).query) for request in self.requests if "/history" in request.url]
        return sorted((query["month"][0], query["resolution"][0]) for query in asked)

    async def give(self, text: str) -> None:
        """Choose a file with this text."""
        file = FilePayload(name="meter.csv", mimeType="text/csv", buffer=text.encode())
        await self.page.locator("[data-file]").set_input_files(file)


@pytest_asyncio.fixture(loop_scope="session")
async def comparison(browser: Browser, serve: Serve) -> AsyncIterator[ComparisonPage]:
    """Return the page, which must log no error and ask nobody but the server."""
    read_months: list[int] = []

    def read(start: int, end: int) -> PriceHistory:
        read_months.append(start)
        return month_prices(start, end)

    server = await serve(sample_views.ordinary(), read_prices=read)
    async with open_page(browser, address_of(server)) as watched:
        found = ComparisonPage(watched, read_months)
        watched.page.on("request", lambda request: found.requests.append(request))  # noqa: PLW0108  Playwright marks it
        yield found
        assert watched.console_errors == []
        assert watched.foreign_requests == []


USE = {ESTONIA.midnight(date(2025, 9, 28)) + n * HOUR_S: (1 + n % 7) / 4 for n in range(10 * 24)}
"""Ten days over the change to quarters."""


def meter_file() -> str:
    """Return a file as meters write it: words first, a column of the end, a decimal comma, and production."""
    rows = []
    for ts, kwh in USE.items():
        start, end = (ESTONIA.local_time(at).strftime("%d.%m.%Y %H:%M") for at in (ts, ts + HOUR_S))
        rows.append(f"{start} - {end};0;{str(kwh).replace('.', ',')}")
    return "\n".join(["Mõõtepunkt: 38ZEE-0000000-0", "", "Periood;Tootmine;Tarbimine kWh", *rows])


async def test_a_file_stays_in_the_browser_and_only_months_of_prices_are_fetched(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare?package=vork_4&margin=0.45&fixed=9")
    before = len(comparison.requests)
    await comparison.give(meter_file())
    await expect(page.locator("[data-results]")).to_be_visible()
    later = comparison.requests[before:]
    assert {(request.method, request.post_data, urlsplit(request.url).path) for request in later} == {
        ("GET", None, "/api/v1/history")
    }
    assert comparison.months == [("2025-09", "60m"), ("2025-10", "15m"), ("2025-10", "60m")]
    assert (await location_of(page)).endswith("/compare?package=vork_4&margin=0.45&fixed=9")
    assert await page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0


async def test_the_shown_sums_are_those_of_the_command(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare?package=vork_4&margin=0.45&fixed=9")
    await comparison.give(meter_file())
    await expect(page.locator("[data-read]")).to_contain_text("kWh by the hour, 2025-09-28 00:00 to 2025-10-08 00:00")
    await expect(page.locator("[data-totals] tbody tr")).to_have_count(5)
    prices = {ts: rounded_market_price(hourly_price(ts)) for ts in USE}
    fees = fees_today(ESTONIA, Package.VORK_4, TODAY)
    bills = compare_contracts(USE, HOUR_S, prices, fees, Offer(margin=0.0045, fixed=0.09))
    rows = await page.locator("[data-months] tbody tr").all_inner_texts()
    assert len(rows) == len(bills.months)
    for row, (month, expected) in zip(rows, bills.months.items(), strict=True):
        sums = re.findall(r"([\d.]+) €", row)
        assert row.startswith(month)
        assert (sums[0], sums[-2]) == (f"{expected.spot:.2f}", f"{expected.fixed:.2f}")
    await expect(page.locator("[data-totals] .chosen-row")).to_contain_text(f"{bills.total.spot:.2f} €")


async def test_the_columns_are_found_and_can_be_changed(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare")
    await comparison.give(meter_file())
    energy = page.locator("[data-columns] [name=kwh]")
    await expect(energy).to_have_value("2")
    await energy.select_option("1")
    await expect(page.locator("[data-read]")).to_contain_text("0 kWh by the hour")


async def test_odd_rows_are_named(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare")
    rows = [
        "time,kWh",
        "2025-10-01 00:00,1",
        "2025-10-01 01:00,x",
        "2025-10-01 00:00,2",
        "soon,1",
        "2025-10-01 04:00,1",
    ]
    await comparison.give("\n".join([*rows, "2025-10-01 05:00,1"]))
    await expect(page.locator("[data-remarks] li")).to_have_text(
        [
            "Row 3: “x” is not a number. The row is left out.",
            "Row 4: 2025-10-01 00:00 is already in row 2. The row is left out.",
            re.compile("Row 5: “soon” is not a time"),
            "Row 6: before it, 2025-10-01 01:00 to 2025-10-01 04:00 is missing (3.00 h). It is not counted.",
        ]
    )


async def test_an_address_holds_the_settings_of_a_typical_year(comparison: ComparisonPage, browser: Browser) -> None:
    page = await comparison.watched.show("/compare")
    await page.get_by_label("Or kWh in a year").fill("5000")
    await page.get_by_label("Typical profile").select_option("heated")
    await page.get_by_role("button", name="Compare a typical year").click()
    await expect(page.locator("[data-results]")).to_be_visible()
    await page.locator("[name=fixed]").fill("9.5")
    await page.get_by_label("Network package").select_option("vork_5")
    await expect(page.locator("[data-totals] .chosen-row")).to_contain_text("Võrk 5")
    shared = await location_of(page)
    assert urlsplit(shared).query == "yearly=5000&profile=heated&fixed=9.5&package=vork_5"
    sums = await page.locator("[data-totals]").inner_text()
    async with open_page(browser, comparison.watched.address) as other:
        await other.page.goto(shared)
        await expect(other.page.locator("[data-totals] .chosen-row")).to_contain_text("Võrk 5")
        assert await other.page.locator("[data-totals]").inner_text() == sums


async def test_own_network_rates_of_a_season_are_compared_and_kept_in_the_address(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare?margin=0.45")
    await comparison.give(meter_file())
    await expect(page.locator("[data-own]")).to_be_hidden()
    await page.get_by_label("Network package").select_option("own")
    await page.get_by_label("Day rate", exact=False).first.fill("6.1")
    await page.get_by_label("Rate at all other times").fill("2.4")
    await page.get_by_label("Day rate starts").select_option("17:00")
    await page.get_by_label("Day rate ends").select_option("24:00")
    await page.get_by_label("Day rate from month").select_option("October")
    await page.get_by_label("Day rate to month").select_option("March")
    await page.get_by_label("also applies at weekends").check()
    times = RateTimes(
        months=frozenset({10, 11, 12, 1, 2, 3}),
        weekdays=frozenset(range(7)),
        starts=time(17),
        ends=time(0),
        on_holidays=True,
    )
    row = TariffRow(network_day=0.061, network_night=0.024, day_rate_times=times, parts_from_table=frozenset(FEE_RATES))
    prices = {ts: rounded_market_price(hourly_price(ts)) for ts in USE}
    bills = compare_contracts(USE, HOUR_S, prices, Tariff(rows=[row], rates_on=TODAY), Offer(margin=0.0045))
    await expect(page.locator("[data-totals] .chosen-row")).to_contain_text("My own network rates")
    await expect(page.locator("[data-totals] .chosen-row")).to_contain_text(f"{bills.total.spot:.2f} €")
    query = parse_qs(urlsplit(await location_of(page)).query)
    assert query == {
        name: [value]
        for name, value in {
            "margin": "0.45",
            "package": "own",
            "ownday": "6.1",
            "ownnight": "2.4",
            "ownfrom": "17",
            "ownto": "24",
            "ownfirst": "10",
            "ownlast": "3",
            "ownrest": "1",
        }.items()
    }
    sums = await page.locator("[data-totals]").inner_text()
    await page.reload()
    await comparison.give(meter_file())
    await expect(page.locator("[data-totals] .chosen-row")).to_contain_text("My own network rates")
    assert await page.locator("[data-totals]").inner_text() == sums


async def test_a_busy_server_is_asked_again_after_the_time_it_asks_for(comparison: ComparisonPage) -> None:
    answers: list[str] = []
    at_once = most_at_once = 0

    async def answer(route: Route) -> None:
        nonlocal at_once, most_at_once
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        answers.append(route.request.url)
        if answers.count(route.request.url) == 1:
            await route.fulfill(status=503, headers={"Retry-After": "1"})
        else:
            await route.continue_()
        await asyncio.sleep(0)
        at_once -= 1

    await comparison.page.route("**/api/v1/history*", answer)
    page = await comparison.watched.show("/compare")
    await comparison.give(meter_file())
    await expect(page.locator("[data-results]")).to_be_visible()
    assert sorted(answers.count(url) for url in set(answers)) == [2, 2, 2]
    assert most_at_once <= 2
    # A browser reports each refused request.
    assert len(comparison.watched.console_errors) == 3
    comparison.watched.console_errors.clear()


async def test_the_browser_keeps_the_prices_for_the_next_visit(comparison: ComparisonPage) -> None:
    for _visit in range(2):
        page = await comparison.watched.show("/compare")
        await comparison.give(meter_file())
        await expect(page.locator("[data-results]")).to_be_visible()
        assert len(comparison.read_months) == 3


async def test_months_without_prices_are_named(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare")
    await comparison.give("time,kWh\n2020-12-31 22:00,1\n2020-12-31 23:00,1\n2021-01-01 00:00,1\n2021-01-01 01:00,1\n")
    await expect(page.locator("[data-problem]")).to_have_text("Left out, because market prices are missing: 2020-12")
    assert comparison.months == [("2021-01", "60m")]


async def test_a_dropped_file_is_read(comparison: ComparisonPage) -> None:
    page = await comparison.watched.show("/compare")
    await page.evaluate(
        """(text) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], "meter.csv"));
          const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
          document.querySelector("[data-drop]").dispatchEvent(event);
        }""",
        meter_file(),
    )
    await expect(page.locator("[data-results]")).to_be_visible()
