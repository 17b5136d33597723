"""The results of the page's finder: the most expensive time, the cost of a run, and the deadline of a run."""

import asyncio
import json
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.machine.node import STATIC, run_module
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.web.options import Language
from tunnihind.web.texts import texts_in

ESTONIA = ZoneInfo("Europe/Tallinn")
few = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Each example starts Node.js and holds dozens of cases."""


def instant(iso: str) -> int:
    return int(datetime.fromisoformat(iso).replace(tzinfo=ESTONIA).timestamp())


async def answers(module: str, asked: list[Any], lang: Language = "en") -> list[Any]:
    """Run some lines of script for each of the cases, and return their results."""
    data: dict[str, Any] = {
        "lang": lang,
        "unit": "kwh",
        "vat": [],
        "unitSymbol": "c/kWh",
        "tz": "Europe/Tallinn",
        "dates": texts_in(lang).date_names,
        "texts": dict(texts_in(lang).script_texts()),
    }
    source = f"""
import {{ joinPeriods }} from "{STATIC.as_uri()}/periods.js";
import {{ cheapestAndMostExpensive, costOf, slicesOf }} from "{STATIC.as_uri()}/windows.js";
import {{ deadlineOf, deviceUseOf, endAtOrAfter, endsByDay, nextMorning }} from "{STATIC.as_uri()}/finder.js";
import {{ Wording }} from "{STATIC.as_uri()}/wording.js";
const wording = new Wording({json.dumps(data)});
const wall = (ts) => wording.wallTime(ts);
const answer = (asked) => {{ {module} }};
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(answer)));
"""
    found: list[Any] = json.loads(await run_module(source, json.dumps(asked)))
    return found


EXTREMES = """
const [step, periods, n, isSplit] = asked;
const found = cheapestAndMostExpensive(periods.map(([ts, price]) => ({ ts, price })), n, step, isSplit);
const joined = joinPeriods(found.cheapest ?? [], step).reduce((sum, { from, to }) => sum + to - from, 0);
return [...[found.cheapest, found.mostExpensive].map((some) => some && some.map(({ ts }) => ts)), joined];
"""

runs_of_periods = st.dictionaries(st.integers(0, 11), st.integers(-4, 4).map(lambda cents: cents / 4), max_size=9).map(
    lambda prices: sorted(prices.items())
)


@few
@given(
    st.lists(st.tuples(runs_of_periods, st.integers(1, 4), st.booleans()), min_size=60, max_size=80),
    st.sampled_from([QUARTER_S, HOUR_S]),
)
def test_trying_all_finds_the_same_cheapest_time_and_the_dearest_apart_from_it(
    drawn: list[tuple[list[tuple[int, float]], int, bool]], step: int
) -> None:
    asked = [(step, [(i * step, price) for i, price in periods], n, split) for periods, n, split in drawn]
    found = asyncio.run(answers(EXTREMES, asked))
    for (_, periods, n, split), (cheapest, dearest, joined) in zip(asked, found, strict=True):
        choices = [
            list(some) for some in combinations(periods, n) if split or some[-1][0] - some[0][0] == (n - 1) * step
        ]
        if not choices:
            assert (cheapest, dearest) == (None, None)
            continue
        sums = {tuple(ts for ts, _ in some): sum(price for _, price in some) for some in choices}
        assert tuple(cheapest) == min((total, starts) for starts, total in sums.items())[1]
        assert joined == n * step
        worst = min((-total, starts) for starts, total in sums.items())[1]
        is_apart = not set(worst) & set(cheapest) and sums[worst] > sums[tuple(cheapest)]
        assert dearest == (list(worst) if is_apart else None)


COSTS = """
const [step, prices, from, duration, kwh, perKwh] = asked;
const periods = new Map(prices.map(([settled, forecast], i) => [i * step, { ts: i * step, settled, forecast }]));
const slices = slicesOf(periods, from, duration, step);
return slices && costOf(slices, kwh, perKwh);
"""

amounts = st.integers(-2000, 9000).map(lambda hundredths: hundredths / 100)
forecasts = st.lists(amounts, min_size=3, max_size=3).map(sorted)
prices_of_a_period = st.one_of(
    st.tuples(amounts, st.none()),
    st.tuples(amounts, forecasts),
    st.tuples(st.none(), forecasts),
    st.tuples(st.none(), st.none()),
)


@few
@given(
    st.lists(
        st.tuples(
            st.sampled_from([QUARTER_S, HOUR_S]),
            st.lists(prices_of_a_period, min_size=4, max_size=8),
            st.integers(0, 8).map(lambda quarters: quarters * QUARTER_S),
            st.integers(1, 8).map(lambda quarters: quarters * QUARTER_S),
            st.integers(1, 300).map(lambda tenths: tenths / 10),
            st.sampled_from([0.01, 0.001]),
        ),
        min_size=60,
        max_size=80,
    )
)
def test_a_run_costs_the_mean_of_what_it_uses_of_each_period(drawn: list[tuple[Any, ...]]) -> None:
    found = asyncio.run(answers(COSTS, drawn))
    for (step, prices, start, duration, kwh, per_kwh), cost in zip(drawn, found, strict=True):
        used: list[tuple[Any, Any]] = [
            prices[quarter // step] if quarter // step < len(prices) else (None, None)
            for quarter in range(start, start + duration, QUARTER_S)
        ]
        if any(settled is None and forecast is None for settled, forecast in used):
            assert cost is None
            continue
        lowest, mean, highest = (
            sum(settled if settled is not None else forecast[i] for settled, forecast in used) / len(used)
            for i in range(3)
        )
        is_forecast = [settled is None for settled, _ in used]
        assert cost["mean"] == pytest.approx(mean)
        if any(is_forecast):
            low, high = cost["range"]
            assert lowest - 1e-9 <= low <= mean + 1e-9
            assert mean - 1e-9 <= high <= highest + 1e-9
        else:
            assert cost["range"] is None
        assert cost["isAllForecast"] is all(is_forecast)
        assert cost["euros"] == pytest.approx(kwh * per_kwh * mean, abs=0.00501)


DEADLINE = """
const [choice, next, hours, known] = asked;
const ends = Array.from({ length: known }, (_, i) => next + (i + 1) * 3600);
return deadlineOf(choice, { next, duration: hours * 3600, ends, wall });
"""
NOON = instant("2026-03-10T12:00")


@pytest.mark.parametrize(
    ("choice", "deadline"),
    [
        ("24h", "2026-03-11T12:00"),
        ("nonsense", "2026-03-11T12:00"),
        ("morning", "2026-03-11T07:00"),
        ("none", "2026-03-12T12:00"),
        (str(instant("2026-03-10T18:00")), "2026-03-10T18:00"),
        ("2026-03-10T18:00", "2026-03-10T18:00"),
        ("2026-03-30T18:00", "2026-03-12T12:00"),
        (str(instant("2026-03-30T18:00")), "2026-03-12T12:00"),
        ("2026-03-10T12:00", None),
        (str(instant("2026-03-09T18:00")), None),
        ("0", None),
    ],
)
async def test_a_deadline_of_an_address_is_understood_and_never_after_the_last_price(
    choice: str, deadline: str | None
) -> None:
    [found] = await answers(DEADLINE, [(choice, NOON, 3, 48)])
    assert found == (None if deadline is None else instant(deadline))


async def test_where_no_price_is_known_ahead_nothing_can_be_done_in_time() -> None:
    assert await answers(DEADLINE, [("none", NOON, 3, 0), ("2026-03-10T18:00", NOON, 3, 0)]) == [NOON, None]


@few
@given(
    st.lists(
        st.tuples(
            st.integers(instant("2026-03-25T00:00") // QUARTER_S, instant("2026-11-01T00:00") // QUARTER_S),
            st.integers(1, 96),
        ),
        min_size=60,
        max_size=80,
    )
)
def test_the_morning_is_the_next_one_by_which_the_run_can_be_done(drawn: list[tuple[int, int]]) -> None:
    asked = [(quarter * QUARTER_S, length * QUARTER_S) for quarter, length in drawn]
    found = asyncio.run(answers("return nextMorning(asked[0] + asked[1], wall);", asked))
    for (start, duration), morning in zip(asked, found, strict=True):
        done = datetime.fromtimestamp(start + duration, ESTONIA)
        seven = done.replace(hour=7, minute=0)
        expected = seven if done <= seven else seven + timedelta(days=1)
        assert morning == int(expected.timestamp())


DAYS = """
const [from, periods, step] = asked;
return endsByDay(Array.from({ length: periods }, (_, i) => from + (i + 1) * step), step, wording);
"""


@pytest.mark.parametrize("step", [HOUR_S, QUARTER_S])
@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-22", 24)])
async def test_every_end_is_offered_once_by_the_day_that_it_ends(day: str, hours: int, step: int) -> None:
    start = instant(f"{day}T00:00")
    [[today, tomorrow]] = await answers(DAYS, [(start, hours * HOUR_S // step + 2, step)])
    assert [end["ts"] for end in today["ends"]] == list(range(start + step, start + hours * HOUR_S + step, step))
    clocks = [end["clock"] for end in today["ends"]]
    assert len(set(clocks)) == len(clocks)
    assert clocks[-1] == "24:00"
    assert today["day"] == day
    assert today["ts"] == start
    assert len(tomorrow["ends"]) == 2
    assert tomorrow["ends"][-1]["clock"] == ("02:00" if step == HOUR_S else "00:30")


async def test_another_day_keeps_the_time_or_takes_the_nearest_that_it_has() -> None:
    ends = [{"ts": n * HOUR_S, "clock": f"{n:02}:00"} for n in (13, 14, 15)]
    day = {"day": "", "ts": 0, "ends": ends}
    asked = [[day, clock] for clock in ("07:00", "14:00", "14:15", "24:00")]
    assert await answers("return endAtOrAfter(...asked);", asked) == [n * HOUR_S for n in (13, 14, 15, 15)]


SAID = """
const [now, from, to] = asked;
return [wording.relativeDay(from, now), wording.timesOverDays({ from, to }, now)];
"""


@pytest.mark.parametrize(
    ("lang", "days"),
    [
        ("en", ("Today", "Tomorrow", "Mon 26 Oct")),
        ("et", ("Täna", "Homme", "E 26.10")),
        ("ru", ("Сегодня", "Завтра", "пн 26.10")),
    ],
)
async def test_the_day_of_the_end_is_named_where_it_is_another_one(lang: Language, days: tuple[str, str, str]) -> None:
    today, tomorrow, monday = days
    now = instant("2026-10-24T12:00")
    spans = [
        ("2026-10-24T22:00", "2026-10-25T00:00"),
        ("2026-10-25T22:00", "2026-10-26T01:00"),
        ("2026-10-26T01:00", "2026-10-26T04:00"),
        ("2026-10-24T22:00", "2026-10-25T01:00"),
    ]
    said = await answers(SAID, [(now, instant(start), instant(end)) for start, end in spans], lang)
    assert said == [
        [today, "22:00–00:00"],
        [tomorrow, f"22:00 – {monday} 01:00"],
        [monday, "01:00–04:00"],
        [today, f"22:00 – {tomorrow.lower()} 01:00"],
    ]


ASKED = """
const [hours, kw, kwh] = asked;
const found = deviceUseOf({ hours, kw, kwh });
return found.refused ?? [found.hours, found.kw, found.kwh, found.isByEnergy];
"""


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        (("3", "2", ""), [3, 2, 6, False]),
        (("1.5", "2.34", ""), [1.5, 2.34, 3.51, False]),
        (("0.25", "100", ""), [0.25, 100, 25, False]),
        (("24", "0.05", ""), [24, 0.05, 1.2, False]),
        (("5", "2", "5"), [2.5, 2, 5, True]),
        (("5", "11", "20"), [2, 11, 20, True]),
        (("5", "0.1", "0.3"), [3, 0.1, 0.3, True]),
        (("", "2", "48"), [24, 2, 48, True]),
        (("60", "2", ""), "hours"),
        (("2.4", "2", ""), "hours"),
        (("0", "2", ""), "hours"),
        (("-3", "2", ""), "hours"),
        (("", "2", ""), "hours"),
        (("3", "", ""), "kw"),
        (("3", "-1", ""), "kw"),
        (("3", "101", "5"), "kw"),
        (("3", "2", "0"), "kwh"),
        (("3", "2", "48.1"), "kwh"),
    ],
)
async def test_what_is_typed_is_a_time_of_quarters_or_an_energy_or_else_refused(
    typed: tuple[str, str, str], understood: list[Any] | str
) -> None:
    assert await answers(ASKED, [typed]) == [understood]
