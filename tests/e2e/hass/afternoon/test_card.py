"""The card on the dashboards of a real Home Assistant: it shows the sensors' states, as they change."""

import pytest
from playwright.async_api import Page

from tests.support.hass.card_dashboard import card_in, make_card_dashboard, opened_view
from tests.support.hass.quarter_day import bill_by_quarter
from tests.support.hass.real_home import RealHome
from tests.support.machine.node import modules
from tunnihind.core.market import HOUR_S, QUARTER_S

pytestmark = pytest.mark.timeout(300)


async def shown_price(page: Page) -> float:
    """Return the price that the card shows, EUR/kWh."""
    amount = card_in(page).locator(".amount")
    await amount.wait_for()
    return float(await amount.inner_text()) / 100


async def step_of(page: Page) -> int:
    """Return how long the card's periods are, in seconds."""
    first = await card_in(page).evaluate("card => card.chart.scene.periods[0]")
    return int(first["end"] - first["start"])


@pytest.mark.parametrize("view", ["one", "sections", "masonry", "panel"])
async def test_the_card_shows_the_price_of_the_sensor_in_every_kind_of_view(real_home: RealHome, view: str) -> None:
    await make_card_dashboard(real_home)
    async with opened_view(real_home, view) as page:
        price = (await real_home.shows("current_price")).number
        assert await shown_price(page) == pytest.approx(price, abs=0.00006)
        assert await card_in(page).locator(".mode").inner_text() == "Demo: simulated prices"
        box = await card_in(page).locator(".chart").bounding_box()
        assert box is not None
        assert box["height"] > 60


async def test_axe_finds_nothing_in_the_card(real_home: RealHome) -> None:
    await make_card_dashboard(real_home, range="week")
    async with opened_view(real_home) as page:
        await shown_price(page)
        await page.evaluate((modules() / "axe-core" / "axe.min.js").read_text())
        found = await card_in(page).evaluate("card => axe.run(card, {resultTypes: ['violations']})")
    assert [each["id"] for each in found["violations"]] == []


async def test_a_household_billed_by_the_quarter_sees_quarters_at_once(real_home: RealHome) -> None:
    await make_card_dashboard(real_home)
    async with opened_view(real_home) as page:
        await shown_price(page)
        assert await step_of(page) == HOUR_S
        await bill_by_quarter(real_home)
        await until_step(page, QUARTER_S)


async def until_step(page: Page, step: int) -> None:
    """Wait until the card's periods have this length."""
    await card_in(page).evaluate(
        """(card, step) => new Promise((resolve) => {
          const look = () => {
            const [first] = card.chart.scene.periods;
            if (first.end - first.start === step) resolve(null); else setTimeout(look, 100);
          };
          look();
        })""",
        step,
    )
