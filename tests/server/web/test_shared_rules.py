"""Levels, late prices, stale forecasts and the night rate: the server and its page, by the cases all programs share."""

import json
from datetime import datetime
from operator import attrgetter
from pathlib import Path

import pytest

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.machine.node import STATIC, run_module
from tests.support.pages.card_page import MODULE as CARD
from tests.support.shared_rules import (
    AVERAGE_BAND,
    LATE_PRICES,
    LEVELS,
    NIGHT_RATE,
    PRICE_TEXT,
    PRIVATE_ADDRESSES,
    REPEATED_HOUR,
    SCALE,
    STALE_FORECAST,
    TINTS,
)
from tunnihind.api.health import judge_readiness
from tunnihind.market import ESTONIA, HOUR_S, day_end, delivery_day, floor_hour
from tunnihind.settings import Settings
from tunnihind.web.display import PricedPeriod, levels
from tunnihind.web.options import LANGUAGES, PageOptions
from tunnihind.web.scale import tint
from tunnihind.web.summary import DashboardSummary, summarise_dashboard
from tunnihind.web.tariff import OwnTariff, PackageTariff
from tunnihind.web.texts import texts_in

NOW = HOUR + 600


def instant(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


MORNING = instant("2026-01-14T10:20:00+02:00")


def summary_at(now: int, settled_until: int, *, forecast_age_s: int = 0) -> DashboardSummary:
    settled = dict.fromkeys(range(floor_hour(now) - 24 * HOUR_S, settled_until, HOUR_S), 50.0)
    run = make_run([50.0] * 48, start=floor_hour(now), made_at=now - forecast_age_s)
    view = make_view(settled, run, last_refresh=now)
    return summarise_dashboard(view, now, Settings(), PageOptions.read({"lang": "en"}))


def shows(summary: DashboardSummary, start_of_notice: str) -> bool:
    return any(notice.text.startswith(start_of_notice) for notice in summary.notices)


@pytest.mark.parametrize(("prices", "expected"), LEVELS.values(), ids=LEVELS)
def test_the_server_sorts_the_hours_of_a_day_into_fifths(prices: list[float], expected: list[str]) -> None:
    hours = [PricedPeriod(start, price, None) for start, price in enumerate(prices)]
    assert list(levels(hours, attrgetter("eur_mwh")).values()) == expected


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


@pytest.mark.parametrize(("age_s", "is_stale"), STALE_FORECAST.items())
def test_readiness_and_page_call_the_same_forecast_stale(age_s: int, *, is_stale: bool) -> None:
    view = make_view({HOUR: 1.0}, make_run([1.0], made_at=NOW - age_s), last_refresh=NOW)
    assert judge_readiness(view, NOW, pipeline_expected=True).ready is not is_stale
    assert shows(summary_at(MORNING, MORNING + HOUR_S, forecast_age_s=age_s), "The forecast is") is is_stale


@pytest.mark.parametrize(("at", "is_late"), LATE_PRICES.items())
def test_the_page_calls_the_prices_of_tomorrow_late(at: str, *, is_late: bool) -> None:
    now = instant(at)
    late = texts_in("en")("notice.late")
    assert shows(summary_at(now, day_end(delivery_day(now))), late) is is_late


@pytest.mark.parametrize(("at", "is_at_night"), NIGHT_RATE.items())
def test_the_server_charges_the_night_rate_in_the_same_hours(at: str, *, is_at_night: bool) -> None:
    assert (PackageTariff("vork_4", 0.0).network_rate_period(instant(at)) == "night") is is_at_night
    own = OwnTariff(ESTONIA, margin=0.0, day=5.0, night=3.0, other=0.0)
    assert (own.part_amounts(instant(at))["network"] == 3.0) is is_at_night


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
  prices.map((cents) => wording.price(cents / 100)), instants.map((ts) => /[A-Z]/.test(wording.clock(ts))),
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
