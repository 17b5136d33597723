"""The card in a real browser, in every state for which the integration's tests keep an example."""

import json
from bisect import bisect_right
from itertools import combinations, product
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.support.machine.node import modules
from tests.support.pages.card_page import (
    DARK,
    LIGHT,
    MODULE,
    TRANSLATIONS,
    Look,
    card,
    drawn,
    example,
    opened_card,
    part,
)
from tests.support.shared_rules import PRICE_WORDS, SCALE_CENTS

LARGEST_BYTES = 95_000
"""A browser gets them once a version, and compiles them in 2 ms. Three languages and all types are in them, and since
the plans of batteries 3 kB for these.
"""


WORDS = {
    "free": "Nearly free",
    "t1": "Cheap",
    "t2": "Normal",
    "t3": "Expensive",
    "t4": "Very expensive",
    "negative": "Below zero",
}


def test_the_files_are_small() -> None:
    assert sum(file.stat().st_size for file in MODULE.parent.glob("*.js")) <= LARGEST_BYTES


async def says(page: Page, name: str) -> str:
    """Return the text of a part of the card as it is seen, "" where it isn't."""
    found = part(page, name)
    return await found.inner_text() if await found.is_visible() else ""


async def path(page: Page, name: str) -> str:
    return str(await part(page, name).evaluate("path => path.getAttribute('d') ?? ''"))


async def state_of(page: Page, what: str) -> Any:  # noqa: ANN401  a JSON value
    return await card(page).evaluate(f"card => card.{what}")


def price_now(contents: dict[str, Any]) -> float:
    """Return the price of the current period, EUR/kWh."""
    prices = contents["prices"]
    price: float = prices["price"][(contents["now"]["start"] - prices["start"]) // prices["step"]]
    return price


async def test_the_current_price_is_shown_large_with_its_level_and_parts(browser: Browser) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at) as page:
        assert await says(page, "amount") == f"{price_now(contents) * 100:.2f}"
        assert await says(page, "unit") == "c/kWh"
        assert (await says(page, "when")).startswith("Now · 3:00")
        assert await says(page, "level") == "Expensive"
        assert "high for the day" in await says(page, "when")
        assert await part(page, "parts").locator("dt").all_inner_texts() == [
            "Market price",
            "Network fee",
            "Other fees",
            "VAT",
        ]


SHOWN_PARTS = """card => card.chart.scene.periods.map(({ start }) => {
  card.chart.pointAtInstant(start);
  const { amount, parts } = card.elements;
  return [amount, ...parts.querySelectorAll("dd")].map(({ textContent }) => Number(textContent.replace("−", "-")));
})"""


@pytest.mark.parametrize("unit", ["cents", "euros"])
@pytest.mark.parametrize("name", ["with_plans", "week_of_quarters"])
async def test_the_parts_add_up_to_each_price_to_the_last_digit(browser: Browser, name: str, unit: str) -> None:
    at, contents = example(name)
    async with opened_card(browser, {**contents, "unit": unit}, at) as page:
        shown = await card(page).evaluate(SHOWN_PARTS)
    assert len(shown) == sum(price is not None for price in contents["prices"]["price"])
    assert [price for price, *parts in shown if sum(parts) != pytest.approx(price)] == []


async def test_published_prices_are_bars_and_the_forecast_a_line_in_a_band(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at, Look(config={"range": "week"})) as page:
        bars = [await bar.get_attribute("d") or "" for bar in await card(page).locator(".bar").all()]
        published = sum(low is None for low in contents["prices"]["low"])
        assert sum(d.count("M") for d in bars) == published
        assert await path(page, "median")
        assert (await path(page, "likely")).count("M") == len(contents["prices"]["price"]) - published
        assert "Forecast" in await part(page, "zones").inner_html()
        assert await says(page, "legend") == "Forecast and likely range"


async def test_a_week_of_quarters_makes_no_more_nodes_than_a_day_of_hours(browser: Browser) -> None:
    nodes = []
    for name in ("hours", "week_of_quarters"):
        at, contents = example(name)
        async with opened_card(browser, contents, at, Look(config={"show_plans": False})) as page:
            nodes.append(await part(page, "chart").evaluate("chart => chart.querySelectorAll('path').length"))
    assert nodes[0] == nodes[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_data", "No prices yet."),
        ("retrying", "doesn't answer"),
        ("stopped", "turned off"),
    ],
)
async def test_where_there_are_no_prices_the_card_says_why(browser: Browser, name: str, said: str) -> None:
    at, contents = example(name)
    async with opened_card(browser, contents, at) as page:
        assert said in await says(page, "message")
        assert not await part(page, "chart").is_visible()


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("server_lost", "note", "No connection to the server since 3:20 PM"),
        ("run_out", "note", "The current price is not known"),
        ("stale", "note", "has been out of date since"),
        ("demo", "mode", "Demo: simulated prices"),
        ("rehearsal", "mode", "Rehearsal: prices of"),
    ],
)
async def test_prices_that_are_not_quite_right_are_shown_with_a_word(
    browser: Browser, name: str, place: str, said: str
) -> None:
    at, contents = example(name)
    async with opened_card(browser, contents, at) as page:
        assert said in await says(page, place)
        assert await part(page, "chart").is_visible()


@pytest.mark.parametrize(("language", "days"), [("en", ["2 days", "5 days"]), ("ru", ["2 дня", "5 дней"])])
async def test_days_are_counted_by_the_plural_rules_of_the_language(
    browser: Browser, language: str, days: list[str]
) -> None:
    at, contents = example("week_of_quarters")
    async with opened_card(browser, contents, at, Look(language=language)) as page:
        assert await part(page, "two_days").inner_text() == days[0]
        quarters = {name: one[: 5 * 96] for name, one in contents["prices"].items() if isinstance(one, list)}
        await page.evaluate("prices => tell({ prices })", contents["prices"] | quarters)
        assert await part(page, "week").inner_text() == days[1]


async def test_until_something_comes_the_card_says_that_it_loads(browser: Browser) -> None:
    async with opened_card(browser, None, example("hours")[0]) as page:
        assert await says(page, "message") == "Loading prices …"


@pytest.mark.parametrize(
    ("code", "said"),
    [("unauthorized", "may not see"), ("not_found", "isn't there any more"), ("unknown_command", "to start")],
)
async def test_a_refusal_is_put_in_words_and_asked_again_after_a_while(browser: Browser, code: str, said: str) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at, refusal=code) as page:
        assert said in await says(page, "message")
        await page.evaluate("refusal = null")
        await page.clock.fast_forward(16_000)
        await part(page, "amount").wait_for()


async def test_events_with_some_fields_change_those_only(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        before = await says(page, "amount")
        await page.evaluate("tell({ mode: 'demo' })")
        assert await says(page, "amount") == before
        assert await says(page, "mode") == "Demo: simulated prices"
        await page.evaluate("tell({ state: 'starting' })")
        assert await says(page, "amount") == before
        await page.evaluate("tell({ state: 'removed' })")
        assert "isn't there any more" in await says(page, "message")


async def test_a_price_is_called_cheap_or_expensive_only_by_the_servers_scale(browser: Browser) -> None:
    at, contents = example("with_plans")
    prices = contents["prices"]
    place = (contents["now"]["start"] - prices["start"]) // prices["step"]
    async with opened_card(browser, contents, at) as page:
        for cents, word in PRICE_WORDS.items():
            prices["price"][place] = cents / 100
            prices["tint"][place] = 5 if cents < 0 else bisect_right(SCALE_CENTS, cents)
            await page.evaluate("contents => tell(contents)", {"prices": prices})
            assert await says(page, "level") == WORDS[word]
        await page.evaluate("contents => tell(contents)", {"prices": {**prices, "has_scale": False}})
        assert await says(page, "level") == ""
        assert "for the day" in await says(page, "when")


async def test_the_card_advises_whether_to_start_now_or_later(browser: Browser) -> None:
    at, contents = example("with_plans")
    prices = contents["prices"]
    place = (contents["now"]["start"] - prices["start"]) // prices["step"]
    async with opened_card(browser, contents, at) as page:
        for now, later, said in (
            (0.30, 0.10, "Best start: {}, 10.00 instead of 30.00 c/kWh (3 h)"),
            (0.10, 0.30, "No need to wait"),
            (0.105, 0.10, "No need to wait"),
        ):
            prices["price"][place:] = [now] * 4 + [later] * (len(prices["price"]) - place - 4)
            await page.evaluate("contents => tell(contents)", {"prices": prices})
            when = await page.evaluate(
                "([card, start]) => card.wording.dayAndTime(start, card.chart.clock())",
                [await card(page).element_handle(), contents["now"]["start"] + 4 * prices["step"]],
            )
            assert await says(page, "advice") == said.format(when)
        prices["price"][place:] = [0.1, *[None] * (len(prices["price"]) - place - 1)]
        await page.evaluate("contents => tell(contents)", {"prices": prices})
        assert await says(page, "advice") == ""


async def test_an_older_integration_that_lacks_fields_still_shows_prices(browser: Browser) -> None:
    at, contents = example("with_plans")
    kept = {name: contents[name] for name in ("state", "prices")}
    for name in ("level", "tint", "market", "charged", "charges"):
        del kept["prices"][name]
    async with opened_card(browser, kept, at) as page:
        assert await says(page, "amount") == f"{price_now(contents) * 100:.2f}"
        assert await says(page, "level") == ""


async def test_the_keyboard_reads_periods_out_and_moves_along(browser: Browser) -> None:
    at, contents = example("quarters")
    async with opened_card(browser, contents, at) as page:
        await part(page, "chart").focus()
        await page.keyboard.press("ArrowRight")
        start = await state_of(page, "chart.scene.pointedStart")
        assert start == contents["now"]["start"]
        await page.keyboard.press("ArrowRight")
        assert await state_of(page, "chart.scene.pointedStart") == start + 900
        told = await part(page, "chart").evaluate("chart => chart.ariaValueText")
        assert told.startswith("Today · 3:30")
        assert "Market" in told
        await page.keyboard.press("PageDown")
        assert await state_of(page, "chart.scene.pointedStart") == start + 900 + 86_400
        view = await state_of(page, "chart.view")
        await page.keyboard.press("+")
        closer = await state_of(page, "chart.view")
        assert closer["to"] - closer["from"] < view["to"] - view["from"]
        await page.keyboard.press("Escape")
        assert (await says(page, "when")).startswith("Now")


@pytest.fixture
def household() -> tuple[int, dict[str, Any]]:
    """Return an afternoon of fourteen plans: each runs twice; the fifth runs now, those before it began earlier."""
    at, contents = example("with_plans")
    hour = at - at % 3600
    starts = {f"Plan {place + 1}": hour + (place * 5 - 20) * 3600 for place in range(14)}
    plans = [
        {
            "id": name,
            "entity_id": f"binary_sensor.{name.lower().replace(' ', '_')}_window",
            "name": name,
            "status": "planned",
            "windows": [[[start, start + 7200], [start + 4 * 3600, start + 5 * 3600]]],
        }
        for name, start in starts.items()
    ]
    return at, {**contents, "plans": plans}


async def lanes(page: Page) -> list[str]:
    """Return the plans that are drawn, and what names the others."""
    return [
        await lane.inner_text() or (await lane.get_attribute("title") or "").split(":")[0]
        for lane in await part(page, "lanes").locator("button").all()
    ]


async def test_the_plan_that_runs_is_drawn_first_then_the_next_ones(
    browser: Browser, household: tuple[int, dict[str, Any]]
) -> None:
    at, contents = household
    async with opened_card(browser, contents, at) as page:
        assert await lanes(page) == ["Plan 5", "Plan 6", "Plan 7", "+7 more"]
        await card(page).evaluate("card => { card.style.height = '250px'; }")
        await drawn(page)
        await drawn(page)
        assert "Plan 5" in await lanes(page), "the one that runs is always drawn"
        titles = [await lane.get_attribute("title") or "" for lane in await part(page, "lanes").locator("button").all()]
        assert " more" in titles[-1], "the others are never dropped without a word"


async def test_a_day_shows_the_plans_of_that_day_and_none_else(
    browser: Browser, household: tuple[int, dict[str, Any]]
) -> None:
    at, contents = household
    look = Look(config={"range": "day"}, height=760)
    async with opened_card(browser, contents, at, look) as page:
        assert await lanes(page) == ["Plan 5", "Plan 6", "Plan 4", "Plan 3", "Plan 2"]
        await card(page).evaluate("card => card.chart.pan(86_400)")
        await drawn(page)
        assert await lanes(page) == ["Plan 6", "Plan 7", "Plan 8", "Plan 9", "Plan 10", "Plan 11"]


async def test_all_plans_can_be_listed_and_each_be_opened(
    browser: Browser, household: tuple[int, dict[str, Any]]
) -> None:
    at, contents = household
    async with opened_card(browser, contents, at) as page:
        await page.evaluate(
            "window.opened = []; addEventListener('hass-more-info', ({ detail }) => opened.push(detail.entityId)); null"
        )
        await part(page, "lanes").locator("button").nth(1).click()
        await part(page, "lanes").get_by_text("+7 more").click()
        rows = part(page, "list").locator("button")
        assert [text.split("\n")[0] for text in await rows.all_inner_texts()] == [
            f"Plan {number}" for number in (5, 6, 7, 8, 9, 10, 11, 4, 3, 2)
        ]
        assert "Today 3:00 PM–5:00 PM, Today 7:00 PM–8:00 PM" in await rows.first.inner_text()
        await rows.nth(3).click()
        assert await page.evaluate("opened") == ["binary_sensor.plan_6_window", "binary_sensor.plan_8_window"]
        assert not await part(page, "list").is_visible()


@pytest.mark.parametrize(
    ("windows", "told"),
    [
        ([[(9, 11)]], "Today 9:00 AM–11:00 AM"),
        ([[(21, 24)]], "Today 9:00 PM–12:00 AM"),
        ([[(21, 41)]], "Today 9:00 PM – Tomorrow 5:00 PM"),
        ([[(21, 24)], [(24, 41)]], "Today 9:00 PM – Tomorrow 5:00 PM"),
        ([[(9, 10), (21, 24)], [(24, 26), (30, 31)]],
         "Today 9:00 AM–10:00 AM, Today 9:00 PM – Tomorrow 2:00 AM, Tomorrow 6:00 AM–7:00 AM"),
        ([[(-2, 3)]], "Tue, Nov 17 10:00 PM – Today 3:00 AM"),
        ([[(-2, 0)], [(0, 24)], [(24, 41)]], "Tue, Nov 17 10:00 PM – Tomorrow 5:00 PM"),
    ],
)  # fmt: skip
async def test_a_run_is_told_once_with_the_day_on_which_it_ends(
    browser: Browser, windows: list[list[tuple[int, int]]], told: str
) -> None:
    at, contents = example("with_plans")
    midnight = contents["prices"]["start"]
    spans = [[[midnight + hour * 3600 for hour in piece] for piece in window] for window in windows]
    contents["plans"] = [{**contents["plans"][0], "name": "Car", "windows": spans}]
    async with opened_card(browser, contents, at) as page:
        assert await part(page, "lanes").locator("button").get_attribute("title") == f"Car: {told}"
        await card(page).evaluate("card => card.showPlanList()")
        assert await part(page, "list").locator("small").inner_text() == told
        assert f"Car: {told}." in await part(page, "summary").inner_text()
        assert (await path(page, "strips")).count("M") == told.count("–"), "each run is one strip"


async def test_chosen_plans_are_drawn_and_no_others(browser: Browser, household: tuple[int, dict[str, Any]]) -> None:
    at, contents = household
    config = {"plans": ["binary_sensor.plan_10_window", "binary_sensor.plan_3_window"]}
    async with opened_card(browser, contents, at, Look(config=config)) as page:
        assert await lanes(page) == ["Plan 10", "Plan 3"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Battery 60%: hold until 5:00 pm (60%), then discharge for the home until 8:30 pm (20%)"),
        ("et", "Battery 60%: hoia kuni 17:00 (60%), siis tühjenda kodu jaoks kuni 20:30 (20%)"),
        ("ru", "Battery 60 %: держать до 17:00 (60 %), затем разряжать для дома до 20:30 (20 %)"),
    ],
)
async def test_a_battery_says_what_it_does_now_and_next_or_why_it_has_no_plan(
    browser: Browser, language: str, said: str
) -> None:
    at, contents = example("with_batteries")
    async with opened_card(browser, contents, at, Look(language=language, height=470)) as page:
        plan, reason = await part(page, "batteries").locator("button").all_inner_texts()
        assert plan.lower().replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ") == said.lower()
        told = json.loads((TRANSLATIONS / f"{language}.json").read_text())["entity"]["sensor"]["action"]
        reasons = told["state_attributes"]["reason"]["state"]
        assert reason == f"Car: {reasons['state_of_charge_unknown']}"


async def test_a_time_pointed_at_tells_the_batterys_charge_and_action_then(browser: Browser) -> None:
    at, contents = example("with_batteries")
    course = contents["batteries"][0]["course"]
    start, end, _ = next(run for run in course["runs"] if run[2] == "charge")
    async with opened_card(browser, contents, at, Look(height=470)) as page:
        row = part(page, "batteries").locator("button").first
        before = await row.bounding_box()
        for ts in (start, end - course["step"]):
            await card(page).evaluate("(card, ts) => card.chart.pointAtInstant(ts)", ts)
            percent = course["percent"][(ts - course["start"]) // course["step"]]
            assert (await row.inner_text()).startswith(f"Battery {percent}%: charge until tomorrow")
            assert await row.inner_text() in (await part(page, "chart").evaluate("chart => chart.ariaValueText"))
            assert await row.bounding_box() == before, "the chart doesn't move under the pointer"
        await card(page).evaluate("(card, ts) => card.chart.pointAtInstant(ts)", contents["prices"]["start"])
        assert await row.inner_text() == "Battery: –"


async def test_the_course_of_a_battery_is_a_strip_of_actions_with_its_state_of_charge(browser: Browser) -> None:
    at, contents = example("with_batteries")
    course = contents["batteries"][0]["course"]
    async with opened_card(browser, contents, at, Look(height=470)) as page:
        for action in ("charge", "discharge", "hold", "sell", "store_sun"):
            drawn_runs = (await path(page, action)).count("M")
            assert drawn_runs == sum(run[2] == action for run in course["runs"])
        line = await path(page, "stored")
        assert (line.count("M"), line.count("L")) == (1, len(course["percent"]) - 1)
        columns, strip, plans = [await part(page, name).bounding_box() for name in ("zero", "charge", "strips")]
        assert columns is not None
        assert strip is not None
        assert plans is not None
        assert columns["y"] < strip["y"] < strip["y"] + strip["height"] < plans["y"]


async def test_batteries_are_chosen_and_opened_like_plans(browser: Browser) -> None:
    at, contents = example("with_batteries")
    rows: dict[str, dict[str, Any]] = {
        "both": {},
        "none": {"show_plans": False},
        "others": {"plans": ["binary_sensor.dishwasher_window"]},
        "one": {"plans": ["sensor.battery_action"]},
    }
    shown = {}
    for name, config in rows.items():
        async with opened_card(browser, contents, at, Look(config=config, height=470)) as page:
            buttons = part(page, "batteries").locator("button")
            shown[name] = await buttons.count(), bool(await path(page, "stored")), bool(await path(page, "strips"))
            if name == "one":
                await page.evaluate(
                    "window.opened = []; addEventListener('hass-more-info', ({ detail }) => opened.push(detail)); null"
                )
                await buttons.first.click()
                assert await page.evaluate("opened") == [{"entityId": "sensor.battery_action"}]
    assert shown == {
        "both": (2, True, True), "none": (0, False, False), "others": (0, False, True), "one": (1, True, False),
    }  # fmt: skip


async def test_a_period_inside_a_window_names_its_plan(browser: Browser, household: tuple[int, dict[str, Any]]) -> None:
    at, contents = household
    async with opened_card(browser, contents, at) as page:
        assert (await says(page, "when")).endswith("· Plan 5")
        await card(page).evaluate("(card, at) => card.chart.pointAtInstant(at)", at + 9 * 3600)
        assert (await says(page, "when")).endswith("· Plan 6")
        await card(page).evaluate("(card, at) => card.chart.pointAtInstant(at)", at + 3 * 3600)
        assert "Plan" not in await says(page, "when")


def days_before(contents: dict[str, Any], days: int) -> dict[str, Any]:
    """Return what the integration sends of the days before: today's prices on each."""
    prices = contents["prices"]
    columns = {
        name: prices[name][:24] * days for name in ("price", "low", "high", "level", "tint", "market", "charged")
    }
    return {"prices": {**prices, **columns, "start": prices["start"] - days * 86_400}, "selling": None}


async def test_earlier_shows_the_days_before_and_asks_for_them_once(browser: Browser) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at) as page:
        await page.evaluate("answer => { past = answer; }", days_before(contents, 3))
        assert await page.evaluate("asked.length") == 1, "nobody has looked at them yet"
        for _ in range(6):
            if await part(page, "earlier").is_enabled():
                await part(page, "earlier").click()
                await drawn(page)
        assert [each["type"] for each in await page.evaluate("asked")][1:] == ["tunnihind/card/past"]
        view = await state_of(page, "chart.view")
        assert view["from"] == contents["prices"]["start"] - 3 * 86_400
        bars = [await bar.get_attribute("d") or "" for bar in await card(page).locator(".past.bar").all()]
        assert sum(d.count("M") for d in bars) == 48
        await card(page).evaluate("(card, at) => card.chart.pointAtInstant(at)", at - 3 * 86_400)
        assert (await says(page, "when")).startswith("Sun, Nov 15")
        assert await says(page, "amount") == f"{price_now(contents) * 100:.2f}"


async def test_where_no_days_before_are_known_earlier_ends_today(browser: Browser) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at) as page:
        await part(page, "chart").focus()
        for key in ("ArrowRight", "PageUp", "PageUp"):
            await page.keyboard.press(key)
            await drawn(page)
        assert (await state_of(page, "chart.view"))["from"] == contents["prices"]["start"]
        assert not await part(page, "earlier").is_enabled()


async def test_a_week_of_which_less_is_known_says_how_many_days_it_shows(browser: Browser) -> None:
    for name, label, shown in (("with_plans", "4 days", 4), ("week_of_quarters", "Week", 7)):
        at, contents = example(name)
        async with opened_card(browser, contents, at, Look(config={"range": "week"})) as page:
            assert await says(page, "week") == label
            view = await state_of(page, "chart.view")
            assert view["to"] - view["from"] == shown * 86_400


async def test_a_mouse_reads_where_it_is_and_drags(browser: Browser) -> None:
    at, contents = example("week_of_quarters")
    async with opened_card(browser, contents, at) as page:
        box = await part(page, "chart").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + box["width"] - 40, box["y"] + 80)
        assert (await says(page, "when")).startswith("Tomorrow")
        before = await state_of(page, "chart.view")
        await page.mouse.down()
        await page.mouse.move(box["x"] + 60, box["y"] + 80, steps=5)
        await page.mouse.up()
        after = await state_of(page, "chart.view")
        assert after["from"] > before["from"]
        assert after["to"] - after["from"] == pytest.approx(before["to"] - before["from"])
        await page.mouse.move(box["x"] + 60, box["y"] - 30)
        assert (await says(page, "when")).startswith("Now")


async def test_a_finger_taps_to_read_and_a_second_one_zooms(browser: Browser) -> None:
    at, contents = example("week_of_quarters")
    look = Look(width=358)
    async with opened_card(browser, contents, at, look, has_touch=True, is_mobile=True) as page:
        box = await part(page, "chart").bounding_box()
        assert box is not None
        await page.touchscreen.tap(box["x"] + 300, box["y"] + 80)
        assert (await says(page, "when")).startswith("Tomorrow")
        before = await state_of(page, "chart.view")
        devtools = await page.context.new_cdp_session(page)

        async def touch(kind: str, *places: float) -> None:
            points = [{"x": x, "y": box["y"] + 80, "id": i} for i, x in enumerate(places)]
            await devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        await touch("touchStart", box["x"] + 150, box["x"] + 200)
        await touch("touchMove", box["x"] + 100, box["x"] + 250)
        await touch("touchMove", box["x"] + 60, box["x"] + 300)
        await touch("touchEnd")
        after = await state_of(page, "chart.view")
        assert after["to"] - after["from"] < (before["to"] - before["from"]) / 2


async def test_buttons_go_from_a_day_to_a_week(browser: Browser) -> None:
    at, contents = example("week_of_quarters")
    async with opened_card(browser, contents, at, Look(config={"range": "day"})) as page:
        shown = await state_of(page, "chart.view")
        assert shown["to"] - shown["from"] == 86_400
        await part(page, "week").click()
        shown = await state_of(page, "chart.view")
        assert shown["to"] - shown["from"] == 7 * 86_400
        assert await part(page, "week").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize(("name", "hours"), [("day_of_23_hours", 23), ("day_of_25_hours", 25)])
async def test_the_days_on_which_clocks_change_are_as_long_as_they_are(browser: Browser, name: str, hours: int) -> None:
    at, contents = example(name)
    async with opened_card(browser, contents, at, Look(language="et", width=900)) as page:
        days = await state_of(page, "chart.scene.days")
        lengths = [(day["end"] - day["start"]) / 3600 for day in days]
        assert hours in lengths
        changed = days[lengths.index(hours)]
        texts = [hour["text"] for hour in changed["hours"]]
        assert len(texts) == hours
        assert texts.count("03:00") == (0 if hours == 23 else 2)


async def test_the_hour_that_autumn_repeats_is_told_apart(browser: Browser) -> None:
    at, contents = example("day_of_25_hours")
    # 25 October 2026, 03:00 summer time and 03:00 winter time.
    first = 1_792_886_400
    async with opened_card(browser, contents, at, Look(language="et")) as page:
        clocks = await card(page).evaluate(
            f"card => [0, 1, 2].map(hours => card.wording.timeOfDay({first} + hours * 3600))"
        )
    assert len(set(clocks)) == 3


@pytest.mark.parametrize(
    ("locale", "language", "price", "time"),
    [
        ({}, "en", "19.18", "3:00"),
        ({"time_format": "24"}, "en", "19.18", "15:00–16:00"),
        ({}, "et", "19,18", "15:00–16:00"),
        ({}, "ru", "19,18", "15:00–16:00"),
        ({"number_format": "comma_decimal", "time_format": "12"}, "et", "19.18", "3:00"),
        ({"number_format": "decimal_comma"}, "en", "19,18", "3:00"),
    ],
)
async def test_numbers_and_times_are_written_as_the_profile_says(
    browser: Browser, locale: dict[str, str], language: str, price: str, time: str
) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at, Look(language=language, locale=locale)) as page:
        assert await says(page, "amount") == price
        assert time in await says(page, "when")


async def test_the_profile_chooses_between_the_clocks_of_the_home_and_of_the_device(browser: Browser) -> None:
    at, contents = example("hours")
    for zone, time in (("server", "15:00"), ("local", "13:00")):
        look = Look(language="et", locale={"time_zone": zone})
        async with opened_card(browser, contents, at, look, timezone_id="Europe/London") as page:
            assert time in await says(page, "when")


async def test_plans_are_named_strips_unless_they_are_not_wanted(browser: Browser) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at) as page:
        assert "Dishwasher" in await part(page, "names").inner_html()
        assert await path(page, "strips")
        assert "Dishwasher:" in await part(page, "summary").inner_text()
    async with opened_card(browser, contents, at, Look(config={"show_plans": False})) as page:
        assert not await path(page, "strips")


async def test_the_selling_price_is_shown_where_it_is_wanted(browser: Browser) -> None:
    at, contents = example("selling")
    async with opened_card(browser, contents, at) as page:
        assert not await path(page, "selling")
    async with opened_card(browser, contents, at, Look(config={"show_selling": True})) as page:
        assert await path(page, "selling")
        assert "Selling price" in await says(page, "parts")
        assert "Selling price" in await says(page, "legend")


async def test_the_selling_price_of_now_is_that_of_the_quarter_where_the_bill_goes_by_the_hour(
    browser: Browser,
) -> None:
    _, contents = example("selling")
    sold = contents["selling"]
    first = (contents["now"]["start"] - sold["start"]) // sold["step"]
    sold["price"][first : first + 4] = [0.01, 0.02, 0.03, 0.04]
    start = contents["now"]["start"] + 60
    async with opened_card(browser, contents, start, Look(config={"show_selling": True})) as page:
        assert "Selling price 1.00" in " ".join((await says(page, "parts")).split())
        await page.clock.fast_forward(30 * 60_000)
        assert "Selling price 3.00" in " ".join((await says(page, "parts")).split())


async def test_a_period_that_was_tapped_is_let_go_once_its_day_is_gone(browser: Browser) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at) as page:
        await card(page).evaluate("(card, at) => card.chart.pointAtInstant(at)", at)
        prices = contents["prices"]
        later = {name: prices[name][24:] for name in ("price", "low", "high", "level", "tint", "market", "charged")}
        await page.clock.fast_forward(86_400_000)
        await page.evaluate("event => tell(event)", {"prices": {**prices, **later, "start": prices["start"] + 86_400}})
        assert (await says(page, "when")).startswith("Now")
        assert await says(page, "amount") == f"{prices['price'][(at + 86_400 - prices['start']) // 3600] * 100:.2f}"


async def test_an_event_without_the_present_does_not_turn_the_clock_back(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        await page.clock.fast_forward(3 * 3_600_000)
        before = await says(page, "when")
        assert before.startswith("Now · 6:00")
        await page.evaluate("tell({ state: 'retrying' })")
        assert await says(page, "when") == before


async def test_a_mouse_whose_release_was_not_heard_no_longer_drags(browser: Browser) -> None:
    at, contents = example("week_of_quarters")
    async with opened_card(browser, contents, at) as page:
        box = await part(page, "chart").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 300, box["y"] + 80)
        # A context menu, for one, keeps the release to itself.
        await page.evaluate("addEventListener('pointerup', (event) => event.stopPropagation(), { capture: true })")
        await page.mouse.down()
        await page.mouse.up()
        before = await state_of(page, "chart.view")
        await page.mouse.move(box["x"] + 100, box["y"] + 80, steps=3)
        assert await state_of(page, "chart.view") == before


async def test_nothing_is_drawn_while_only_other_states_change(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        await card(page).evaluate(
            """card => {
              window.drawn = 0; const { drawing } = card.chart; const draw = drawing.draw.bind(drawing);
              drawing.draw = (scene) => { drawn += 1; draw(scene); };
              window.changes = 0; new MutationObserver((seen) => { changes += seen.length; })
                .observe(card.shadowRoot, { subtree: true, childList: true, attributes: true, characterData: true });
              for (let i = 0; i < 100; i++) card.hass = { ...card.homeAssistant, states: { i } };
            }"""
        )
        await drawn(page)
        assert await page.evaluate("[drawn, changes]") == [0, 0]


async def test_a_card_that_is_taken_away_leaves_nothing_and_comes_back(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        assert await page.evaluate("[subscriptions.size, ready.size]") == [1, 1]
        await page.evaluate("window.kept = document.querySelector('tunnihind-card'); kept.remove()")
        assert await page.evaluate("[subscriptions.size, ready.size]") == [0, 0]
        await page.evaluate("document.querySelector('main').append(kept)")
        await part(page, "amount").wait_for()
        assert await page.evaluate("[subscriptions.size, ready.size]") == [1, 1]


async def test_after_the_connection_was_lost_the_card_asks_again(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        await page.evaluate("subscriptions.clear(); [...ready].forEach((listener) => listener())")
        await drawn(page)
        assert await page.evaluate("[asked.length, subscriptions.size, ready.size]") == [2, 1, 1]


async def test_after_the_connection_was_lost_nothing_of_the_one_before_is_ended(browser: Browser) -> None:
    """Home Assistant counts subscriptions anew on each connection: the old number is another one's."""
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        await page.evaluate("[...ready].forEach((listener) => listener())")
        await drawn(page)
        assert await page.evaluate("[asked.length, subscriptions.size]") == [2, 2]


async def test_a_server_that_was_removed_and_added_anew_is_found_again(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        await page.evaluate("tell({ state: 'removed' })")
        assert "isn't there any more" in await says(page, "message")
        await page.clock.fast_forward(16_000)
        await part(page, "amount").wait_for()
        assert await page.evaluate("[asked.length, subscriptions.size]") == [2, 1]


async def test_another_server_is_asked_for_once_it_is_chosen(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        await card(page).evaluate("card => card.setConfig({ type: 'custom:tunnihind-card', entry_id: 'other' })")
        await drawn(page)
        assert (await page.evaluate("asked.at(-1)"))["entry_id"] == "other"
        assert await page.evaluate("subscriptions.size") == 1


async def test_the_plans_a_card_names_are_sent_and_new_ones_are_asked_for(browser: Browser) -> None:
    at, contents = example("with_plans")
    async with opened_card(browser, contents, at, Look(config={"plans": ["binary_sensor.car_window"]})) as page:
        assert (await page.evaluate("asked.at(-1)"))["plans"] == ["binary_sensor.car_window"]
        for plans in (["binary_sensor.boiler_window"], []):
            await card(page).evaluate("(card, plans) => card.setConfig({ plans })", plans)
            await part(page, "amount").wait_for()
            assert (await page.evaluate("asked.at(-1)"))["plans"] == plans
        before = await page.evaluate("asked.length")
        await card(page).evaluate("card => card.setConfig({ plans: [], title: 'Price' })")
        assert await page.evaluate("asked.length") == before, "the same prices are not asked for again"


@pytest.mark.parametrize(
    ("language", "country", "belongs"),
    [
        (
            "en",
            "Latvia",
            "The plan “Boiler” belongs elsewhere: Estonia. The plan “Sauna” belongs elsewhere: Summer house.",
        ),
        ("et", "Läti", "Plaan „Boiler“ kuulub mujale: Eesti. Plaan „Sauna“ kuulub mujale: Summer house."),
        ("ru", "Латвия", "План «Boiler» не отсюда: Эстония. План «Sauna» не отсюда: Summer house."),
    ],
)
async def test_a_card_of_one_of_several_zones_names_it_and_the_plans_of_others(
    browser: Browser, language: str, country: str, belongs: str
) -> None:
    at, contents = example("with_plans")
    others = [
        {"name": "Boiler", "zone": "EE", "entry": "Tunnihind"},
        {"name": "Sauna", "zone": None, "entry": "Summer house"},
    ]
    async with opened_card(browser, contents, at, Look(language=language)) as page:
        alone = await says(page, "when")
        await page.evaluate("event => tell(event)", {"zone": "LV", "plans_elsewhere": others})
        assert await says(page, "when") == f"{country} · {alone}"
        assert await says(page, "note") == belongs
        await page.evaluate("tell({ zone: null, plans_elsewhere: [] })")
        assert (await says(page, "when"), await says(page, "note")) == (alone, "")


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"colour": "red"}, "colour"),
        ({"show_plan": True}, "Unknown option “show_plan”"),
        ({"range": "year"}, "range"),
        ({"show_plans": "yes"}, "show_plans"),
        ({"title": 7}, "title"),
        ({"plans": "binary_sensor.boiler_window"}, "plans"),
    ],
)
async def test_an_option_that_is_wrong_is_named(browser: Browser, option: dict[str, Any], named: str) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at) as page:
        said = await card(page).evaluate(
            "(card, option) => { try { card.setConfig(option); } catch (error) { return error.message; } }", option
        )
    assert named in said


async def test_options_of_home_assistant_itself_are_left_alone(browser: Browser) -> None:
    at, contents = example("hours")
    options = {"grid_options": {"rows": 4}, "visibility": [], "view_layout": {}}
    async with opened_card(browser, contents, at, Look(config=options)) as page:
        assert await part(page, "amount").is_visible()


LABELS = """card => [...card.shadowRoot.querySelectorAll('svg text')].filter(text => text.textContent).map(text => {
  const { left, right, top, bottom } = text.getBoundingClientRect();
  return [text.parentNode.getAttribute('class'), text.textContent, left, right, top, bottom];
})"""


@pytest.mark.parametrize("width", [250, 480, 900])
@pytest.mark.parametrize("name", ["with_plans", "week_of_quarters"])
async def test_no_label_is_cut_or_meets_another_of_its_kind(browser: Browser, width: int, name: str) -> None:
    at, contents = example(name)
    async with opened_card(browser, contents, at, Look(width=width)) as page:
        for span in ("day", "two_days", "week"):
            await card(page).evaluate("(card, span) => card.chart.chooseRange(span)", span)
            await drawn(page)
            labels = await card(page).evaluate(LABELS)
            box = await card(page).bounding_box()
            assert box is not None
            assert all(box["x"] <= left and right <= box["x"] + width for _, _, left, right, _, _ in labels)
            assert meeting(labels) == []


async def test_a_narrow_card_names_the_days_of_a_week(browser: Browser) -> None:
    at, contents = example("week_of_quarters")
    async with opened_card(browser, contents, at, Look(width=288, config={"range": "week"})) as page:
        assert len(await part(page, "days").locator("text").all()) >= 5


def meeting(labels: list[tuple[str, str, float, float, float, float]]) -> list[tuple[str, str]]:
    """Return the labels of one kind that are drawn over each other."""
    return [
        (one[1], other[1])
        for one, other in combinations(labels, 2)
        if one[0] == other[0]
        and min(one[3], other[3]) > max(one[2], other[2]) + 1
        and min(one[5], other[5]) > max(one[4], other[4]) + 1
    ]


@pytest.mark.parametrize(("width", "height"), [(188, 184), (400, 120)])
async def test_in_a_small_card_price_and_level_are_there_in_full(browser: Browser, width: int, height: int) -> None:
    at, contents = example("demo")
    async with opened_card(browser, contents, at, Look(width=width, height=height)) as page:
        outside = await card(page).bounding_box()
        for name in ("amount", "unit", "level", "mode"):
            inside = await part(page, name).bounding_box()
            assert inside is not None, name
            assert outside is not None
            assert inside["x"] + inside["width"] <= outside["x"] + outside["width"] - 8, name
            assert inside["y"] + inside["height"] <= outside["y"] + outside["height"], name


def sizes(least_rows: int = 4) -> list[tuple[float, int]]:
    """Return width and height of a card of 6 to 12 columns on a desktop, and of 6 and 12 columns on a phone.

    The card has from `least_rows` to 12 rows.
    """
    columns = [(500, range(6, 13)), (344, (6, 12))]
    widths = [(section - 11 * 8) / 12 * count + (count - 1) * 8 for section, counts in columns for count in counts]
    return [(width, rows * 64 - 8) for width in widths for rows in range(least_rows, 13)]


OUTSIDE = """(card, [config, locale, contents, sizes]) => {
  card.setConfig(config);
  card.hass = hass(locale);
  tell(contents);
  return sizes.flatMap(([width, height]) => {
    document.querySelector("main").style = `width: ${width}px; height: ${height}px`;
    card.fit();
    card.chart.drawing.draw(card.chart.scene);
    const box = card.shadowRoot.querySelector("ha-card").getBoundingClientRect();
    const parts = [...card.shadowRoot.querySelectorAll("h2, .readout > *, .price > *, .note, .chart, .legend, button")];
    const seen = parts.filter((part) => part.checkVisibility()).map((part) => [part, part.getBoundingClientRect()]);
    const outside = seen.filter(([part, { left, right, top, bottom, height }]) =>
      left < box.left || right > box.right || top < box.top || bottom > box.bottom - 4
        || (part.className === "chart" && height < 48));
    return outside.map(([part]) => [Math.round(width), height, part.className || part.textContent]);
  });
}"""


async def test_nothing_is_cut_at_any_size_with_any_option_and_banner(
    browser: Browser, household: tuple[int, dict[str, Any]]
) -> None:
    at, contents = household
    sold = example("week_of_quarters")[1]["selling"]
    banners: list[dict[str, Any]] = [
        {},
        {"lost_since": at - 86_400},
        {"stale_since": at - 86_400, "mode": "demo"},
        {"problems": ["prices_late"], "mode": "rehearsal"},
        {"state": "no_price", "lost_since": at - 86_400, "mode": "rehearsal"},
    ]
    configs: list[dict[str, Any]] = [
        {},
        {"title": "Electricity at our house in the country", "show_selling": True, "range": "week"},
        {"title": "Price", "show_plans": False},
    ]
    quiet = {"lost_since": None, "stale_since": None, "problems": [], "mode": "live", "state": "ready", "selling": sold}
    async with opened_card(browser, contents, at) as page:
        for config, banner, language in product(configs, banners, ("en", "et", "ru")):
            told = [config, Look(language=language).profile, {**quiet, **banner}, sizes()]
            assert await card(page).evaluate(OUTSIDE, told) == [], (config, banner, language)


CARDS_OF_ALL_SIZES = """([locale, sizes]) => {
  const place = ([width, height]) => `width: ${width}px; height: ${height}px`;
  document.querySelector("main").replaceChildren(...sizes.map((size) => {
    const card = document.createElement("tunnihind-card");
    const { drawing } = card.chart;
    const draw = drawing.draw.bind(drawing);
    drawing.draw = (scene) => { card.draws += 1; draw(scene); };
    const div = Object.assign(document.createElement("div"), { style: place(size) });
    div.append(card);
    card.setConfig({});
    card.hass = hass(locale);
    return div;
  }));
  const frames = async (n) => { for (let i = 0; i < n; i++) await new Promise(requestAnimationFrame); };
  // Applies a change to all cards, and returns the sizes that draw more than once, or change after the first frame.
  window.restless = async (change) => {
    const cards = [...document.querySelectorAll("tunnihind-card")];
    for (const card of cards) card.draws = 0;
    change(cards, (card, i) => { card.parentNode.style = place(sizes[i]); });
    await frames(3);
    const heights = cards.map((card) => card.elements.chart.clientHeight);
    await frames(3);
    return cards.filter((card, i) => card.draws > 1 || card.elements.chart.clientHeight !== heights[i])
      .map((card) => [card.parentNode.style.cssText, card.draws]);
  };
  return restless(() => {});
}"""


@pytest.mark.parametrize(
    "config",
    [{}, {"title": "Price"}, {"title": "Electricity at our house in the country", "show_selling": True}],
    ids=["plain", "title", "long title"],
)
async def test_a_card_of_any_size_draws_once_after_a_change_and_then_rests(
    browser: Browser, household: tuple[int, dict[str, Any]], config: dict[str, Any]
) -> None:
    at, contents = household
    lost = {"lost_since": at - 86_400}
    tell, choose = "tell(what)", "cards.forEach((card) => card.chart.chooseRange(what))"
    changes: list[tuple[str, object]] = [
        ("cards.forEach((card) => card.setConfig(what))", config),
        (tell, lost),
        *((choose, span) for span in ("week", "day", "two_days")),
        *(("cards.forEach((card, i) => resize(card, (i + what) % cards.length))", places) for places in (7, 0)),
        (tell, {"lost_since": None, "stale_since": at - 86_400, "mode": "demo"}),
        (tell, {"stale_since": None, "mode": "live", "state": "no_price", **lost}),
        (tell, {"state": "stopped"}),
        (tell, {"state": "ready", "problems": ["prices_late"], "lost_since": None}),
        (tell, {"problems": [], "plans": contents["plans"][:1]}),
    ]
    contents["selling"] = example("week_of_quarters")[1]["selling"]
    # The page has the machine's own clock, because its frames have to be the browser's own.
    async with opened_card(browser, contents, at, still=False) as page:
        assert await page.evaluate(CARDS_OF_ALL_SIZES, [Look().profile, sizes(least_rows=2)]) == []
        for change, what in changes:
            restless = await page.evaluate(f"what => restless((cards, resize) => {{ {change} }})", what)
            assert restless == [], (change, what)


async def test_the_size_that_is_asked_for_counts_title_selling_price_and_banner(browser: Browser) -> None:
    at, contents = example("selling")
    async with opened_card(browser, contents, at) as page:
        await page.evaluate("window.updates = 0; addEventListener('card-updated', () => { updates += 1; }); null")
        rows = "card => card.getGridOptions().rows"
        assert await card(page).evaluate(rows) == 6
        await page.evaluate("at => tell({ lost_since: at })", at - 7200)
        assert await card(page).evaluate(rows) == 7
        assert await page.evaluate("updates") == 1, "Home Assistant asks again only if it hears of it"
        await card(page).evaluate("card => card.setConfig({ title: 'Price', show_selling: true })")
        assert await card(page).evaluate(rows) == 9
        await page.evaluate("tell({ state: 'stopped' })")
        assert await card(page).evaluate(rows) == 8, "a message stands in place of prices and their banner"


async def test_the_badge_of_a_demo_stays_in_its_place_whatever_is_read(browser: Browser) -> None:
    at, contents = example("demo")
    for width, language in product((268, 330, 480), ("en", "ru")):
        async with opened_card(browser, contents, at, Look(width=width, height=0, language=language)) as page:
            places = []
            for instant in (None, at + 3600, at + 40 * 3600):
                await card(page).evaluate("(card, instant) => card.chart.pointAtInstant(instant)", instant)
                places.append([await part(page, name).bounding_box() for name in ("mode", "chart")])
            assert places[0] == places[1] == places[2]


CONTRAST = """card => {
  const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
  const background = getComputedStyle(card.shadowRoot.querySelector('ha-card')).backgroundColor;
  const luminance = (colour) => {
    for (const layer of [background, colour]) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = luminance(background);
  const against = (colour) => {
    const [low, high] = [luminance(colour), paper].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const of = (selector, property) => [...card.shadowRoot.querySelectorAll(selector)]
    .map((node) => [selector, against(getComputedStyle(node)[property])]);
  const lines = ['.median', '.present', '.strips', '.zero'].flatMap((selector) => of(selector, 'stroke'));
  return {
    graphics: [...of('.coming.bar', 'fill'), ...lines],
    texts: of('svg text', 'fill'),
  };
}"""


@pytest.mark.parametrize("background", ["none", "linear-gradient(#eee, #fff)"])
async def test_bars_and_plans_keep_their_colours_on_a_card_whose_background_is_no_colour(
    browser: Browser, background: str
) -> None:
    at, contents = example("with_plans")
    look = Look(config={"range": "week"}, theme={**LIGHT, "ha-card-background": background})
    async with opened_card(browser, contents, at, look) as page:
        fills = await card(page).evaluate(
            "card => [...card.shadowRoot.querySelectorAll('.bar, .strips')].map(node => getComputedStyle(node).fill)"
        )
    assert fills
    assert "rgb(0, 0, 0)" not in fills


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
async def test_colours_stand_out_from_the_card(browser: Browser, theme: dict[str, str]) -> None:
    at, contents = example("with_plans")
    look = Look(config={"range": "week"}, theme=theme)
    async with opened_card(browser, contents, at, look) as page:
        found = await card(page).evaluate(CONTRAST)
    assert {name: ratio for name, ratio in found["graphics"] if ratio < 3} == {}
    assert {name: ratio for name, ratio in found["texts"] if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["with_plans", "demo", "server_lost", "no_data"])
async def test_axe_finds_nothing(browser: Browser, name: str, theme: dict[str, str]) -> None:
    at, contents = example(name)
    async with opened_card(browser, contents, at, Look(theme=theme)) as page:
        await page.evaluate((modules() / "axe-core" / "axe.min.js").read_text())
        result = await page.evaluate("axe.run('tunnihind-card', {resultTypes: ['violations']})")
    assert [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in result["violations"]] == []


@pytest.mark.parametrize("field", ["config_entry_id", "primary_config_entry"])
async def test_the_suggested_card_names_the_entry_of_the_entity(browser: Browser, field: str) -> None:
    """Home Assistant renames the field: 2026.4 has only the second one, and from 2027.10 on there is only the first."""
    at, contents = example("hours")
    home = {
        "entities": {"sensor.price": {"platform": "tunnihind", "device_id": "hub"}},
        "devices": {"hub": {field: "a"}},
    }
    async with opened_card(browser, contents, at) as page:
        found = await page.evaluate("home => customCards[0].getEntitySuggestion(home, 'sensor.price')", home)
    assert found == {"config": {"type": "custom:tunnihind-card", "entry_id": "a"}}


async def test_a_page_that_is_read_from_the_right_keeps_time_going_right(browser: Browser) -> None:
    at, contents = example("hours")
    async with opened_card(browser, contents, at, Look(direction="rtl")) as page:
        boxes = [await part(page, name).bounding_box() for name in ("later", "earlier")]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0]["x"] < boxes[1]["x"]
        today, tomorrow = [await day.bounding_box() for day in await part(page, "days").locator("text").all()]
        assert today is not None
        assert tomorrow is not None
        assert today["x"] < tomorrow["x"]


async def test_the_editor_offers_the_windows_of_plans_and_the_actions_of_batteries(browser: Browser) -> None:
    at, contents = example("hours")
    offered = {"binary_sensor.a": "window", "binary_sensor.b": "dear_window", "sensor.c": "action"}
    entities = [
        {"entity_id": name, "platform": "tunnihind", "translation_key": key}
        for name, key in {**offered, "sensor.d": "status", "sensor.e": "transaction", "sensor.f": None}.items()
    ]
    entities.append({"entity_id": "binary_sensor.g", "platform": "other", "translation_key": "window"})
    async with opened_card(browser, contents, at) as page:
        plans = await page.evaluate(
            """entities => {
              document.body.append(Object.assign(document.createElement("home-assistant"), { hass: { entities } }));
              const { schema } = customElements.get('tunnihind-card').getConfigForm();
              return schema.find(({ name }) => name === "plans").selector.entity.include_entities;
            }""",
            entities,
        )
    assert plans == [*offered]


async def test_the_editor_offers_what_the_card_knows_in_the_language_of_the_page(browser: Browser) -> None:
    at, contents = example("hours")
    for language, title in (("en", "Title"), ("et", "Pealkiri"), ("ru", "Заголовок")):
        async with opened_card(browser, contents, at, Look(language=language)) as page:
            form = await page.evaluate(
                """(() => { const { schema, computeLabel } = customElements.get('tunnihind-card').getConfigForm();
                return schema.map(({ name }) => [name, computeLabel({ name })]); })()"""
            )
        assert [name for name, _ in form] == ["entry_id", "title", "range", "show_plans", "plans", "show_selling"]
        assert dict(form)["title"] == title
