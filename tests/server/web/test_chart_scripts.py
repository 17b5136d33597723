"""The pure functions of the chart's scripts: levels as on the server, the price axis, and the place of the tip."""

import asyncio
import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, make_view
from tests.support.machine.node import STATIC, run_module
from tests.support.shared_rules import LEVELS
from tunnihind.core.levels import levels
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.settings import Settings
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import summarise_dashboard

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


async def levels_in_chart(days: list[list[float]]) -> list[list[str]]:
    code = LEVELS_OF_DAYS.format(folder=STATIC.as_uri(), midnight=MIDNIGHT)
    found: list[list[str]] = json.loads(await run_module(code, json.dumps(days)))
    return found


async def test_the_chart_sorts_the_hours_of_a_day_into_fifths_as_all_programs_do() -> None:
    whole = {name: case for name, case in LEVELS.items() if len(case[0]) <= 24}
    assert await levels_in_chart([prices for prices, _ in whole.values()]) == [
        expected for _, expected in whole.values()
    ]


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.integers(-4, 8).map(float), min_size=1, max_size=24), min_size=30, max_size=50))
def test_the_chart_colours_an_hour_by_the_level_that_the_server_tells(days: list[list[float]]) -> None:
    expected = [levels(prices) for prices in days]
    assert asyncio.run(levels_in_chart(days)) == expected


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
