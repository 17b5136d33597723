"""The card in a page of its own: in a real browser, with a stub of the objects that Home Assistant gives to a card."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, Locator, Page, Route

ROOT: Final = Path(__file__).parents[3]
MODULE: Final = ROOT / "custom_components" / "tunnihind" / "frontend" / "tunnihind-card.js"
TRANSLATIONS: Final = MODULE.parents[1] / "translations"
EXAMPLES: Final = ROOT / "tests" / "integration" / "card" / "examples"
ADDRESS: Final = "http://card.test/"

LIGHT: Final = {
    "primary-text-color": "#141414",
    "secondary-text-color": "#5e5e5e",
    "card-background-color": "#ffffff",
    "primary-background-color": "#fafafa",
    "primary-color": "#009ac7",
    "success-color": "#43a047",
    "warning-color": "#ffa600",
    "error-color": "#db4437",
}
"""The colours of Home Assistant's light theme that the card uses."""
DARK: Final = LIGHT | {
    "primary-text-color": "#e1e1e1",
    "secondary-text-color": "#9b9b9b",
    "card-background-color": "#1c1c1c",
    "primary-background-color": "#111111",
}
"""The colours of Home Assistant's dark theme that the card uses."""

_PAGE: Final = """<!doctype html><html lang="{language}" dir="{direction}"><title>Card</title><style>
html {{ {theme} }} body {{ margin: 16px; background: var(--primary-background-color); }}
body {{ font-family: Roboto, sans-serif; }}
main {{ width: {width}px; height: {height} }}
</style><main></main>"""

# The used part of Home Assistant's connection: subscriptions that a test may feed, refuse and count.
_STUB: Final = """
customElements.define("home-assistant", class extends HTMLElement {});
customElements.define("ha-card", class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: "open" }).innerHTML = `<style>:host { display: block; border-radius: 12px;
      border: 1px solid #8884; background: var(--ha-card-background, var(--card-background-color)); }</style>
      <slot></slot>`;
  }
});
window.subscriptions = new Set(); window.asked = []; window.ready = new Set(); window.refusal = window.past = null;
window.connection = {
  addEventListener: (name, listener) => ready.add(listener),
  removeEventListener: (name, listener) => ready.delete(listener),
  async subscribeMessage(listener, message, options) {
    asked.push(message);
    await null;
    if (refusal) throw refusal;
    subscriptions.add(listener);
    if (window.contents) listener(contents);
    return async () => { subscriptions.delete(listener); };
  },
  async sendMessagePromise(message) {
    asked.push(message);
    if (!past) throw { code: "unknown_command" };
    return past;
  },
};
window.tell = (event) => { for (const listener of subscriptions) listener(event); };
window.localize = (key) => key.split(".").slice(2).reduce((texts, name) => texts?.[name], translations) ?? "";
window.hass = (locale, more = {}) => ({
  connection, language: locale.language, locale, localize, config: { time_zone: "Europe/Tallinn" }, states: {}, ...more,
});
window.add = (config, locale) => {
  const card = document.createElement("tunnihind-card");
  card.setConfig({ type: "custom:tunnihind-card", ...config });
  card.hass = hass(locale);
  document.querySelector("main").append(card);
};
null;
"""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The options of a card, its size, and the user's profile.

    With a height of 0 the card is as high as its content.
    """

    config: dict[str, Any] = field(default_factory=dict)
    width: int = 480
    height: int = 376
    language: str = "en"
    locale: dict[str, str] = field(default_factory=dict)
    theme: dict[str, str] = field(default_factory=lambda: LIGHT)
    direction: str = "ltr"

    @property
    def profile(self) -> dict[str, str]:
        """The user's formats, as Home Assistant has them."""
        chosen = {"number_format": "language", "time_format": "language", "time_zone": "server"}
        return {"language": self.language, **chosen, **self.locale}

    @property
    def page(self) -> str:
        theme = "".join(f"--{name}: {colour};" for name, colour in self.theme.items())
        height = f"{self.height}px" if self.height else "auto"
        return _PAGE.format(
            language=self.language, direction=self.direction, theme=theme, width=self.width, height=height
        )


def example(name: str) -> tuple[int, dict[str, Any]]:
    """Return an example of the integration's events: its instant, UTC seconds, and the event."""
    document = json.loads((EXAMPLES / f"{name}.json").read_text())
    return document["at"], document["contents"]


@asynccontextmanager
async def opened_card(
    browser: Browser,
    contents: dict[str, Any] | None,
    at: float,
    look: Look | None = None,
    *,
    refusal: str | None = None,
    still: bool = True,
    **options: Any,  # noqa: ANN401  of the browser
) -> AsyncIterator[Page]:
    """Open a page with a card at an instant (UTC seconds).

    The card's subscription gets the contents at once, or is refused. The page must log no error. A page that is not
    `still` has the machine's own clock. The options are those of a browser's context.
    """
    look = look or Look()
    viewport = {"width": look.width + 32, "height": (look.height or 600) + 32}
    async with await browser.new_context(
        **{"viewport": viewport, "timezone_id": "Europe/Tallinn", **options}
    ) as context:
        if still:
            await context.clock.install(time=at)
        page = await context.new_page()
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        await context.route("**/*", lambda route: _answer(route, look))
        await page.goto(ADDRESS)
        await page.evaluate(_STUB)
        await page.evaluate(
            "([contents, code, texts]) => {"
            " window.contents = contents; window.refusal = code && { code }; window.translations = texts; }",
            [contents, refusal, json.loads((TRANSLATIONS / f"{look.language}.json").read_text())],
        )
        await page.evaluate(
            "import('/tunnihind-card.js').then(() => customElements.whenDefined('tunnihind-card')).then(() => 0)"
        )
        await page.evaluate("([config, locale]) => add(config, locale)", [look.config, look.profile])
        await drawn(page)
        yield page
        assert errors == []


async def _answer(route: Route, look: Look) -> None:
    if route.request.url.endswith(".js"):
        name = route.request.url.rpartition("/")[2]
        await route.fulfill(path=MODULE.with_name(name), content_type="text/javascript")
    elif route.request.url == ADDRESS:
        await route.fulfill(body=look.page, content_type="text/html")
    else:
        await route.fulfill(status=204)


def card(page: Page) -> Locator:
    return page.locator("tunnihind-card").first


def part(page: Page, name: str) -> Locator:
    """Return a part of the card by its class. Locators also search the card's shadow root."""
    return card(page).locator(f".{name}")


async def drawn(page: Page) -> None:
    """Wait until the page has drawn its data."""
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
