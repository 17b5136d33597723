"""Colours, texts and addresses: the server and its page, by the cases all programs share."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from tests.support.machine.node import STATIC, run_module
from tests.support.pages.card_page import MODULE as CARD
from tests.support.shared_rules import (
    AVERAGE_BAND,
    PRICE_TEXT,
    PRICE_WORDS,
    PRIVATE_ADDRESSES,
    REPEATED_HOUR,
    SCALE,
    SCALE_CENTS,
    TINTS,
)
from tunnihind.web.options import LANGUAGES
from tunnihind.web.scale import price_word, tint


def instant(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


PAGE_TINTS = """
import {{ tintOf, TINTS }} from "{folder}/chart.js";
import {{ Wording }} from "{folder}/wording.js";
const [scale, prices] = JSON.parse(process.argv[2]);
const page = {{ lang: "en", unit: "mwh", vat: [], unitSymbol: "", tz: "UTC", scale, texts: {{}} }};
const wording = new Wording(page);
console.log(JSON.stringify(prices.map((price) => [wording.tintClass(price), TINTS[tintOf(price, scale)]])));
"""


async def test_the_server_its_page_and_the_chart_give_a_price_the_same_colour() -> None:
    assert [tint(price, SCALE) for price in TINTS] == list(TINTS.values())
    asked = json.dumps([SCALE, list(TINTS)])
    found = json.loads(await run_module(PAGE_TINTS.format(folder=STATIC.as_uri()), asked))
    assert found == [[name, name] for name in TINTS.values()]


PAGE_WORDS = """
import {{ Wording }} from "{folder}/wording.js";
const [unit, scale, prices] = JSON.parse(process.argv[2]);
const texts = new Proxy({{}}, {{ get: (_, key) => key }});
const wording = new Wording({{ lang: "en", unit, vat: [], unitSymbol: "", tz: "UTC", scale, texts }});
console.log(JSON.stringify(prices.map((price) => wording.priceWord(price))));
"""


@pytest.mark.parametrize(("unit", "cent"), [("kwh", 1), ("mwh", 10)])
async def test_the_server_and_its_page_call_a_price_by_the_same_word(unit: str, cent: int) -> None:
    scale, prices = [bound * cent for bound in SCALE_CENTS], [price * cent for price in PRICE_WORDS]
    assert [price_word(price, scale, cent) for price in prices] == list(PRICE_WORDS.values())
    found = json.loads(await run_module(PAGE_WORDS.format(folder=STATIC.as_uri()), json.dumps([unit, scale, prices])))
    assert found == [f"price.{word}" for word in PRICE_WORDS.values()]


async def test_without_a_scale_a_price_has_no_word() -> None:
    assert price_word(5.0, (), 1) is None
    assert json.loads(await run_module(PAGE_WORDS.format(folder=STATIC.as_uri()), json.dumps(["kwh", [], [5]]))) == [""]


PAGE_WORDING = """
import {{ Wording }} from "{module}";
const [language, prices, instants] = JSON.parse(process.argv[2]);
const texts = {{ locale: language, decimal: language === "en" ? "." : "," }};
const page = {{ lang: language, unit: "kwh", vat: [], unitSymbol: "", tz: "Europe/Tallinn", texts }};
const wording = new Wording(page);
console.log(JSON.stringify([
  prices.map((cents) => wording.priceText(cents)), instants.map((ts) => /[A-Z]/.test(wording.timeOfDay(ts))),
]));
"""

# The card is a module for a browser. These stubs are enough to load the card.
CARD_WORDING = """
globalThis.window = globalThis;
globalThis.navigator ??= {{ language: "en" }};
globalThis.customElements = {{ whenDefined: () => new Promise(() => {{}}) }};
const {{ Wording }} = await import("{module}");
const [language, prices, instants] = JSON.parse(process.argv[2]);
const locale = {{ language, number_format: "language", time_format: "24", time_zone: "server" }};
const wording = new Wording(locale, "Europe/Tallinn", "cents", "EUR");
console.log(JSON.stringify([
  prices.map((cents) => wording.priceText(cents / 100)), instants.map((ts) => /[A-Z]/.test(wording.timeOfDay(ts))),
]));
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("code", "module"), [(PAGE_WORDING, STATIC / "wording.js"), (CARD_WORDING, CARD)], ids=["page", "card"]
)
async def test_page_and_card_write_the_same_prices_and_tell_repeated_hours_apart(
    code: str, module: Path, language: str
) -> None:
    asked = [language, list(PRICE_TEXT), [instant(at) for at in REPEATED_HOUR]]
    prices, repeated = json.loads(await run_module(code.format(module=module.as_uri()), json.dumps(asked)))
    assert prices == [texts[language != "en"] for texts in PRICE_TEXT.values()]
    assert dict(zip(REPEATED_HOUR, repeated, strict=True)) == REPEATED_HOUR


async def test_the_card_joins_a_range_with_an_ellipsis_only_after_a_written_minus() -> None:
    code = CARD_WORDING.partition("console.log")[0] + (
        "console.log(JSON.stringify(prices.map(([low, high]) => wording.intervalText({{ low, high }}))));"
    )
    asked = ["en", [[-0.00004, 0.03], [0.0, 0.03], [-0.0123, 0.03]], []]
    found = json.loads(await run_module(code.format(module=CARD.as_uri()), json.dumps(asked)))
    assert found == ["Forecast 0.00–3.00", "Forecast 0.00–3.00", "Forecast −1.23 … 3.00"]


async def test_the_page_knows_private_addresses_as_the_settings_do() -> None:
    asked = f"""
    import {{ isPrivateHost }} from "{STATIC}/address.js";
    const urls = {json.dumps(list(PRIVATE_ADDRESSES))};
    console.log(JSON.stringify(urls.map((url) => isPrivateHost(new URL(url).hostname))));
    """
    assert json.loads(await run_module(asked)) == list(PRIVATE_ADDRESSES.values())


async def test_the_finder_tells_the_band_of_an_average_as_the_integration_does() -> None:
    runs = [[[ts, price] for ts, price in prices.items()] for prices, _ in AVERAGE_BAND.values()]
    asked = f"""
    import {{ costOf }} from "{STATIC}/windows.js";
    const part = ([ts, price]) => {{
      const settled = Array.isArray(price) ? null : price;
      return {{ period: {{ ts, settled, forecast: settled === null ? price : null }}, seconds: 900 }};
    }};
    const band = ({{ mean, range }}) => [range?.[0] ?? mean, mean, range?.[1] ?? mean];
    console.log(JSON.stringify({json.dumps(runs)}.map((run) => band(costOf(run.map(part), 1, 1)))));
    """
    found = json.loads(await run_module(asked))
    assert found == [pytest.approx(band, abs=1e-4) for _, band in AVERAGE_BAND.values()]
