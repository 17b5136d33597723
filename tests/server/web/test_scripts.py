"""The pages' scripts: types, and what of them is pure."""

import asyncio
import json
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tunnihind.web
from tests.support.node import WEB, modules, node, run_module

STATIC = Path(tunnihind.web.__file__).parent / "static"
HOUR_S = 3600
DAY_S = 24 * HOUR_S
LARGEST_MODULE_LINES = 300


async def test_the_types_of_the_scripts_hold() -> None:
    checker = modules() / "typescript" / "bin" / "tsc"
    process = await asyncio.create_subprocess_exec(node(), checker, "-p", WEB, stdout=asyncio.subprocess.PIPE)
    complaints, _ = await process.communicate()
    assert process.returncode == 0, complaints.decode()


def test_no_script_is_large() -> None:
    assert {
        path.name for path in STATIC.glob("*.js") if len(path.read_text().splitlines()) > LARGEST_MODULE_LINES
    } == set()


FIND = """
import {{ cheapestHours, cheapestPiece, pieces }} from "{folder}/windows.js";
const asked = JSON.parse(process.argv[2]);
console.log(JSON.stringify(asked.map(([hours, n]) => {{
  const candidates = hours.map(([ts, price]) => ({{ ts, price }}));
  const starts = (found) => found && found.map((hour) => hour.ts);
  const split = cheapestHours(candidates, n);
  return [starts(cheapestPiece(candidates, n)), starts(split), split && pieces(split)];
}})));
"""

type Hours = list[tuple[int, float]]

hours_of_a_day = st.dictionaries(
    st.integers(0, 12).map(lambda h: h * HOUR_S), st.integers(-5, 5).map(lambda cents: cents / 4), max_size=10
).map(lambda prices: sorted(prices.items()))


def best(choices: list[Hours]) -> list[int] | None:
    """Return the cheapest choice, the earliest of equals, the slow way."""
    if not choices:
        return None
    found = min(choices, key=lambda hours: (sum(price for _, price in hours), [ts for ts, _ in hours]))
    return [ts for ts, _ in found]


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(hours_of_a_day, st.integers(1, 4)), min_size=40, max_size=60))
def test_the_finder_finds_what_trying_everything_finds(asked: list[tuple[Hours, int]]) -> None:
    answer = asyncio.run(run_module(FIND.format(folder=STATIC.as_uri()), json.dumps(asked)))
    for (hours, n), (piece, split, joined) in zip(asked, json.loads(answer), strict=True):
        whole = [
            hours[i : i + n] for i in range(len(hours) - n + 1) if hours[i + n - 1][0] - hours[i][0] == (n - 1) * HOUR_S
        ]
        assert piece == best(whole)
        assert split == best([list(chosen) for chosen in combinations(hours, n)])
        if split is not None:
            assert sum(part["hours"] for part in joined) == n


WORDING = """
import {{ Wording }} from "{folder}/wording.js";
const texts = JSON.parse(process.argv[2]);
const wording = new Wording({{ lang: "en", unit: "kwh", unitSymbol: "c/kWh", tz: "tallinn", holidays: [], texts }});
const [autumn, friday] = [1761436800, 1763638200];
console.log(JSON.stringify({{
  clocks: [0, 1, 2, 3].map((i) => wording.clock(autumn + i * 3600 - 3600)),
  prices: [-0.001, -12.345, 5, 0].map((value) => wording.price(value)),
  nights: [6, 7, 21, 22].map((h) => wording.isNightRate(Date.UTC(2025, 11, 15, h - 2) / 1000)),
  weekend: wording.isNightRate(Date.UTC(2025, 11, 14, 10) / 1000),
  wall: wording.wall(friday),
}}));
"""


@pytest.mark.parametrize("language", ["en", "et"])
async def test_scripts_write_numbers_and_times_as_the_server_does(language: str) -> None:
    table = json.loads((STATIC.parent / "locales" / f"{language}.json").read_text())
    texts = table["script"] | {"decimal": table["decimal"]}
    said = json.loads(await run_module(WORDING.format(folder=STATIC.as_uri()), json.dumps(texts)))
    assert said["clocks"] == ["02:00", "03:00 EEST", "03:00 EET", "04:00"]
    assert said["prices"] == [text.replace(".", table["decimal"]) for text in ("0.00", "−12.35", "5.00", "0.00")]
    assert said["nights"] == [True, False, False, True]
    assert said["weekend"] is True
    assert said["wall"] == "2025-11-20T13:30"


COLUMNS = """
import {{ hoursOf }} from "{folder}/hours.js";
import {{ columns }} from "{folder}/chart.js";
const hours = hoursOf(JSON.parse(process.argv[2]), "kwh");
const hole = (key, value) => (value === undefined ? "-" : value);
console.log(JSON.stringify(columns(hours, 7200), hole));
"""


async def test_the_charts_columns_last_to_the_end_of_their_hour_with_gaps_where_unknown() -> None:
    actuals = [{"ts": ts, "eurMwh": 1, "eurKwh": price} for ts, price in ((0, 0.1), (3600, 0.2), (10_800, 0.3))]
    point = {"p10": 1, "p50": 2, "p90": 3, "p10Kwh": 0.01, "p50Kwh": 0.02, "p90Kwh": 0.03}
    forecast = [{"ts": ts, **point} for ts in (0, 10_800)]
    series = json.dumps({"actuals": actuals, "forecast": forecast})
    instants, p10, p50, p90, settled = json.loads(await run_module(COLUMNS.format(folder=STATIC.as_uri()), series))
    assert instants == [0, 1800, 3600, 5400, 7200, 9000, 10_800, 12_600, 14_400, 16_200]
    assert settled == [10, "-", 20, "-", 20, None, 30, "-", 30, None]
    assert p50 == ["-", None, "-", None, "-", None, "-", 2, "-", None]
    assert (p10[7], p90[7]) == (1, 3)


DAY_NAMES = """
import {{ dayNames }} from "{folder}/days.js";
const [days, view, pxPerDay] = JSON.parse(process.argv[2]);
const written = (ts) => [`day number ${{ts / 86400}}`, `day ${{ts / 86400}}`, `d`];
const names = dayNames(days, view, pxPerDay / 86400, written, (text) => 10 * text.length);
console.log(JSON.stringify(names.map(({{ at, text }}) => [at / 86400, text])));
"""


async def day_names(first: float, last: float, px_per_day: float) -> list[tuple[float, str]]:
    """Return the names of ten days in a view, and where they stand, in days; each character is 10 px wide."""
    days = [{"start": n * DAY_S, "end": (n + 1) * DAY_S, "number": n} for n in range(10)]
    asked = [days, {"min": first * DAY_S, "max": last * DAY_S}, px_per_day]
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
    every_eighth = [(0.5, "day number 0"), (8.5, "day number 8")]
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
