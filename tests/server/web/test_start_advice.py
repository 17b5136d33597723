"""The advice under the price: start now or later. The finder below compares the same starts."""

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.machine.node import STATIC, run_module
from tests.support.markets.simulated_history import SEED
from tests.support.pages.card_page import MODULE as CARD_MODULE
from tests.support.pages.summaries import summary_of
from tunnihind.api.served_data import Percentiles
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, day_start
from tunnihind.core.start import best_start, compare_starts
from tunnihind.sources.simulated_market import SimulatedMarket
from tunnihind.web.display import Display, PricedPeriod, shown_vat
from tunnihind.web.options import PageOptions
from tunnihind.web.start_advice import start_advice


def advice(prices: Mapping[int, float], *, now: int = HOUR, **options: str) -> str:
    """Return the advice at noon for 27 hours at 100 EUR/MWh.

    `prices` has other prices by the number of hours from now.
    """
    hours = {HOUR + i * HOUR_S: prices.get(i, 100.0) for i in range(27)}
    return summary_of(make_view(hours), now, pipeline_expected=True, **{"vat": "none"} | options).start_advice


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({5: 20.0, 6: 30.0, 7: 40.0}, "Start at 17:00, not now: 0.18\xa0€ instead of 0.60\xa0€ (3\xa0h at 2\xa0kW)."),
        ({13: 30.0, 14: 30.0, 15: 30.0}, "Start at 01:00 tomorrow, not now: 0.18\xa0€ instead of 0.60\xa0€"),
        ({0: 20.0, 1: 300.0, 2: 300.0}, "Start at 15:00, not now: 0.60\xa0€ instead of 1.24\xa0€"),
        ({5: -9.0, 6: 0.0, 7: 0.0}, "Start at 17:00, not now: −0.02\xa0€ instead of 0.60\xa0€"),
        ({5: 90.1, 6: 90.1, 7: 90.1}, "No need to wait: starting at 17:00 saves only 0.06\xa0€"),
        ({5: 90.0, 6: 90.0, 7: 90.0}, "Start at 17:00, not now: 0.54\xa0€"),
        ({}, "No need to wait: later is no cheaper (3\xa0h at 2\xa0kW)."),
        ({0: 80.0, 1: 80.0, 2: 80.0}, "No need to wait: later is no cheaper"),
        ({0: 0.0, 1: 0.0, 2: 0.0}, "No need to wait: later is no cheaper"),
        ({0: 0.0, 1: 0.0, 2: 0.0, 3: 130.0}, "Start now, not later: 0.00\xa0€ instead of 0.07\xa0€"),
    ],
)
def test_the_cheapest_later_start_is_compared_with_a_start_now(prices: dict[int, float], said: str) -> None:
    assert advice(prices).startswith(said)
    assert advice(prices, unit="mwh") == advice(prices)
    assert advice(prices, period="quarter") == advice(prices)


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("et", "Alusta homme kell 01:00, mitte kohe: 0,60\xa0€ asemel 0,18\xa0€ (3\xa0h, 2\xa0kW)."),
        ("ru", "Начните завтра в 01:00, а не сейчас: 0,18\xa0€ вместо 0,60\xa0€ (3\xa0ч, 2\xa0кВт)."),
    ],
)
def test_the_advice_is_given_in_other_languages_too(lang: str, said: str) -> None:
    assert advice({13: 30.0, 14: 30.0, 15: 30.0}, lang=lang) == said


def test_a_device_that_starts_now_uses_what_is_left_of_the_present_hour() -> None:
    prices = {0: 400.0, 4: 20.0, 5: 20.0, 6: 20.0}
    assert "instead of 1.20" in advice(prices)
    assert "instead of 0.75" in advice(prices, now=HOUR + 45 * 60 + 59)


def test_a_forecast_is_about_that_and_without_a_present_price_only_the_later_start_is_named() -> None:
    view = make_view({}, make_run([50.0] * 20, start=HOUR + HOUR_S))
    assert summary_of(view, HOUR).start_advice == "Start at 13:00: about 0.37\xa0€ (3\xa0h at 2\xa0kW)."
    view = make_view({HOUR + i * HOUR_S: 500.0 for i in range(3)}, make_run([50.0] * 20, start=HOUR + 3 * HOUR_S))
    assert "not now: about 0.37\xa0€ instead of 3.72\xa0€" in summary_of(view, HOUR).start_advice


CARD = """
globalThis.window = globalThis;
globalThis.navigator ??= {{ language: "en" }};
globalThis.customElements = {{ whenDefined: () => new Promise(() => {{}}) }};
const {{ compareStarts }} = await import("{module}");
const [step, prices, instants] = JSON.parse(process.argv[2]);
const periods = prices.map((price, i) => ({{ start: i * step, end: (i + 1) * step, price }}));
const known = periods.filter(({{ price }}) => price !== null);
console.log(JSON.stringify(instants.map((now) => compareStarts(known, now))));
"""


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
async def test_the_card_compares_the_same_starts(step_s: int) -> None:
    count = 60 * HOUR_S // step_s
    prices: list[float | None] = (np.random.default_rng(7).integers(-200, 3000, count) / 10_000).tolist()
    prices[count // 2] = None
    instants = [*range(0, 59 * HOUR_S, 7 * 60 + 11)]
    asked = json.dumps([step_s, prices, instants])
    found = json.loads(await run_module(CARD.format(module=CARD_MODULE.as_uri()), asked))
    kinds = set()
    for now, said in zip(instants, found, strict=True):
        starts = compare_starts(lambda ts: prices[ts // step_s] if ts < 60 * HOUR_S else None, now, 3 * HOUR_S)
        if starts is None or starts.at_once is None:
            assert said is None
            continue
        best = best_start(starts.at_once, starts.later, 0.01)
        kinds.add(best)
        assert (said["start"], said["best"]) == (starts.start, best)
        assert (said["later"], said["atOnce"]) == pytest.approx((starts.later, starts.at_once))
    assert len(kinds) >= 2


@pytest.mark.parametrize("lang", ["en", "et", "ru"])
@pytest.mark.parametrize("prices", [{}, {5: 20.0, 6: 30.0, 7: 40.0}, {0: 0.0, 1: 0.0, 2: 0.0, 3: 130.0}])
def test_the_advice_of_the_small_view_is_short_and_has_no_costs(lang: str, prices: dict[int, float]) -> None:
    short = advice(prices, lang=lang).partition(": ")[0]
    assert len(short) < 40
    assert not re.search("[€({]", short)


def test_no_advice_is_given_where_no_three_hours_ahead_are_known() -> None:
    assert summary_of(make_view({HOUR: 1.0, HOUR + HOUR_S: 1.0, HOUR + 3 * HOUR_S: 1.0})).start_advice == ""


FINDER = """
globalThis.document = {
  createElement: () => ({ parts: [], append(...parts) { this.parts.push(...parts); } }),
  querySelectorAll: () => [],
};
const { Finder } = await import("FOLDER/finder.js");
const { Wording } = await import("FOLDER/wording.js");
const [data, step, listed, instants] = CASE;
const all = new Map(listed.map(([ts, settled, forecast]) => [ts, { ts, settled, forecast }]));
const wording = new Wording(data);
const textOf = (part) => (typeof part === "string" ? part : part.parts.map(textOf).join(" "));
const find = (now) => {
  const periods = new Map();
  for (let ts = Math.floor(now / step) * step; ts < now + 27 * 3600; ts += step) periods.set(ts, all.get(ts));
  let found = "";
  const finder = Object.assign(Object.create(Finder.prototype), {
    scene: { now: () => now, periods, step, wording },
    fields: { split: { value: "0" }, predicted: { checked: true } },
    typed: { hours: "3", kw: "2", kwh: "" },
    deadline: "24h",
    offerDeadlines() {},
    onFound: (_, __, advice) => { found = [advice]; },
    showResults: (list) => { found.push(textOf(list)); },
  });
  finder.find();
  return found;
};
console.log(JSON.stringify(instants.map(find)));
"""
"""Runs the page's finder with its first values at some instants, and lists its advice and its results in words."""

SAVING = {
    "Start at": r"\d\xa0€ less than starting now",
    "Start now": "Starting now costs .* less",
    "No need to wait: starting at": r"Only (about )?0\.\d\d\xa0€ less than starting now",
    "No need to wait: later": "Starting now is just as good",
}
"""What the finder says of a saving, by the beginning of the advice."""

AT_ONCE_AND_WORST = r"Starting now Today.*: (?:about )?([−.\d]+)\xa0€.*best avoided.*: (?:about )?([−.\d]+)\xa0€"
"""Matches results in which an immediate start isn't the worst, and takes the costs of both."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("year", "step_s"), [(2024, HOUR_S), (2025, QUARTER_S)])
async def test_advice_and_finder_agree_in_every_quarter_of_two_simulated_years(
    monkeypatch: pytest.MonkeyPatch, year: int, step_s: int
) -> None:
    since, until = day_start(date(year, 1, 1)), day_start(date(year + 1, 1, 1))
    starts = np.arange(since, until + 2 * DAY_S, step_s)
    prices = SimulatedMarket(SEED).prices(starts.astype(np.float64) + step_s / 2)["ee"].round(2).tolist()
    periods = {
        # On some days, a forecast takes the place of the price.
        ts: PricedPeriod(ts, None if ts // DAY_S % 3 else price, Percentiles(price - 9, price, price + 9))
        for ts, price in zip(starts.tolist(), prices, strict=True)
    }
    options = PageOptions.read({"period": "hour" if step_s == HOUR_S else "quarter"})
    display = Display(options, ESTONIA, shown_vat(options, ESTONIA, 0.24, since))
    instants = [quarter + quarter // QUARTER_S * 7 % 15 * 60 for quarter in range(since, until, QUARTER_S)]
    data: dict[str, Any] = {
        "lang": "en",
        "unit": "kwh",
        "vat": [],
        "unitSymbol": "c/kWh",
        "tz": "Europe/Tallinn",
        "dates": display.texts.date_names,
        "texts": dict(display.texts.script_texts()),
    }
    shown = {ts: display.shown_price(one) for ts, one in periods.items()}
    listed = [
        [ts, None if one.settled is None else shown[ts], [shown[ts] - 1, shown[ts], shown[ts] + 1]]
        for ts, one in periods.items()
    ]
    case = json.dumps([data, step_s, listed, instants])
    # Prices are computed only once, to save time.
    monkeypatch.setattr(Display, "shown_price", lambda _, period: shown[period.ts])
    found = json.loads(await run_module(FINDER.replace("FOLDER", STATIC.as_uri()).replace("CASE", case)))
    assert [written for written, _ in found] == [start_advice(periods, now, display) for now in instants]
    for (written, results), now in zip(found, instants, strict=True):
        [beginning] = [one for one in SAVING if written.startswith(one)]
        assert re.search(SAVING[beginning], results), (now, written, results)
        assert ("best avoided" in results) + ("Starting now, the most expensive time" in results) <= 1
        if apart := re.search(AT_ONCE_AND_WORST, results):
            at_once, worst = (float(euros.replace("−", "-")) for euros in apart.groups())
            assert at_once <= worst, (now, results)
    cents = np.repeat(np.array([*shown.values()]), step_s // QUARTER_S)
    pays = [waiting_pays(cents[place : place + 4 * 27], now) for place, now in enumerate(instants)]
    assert [written.startswith("Start at") for written, _ in found] == pays


def waiting_pays(cents: NDArray[np.float64], now: int) -> bool:
    """Return whether waiting saves at least 1 c/kWh and a tenth, by the prices of the quarters from the present one."""
    passed = now % QUARTER_S / QUARTER_S
    sums = np.convolve(cents, np.ones(12), "valid")
    at_once = sums[0] + (cents[12] - cents[0]) * passed
    present = now // QUARTER_S
    done_by = (present + 1 + 24 * 4 + 3) // 4 * 4
    saved = at_once - sums[1 : done_by - 12 - present + 1].min()
    return bool(saved >= max(12.0, abs(at_once) / 10) - 1e-6)
