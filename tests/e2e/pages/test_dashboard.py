"""The dashboard in a real browser: what it shows is what the API serves, however it is looked at."""

import re

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve
from tests.support.pages import sample_views
from tests.support.pages.browser import (
    PHONE,
    WatchedPage,
    address_of,
    cents,
    choose,
    location_of,
    open_options,
    open_page,
    series_of,
    whole_cents,
)
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S
from tunnihind.settings import Settings
from tunnihind.web.options import LANGUAGES


async def point_at(page: Page, ts: int) -> None:
    """Move the mouse to the middle of an hour."""
    box = await page.locator(".over").bounding_box()
    assert box is not None
    low, high = await shown_range(page)
    left = (ts + HOUR_S / 2 - low) / (high - low) * box["width"]
    await page.mouse.move(box["x"] + left, box["y"] + box["height"] / 2)


async def shown_range(page: Page) -> tuple[float, float]:
    """Return which instants the chart shows, by the address where it names them, else from today to the end.

    The address follows when the reader's hand has rested a moment, which the page's clock has to be moved for.
    """
    await page.clock.run_for(1000)
    found = re.search(r"from=(\d+)&to=(\d+)", await location_of(page))
    if found:
        return float(found[1]), float(found[2])
    return HOUR - 12 * HOUR_S, float(sample_views.END)


async def range_after(page: Page, before: tuple[float, float]) -> tuple[float, float]:
    """Return what the chart shows once that has changed. A busy machine may need some of the clock's seconds for it."""
    for _ in range(30):
        if (now := await shown_range(page)) != before:
            return now
    raise AssertionError(f"the chart still shows {before}")


async def test_the_prices_at_a_glance_are_the_apis(watched_page: WatchedPage, server: RunningServer) -> None:
    page = await watched_page.show()
    series = await series_of(server)
    await expect(page.locator("[data-now-price]")).to_have_text(cents(series["current"]["eurKwh"]))
    today = [hour for hour in series["actuals"] if HOUR - 12 * HOUR_S <= hour["ts"] < HOUR + 12 * HOUR_S]
    cheapest = min((hour for hour in today if hour["ts"] >= HOUR), key=lambda hour: hour["eurMwh"])
    await expect(page.locator("#days tbody td:nth-of-type(2)").first).to_contain_text(cents(cheapest["eurKwh"]))


async def test_hovering_an_hour_tells_the_exact_values_that_the_api_serves(
    watched_page: WatchedPage, server: RunningServer
) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    series = await series_of(server)
    settled = next(hour for hour in series["actuals"] if hour["ts"] == HOUR + 5 * HOUR_S)
    await point_at(page, settled["ts"])
    await expect(page.locator("[data-readout] b")).to_have_text(f"{cents(settled['eurKwh'])} c/kWh")
    ahead = series["forecast"][-5]
    await point_at(page, ahead["ts"])
    await expect(page.locator("[data-readout] b")).to_have_text(f"about {whole_cents(ahead['p50Kwh'])} c/kWh")
    band = f"{whole_cents(ahead['p10Kwh'])}–{whole_cents(ahead['p90Kwh'])}"
    await expect(page.locator("[data-readout]")).to_contain_text(band)


async def test_a_finger_on_an_hour_tells_its_price(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show()
        await expect(page.locator("[data-readout]")).to_be_hidden()
        await page.locator(".over").tap(position={"x": 30, "y": 60})
        await expect(page.locator("[data-readout]")).to_contain_text("c/kWh")
        assert seen.console_errors == []


async def test_two_fingers_zoom_and_one_moves(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        await seen.page.clock.install()
        page = await seen.show("/?span=week")
        await page.locator(".over").scroll_into_view_if_needed()
        box = await page.locator(".over").bounding_box()
        assert box is not None
        middle = box["x"] + box["width"] / 2
        touch = await page.context.new_cdp_session(page)

        async def fingers(kind: str, *lefts: float) -> None:
            points = [{"x": left, "y": box["y"] + 40, "id": i} for i, left in enumerate(lefts)]
            await touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        # Two fingers, twice as far apart in the end: half of the week is shown.
        await fingers("touchStart", middle - 40, middle + 40)
        for spread in (60, 80):
            await fingers("touchMove", middle - spread, middle + spread)
        await fingers("touchEnd")
        zoomed = await shown_range(page)
        week = sample_views.END - (HOUR - 12 * HOUR_S - 7 * DAY_S)
        assert zoomed[1] - zoomed[0] == pytest.approx(week / 2, rel=0.02)
        # One finger moves what is shown and leaves its length.
        await fingers("touchStart", middle)
        for step in (20, 40, 60):
            await fingers("touchMove", middle + step)
        await fingers("touchEnd")
        moved = await shown_range(page)
        assert moved[0] < zoomed[0]
        assert moved[1] - moved[0] == pytest.approx(zoomed[1] - zoomed[0], abs=2)
        assert seen.console_errors == []


@pytest.mark.parametrize("width", [390, 641, 768, 1024, 1280])
async def test_the_legend_shows_all_that_is_in_the_chart_at_any_width(
    browser: Browser, serve: Serve, width: int
) -> None:
    server = await serve(sample_views.negative())
    async with open_page(browser, address_of(server), viewport={"width": width, "height": 900}) as seen:
        for lang in LANGUAGES:
            page = await seen.show(f"/?lang={lang}&package=vork_4&span=ahead")
            legend = page.locator(".chart .legend")
            for item in ("settled", "forecast", "night", "found", "dearest"):
                await expect(legend.locator(f"[data-shows={item}]")).to_be_visible()
            cut = """legend => {
                const box = legend.getBoundingClientRect();
                const parts = [...legend.children].map((item) => item.getBoundingClientRect());
                return parts.filter(({ bottom, right }) => bottom > box.bottom || right > box.right).length;
            }"""
            assert await legend.evaluate(cut) == 0


async def test_a_wide_screen_shows_each_notice_once(browser: Browser, serve: Serve) -> None:
    async with open_page(browser, address_of(await serve(mode="demo"))) as seen:
        page = await seen.show()
        shown = page.locator("#notices .notice").filter(visible=True)
        await expect(shown).to_have_text(["Demo: the market is simulated, no price is real."])


async def test_the_keyboard_walks_from_hour_to_hour(watched_page: WatchedPage, server: RunningServer) -> None:
    page = await watched_page.show()
    chart = page.get_by_role("slider", name="Prices and forecast")
    await chart.focus()
    await expect(chart).to_have_attribute("aria-valuenow", str(HOUR))
    for _ in range(3):
        await page.keyboard.press("ArrowRight")
    await expect(chart).to_have_attribute("aria-valuenow", str(HOUR + 3 * HOUR_S))
    price = cents((await series_of(server))["actuals"][-1]["eurKwh"])
    await page.keyboard.press("PageUp")
    await expect(chart).to_have_attribute("aria-valuenow", str(HOUR - 21 * HOUR_S))
    await expect(chart).not_to_have_attribute("aria-valuetext", re.compile(re.escape(price)))
    await page.keyboard.press("Home")
    await expect(chart).to_have_attribute("aria-valuetext", re.compile("published price"))


async def test_zooming_and_moving_are_kept_in_the_address_and_come_back_with_it(watched_page: WatchedPage) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    await page.get_by_role("button", name="Zoom in").click()
    await page.get_by_role("button", name="Later").click()
    low, high = await shown_range(page)
    assert high - low == pytest.approx((sample_views.END - HOUR + 12 * HOUR_S) / 1.5, abs=2)
    shared = await location_of(page)
    await watched_page.show("/")
    await page.goto(shared, wait_until="networkidle")
    assert await shown_range(page) == (low, high)
    assert await page.locator("[data-span][aria-pressed=true]").count() == 0


async def test_dragging_moves_and_the_wheel_with_ctrl_zooms(watched_page: WatchedPage) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show()
    async with page.expect_response("**/api/series?days=14"):
        await page.get_by_role("button", name="Week").click()
    await expect(page.get_by_role("slider")).to_have_attribute("aria-valuemin", str(HOUR - 14 * DAY_S))
    await page.get_by_role("button", name="Zoom in").click()
    before = await shown_range(page)
    await page.locator(".over").scroll_into_view_if_needed()
    box = await page.locator(".over").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 50
    await page.mouse.move(x, y)
    # A drag to the right moves the view back in time.
    await page.mouse.down()
    await page.mouse.move(x + 100, y, steps=4)
    await page.mouse.up()
    after = await shown_range(page)
    assert after[0] == pytest.approx(before[0] - 100 / box["width"] * (before[1] - before[0]), abs=2)
    # Ctrl and the wheel zoom in by a factor of 1.5.
    await page.keyboard.down("Control")
    await page.mouse.wheel(0, -100)
    await page.keyboard.up("Control")
    zoomed = await shown_range(page)
    assert zoomed[1] - zoomed[0] == pytest.approx((after[1] - after[0]) / 1.5, abs=2)


async def test_fourteen_days_back_can_be_seen(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?span=all")
    chart = page.get_by_role("slider")
    assert await chart.get_attribute("aria-valuemin") == str(HOUR - 14 * DAY_S)
    assert await chart.get_attribute("aria-valuemax") == str(sample_views.LAST)


async def test_a_home_sees_its_servers_whole_forecast_by_the_hour_and_by_the_quarter(
    browser: Browser, serve: Serve
) -> None:
    server = await serve(sample_views.ordinary(), settings=Settings(full_horizon=True))
    async with open_page(browser, address_of(server)) as seen:
        for path, last in (("/", HOUR + 150 * HOUR_S), ("/?period=quarter", HOUR + 151 * HOUR_S - QUARTER_S)):
            page = await seen.show(path)
            await expect(page.get_by_role("slider")).to_have_attribute("aria-valuemax", str(last))


async def test_the_past_comes_when_it_is_looked_at_and_moves_in_it_are_whole(watched_page: WatchedPage) -> None:
    page = watched_page.page
    await page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    await watched_page.show()
    assert "series?days=2" in asked
    low, high = await shown_range(page)
    for _ in range(4):
        await page.get_by_role("button", name="Earlier").click()
    await expect(page.get_by_role("slider")).to_have_attribute("aria-valuemin", str(HOUR - 14 * DAY_S))
    assert await shown_range(page) == pytest.approx((low - 2 * (high - low), high - 2 * (high - low)), abs=2)
    assert [one for one in asked if one.startswith("series")] == ["series?days=2", "series?days=14"]


async def test_without_a_connection_the_chart_moves_in_what_is_here_and_the_past_comes_later(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        await seen.page.clock.install()
        page = await seen.show()
        await page.context.set_offline(True)
        press = {name: page.get_by_role("button", name=name) for name in ("Earlier", "Zoom out", "Zoom in")}
        await press["Earlier"].click()
        await expect(page.locator("p[data-offline]")).to_be_visible()
        for name in ("Earlier", "Zoom out"):
            for _ in range(9):
                await press[name].click()
        low, high = await shown_range(page)
        await press["Zoom in"].click()
        closer = await range_after(page, (low, high))
        assert high - low < 8 * DAY_S
        assert closer[1] - closer[0] == pytest.approx((high - low) / 1.5, abs=2)
        await page.context.set_offline(False)
        await expect(page.get_by_role("slider")).to_have_attribute("aria-valuemin", str(HOUR - 14 * DAY_S))
        assert await shown_range(page) == pytest.approx(closer, abs=2)


async def test_the_finder_finds_the_cheapest_hours_and_keeps_its_question_in_the_address(
    watched_page: WatchedPage, server: RunningServer
) -> None:
    page = await watched_page.show()
    series = await series_of(server)
    settled = {hour["ts"]: hour["eurKwh"] for hour in series["actuals"] if hour["ts"] > HOUR}
    await page.get_by_label("Include forecast prices").uncheck()
    await page.get_by_label("Can be split").check()
    await page.get_by_label("How long").fill("2")
    await page.get_by_label("Power").fill("11.5")
    await page.get_by_role("button", name="No deadline").click()
    low, high = sorted(settled.values())[:2], sorted(settled.values())[-2:]
    cheapest, dearest = page.locator("[data-found] .cheapest"), page.locator("[data-found] .dearest")
    for _ in range(2):
        await expect(cheapest).to_contain_text(f"on average {cents(sum(low) / 2)} c/kWh")
        await expect(cheapest).to_contain_text(f"23 kWh: {11.5 * sum(low):.2f} €")
        await expect(dearest).to_contain_text(f"on average {cents(sum(high) / 2)} c/kWh")
        await expect(page.locator("[data-found]")).not_to_contain_text("about")
        query = (await location_of(page)).split("?")[1]
        assert {"hours=2", "kw=11.5", "by=none", "split=1", "predicted=0"} <= {*query.split("&")}
        await page.reload(wait_until="networkidle")
    # The power is the device's: it is remembered for the next visit.
    page = await watched_page.show()
    await expect(page.get_by_label("Power")).to_have_value("11.5")


async def test_the_finder_keeps_to_the_deadline_and_says_when_there_is_not_enough(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?hours=3&by=2025-12-15T16:00")
    await expect(page.locator("[data-found] .cheapest")).to_contain_text("12:15–15:15")
    await page.get_by_label("How long").fill("4")
    await expect(page.locator("[data-found]")).to_contain_text("Too few hours before the deadline")


async def test_a_deadline_is_chosen_by_day_and_hour_or_by_one_press(watched_page: WatchedPage) -> None:
    page = await watched_page.show()
    day, time = page.get_by_label("Done by, day"), page.get_by_label("Done by, time")
    await expect(day.locator("option:checked")).to_have_text("Tomorrow")
    await expect(time.locator("option:checked")).to_have_text("13:00")
    await page.get_by_role("button", name="Tomorrow 07:00").click()
    await expect(time.locator("option:checked")).to_have_text("07:00")
    await day.select_option(label="Today")
    await expect(time.locator("option:checked")).to_have_text("13:00")
    await expect(page.locator("[data-found]")).to_contain_text("Too few hours before the deadline")
    await time.select_option(label="24:00")
    assert f"by={HOUR + 12 * HOUR_S}" in await location_of(page)
    await expect(page.locator("[data-found] .cheapest")).to_contain_text("Today")
    # A time that has passed by the next visit isn't looked for.
    page = await watched_page.show("/?by=2025-12-15T10:00")
    await expect(page.locator("[data-found]")).to_contain_text("The deadline has passed")
    await expect(time.locator("option:checked")).to_have_text("13:00")


async def test_the_finders_hours_say_how_many_cheapest_hours_of_each_day_are_priced(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?hours=5")
    shown = page.locator("[data-cheapest-hours]").filter(visible=True)
    await expect(shown.locator("h3")).to_contain_text("The 5 cheapest hours of each day")
    prices = await shown.locator("li").all_text_contents()
    assert [price.split()[0] for price in prices[:2]] == ["Today", "Tomorrow"]
    assert all(re.fullmatch(r".* about .+ \(.+\)|.* −?\d+\.\d\d", price) for price in prices)
    # A part of an hour needs a whole one, and at most eight are priced.
    for hours, priced in (("2.5", "3"), ("1", ""), ("12", "8")):
        await page.locator("[name=hours]").fill(hours)
        await expect(shown.locator("h3")).to_contain_text(f"The {priced} cheapest hour".replace("  ", " "))
    await page.locator("[name=hours]").fill("0")
    await expect(shown).to_have_count(1)


async def test_the_finder_refuses_in_words_what_it_cannot_do_and_leaves_it_as_it_was_typed(
    watched_page: WatchedPage,
) -> None:
    page = await watched_page.show()
    field, found = page.get_by_label("How long"), page.locator("[data-found]")
    await field.fill("60")
    await field.press("Tab")
    await expect(found).to_have_text(re.compile(r"from 0\.25 to 24 hours"))
    await expect(field).to_have_value("60")
    await expect(field).to_have_attribute("aria-invalid", "true")
    assert "hours=" not in await location_of(page)
    await field.fill("1.5")
    await expect(found.locator(".cheapest")).to_contain_text("3 kWh: ")
    assert "hours=1.5" in await location_of(page)
    page = await watched_page.show("/?hours=60")
    await expect(found).to_contain_text("from 0.25 to 24 hours")
    await expect(field).to_have_value("60")


async def test_on_a_phone_the_finders_question_is_one_line_until_it_is_to_be_changed(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show()
        asked = page.get_by_role("button", name="3 h at 2 kW, done by tomorrow 13:00")
        await expect(page.get_by_label("How long")).to_be_hidden()
        await asked.click()
        await page.get_by_label("How long").fill("2")
        await expect(page.locator("[data-asked]")).to_have_text("2 h at 2 kW, done by tomorrow 13:00")
        await page.get_by_label("Energy").fill("7.5")
        await expect(page.locator("[data-asked]")).to_have_text("7.5 kWh at 2 kW, done by tomorrow 13:00")
        await expect(page.get_by_label("How long")).to_have_value("3.75")
        await expect(page.locator("[data-found] .cheapest")).to_contain_text("7.5 kWh: ")
        assert "kwh=7.5" in await location_of(page)
        # A run over midnight is the longest to write: it stays within its card.
        await page.get_by_label("How long").fill("20")
        await expect(page.locator("[data-found] .at-once strong")).to_contain_text("12:10 – tomorrow 08:10")
        cut = "[...document.querySelectorAll('.found div')].filter((it) => it.scrollWidth > it.clientWidth).length"
        assert await page.evaluate(cut) == 0
        await page.locator("[data-asked]").click()
        await expect(page.get_by_label("How long")).to_be_hidden()
        assert seen.console_errors == []


async def test_only_the_main_button_of_a_mouse_moves_the_chart(watched_page: WatchedPage) -> None:
    await watched_page.page.clock.install()
    page = await watched_page.show("/?span=week")
    box = await page.locator(".over").bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 100, box["y"] + 50)
    await page.mouse.down(button="right")
    await page.mouse.move(box["x"] + 300, box["y"] + 50, steps=4)
    await page.mouse.up(button="right")
    await page.clock.run_for(1000)
    assert "from=" not in await location_of(page)


async def test_a_range_that_is_no_range_is_as_if_it_were_not_given(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?span=century&from=5&to=x")
    await expect(page.get_by_role("button", name="From today")).to_have_attribute("aria-pressed", "true")


async def test_unit_and_time_zone_change_in_place_and_in_the_address(
    watched_page: WatchedPage, server: RunningServer
) -> None:
    page = await watched_page.show()
    series = await series_of(server)
    await choose(page, "€/MWh")
    await expect(page.locator("[data-now-price]")).to_have_text(f"{series['current']['eurMwh']:.2f}")
    await expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("€/MWh"))
    await expect(page.get_by_role("link", name="€/MWh")).to_be_focused()
    await choose(page, "UTC")
    await expect(page.locator("[data-now-span]")).to_have_text("10:00–11:00")
    assert "unit=mwh" in await location_of(page)
    assert "tz=utc" in await location_of(page)


@pytest.mark.parametrize(
    ("reader", "path", "named"),
    [
        ("Europe/Tallinn", "/", None),
        ("Europe/Helsinki", "/", None),
        ("Europe/London", "/", "Estonian time"),
        ("Asia/Tokyo", "/?lang=et", "Eesti aeg"),
        ("Europe/Tallinn", "/lv/", None),
        ("Europe/London", "/lv/?lang=ru", "время Латвии"),
        ("Europe/Tallinn", "/?tz=utc", "UTC"),
    ],
)
async def test_the_clock_of_the_zone_is_named_to_readers_with_another_clock(
    browser: Browser, serve: Serve, reader: str, path: str, named: str | None
) -> None:
    server = await serve(sample_views.ordinary(), settings=Settings(zones=("ee", "lv")))
    async with open_page(browser, address_of(server), timezone_id=reader) as seen:
        page = await seen.show(path)
        clock = page.locator(".now .when small")
        if named is None:
            await expect(clock).to_be_hidden()
        else:
            await expect(clock).to_be_visible()
            await expect(clock).to_have_text(named)


async def test_the_other_language_keeps_every_choice(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?unit=mwh&hours=5&span=week")
    await open_options(page)
    await page.get_by_role("link", name="Eesti keeles").click()
    await page.wait_for_url(re.compile("lang=et"))
    await expect(page.get_by_role("heading", name="Elektri hind Eestis")).to_be_visible()
    await expect(page.get_by_label("Kestus")).to_have_value("5")
    await expect(page.get_by_role("button", name="Nädal")).to_have_attribute("aria-pressed", "true")
    assert "unit=mwh" in await location_of(page)


@pytest.mark.parametrize(
    ("device", "wanted", "dark"), [("dark", "", True), ("light", "dark", True), ("dark", "light", False)]
)
async def test_colours_are_the_devices_or_the_readers(
    browser: Browser, server: RunningServer, device: str, wanted: str, dark: bool
) -> None:
    async with open_page(browser, address_of(server), color_scheme=device) as seen:
        page = await seen.show(f"/?theme={wanted}")
        ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground))) < 200) is dark


async def test_a_devices_own_colours_leave_choices_and_price_colours_told_apart(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), forced_colors="active") as seen:
        page = await seen.show()
        colours = "parts => new Set(parts.map(part => getComputedStyle(part).backgroundColor)).size"
        await open_options(page)
        assert await page.locator(".menu [aria-labelledby='unit-label'] a").evaluate_all(colours) == 2
        assert await page.locator(".tools [data-span]").evaluate_all(colours) == 2
        assert await page.locator(".quick button").evaluate_all(colours) == 2
        assert await page.locator(".calendar .legend i:not(.predicted)").evaluate_all(colours) == 6
        assert await page.locator("#grid .today span").evaluate_all(colours) > 2


async def test_the_snippet_to_embed_names_the_address_and_the_choices_of_its_reader(watched_page: WatchedPage) -> None:
    page = await watched_page.show()
    snippet = page.locator(".share code")
    await expect(snippet).to_contain_text(f'src="{watched_page.address}/?lang=en&embed=1"')
    await choose(page, "€/MWh")
    await choose(page, "Dark")
    await expect(snippet).to_contain_text(f'src="{watched_page.address}/?lang=en&unit=mwh&theme=dark&embed=1"')
    await expect(page.locator("[data-private]")).to_contain_text("only in your own network")


async def test_paper_is_one_light_page_with_a_chart_of_its_width(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), color_scheme="dark") as seen:
        page = await seen.show("/?theme=dark")
        await page.evaluate("""matchMedia("print").addEventListener("change", ({ matches }) => {
            if (!matches) return;
            const [over, clip] = [".plot .over", ".plot .clip"].map((part) => document.querySelector(part));
            globalThis.printed = {
                ground: getComputedStyle(document.body).backgroundColor,
                widths: [over.clientWidth, Number(clip.getAttribute("width"))],
                marks: ["window", "avoid"].map((name) => document.querySelector(`.plot .${name}`).checkVisibility()),
                cut: [...document.querySelectorAll(".calendar")].some((box) => box.scrollWidth > box.clientWidth),
                shown: [...document.querySelectorAll("button, summary, .top a:not(.brand), .legend li")]
                    .filter((part) => part.checkVisibility()).map((part) => part.textContent.trim()),
            };
        })""")
        pages = await page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", pages)) == 1
        printed = await page.evaluate("printed")
        assert sum(map(int, re.findall(r"\d+", printed["ground"]))) > 600
        assert 600 < printed["widths"][0] == printed["widths"][1] < 800
        assert not printed["cut"]
        # Nothing to press, and of the finder's marks only the cheapest time.
        assert [
            text for text in printed["shown"] if not re.match("Published|Forecast|cheap|below|forecast|Cheapest", text)
        ] == []
        assert printed["marks"] == [True, False]
