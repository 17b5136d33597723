"""The dashboard's choices of period and VAT in a real browser: kept for the next visit, and followed by all of it."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve
from tests.support.pages import sample_views
from tests.support.pages.browser import PHONE, WatchedPage, address_of, choose, location_of, open_options, open_page
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, consumer_price
from tunnihind.web.options import LANGUAGES

MIDNIGHT: Final = 1_751_317_200
"""2025-07-01 in Estonia: the first day of 24% VAT."""

COUNT_SHIFTS: Final = """window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""
"""Counts all shifts, those also that come so soon after a click that browsers forgive them."""


def written(eur_mwh: float, vat: float) -> str:
    """Write a price as the English page does, in cents with VAT."""
    return f"{100 * consumer_price(eur_mwh, vat):.2f}".replace("-", "−")


def quarter(ts: int) -> float:
    """Return the price of a quarter of the ordinary view, EUR/MWh."""
    return sample_views.shaped(ts, sample_views.price(ts // HOUR_S * HOUR_S))


@pytest_asyncio.fixture(loop_scope="session")
async def lower(serve: Serve) -> RunningServer:
    """Return a server of an ordinary day whose API reckons with 22% VAT, when the law says 24."""
    return await serve(sample_views.ordinary())


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(browser: Browser, lower: RunningServer) -> AsyncIterator[WatchedPage]:
    """Return a page of a browser that has never been there."""
    async with open_page(browser, address_of(lower)) as seen:
        yield seen
        assert seen.console_errors == []
        assert seen.foreign_requests == []


async def answer_of(server: RunningServer, path: str) -> Any:  # noqa: ANN401  a JSON document
    return json.loads((await server.ask(path)).body)


async def test_a_first_visit_sees_hours_with_the_laws_vat_by_name(visitor: WatchedPage) -> None:
    page = await visitor.show()
    await expect(page.locator("[data-now-price]")).to_have_text(written(sample_views.price(HOUR), 0.24))
    await expect(page.locator(".now")).to_contain_text("with 24% VAT")
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–13:00")
    assert await location_of(page) == f"{visitor.address}/"


async def test_everything_follows_the_vat_that_is_chosen(visitor: WatchedPage, lower: RunningServer) -> None:
    page = await visitor.show("/?by=none")
    series = await answer_of(lower, "/api/series")
    today = [hour for hour in series["actuals"] if HOUR - 12 * HOUR_S <= hour["ts"] < HOUR + 12 * HOUR_S]
    cheapest = min(hour["eurMwh"] for hour in today if hour["ts"] >= HOUR)
    for name, rate, said in (("22% (as in the API)", 0.22, "with 22% VAT"), ("No VAT", 0.0, "without VAT")):
        await choose(page, name)
        now = written(series["current"]["eurMwh"], rate)
        await expect(page.locator("[data-now-price]")).to_have_text(now)
        await expect(page.locator(".now")).to_contain_text(said)
        await expect(page.locator("#days tbody td:nth-of-type(2)").first).to_contain_text(written(cheapest, rate))
        await expect(page.locator("[data-readout] b")).to_have_text(f"{now} c/kWh")
        chart = page.get_by_role("slider", name=f"Prices and forecast, c/kWh, {said}")
        await expect(chart).to_have_attribute("aria-valuetext", re.compile(re.escape(now)))
        await expect(page.locator("#hours-table [aria-current=time] td").first).to_have_text(now)
        await expect(page.locator(".calendar h2")).to_contain_text(said)
        best = min(sum(amounts) for amounts in windows(series, 3, rate)) / 3
        await expect(page.locator("[data-found]")).to_contain_text(
            re.compile(rf"on average ({best:.2f}|about {best:.0f})\sc/kWh")
        )
    # With the API's rate, the page's numbers are the API's.
    await choose(page, "22% (as in the API)")
    await expect(page.locator("[data-now-price]")).to_have_text(f"{100 * series['current']['eurKwh']:.2f}")


def windows(series: dict[str, Any], hours: int, vat: float) -> list[list[float]]:
    """Return the prices of all windows of so many hours ahead, settled or forecast, in cents with VAT."""
    ahead = {hour["ts"]: hour["p50"] for hour in series["forecast"] if hour["ts"] > HOUR}
    ahead |= {hour["ts"]: hour["eurMwh"] for hour in series["actuals"] if hour["ts"] > HOUR}
    prices = [round(100 * consumer_price(ahead[ts], vat), 2) for ts in sorted(ahead)]
    return [prices[i : i + hours] for i in range(len(prices) - hours + 1)]


async def test_in_quarters_everything_is_the_quarters(visitor: WatchedPage, lower: RunningServer) -> None:
    page = await visitor.show()
    await choose(page, "Quarter-hour")
    answer = await answer_of(lower, "/api/v1/quarters?days=1")
    [now] = [item for item in answer["dayAhead"] if item["ts"] == HOUR]
    await expect(page.locator("[data-now-price]")).to_have_text(written(now["eurMwh"], 0.24))
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–12:15")
    await expect(page.locator(".now")).to_contain_text(f"Next quarter-hour {written(quarter(HOUR + QUARTER_S), 0.24)}")
    await expect(page.locator("#hours-table table").first.locator("[scope=row]")).to_have_count(96)
    # The keyboard walks by quarters, a day is 96 of them.
    chart = page.get_by_role("slider")
    await chart.focus()
    await page.keyboard.press("ArrowRight")
    await expect(chart).to_have_attribute("aria-valuenow", str(HOUR + QUARTER_S))
    await expect(chart).to_have_attribute("aria-valuetext", re.compile("12:15–12:30"))
    await expect(page.locator("[data-readout] b")).to_have_text(f"{written(quarter(HOUR + QUARTER_S), 0.24)} c/kWh")
    await page.keyboard.press("PageUp")
    await expect(chart).to_have_attribute("aria-valuenow", str(HOUR + QUARTER_S - DAY_S))
    assert await chart.get_attribute("aria-valuemin") == str(answer["dayAhead"][0]["ts"])
    assert await chart.get_attribute("aria-valuemax") == str(answer["forecast"][-1]["ts"])


async def test_a_search_in_quarters_begins_and_ends_with_any_of_them(
    visitor: WatchedPage, lower: RunningServer
) -> None:
    page = await visitor.show("/?period=quarter&hours=1.5&predicted=0&by=none")
    await expect(page.get_by_label("How long")).to_have_value("1.5")
    answer = await answer_of(lower, "/api/v1/quarters")
    ahead = [item for item in answer["dayAhead"] if item["ts"] > HOUR]
    six = min((ahead[i : i + 6] for i in range(len(ahead) - 5)), key=lambda some: sum(item["eurMwh"] for item in some))
    mean = sum(round(100 * consumer_price(item["eurMwh"], 0.24), 2) for item in six) / 6
    await expect(page.locator("[data-found]")).to_contain_text(f"on average {mean:.2f} c/kWh")
    start = six[0]["ts"]
    clock = f"{(start // HOUR_S + 2) % 24:02}:{start % HOUR_S // 60:02}"
    await expect(page.locator("[data-found] .cheapest strong")).to_contain_text(re.compile(rf"^{clock} ?–"))
    # So it does in hours: each of their quarters has the hour's price.
    await choose(page, "Hour")
    await expect(page.get_by_label("How long")).to_have_value("1.5")
    await expect(page.locator("[data-found] .cheapest")).to_contain_text("3 kWh: ")


async def test_a_choice_is_in_the_address_and_remembered_for_the_next_visit(visitor: WatchedPage) -> None:
    page = await visitor.show()
    await choose(page, "Quarter-hour")
    await choose(page, "No VAT")
    assert "period=quarter" in await location_of(page)
    assert "vat=none" in await location_of(page)
    # The next visit begins at the plain address.
    page = await visitor.show()
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–12:15")
    await expect(page.locator("[data-now-price]")).to_have_text(written(quarter(HOUR), 0.0))
    assert "period=quarter" in await location_of(page)
    assert "vat=none" in await location_of(page)
    # What an address says counts more than what is remembered, and doesn't replace it.
    page = await visitor.show("/?period=hour&vat=law")
    await expect(page.locator("[data-now-price]")).to_have_text(written(sample_views.price(HOUR), 0.24))
    page = await visitor.show("/?lang=en")
    await expect(page.locator("[data-now-price]")).to_have_text(written(quarter(HOUR), 0.0))
    # Back to what a first visit sees.
    await choose(page, "Hour")
    await choose(page, "24% (by law)")
    page = await visitor.show()
    await expect(page.locator("[data-now-price]")).to_have_text(written(sample_views.price(HOUR), 0.24))


async def test_back_undoes_a_choice_and_what_is_remembered_of_it(visitor: WatchedPage) -> None:
    page = await visitor.show()
    now, unit = page.locator("[data-now-span]"), page.locator(".now .price .unit").last
    await choose(page, "Quarter-hour")
    await choose(page, "€/MWh")
    await expect(unit).to_have_text("€/MWh")
    await page.go_back()
    await expect(unit).to_have_text("c/kWh")
    await expect(now).to_have_text("12:00–12:15")
    await page.go_back()
    await expect(now).to_have_text("12:00–13:00")
    assert await location_of(page) == f"{visitor.address}/"
    page = await visitor.show()
    await expect(now).to_have_text("12:00–13:00")


async def test_back_from_another_page_undoes_a_choice_too(visitor: WatchedPage) -> None:
    page = await visitor.show()
    await choose(page, "Quarter-hour")
    await page.locator("#nav-accuracy").click()
    await page.wait_for_url("**/accuracy*")
    await page.evaluate("setTimeout(() => history.go(-2))")
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–13:00")
    assert await location_of(page) == f"{visitor.address}/"


async def test_the_small_view_shows_what_its_address_says_and_nothing_remembered(visitor: WatchedPage) -> None:
    page = await visitor.show()
    await choose(page, "Quarter-hour")
    await choose(page, "No VAT")
    await expect(page.locator(".share code")).to_contain_text("period=quarter&vat=none&embed=1")
    page = await visitor.show("/?embed=1")
    await expect(page.locator("[data-now-price]")).to_have_text(written(sample_views.price(HOUR), 0.24))
    page = await visitor.show("/?embed=1&period=quarter&vat=none")
    await expect(page.locator("[data-now-price]")).to_have_text(written(quarter(HOUR), 0.0))
    await expect(page.locator(".now")).to_contain_text("without VAT")


async def test_a_browser_that_remembers_nothing_shows_a_first_visit_and_keeps_the_address(
    visitor: WatchedPage,
) -> None:
    await visitor.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }});"
    )
    page = await visitor.show()
    await choose(page, "Quarter-hour")
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–12:15")
    assert "period=quarter" in await location_of(page)
    page = await visitor.show()
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–13:00")


async def test_what_a_browser_remembers_by_mistake_does_no_harm(visitor: WatchedPage) -> None:
    await visitor.page.add_init_script(
        "Object.assign(localStorage, {'tunnihind.margin': '9'.repeat(20000), 'tunnihind.period': '<b>'});"
        "localStorage['tunnihind.kw'] = 'NaN';"
    )
    page = await visitor.show()
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–13:00")
    await expect(page.get_by_label("Power")).to_have_value("2")


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_nothing_shifts_when_a_choice_is_used_or_data_arrive(
    browser: Browser, lower: RunningServer, lang: str
) -> None:
    for options in ({}, PHONE):
        async with open_page(browser, address_of(lower), **options) as seen:
            await seen.page.add_init_script(COUNT_SHIFTS)
            page = await seen.show(f"/?lang={lang}&period=quarter")
            assert await page.evaluate("window.shift") < 0.01
            page = await seen.show(f"/?lang={lang}&split=1")
            await open_options(page)
            for choice in ("period-quarter", "vat-none", "vat-api", "period-hour", "vat-law"):
                await page.locator(f"#{choice}").click()
                await expect(page.locator(f"#{choice}")).to_have_attribute("aria-current", "true")
                await page.wait_for_load_state("networkidle")
            assert await page.evaluate("window.shift") < 0.01
            if options:
                assert await page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_with_the_keyboard_a_choice_keeps_the_focus(visitor: WatchedPage) -> None:
    page = await visitor.show()
    await open_options(page)
    link = page.get_by_role("group", name="Prices by").get_by_role("link", name="Quarter-hour")
    await link.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("[data-now-span]")).to_have_text("12:00–12:15")
    await expect(page.get_by_role("link", name="Quarter-hour", exact=True)).to_be_focused()


async def test_the_page_moves_on_at_the_full_quarter(browser: Browser, serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), now=HOUR + QUARTER_S - 20)
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show("/?period=quarter")
        await expect(page.locator("[data-now-span]")).to_have_text("12:00–12:15")
        server.clock.instant += 24
        await page.clock.run_for(24_000)
        await expect(page.locator("[data-now-span]")).to_have_text("12:15–12:30")
        await expect(page.locator("[data-now-price]")).to_have_text(written(quarter(HOUR + QUARTER_S), 0.24))
        assert seen.console_errors == []


async def test_without_a_server_the_page_moves_on_by_quarters(browser: Browser, lower: RunningServer) -> None:
    async with open_page(browser, address_of(lower)) as seen:
        await seen.page.clock.install()
        page = await seen.show("/?period=quarter")
        # The first answers have been read once it counts down: from then on a timer asks again.
        await expect(page.locator("[data-next-start]")).to_have_text(re.compile("starts in"))
        await page.context.set_offline(True)
        await page.clock.fast_forward(1_000 * QUARTER_S)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-now-span]")).to_have_text("12:15–12:30")
        await expect(page.locator("[data-now-price]")).to_have_text(written(quarter(HOUR + QUARTER_S), 0.24))
        await expect(page.locator("#grid [aria-current=time]")).to_have_attribute("data-hour", str(HOUR))


async def test_an_answer_that_comes_too_late_does_not_undo_the_choice_of_a_period(visitor: WatchedPage) -> None:
    page = await visitor.show()
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await open_options(page)
    await page.route("**/api/v1/quarters**", hold)
    async with page.expect_request("**/api/v1/quarters**"):
        await page.locator("#period-quarter").click()
    await page.locator("#period-hour").click()
    await expect(page.locator("#period-hour")).to_have_attribute("aria-current", "true")
    [late] = held
    async with page.expect_response("**/api/v1/quarters**"):
        await late.continue_()
    await page.wait_for_load_state("networkidle")
    chart = page.get_by_role("slider")
    await chart.focus()
    await page.keyboard.press("ArrowRight")
    await expect(chart).to_have_attribute("aria-valuenow", str(HOUR + HOUR_S))


@pytest.mark.parametrize(("now", "rate"), [(MIDNIGHT - 60, 0.22), (MIDNIGHT, 0.24)])
async def test_the_laws_rate_is_that_of_the_day_and_each_hour_has_its_own(
    browser: Browser, serve: Serve, now: int, rate: float
) -> None:
    server = await serve(sample_views.ordinary(now), now=now)
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show()
        current = now // HOUR_S * HOUR_S
        await expect(page.locator("[data-now-price]")).to_have_text(written(sample_views.price(current), rate))
        await expect(page.locator(".now")).to_contain_text(f"with {rate:.0%} VAT")
        chart = page.get_by_role("slider")
        await chart.focus()
        # The last hour of June and the first hour of July have different rates.
        for key in ("PageUp", "PageDown", "ArrowLeft", "ArrowRight", "ArrowRight"):
            await page.keyboard.press(key)
            ts = int(await chart.get_attribute("aria-valuenow") or 0)
            lawful = written(sample_views.price(ts), 0.24 if ts >= MIDNIGHT else 0.22)
            said = re.compile(rf": {re.escape(lawful)} c/kWh, published price")
            await expect(chart).to_have_attribute("aria-valuetext", said)
