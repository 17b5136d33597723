"""The household's price on the page: the fees by the hour, and the order of hours by the whole price."""

import json
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, make_view
from tests.support.machine.node import STATIC, run_module
from tests.support.pages import sample_views
from tunnihind.api.served_data import Percentiles
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S
from tunnihind.core.tariff import Tariff
from tunnihind.settings import Settings
from tunnihind.web.display import PricedPeriod
from tunnihind.web.household import unknown_rate_remarks
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import DashboardSummary, summarise_dashboard
from tunnihind.web.surcharge import tariff_surcharge
from tunnihind.web.texts import texts_in

FRIDAY = ESTONIA.midnight(date(2026, 11, 20))
VAT = 1.24


def instant(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


def summary_of(prices: list[float], **options: str) -> DashboardSummary:
    """Return the dashboard of a Friday morning with these prices from midnight on, EUR/MWh."""
    view = make_view({FRIDAY + i * HOUR_S: price for i, price in enumerate(prices)})
    return summarise_dashboard(view, FRIDAY + HOUR_S // 2, Settings(), PageOptions.read({"lang": "en"} | options))


def tariff_of(**options: str) -> Tariff:
    tariff = PageOptions.read(options).tariff
    assert tariff is not None
    return tariff


def test_the_shown_price_is_all_of_it_with_vat() -> None:
    [night, day] = [summary_of([50.0] * 24, package="vork_4", margin="0.5").days[0].periods[i] for i in (3, 12)]
    display = summary_of([50.0] * 24, package="vork_4", margin="0.5").display
    state = 0.373 + 0.84 + 0.758 + 0.307
    assert round(display.shown_price(night), 2) == round((5 + 0.5 + 2.10 + state) * VAT, 2)
    assert round(display.shown_price(day), 2) == round((5 + 0.5 + 3.69 + state) * VAT, 2)


def test_a_households_price_has_vat_in_any_unit_unless_chosen_otherwise() -> None:
    assert summary_of([50.0] * 24, package="vork_4", unit="mwh").display.vat.choice == "law"
    assert summary_of([50.0] * 24, package="vork_4", vat="none").display.vat.choice == "none"


def test_without_a_package_or_when_the_markets_price_is_asked_for_nothing_is_added() -> None:
    for options in ({}, {"margin": "3"}, {"package": "vork_4", "margin": "3", "price": "market"}, {"package": "x"}):
        display = summary_of([50.0] * 24, **options).display
        assert display.shown_amount(50.0, FRIDAY) == 6.2
        assert display.surcharge.steps == ()


def test_levels_cheapest_dearest_and_tints_go_by_the_price_that_is_shown() -> None:
    """At 22 the market price is a little higher than at 21, but the night rate makes the whole price lower."""
    prices = [90.0] * 21 + [50.0, 51.0, 90.0]
    market, whole = summary_of(prices), summary_of(prices, package="vork_2")
    nine, ten = FRIDAY + 21 * HOUR_S, FRIDAY + 22 * HOUR_S
    cheapest = [summary.days[0].cheapest for summary in (market, whole)]
    assert [period.ts for period in cheapest if period] == [nine, ten]
    assert market.levels[nine] == "very_low"
    assert (whole.levels[FRIDAY], whole.levels[FRIDAY + 12 * HOUR_S]) == ("low", "high")
    tints = [cells[0].tints[0] for cells in whole.calendar[0].local_hours]
    assert tints[12] > tints[3]


def test_a_price_below_zero_that_fees_lift_above_it_is_not_told_as_negative() -> None:
    market, whole = summary_of([-10.0] * 24), summary_of([-10.0] * 24, package="vork_1")
    assert {cells[0].tints[0] for cells in market.calendar[0].local_hours} == {"negative"}
    assert "negative" not in {cells[0].tints[0] for cells in whole.calendar[0].local_hours}


@given(
    st.sampled_from(["vork_1", "vork_2", "vork_4", "vork_5"]),
    st.integers(0, 9_999).map(lambda margin: str(margin / 1000)),
    st.integers(instant("2025-12-20T00:00:00Z") // HOUR_S, instant("2027-12-31T00:00:00Z") // HOUR_S),
    st.integers(0, 9 * 24),
)
def test_each_hour_has_the_sum_of_its_parts(package: str, margin: str, first: int, hours: int) -> None:
    tariff = tariff_of(package=package, margin=margin)
    span = range(first * HOUR_S, (first + hours) * HOUR_S + 1, HOUR_S)
    added = tariff_surcharge(tariff, span[0], span[-1])
    assert [added.amount_at(ts + 1799) for ts in span] == [
        pytest.approx(sum(charge.eur_kwh for charge in tariff.charges(ts).charges) * 1000) for ts in span
    ]
    assert added.amount_at(span[0] - DAY_S) == added.amount_at(span[0])


@pytest.mark.parametrize(
    ("day", "remarks"),
    [
        ("2026-12-31", []),
        ("2026-05-31", ["Network fee: known from 1 June 2026 on"]),
        ("2027-01-01", ["Renewable energy fee: known until 31 December 2026"]),
        (
            "2028-01-01",
            [
                "Balancing capacity fee: known until 31 December 2027",
                "Renewable energy fee: known until 31 December 2026",
            ],
        ),
    ],
)
def test_parts_without_a_rate_for_the_date_are_told(day: str, remarks: list[str]) -> None:
    found = unknown_rate_remarks(tariff_of(package="vork_4"), [date.fromisoformat(day)], texts_in("en"))
    assert [remark.partition(";")[0] for remark in found] == remarks


@pytest.mark.parametrize(
    ("written", "read"),
    [("0.5", "0.5"), ("0,50", "0.5"), ("0.1234", "0.123"), (" 1 ", "1"), ("0", "0"), ("-0.0", "0")]
    + [(wrong, "") for wrong in ("", "x", "-1", "101", "nan", "inf", "1e999")],
)
def test_a_margin_is_read_in_one_way_and_what_is_none_is_left_out(written: str, read: str) -> None:
    options = PageOptions.read({"margin": written, "package": "vork_4"}, "en")
    assert options.margin == read
    assert options.unknown_parameters == (("margin",) if written and not read else ())
    assert options.link() == "?package=vork_4" + (f"&margin={read}" if read else "")


AMOUNTS = """
import {{ Wording }} from "{folder}/wording.js";
const [unit, vat, surcharge, asked] = JSON.parse(process.argv[2]);
const wording = new Wording({{ lang: "en", unit, vat, surcharge, tz: "UTC", texts: {{}} }});
console.log(JSON.stringify(asked.map(([price, ts]) => [wording.amount(price, ts), wording.isNightRate(ts)])));
"""


@pytest.mark.parametrize("unit", ["kwh", "mwh"])
async def test_the_script_adds_the_same_fees_and_has_the_same_nights_as_the_server(unit: str) -> None:
    now = instant("2026-11-20T12:00:00+02:00")
    options = PageOptions.read({"package": "vork_5", "margin": "0.499", "unit": unit})
    display = summarise_dashboard(sample_views.ordinary(now), now, Settings(), options).display
    # The hours reach from before the first step to after the last.
    asked = [(price, now + i * HOUR_S) for i in range(-400, 200, 3) for price in (-12.34, 0.0, 93.75, 412.06)]
    shown = json.dumps([unit, display.vat.rates, display.surcharge.steps, asked])
    found = json.loads(await run_module(AMOUNTS.format(folder=STATIC.as_uri()), shown))
    amounts = [round(display.shown_amount(price, ts), 2) for price, ts in asked]
    assert found == [
        [amount, display.surcharge.is_night_rate_at(ts)] for amount, (_, ts) in zip(amounts, asked, strict=True)
    ]


def figure(text: str) -> float:
    return float(text.replace("−", "-"))


FORECASTS = """
import {{ Wording }} from "{folder}/wording.js";
const [unit, texts, asked] = JSON.parse(process.argv[2]);
const wording = new Wording({{ lang: "en", unit, vat: [], tz: "UTC", texts }});
const write = (range) => [wording.forecastText(range[1]), wording.intervalText(range)];
console.log(JSON.stringify(asked.map(write)));
"""


@pytest.mark.parametrize("unit", ["kwh", "mwh"])
async def test_script_and_server_write_forecasts_and_ranges_alike(unit: str) -> None:
    display = summarise_dashboard(
        sample_views.ordinary(), HOUR, Settings(), PageOptions.read({"unit": unit, "vat": "none"})
    ).display
    ranges = [(cents / 100, (cents + 20) / 100, (cents + 40) / 100) for cents in range(-1200, 1200)]
    asked = json.dumps([unit, texts_in("en").script_texts(), ranges])
    found = json.loads(await run_module(FORECASTS.format(folder=STATIC.as_uri()), asked))
    eur_mwh = 10 if unit == "kwh" else 1
    periods = [PricedPeriod(0, None, Percentiles(*(eur_mwh * bound for bound in one))) for one in ranges]
    assert found == [[display.price_text(period), display.interval_text(period)] for period in periods]
    for price, likely in found:
        low, high = likely.replace(" … ", "–").split("–")
        assert figure(low) <= figure(price) <= figure(high)


def test_only_small_forecasts_have_a_decimal_and_only_a_written_minus_has_an_ellipsis() -> None:
    display = summarise_dashboard(sample_views.ordinary(), HOUR, Settings(), PageOptions.read({"vat": "none"})).display
    written = {
        cents: display.price_text(PricedPeriod(0, None, Percentiles(*[10 * cents] * 3)))
        for cents in (-12.3, -3.25, -0.04, 0.0, 3.25, 9.94, 9.95, 12.3)
    }
    assert [*written.values()] == ["−12", "−3.3", "0.0", "0.0", "3.3", "9.9", "10", "12"]
    assert display.range_text((-0.4, 3.2)) == "0–3"
    assert display.range_text((-0.5, 3.2)) == "−1 … 3"


@pytest.mark.parametrize("package", ["vork_4", "vork_5"])
def test_a_peak_on_a_day_of_rest_has_no_night_rate(package: str) -> None:
    saturday = instant("2026-12-05T00:00:00+02:00")
    fees = tariff_surcharge(tariff_of(package=package), saturday, saturday + DAY_S - 1)
    by_day = [hour for hour in range(24) if not fees.is_night_rate_at(saturday + hour * HOUR_S)]
    assert by_day == ([16, 17, 18, 19] if package == "vork_5" else [])
