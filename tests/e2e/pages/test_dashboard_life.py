"""The dashboard in a real browser through what may happen to it, to its server and to its data."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from playwright.async_api import Browser, Route, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve
from tests.support.machine.processes import Launch, until
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.browser import PHONE, WatchedPage, address_of, cents, choose, open_options, open_page
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA, HOUR_S


async def test_the_menu_of_options_closes_by_escape_by_a_click_beside_it_and_when_the_keyboard_leaves(
    watched_page: WatchedPage,
) -> None:
    page = await watched_page.show()
    menu, inside = page.locator("details.menu"), page.get_by_role("link", name="UTC")
    for leave in (
        page.keyboard.press("Escape"),
        page.locator("h1").click(),
        page.get_by_role("button", name="Week").focus(),
    ):
        await open_options(page)
        await expect(inside).to_be_visible()
        await inside.focus()
        await leave
        await expect(inside).to_be_hidden()
        await expect(menu).not_to_have_attribute("open", "")
    # Escape gives the focus back to what opened it, a choice leaves it open.
    await choose(page, "No VAT")
    await expect(menu.locator("summary")).to_have_text("Options c/kWh, no VAT")
    await page.keyboard.press("Escape")
    await expect(menu.locator("summary")).to_be_focused()


async def test_without_javascript_summary_chart_calendar_and_table_are_there(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), java_script_enabled=False) as seen:
        page = await seen.show()
        await expect(page.locator("[data-now-price]")).to_be_visible()
        await expect(page.locator("[data-next-start]")).to_have_text("starts at 13:00")
        await expect(page.get_by_role("img", name="Prices of today and the days ahead")).to_be_visible()
        await expect(page.locator("#grid")).to_be_visible()
        await expect(page.locator("[data-finder]")).to_be_hidden()
        await page.get_by_text("Hourly prices as a table").click()
        await expect(page.locator("#hours-table table").first).to_be_visible()
        await open_options(page)
        await page.get_by_role("link", name="€/MWh").click()
        await expect(page.locator("[data-now-price]")).to_have_text(f"{sample_views.price(HOUR):.2f}")


async def test_the_minutes_to_the_next_hour_are_counted_down(watched_page: WatchedPage, server: RunningServer) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    starts = page.locator("[data-next-start]")
    await expect(starts).to_have_text("starts in 50 min")
    server.clock.instant += 20 * 60
    await page.clock.run_for(20 * 60_000)
    await expect(starts).to_have_text("starts in 30 min")


async def test_the_page_refreshes_itself_and_the_keyboard_stays_where_it_was(
    watched_page: WatchedPage, server: RunningServer
) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    await open_options(page)
    await page.get_by_role("link", name="UTC").focus()
    server.snapshot.replace_data(replace(sample_views.ordinary(prices={HOUR: 12.34}), version="corrected"))
    await page.clock.run_for(61_000)
    await expect(page.locator("[data-now-price]")).to_have_text("1.53")
    await expect(page.get_by_role("link", name="UTC")).to_be_focused()


async def test_a_new_notice_is_written_where_screen_readers_listen(
    watched_page: WatchedPage, server: RunningServer
) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    listened_to = await page.get_by_role("status").and_(page.locator("#notices")).element_handle()
    server.snapshot.replace_data(sample_views.without_forecast())
    await page.clock.run_for(61_000)
    await expect(page.locator("#notices")).to_contain_text("no forecast yet")
    assert await page.locator("#notices").evaluate("(notices, listened) => notices === listened", listened_to)


async def test_a_page_with_nothing_new_is_asked_for_at_the_price_of_a_304(
    watched_page: WatchedPage, server: RunningServer
) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    await page.evaluate("window.untouched = document.querySelector('#now')")
    async with page.expect_response("**/api/series?days=2"), page.expect_response(re.compile("/$")):
        await page.clock.run_for(61_000)
    counted = server.metrics.prometheus_text().decode()
    for route in ("/", "/api/series"):
        # Each came whole once, however often a slow machine has let a minute pass.
        assert f'tunnihind_requests_total{{route="{route}",status="200"}} 1.0' in counted
        assert f'tunnihind_requests_total{{route="{route}",status="304"}}' in counted
    assert await page.evaluate("window.untouched === document.querySelector('#now')")


async def test_prices_that_came_are_shown_although_the_page_they_belong_to_did_not(
    browser: Browser, server: RunningServer
) -> None:
    async def refuse(route: Route) -> None:
        await (route.continue_() if route.request.is_navigation_request() else route.fulfill(status=429))

    async with open_page(browser, address_of(server)) as seen:
        await seen.page.route(f"{seen.address}/", refuse)
        page = await seen.show()
        await expect(page.get_by_role("slider")).to_be_visible()
        await expect(page.locator("p[data-offline]")).to_be_visible()


async def test_a_page_that_comes_too_late_does_not_undo_what_was_chosen_meanwhile(
    browser: Browser, server: RunningServer
) -> None:
    held: list[Route] = []

    async def hold(route: Route) -> None:
        if route.request.is_navigation_request():
            await route.continue_()
        else:
            held.append(route)

    async with open_page(browser, address_of(server)) as seen:
        await seen.page.route(f"{seen.address}/", hold)
        page = seen.page
        await page.goto(seen.address)
        await expect(page.get_by_role("slider")).to_be_visible()
        # While the page's own refresh hangs, the reader chooses another unit.
        await open_options(page)
        await page.get_by_role("link", name="€/MWh").click()
        price = page.locator("[data-now-price]")
        await expect(price).to_have_text(f"{sample_views.price(HOUR):.2f}")
        # Now the held answer arrives, still in the old unit.
        [late] = held
        async with page.expect_response(f"{seen.address}/"):
            await late.continue_()
        await page.wait_for_load_state("networkidle")
        await expect(price).to_have_text(f"{sample_views.price(HOUR):.2f}")
        assert seen.console_errors == []


async def test_without_a_server_the_page_says_so_moves_on_by_hours_and_recovers(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show()
        await page.context.set_offline(True)
        await page.clock.run_for(61_000)
        await expect(page.locator("p[data-offline]")).to_contain_text("No connection to the server")
        await page.clock.fast_forward(3_600_000)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-now-price]")).to_have_text(cents(sample_views.consumer(HOUR + HOUR_S)))
        await expect(page.locator("[data-now-span]")).to_have_text("13:00–14:00")
        await expect(page.locator("[data-next-start]")).to_have_text(re.compile(r"starts in (4|5)\d min"))
        await expect(page.locator("#grid [aria-current=time]")).to_have_attribute("data-hour", str(HOUR + HOUR_S))
        await expect(page.locator("#hours-table [aria-current=time] th")).to_have_text("13:00")
        # On the next day, what was said of today isn't true any more.
        await expect(page.locator("#outlook")).to_contain_text("Today")
        await page.clock.fast_forward(12 * 3_600_000)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-now-span]")).to_have_text("01:00–02:00")
        await expect(page.locator("#outlook")).to_have_text("")
        server.clock.instant += 13 * HOUR_S + 180
        await page.context.set_offline(False)
        await expect(page.locator("p[data-offline]")).to_be_hidden()
        await expect(page.locator("#outlook")).to_contain_text("Today")


async def test_the_small_view_goes_on_with_the_hours_too_when_the_server_is_gone(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show("/?embed=1")
        await page.context.set_offline(True)
        await page.clock.fast_forward(3_600_000)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-now-price]")).to_have_text(cents(sample_views.consumer(HOUR + HOUR_S)))
        await expect(page.locator("[data-now-kind]")).to_have_text("")
        # The level is the one that the server tells once it is back.
        level = page.locator("[data-now-level]")
        said = await level.inner_text()
        server.clock.instant += HOUR_S + 120
        async with page.expect_response(lambda answer: "embed=1" in answer.url):
            await page.context.set_offline(False)
        await expect(page.locator("[data-offline]")).to_be_hidden()
        await expect(level).to_have_text(said)


async def test_a_forecast_for_the_present_hour_is_written_without_the_server_as_by_the_server(
    browser: Browser, serve: Serve
) -> None:
    server = await serve(sample_views.until_this_hour())
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show()
        await page.context.set_offline(True)
        await page.clock.fast_forward(3_600_000)
        await page.clock.run_for(61_000)
        price, kind = page.locator("#now .price"), page.locator("[data-now-kind]")
        await expect(page.locator("[data-now-span]")).to_have_text("13:00–14:00")
        await expect(kind).to_contain_text("forecast, likely")
        said = [await price.inner_text(), await kind.inner_text()]
        server.clock.instant += HOUR_S + 120
        async with page.expect_response(lambda answer: answer.url.endswith("/")):
            await page.context.set_offline(False)
        await expect(page.locator("p[data-offline]")).to_be_hidden()
        assert [await price.inner_text(), await kind.inner_text()] == said


async def test_an_unknown_price_has_a_note_without_the_server_too(browser: Browser, serve: Serve) -> None:
    server = await serve(sample_views.without_this_hour())
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show()
        await expect(page.locator("#now")).to_contain_text("No price for this hour yet.")
        await page.context.set_offline(True)
        await page.clock.fast_forward(3_600_000)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-now-price]")).to_have_text(cents(sample_views.consumer(HOUR + HOUR_S)))
        await expect(page.locator("#now")).not_to_contain_text("No price")
        await page.clock.fast_forward(10 * 3_600_000)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-now-kind]")).to_have_text("No price for this hour yet.")


@pytest.mark.parametrize(("day", "hours"), [(SPRING, 23), (AUTUMN, 25)])
async def test_a_day_of_another_length_is_shown_hour_by_hour(
    browser: Browser, serve: Serve, day: date, hours: int
) -> None:
    now = sample_views.noon_of(day)
    server = await serve(sample_views.ordinary(now), now=now)
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show()
        assert await page.locator("#grid .today span").count() == hours
        chart = page.get_by_role("slider")
        await chart.focus()
        texts = set()
        for _ in range(14):
            await page.keyboard.press("ArrowLeft")
            texts.add(await chart.get_attribute("aria-valuetext"))
        assert len(texts) == 14
        assert any("EEST" in (text or "") for text in texts) is (hours == 25)
        assert seen.console_errors == []


async def test_negative_prices_are_shown_below_zero_and_found_by_the_finder(browser: Browser, serve: Serve) -> None:
    server = await serve(sample_views.negative())
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show()
        await expect(page.locator("#grid .negative")).to_have_count(4)
        await expect(page.locator("[data-found]")).to_contain_text("on average −1.7")
        assert "−0.00" not in await page.locator("body").inner_text()
        assert seen.console_errors == []


async def test_without_a_forecast_the_page_shows_prices_only(browser: Browser, serve: Serve) -> None:
    async with open_page(browser, address_of(await serve(sample_views.without_forecast()))) as seen:
        page = await seen.show()
        await expect(page.locator("#notices")).to_contain_text("no forecast yet")
        await expect(page.get_by_role("slider")).to_be_visible()
        assert seen.console_errors == []


async def test_a_page_whose_newest_price_is_days_old_shows_it_and_says_so(browser: Browser, serve: Serve) -> None:
    async with open_page(browser, address_of(await serve(sample_views.forgotten())), **PHONE) as seen:
        page = await seen.show()
        # Nothing can be found, and the finder's question names no deadline.
        await expect(page.locator("[data-asked]")).to_have_text("3 h at 2 kW")
        nothing = await page.get_by_text("No future prices are known").bounding_box()
        assert nothing is not None
        assert nothing["x"] + nothing["width"] <= 390
        await expect(page.locator("#notices")).to_contain_text("refreshed 2 days ago")
        await expect(page.get_by_role("slider")).to_be_visible()
        assert await page.evaluate("performance.getEntriesByType('navigation')[0].type") == "navigate"
        assert seen.console_errors == []


async def test_an_empty_page_fills_itself_when_prices_come(browser: Browser, serve: Serve) -> None:
    server = await serve(ServedData("empty", ESTONIA))
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show()
        await expect(page.locator("#now")).to_contain_text("No prices yet")
        server.snapshot.replace_data(sample_views.ordinary())
        await page.clock.run_for(61_000)
        await expect(page.get_by_role("slider")).to_be_visible()
        # No old chart stays where the server has lost its prices.
        server.snapshot.replace_data(ServedData("empty again", ESTONIA))
        await page.clock.run_for(61_000)
        await expect(page.locator("#now")).to_contain_text("No prices yet")
        await expect(page.locator(".chart")).to_have_count(0)
        assert seen.console_errors == []


async def test_nothing_shifts_while_the_page_comes_to_life(browser: Browser, server: RunningServer) -> None:
    for options in ({}, PHONE):
        async with open_page(browser, address_of(server), **options) as seen:
            await seen.page.add_init_script(
                "window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) "
                "window.shift += entry.value; }).observe({type: 'layout-shift', buffered: true});"
            )
            page = await seen.show("/")
            assert await page.evaluate("window.shift") < 0.01


@pytest_asyncio.fixture(loop_scope="session")
async def prefixed(server: RunningServer) -> AsyncIterator[str]:
    """Return the address of a proxy that serves the server below a path, as Home Assistant's ingress does."""
    async with ClientSession(auto_decompress=False) as session:

        async def pass_on(request: web.Request) -> web.Response:
            target = f"{address_of(server)}/{request.raw_path.removeprefix('/some/where/')}"
            async with session.get(target, headers=request.headers) as answer:
                return web.Response(status=answer.status, headers=answer.headers, body=await answer.read())

        app = web.Application()
        app.router.add_get("/some/where/{rest:.*}", pass_on)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        await runner.cleanup()


async def test_below_a_path_prefix_everything_works(browser: Browser, prefixed: str) -> None:
    async with open_page(browser, prefixed) as seen:
        page = await seen.show("/some/where/")
        await expect(page.get_by_role("slider")).to_be_visible()
        await choose(page, "€/MWh")
        await expect(page.locator("[data-now-price]")).to_have_text(f"{sample_views.price(HOUR):.2f}")
        await page.get_by_role("link", name="API").click()
        await page.wait_for_url(re.compile("/some/where/docs"))
        await page.get_by_role("link", name="/api/about").click()
        await page.locator("#getAbout").get_by_role("button", name="Try it").click()
        await expect(page.locator("#getAbout [data-status]")).to_contain_text("200")
        await expect(page.locator('[data-recipe="curl.sh"]')).to_contain_text(f"{prefixed}/some/where/api/v1/forecast")
        assert seen.console_errors == []
        assert seen.foreign_requests == []


async def test_a_restarted_server_is_found_again(browser: Browser, launch: Launch) -> None:
    process = launch("--demo")
    await process.until("/api/series", lambda reply: reply.json()["current"], say="a price for now")
    async with open_page(browser, process.url) as seen:
        await seen.page.clock.install()
        page = await seen.show("/?vat=api")
        price = page.locator("[data-now-price]")
        current = (await process.get("/api/series")).json()["current"]
        await expect(price).to_have_text(cents(current["eurKwh"]))
        assert seen.console_errors == []
        offline = page.locator("p[data-offline]")

        async def says_so(is_gone: bool) -> bool:
            # A question may be under way already: then the next one comes a minute after its answer.
            await page.clock.run_for(61_000)
            return await offline.is_visible() == is_gone

        # The server stops: the page says so within a minute or two.
        await process.terminate()
        assert await until(lambda: says_so(True))
        # It starts again at the same address: the message goes away.
        again = launch("--demo", port=int(process.url.rpartition(":")[2]))
        await again.until("/api/series", lambda reply: reply.json()["current"], say="a price for now")
        assert await until(lambda: says_so(False))
        assert seen.foreign_requests == []
