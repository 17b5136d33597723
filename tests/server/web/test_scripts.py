"""The pages' scripts: their types and their pure functions, with those of the chart."""

import asyncio
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, RunningServer, make_view
from tests.support.machine.node import NPM, ROOT, STATIC, modules, node, run_module
from tunnihind.core.levels import levels
from tunnihind.core.market import DAY_S, HOUR_S, MARKETS, QUARTER_S, Market, consumer_price, rounded_market_price
from tunnihind.settings import Settings
from tunnihind.web.assets import page_assets
from tunnihind.web.display import Display, Vat
from tunnihind.web.options import LANGUAGES, Language, PageOptions
from tunnihind.web.summary import summarise_dashboard


async def test_the_types_of_the_scripts_hold() -> None:
    checker = modules() / "typescript" / "bin" / "tsc"
    process = await asyncio.create_subprocess_exec(node(), checker, "-p", NPM, stdout=asyncio.subprocess.PIPE)
    complaints, _ = await process.communicate()
    assert process.returncode == 0, complaints.decode()


def test_the_lock_file_names_checksums_and_no_registry() -> None:
    lock = (NPM / "package-lock.json").read_text()
    assert '"integrity": "sha512-' in lock
    assert '"resolved"' not in lock
    assert "http" not in lock


SYNTAX = """
import {{ readFileSync }} from "node:fs";
import {{ createRequire }} from "node:module";
const ts = createRequire("{folder}/")("typescript");
function tree(node, file) {{
  const children = [];
  ts.forEachChild(node, (child) => {{ children.push(tree(child, file)); }});
  const text = node === file ? "" : (node.text ?? (ts.isToken(node) ? node.getText(file) : ""));
  return [node.kind, text, node.operator ?? "", node.flags & ts.NodeFlags.BlockScoped, ...children];
}}
const syntax = (source) => {{
  const file = ts.createSourceFile("script.js", source, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  return JSON.stringify([file.parseDiagnostics.length, tree(file, file)]);
}};
const pairs = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(Object.keys(pairs).filter((name) => syntax(pairs[name][0]) !== syntax(pairs[name][1]))));
"""


async def test_browsers_get_scripts_that_mean_what_ours_do_without_their_comments(
    server: RunningServer, tmp_path: Path
) -> None:
    pairs = {}
    for path in STATIC.glob("*.js"):
        served = (await server.ask(f"/{page_assets().address(path.name)}")).body.decode()
        pairs[path.name] = (path.read_text(), served)
    assert sum(len(served) for _, served in pairs.values()) < 0.7 * sum(len(own) for own, _ in pairs.values())
    sources = tmp_path / "scripts.json"
    sources.write_text(json.dumps(pairs))
    changed = await run_module(SYNTAX.format(folder=modules().as_uri()), str(sources))
    assert json.loads(changed) == []


def test_no_script_needs_a_browser_of_the_last_three_years() -> None:
    # Safari supports lookbehinds since 16.4; before, a lookbehind stops the whole page's scripts. A query has a size
    # since 17; before, it is undefined, and code that depends on it silently does nothing.
    newer = re.compile(r"\(\?<[=!]|\bquery\.size\b")
    assert {path.name for path in STATIC.glob("*.js") if newer.search(path.read_text())} == set()


WORDING = """
import {{ Wording }} from "{folder}/wording.js";
const texts = JSON.parse(process.argv[2]);
const data = {{ lang: "en", unit: "kwh", vat: [], unitSymbol: "c/kWh", tz: "Europe/Tallinn", texts }};
const wording = new Wording(data);
const [autumn, friday] = [1761436800, 1763638200];
console.log(JSON.stringify({{
  clocks: [0, 1, 2, 3].map((i) => wording.timeOfDay(autumn + i * 3600 - 3600)),
  quarters: [0, 3].map((i) => wording.timesText({{ from: autumn + i * 900, to: autumn + i * 900 + 900 }})),
  prices: [-0.001, -12.345, 5, 0].map((value) => wording.priceText(value)),
  wall: wording.wallTime(friday),
}}));
"""


@pytest.mark.parametrize("language", LANGUAGES)
async def test_scripts_write_numbers_and_times_as_the_server_does(language: str) -> None:
    table = json.loads((ROOT / f"server/tunnihind/web/locales/{language}.json").read_text())
    texts = table["script"] | {"decimal": table["decimal"]}
    said = json.loads(await run_module(WORDING.format(folder=STATIC.as_uri()), json.dumps(texts)))
    assert said["clocks"] == ["02:00", "03:00 EEST", "03:00 EET", "04:00"]
    assert said["quarters"] == ["03:00 EEST–03:15 EEST", "03:45 EEST–03:00 EET"]
    assert said["prices"] == [text.replace(".", table["decimal"]) for text in ("0.00", "−12.35", "5.00", "0.00")]
    assert said["wall"] == "2025-11-20T13:30"


DAYS = """
import {{ Wording }} from "{folder}/wording.js";
const [data, instants] = JSON.parse(process.argv[2]);
const wording = new Wording(data);
console.log(JSON.stringify(instants.map((ts) => wording.dayNames(ts))));
"""


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(LANGUAGES),
    st.sampled_from(["local", "utc"]),
    st.sampled_from([*MARKETS.values()]),
    st.lists(st.integers(1_700_000_000, 1_900_000_000), min_size=50, max_size=100),
)
def test_scripts_write_days_as_the_server_does(lang: Language, tz: str, market: Market, instants: list[int]) -> None:
    options = PageOptions.read({"lang": lang, "tz": tz}, zone=market.zone)
    display = Display(options, market, Vat("none", ((0, 0.0),), {"none": 0.0}))
    data: dict[str, object] = {"lang": lang, "unit": "kwh", "vat": [], "tz": str(display.time_zone)}
    data |= {"dates": display.texts.date_names, "texts": display.texts.script_texts()}
    said = json.loads(asyncio.run(run_module(DAYS.format(folder=STATIC.as_uri()), json.dumps([data, instants]))))
    assert [day for day, _, _ in said] == [display.texts.short_date(display.local_day(ts)) for ts in instants]
    assert all(shorter in day and weekday in shorter for day, shorter, weekday in said)


AMOUNTS = """
import {{ amountConverter }} from "{folder}/wording.js";
const [unit, rate, prices] = JSON.parse(process.argv[2]);
const amount = amountConverter(unit, [[0, rate]]);
console.log(JSON.stringify(prices.map((price) => amount(price, 1000))));
"""

eur_mwh = st.integers(-50_000, 400_000).map(lambda cents: cents / 100)
"""Prices in the API's units."""
BETWEEN = [31.25, 93.75, -31.25, 156.25, 1562.5]
"""Prices exactly between two amounts, without VAT or with 22%."""


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([0.0, 0.2, 0.22, 0.24, 0.255]), st.lists(eur_mwh, min_size=300, max_size=600))
def test_scripts_add_vat_to_a_price_as_the_api_does(rate: float, drawn: list[float]) -> None:
    prices = BETWEEN + drawn
    code = AMOUNTS.format(folder=STATIC.as_uri())
    cents = json.loads(asyncio.run(run_module(code, json.dumps(["kwh", rate, prices]))))
    assert cents == [round(100 * consumer_price(price, rate), 2) for price in prices]
    euros = json.loads(asyncio.run(run_module(code, json.dumps(["mwh", rate, prices]))))
    assert euros == [rounded_market_price(price * (1 + rate)) for price in prices]


DATED = """
import {{ amountConverter }} from "{folder}/wording.js";
const amount = amountConverter("mwh", [[0, 0.2], [1000, 0.22], [2000, 0.24]]);
console.log(JSON.stringify([999, 1000, 1999, 2000].map((ts) => amount(100, ts))));
"""


async def test_scripts_use_the_vat_rate_of_the_instant() -> None:
    assert json.loads(await run_module(DATED.format(folder=STATIC.as_uri()))) == [120, 122, 122, 124]


DRAWN = """
import {{ periodsOf }} from "{folder}/periods.js";
import {{ drawnPeriods }} from "{folder}/moves.js";
const prices = JSON.parse(process.argv[2]);
const periods = periodsOf(prices, (eurMwh) => eurMwh * 10);
const data = {{ periods, step: prices.step, wording: {{ scale: [15, 25] }} }};
console.log(JSON.stringify([false, true].map((past) => drawnPeriods(data, past))));
"""


@pytest.mark.parametrize("step", [QUARTER_S, HOUR_S])
async def test_the_chart_draws_what_is_known_and_past_forecasts_where_they_are_wanted(step: int) -> None:
    actuals = [{"ts": i * step, "eurMwh": price} for i, price in ((0, 1), (1, 2), (4, 3))]
    forecast = [{"ts": i * step, "p10": 1, "p50": 2, "p90": 3} for i in (0, 2)]
    prices = json.dumps({"settled": actuals, "forecast": forecast, "step": step})
    ahead, whole = json.loads(await run_module(DRAWN.format(folder=STATIC.as_uri()), prices))

    def period(place: int, price: int, low: int | None, high: int | None, tint: int | None) -> dict[str, int | None]:
        return {
            "start": place * step,
            "end": (place + 1) * step,
            "price": price,
            "low": low,
            "high": high,
            "tint": tint,
        }

    predicted = period(2, 20, 10, 30, None)
    assert ahead["periods"] == [
        period(0, 10, None, None, 0),
        period(1, 20, None, None, 1),
        predicted,
        period(4, 30, None, None, 2),
    ]
    assert ahead["forecasts"] == [predicted]
    assert whole == {**ahead, "forecasts": [period(0, 20, 10, 30, None), predicted]}


DAY_NAMES = """
import {{ dayLabels }} from "{folder}/chart.js";
const [days, view, pxPerDay] = JSON.parse(process.argv[2]);
const {{ names }} = dayLabels(days, view, pxPerDay / 86400, (text) => 10 * text.length);
console.log(JSON.stringify(names.map(({{ at, text }}) => [at / 86400, text])));
"""


async def day_names(first: float, last: float, px_per_day: float) -> list[tuple[float, str]]:
    """Return the names of ten days in a view, and their places in days. Each character is 10 px wide."""
    days = [
        {"start": n * DAY_S, "end": (n + 1) * DAY_S, "number": n, "names": [f"day number {n}", f"day {n}", "d"]}
        for n in range(10)
    ]
    asked = [days, {"from": first * DAY_S, "to": last * DAY_S}, px_per_day]
    names = json.loads(await run_module(DAY_NAMES.format(folder=STATIC.as_uri()), json.dumps(asked)))
    return [(at, text) for at, text in names]


@pytest.mark.parametrize(
    ("px_per_day", "name"), [(130, "day number 0"), (128, "day number 0"), (127, "day 0"), (57, "d")]
)
async def test_days_are_written_as_fully_as_they_have_room(px_per_day: float, name: str) -> None:
    assert (await day_names(0, 3, px_per_day))[0] == (0.5, name)


async def test_what_is_left_of_a_day_at_the_edge_is_named_as_far_as_there_is_room() -> None:
    assert await day_names(0.5, 3.1, 130) == [(0.75, "day 0"), (1.5, "day number 1"), (2.5, "day number 2")]


async def test_where_days_are_too_narrow_every_nth_is_named_wherever_the_view_begins() -> None:
    every_eighth = [(0, "day number 0"), (8, "day number 8")]
    assert await day_names(-9, 19, 17) == every_eighth
    assert await day_names(0.2, 19, 17) == every_eighth[1:]


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.floats(0, 9), st.floats(0.3, 10), st.floats(5, 400))
def test_no_name_of_a_day_leaves_the_view_or_meets_another(first: float, length: float, px_per_day: float) -> None:
    last = min(first + length, 10)
    names = asyncio.run(day_names(first, last, px_per_day))
    halves = [(at, 5 * len(text) / px_per_day) for at, text in names]
    assert all(first <= at - half and at + half <= last for at, half in halves)
    assert all(at + half <= later - other for (at, half), (later, other) in pairwise(halves))


STRIP = """
import {{ viewBox }} from "{folder}/readout.js";
const [start, from, to] = JSON.parse(process.argv[2]);
console.log(JSON.stringify(viewBox(start, {{ from, to }}).split(" ").map(Number)));
"""


async def test_the_strip_of_weather_shows_the_hours_that_the_chart_shows() -> None:
    start = 1_765_756_800
    shown = await run_module(
        STRIP.format(folder=STATIC.as_uri()), json.dumps([start, start - 2 * HOUR_S, start + 5 * HOUR_S + QUARTER_S])
    )
    assert json.loads(shown) == [-2, 0, 7.25, 400]


MIDNIGHT = 1_763_589_600
"""The start of 20 November 2025 on the Estonian clock."""

LEVELS_OF_DAYS = """
import {{ Clock }} from "{folder}/chart.js";
import {{ levelsOf }} from "{folder}/periods.js";
const days = JSON.parse(process.argv[2]);
const wording = new Clock("Europe/Tallinn");
console.log(JSON.stringify(days.map((prices) => {{
  const periods = new Map(prices.map((price, i) => [{midnight} + i * 3600, {{
    ts: {midnight} + i * 3600, settled: i % 2 ? null : price, forecast: i % 2 ? [price - 1, price, price + 1] : null,
  }}]));
  return [...levelsOf({{ periods, wording }}).values()];
}})));
"""


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.integers(-4, 8).map(float), min_size=1, max_size=24), min_size=30, max_size=50))
def test_the_chart_colours_an_hour_by_the_level_that_the_server_tells(days: list[list[float]]) -> None:
    expected = [levels(prices) for prices in days]
    code = LEVELS_OF_DAYS.format(folder=STATIC.as_uri(), midnight=MIDNIGHT)
    assert json.loads(asyncio.run(run_module(code, json.dumps(days)))) == expected


PLACED = """
import {{ tipPlace }} from "{folder}/readout.js";
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([tip, plot, spot]) => tipPlace(tip, plot, spot))));
"""


type Pointed = tuple[dict[str, int], dict[str, int], dict[str, float | bool]]


@st.composite
def pointed(draw: st.DrawFn) -> Pointed:
    """Draw a tip, a plot of a phone or a desktop with room for the tip, and a column with the pointer in it."""
    tip = {"width": draw(st.integers(90, 230)), "height": draw(st.integers(40, 90))}
    plot = {"width": draw(st.integers(240, 1200)), "height": draw(st.integers(260, 500))}
    start = draw(st.floats(0, plot["width"] - 1))
    end = min(plot["width"], start + draw(st.floats(0.5, 60)))
    y = draw(st.floats(0, plot["height"]))
    return tip, plot, {"from": start, "to": end, "y": y, "isFinger": draw(st.booleans())}


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(pointed(), min_size=100, max_size=200))
def test_the_tip_never_leaves_the_plot_and_is_never_under_the_pointer(
    asked: list[Pointed],
) -> None:
    code = PLACED.format(folder=STATIC.as_uri())
    for (tip, plot, spot), at in zip(asked, json.loads(asyncio.run(run_module(code, json.dumps(asked)))), strict=True):
        assert 0 <= at["left"] <= plot["width"] - tip["width"]
        assert 0 <= at["top"] <= plot["height"] - tip["height"]
        reach = 30 if spot["isFinger"] else 10
        is_beside = at["left"] >= spot["to"] + reach or at["left"] + tip["width"] <= spot["from"] - reach
        is_above_or_below = at["top"] >= spot["y"] + reach or at["top"] + tip["height"] <= spot["y"] - reach
        assert is_beside or is_above_or_below


SCALES = """
import {{ priceAxis }} from "{folder}/drawing.js";
const ranges = JSON.parse(process.argv[2]);
console.log(JSON.stringify(ranges.map(([low, high]) => priceAxis(Math.min(low, 0), Math.max(high, 0)))));
"""


RANGES = [
    (0.0, 31.0),
    (-0.07, 0.05),
    (4.14, 11.25),
    (-15.3, 40.0),
    (-15.3, -2.0),
    (0.0, 0.0),
    (-0.04, 0.01),
    (100.0, 4000.0),
]
"""The lowest and the highest shown price, €/MWh."""


async def test_the_price_axis_is_that_of_the_servers_drawing() -> None:
    answer = await run_module(SCALES.format(folder=STATIC.as_uri()), json.dumps(RANGES))
    options = PageOptions.read({"unit": "mwh", "vat": "none"})
    for (low, high), scale in zip(RANGES, json.loads(answer), strict=True):
        view = make_view({HOUR: low, HOUR + HOUR_S: high})
        drawing = summarise_dashboard(view, HOUR + 600, Settings(), options).drawing
        assert drawing is not None
        reach = scale["most"] - scale["least"]
        assert drawing.zero == pytest.approx(1000 * scale["most"] / reach, abs=0.5)
        steps = [upper.at - lower.at for upper, lower in pairwise(drawing.prices)]
        assert steps == pytest.approx([100 * scale["step"] / reach] * len(steps), abs=0.1)


async def test_the_price_axis_holds_zero_and_all_prices_with_a_few_ticks() -> None:
    answer = await run_module(SCALES.format(folder=STATIC.as_uri()), json.dumps(RANGES))
    for (low, high), scale in zip(RANGES, json.loads(answer), strict=True):
        assert scale["least"] <= min(low, 0)
        assert scale["most"] >= max(high, 0)
        assert scale["least"] < scale["most"]
        assert 2 <= (scale["most"] - scale["least"]) / scale["step"] <= 8


TIMES = """
import {{ hoursBetweenLabels }} from "{folder}/chart.js";
const perDay = JSON.parse(process.argv[2]);
console.log(JSON.stringify(perDay.map((px) => hoursBetweenLabels(40, px / 86400) ?? null)));
"""


async def test_times_are_written_where_they_tell_more_than_that_a_day_begins() -> None:
    px_per_day = [960, 400, 240, 80, 79, 10]
    found = json.loads(await run_module(TIMES.format(folder=STATIC.as_uri()), json.dumps(px_per_day)))
    assert found == [1, 3, 4, 12, None, None]


SHOWN = """
import {{ Clock }} from "{folder}/chart.js";
import {{ namedView }} from "{folder}/moves.js";
const [now, from, to] = process.argv.slice(2).map(Number);
console.log(JSON.stringify(namedView("ahead", {{ from, to }}, now, new Clock("Europe/Tallinn"))));
"""


@pytest.mark.parametrize(
    ("last", "start"),
    [
        (MIDNIGHT + 40 * HOUR_S, MIDNIGHT),
        (MIDNIGHT + 12 * HOUR_S, MIDNIGHT),
        (MIDNIGHT - 36 * HOUR_S, MIDNIGHT - DAY_S * 2),
    ],
    ids=["tomorrow", "now", "two days ago"],
)
async def test_the_chart_begins_with_today_or_else_the_latest_day_there_is(last: int, start: int) -> None:
    """The chart shows that day from its start, not only its last hours."""
    times = (MIDNIGHT + 12 * HOUR_S, MIDNIGHT - 5 * DAY_S, last + 3 * HOUR_S)
    shown = await run_module(SHOWN.format(folder=STATIC.as_uri()), *map(str, times))
    assert json.loads(shown) == {"from": start, "to": last + 3 * HOUR_S}
