"""How the comparison page's scripts read a meter's file, keep local time, and judge the timing of the use."""

import asyncio
import json
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.household.compared_homes import TODAY
from tests.support.machine.node import STATIC, run_module
from tunnihind.core.market import ESTONIA, HOUR_S, MARKETS, QUARTER_S, Market
from tunnihind.web.comparison_page import comparison_rates

READ = """
import {{ guessColumns, readUse, tableOf, textOf }} from "{folder}/meter_file.js";
const bytes = Uint8Array.from(JSON.parse(process.argv[2]));
const table = tableOf(textOf(bytes.buffer));
const {{ time, kwh }} = guessColumns(table);
const read = time < 0 || kwh < 0 ? {{ use: {{ entries: [], step: 0 }}, remarks: [] }} : readUse(table, time, kwh);
console.log(JSON.stringify({{ ...read, time, kwh, skipped: table.skipped, names: table.names }}));
"""


async def read(text: str, encoding: str = "utf-8") -> dict[str, Any]:
    code = READ.format(folder=STATIC.as_uri())
    found: dict[str, Any] = json.loads(await run_module(code, json.dumps([*text.encode(encoding)])))
    return found


def at(day: date, hour: float) -> int:
    return ESTONIA.midnight(day) + round(hour * HOUR_S)


MARCH = date(2025, 3, 3)
NOON = [[at(MARCH, 12), 1.5], [at(MARCH, 13), 0.25]]


@pytest.mark.parametrize(
    "text",
    [
        "time,kWh\n2025-03-03T12:00,1.5\n2025-03-03T13:00,0.25\n",
        "time;kWh\r\n03.03.2025 12:00;1,5\r\n03.03.2025 13:00;0,25\r\n",
        "time\tkWh\n3.3.2025 12:00\t1,5\n3.3.2025 13:00\t0.25\n",
        'time,kWh\n"2025-03-03 12:00","1,5"\n"2025-03-03 13:00","0,25"\n',
        "2025-03-03 12:00,1.5\n2025-03-03 13:00,0.25\n",
        "Report\n\nNumber: 7\nfrom;to;kWh\n3.3.2025 12:00;3.3.2025 13:00;1,5\n3.3.2025 13:00;3.3.2025 14:00;0,25",
        "period;out;in kWh\n03.03.2025 12:00 - 03.03.2025 13:00;0;1,5\n03.03.2025 13:00 - 14:00;0;0,25",
        "time,kWh\n2025-03-03T10:00:00Z,1.5\n2025-03-03T13:00:00+02:00,0.25\n",
        "time;Wh\n2025-03-03 12:00;1 500\n2025-03-03 13:00;250\n",
        "time;MWh\n2025-03-03 12:00;0,0015\n2025-03-03 13:00;0,00025\n",
        "time;use\n2025-03-03 12:00;1.5 kWh\n2025-03-03 13:00;250 Wh\n",
        "time;kWh\n2025-03-03 13:00;0.25\n2025-03-03 12:00;1.5\n",
    ],
)
async def test_a_file_of_any_of_the_usual_forms_is_read(text: str) -> None:
    found = await read(text)
    assert found["use"] == {"entries": NOON, "step": HOUR_S}
    assert {remark["key"] for remark in found["remarks"]} <= {"unit"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1257"])
async def test_a_file_in_any_of_the_usual_encodings_is_read(encoding: str) -> None:
    found = await read("Periood;Tarbimine (õ) kWh\n03.03.2025 12:00;1,5\n03.03.2025 13:00;0,25\n", encoding)
    assert (found["use"]["entries"], found["names"]) == (NOON, ["Periood", "Tarbimine (õ) kWh"])


async def test_the_repeated_hour_of_autumn_counts_twice_and_the_skipped_hour_of_spring_not() -> None:
    autumn = date(2025, 10, 26)
    found = await read("time;kWh\n" + "".join(f"26.10.2025 0{hour}:00;{hour}\n" for hour in (2, 3, 3, 4)))
    assert found["use"]["entries"] == [[at(autumn, hour), kwh] for hour, kwh in ((2, 2), (3, 3), (4, 3), (5, 4))]
    assert [(remark["key"], remark["line"]) for remark in found["remarks"]] == [("repeatedHour", 4)]
    spring = await read("time;kWh\n" + "".join(f"30.03.2025 0{hour}:00;1\n" for hour in (2, 3, 4)))
    assert [remark["key"] for remark in spring["remarks"]] == ["skippedHour"]
    assert [ts for ts, _ in spring["use"]["entries"]] == [at(date(2025, 3, 30), hour) for hour in (2, 3)]


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ("03.03.2025 12:00;9", "twice"),
        ("31.02.2025 12:00;1", "time"),
        ("03.03.2025;1", "time"),
        ("03.03.2025 14:00;x", "number"),
        ("03.03.2025 14:00;", "empty"),
        ("03.03.2025 14:00;-1", "negative"),
        ("03.03.2025 14:00;3 m", "otherUnit"),
        ("03.03.2025 14:20;1", "offStep"),
        ("03.03.2025 16:00;1", "gap"),
    ],
)
async def test_an_odd_row_is_named_and_the_others_count(row: str, key: str) -> None:
    found = await read(f"time;kWh\n03.03.2025 12:00;1,5\n03.03.2025 13:00;0,25\n{row}\n")
    assert [(remark["key"], remark["line"]) for remark in found["remarks"]] == [(key, 4)]
    assert found["use"]["entries"][:2] == NOON


async def test_days_can_not_be_compared() -> None:
    found = await read("time;kWh\n" + "".join(f"{day}.03.2025 00:00;10\n" for day in range(1, 9)))
    assert found["use"]["entries"] == []
    assert [remark["key"] for remark in found["remarks"]] == ["step"]


async def test_a_meter_may_have_changed_from_hours_to_quarters() -> None:
    rows = ["12:00;4", "13:00;1", "13:15;2", "13:30;3", "13:45;4"]
    found = await read("time;kWh\n" + "".join(f"03.03.2025 {row}\n" for row in rows))
    starts = range(at(MARCH, 12), at(MARCH, 14), QUARTER_S)
    expected = [[ts, kwh] for ts, kwh in zip(starts, (1, 1, 1, 1, 1, 2, 3, 4), strict=True)]
    assert found["use"] == {"entries": expected, "step": QUARTER_S}
    assert found["remarks"] == []


async def test_a_file_without_times_has_no_column_of_times() -> None:
    found = await read("name;kWh\nkitchen;3\n")
    assert (found["time"], found["use"]["entries"]) == (-1, [])


CLOCK = """
import {{ instantsOf, localText, monthStart, monthsBetween }} from "{folder}/local_time.js";
const instants = JSON.parse(process.argv[2]);
console.log(JSON.stringify([
  instants.map((ts) => localText(ts)),
  instants.every((ts) => instantsOf(Date.parse(`${{localText(ts).replace(" ", "T")}}Z`) / 1000).includes(ts)),
  ["2025-03", "2025-10"].map((month) => [monthStart(month), monthStart(month, 1), monthStart(month, -12)]),
  monthsBetween("2025-11", "2026-02"),
]));
"""


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([*MARKETS.values()]),
    st.lists(st.integers(1_609_459_200 // QUARTER_S, 1_900_000_000 // QUARTER_S), min_size=200, max_size=300),
)
def test_the_scripts_keep_the_time_of_all_zones(market: Market, quarters: list[int]) -> None:
    changes = [1_743_296_400 + offset for offset in (-900, 0)] + [1_761_440_400 + n for n in (-3600, -900, 0, 3600)]
    instants = [*(quarter * QUARTER_S for quarter in quarters), *changes]
    code = CLOCK.format(folder=STATIC.as_uri())
    texts, is_inverse, starts, months = json.loads(asyncio.run(run_module(code, json.dumps(instants))))
    assert texts == [f"{market.local_time(ts):%Y-%m-%d %H:%M}" for ts in instants]
    assert is_inverse
    firsts = [[(2025, 3), (2025, 4), (2024, 3)], [(2025, 10), (2025, 11), (2024, 10)]]
    assert starts == [[market.midnight(date(*first, 1)) for first in row] for row in firsts]
    assert months == ["2025-11", "2025-12", "2026-01", "2026-02"]


TIMING = """
import {{ timingOf }} from "{folder}/contracts.js";
const [use, prices, rates, offer] = JSON.parse(process.argv[2]);
const byHour = {{ byStart: new Map(prices), step: 3600 }};
console.log(JSON.stringify(timingOf({{ entries: use, step: 3600 }}, byHour, rates, "none", offer)));
"""


async def timing(use: dict[int, float], prices: dict[int, float]) -> tuple[float, float]:
    offer = {"margin": 0, "spotMonthly": 0, "fixed": None, "fixedMonthly": 0, "cap": None, "zeroBelow": False}
    asked = [list(use.items()), list(prices.items()), comparison_rates(ESTONIA, TODAY), offer]
    found = json.loads(await run_module(TIMING.format(folder=STATIC.as_uri()), json.dumps(asked)))
    return found["cheapestThird"], found["saved"]


async def test_the_use_in_the_cheapest_third_and_what_moving_it_would_save() -> None:
    """24 prices from 10 to 240 EUR/MWh, so the cheapest third are the first eight hours."""
    prices = {at(MARCH, hour): 10.0 * (hour + 1) for hour in range(24)}
    use = {at(MARCH, 0): 1.0, at(MARCH, 7): 1.0, at(MARCH, 8): 1.0, at(MARCH, 23): 5.0}
    share, saved = await timing(use, prices)
    assert share == pytest.approx(2 / 8)
    # Paid on average (10 + 80 + 90 + 5 * 240) / 8 = 172.5, the three cheapest hours cost 20: 3 kWh * 0.1525 * 1.24
    assert saved == pytest.approx(3 * 0.1525 * 1.24)


async def test_a_day_with_less_use_moves_what_it_has_and_a_good_day_stays() -> None:
    prices = {at(MARCH, hour): 10.0 * (hour + 1) for hour in range(24)}
    assert (await timing({at(MARCH, 23): 1.0}, prices))[1] == pytest.approx(0.22 * 1.24)
    assert (await timing({at(MARCH, 0): 9.0}, prices))[1] == 0


TYPICAL = """
import {{ PROFILES, typicalUse }} from "{folder}/typical_use.js";
const [from, to] = JSON.parse(process.argv[2]);
console.log(JSON.stringify(Object.keys(PROFILES).map((name) => typicalUse(name, 3000, from, to).entries)));
"""


async def test_a_typical_year_has_its_kwh_in_all_of_its_hours() -> None:
    first, last = ESTONIA.midnight(date(2024, 12, 1)), ESTONIA.midnight(date(2024, 12, 1) + timedelta(days=365))
    for entries in json.loads(await run_module(TYPICAL.format(folder=STATIC.as_uri()), json.dumps([first, last]))):
        assert [ts for ts, _ in entries] == [*range(first, last, HOUR_S)]
        assert sum(kwh for _, kwh in entries) == pytest.approx(3000)
        assert min(kwh for _, kwh in entries) > 0
