"""The parts of a household's price, in words and figures."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import Serve, make_view
from tests.support.pages import sample_views
from tunnihind.api.served_data import Percentiles
from tunnihind.core.market import ESTONIA, HOUR_S
from tunnihind.settings import Settings
from tunnihind.web.household import HouseholdPrice
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import DashboardSummary, summarise_dashboard

FRIDAY = ESTONIA.midnight(date(2026, 11, 20))

RENEWABLE = "Renewable energy fee: known until 31 December 2026; the same rate is used for later days."
BALANCING = "Balancing capacity fee: known until 31 December 2027; the same rate is used for later days."
NETWORK = "Network fee: known from 1 June 2026 on; the same rate is used for earlier days."
FEES = (
    "Balancing capacity fee, Renewable energy fee, Security of supply fee, Electricity excise: "
    "known from 1 January 2026 on; the same rate is used for earlier days."
)
FEES_AFTER_NETWORK = FEES.partition(":")[0].split(", ")[1:]
NEAREST = " (nearest known rate)"
HALF_A_HUNDREDTH = 0.005 + 1e-9


def summary_of(eur_mwh: float, first: int = FRIDAY, /, **options: str) -> DashboardSummary:
    """Return the dashboard of half past a day's first hour. The market price is the same for two days."""
    view = make_view({first + i * HOUR_S: eur_mwh for i in range(48)})
    return summarise_dashboard(
        view, first + 1800, Settings(), PageOptions.read({"lang": "en", "package": "vork_4"} | options)
    )


def household(eur_mwh: float, **options: str) -> HouseholdPrice:
    found = summary_of(eur_mwh, **options).household
    assert found is not None
    return found


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@given(
    st.integers(-50_000, 400_000).map(lambda cents: cents / 100),
    st.sampled_from(["vork_1", "vork_2", "vork_4", "vork_5"]),
    st.integers(0, 2000).map(lambda margin: str(margin / 1000)),
    st.sampled_from(["kwh", "mwh"]),
    st.sampled_from(["none", "api", "law"]),
)
def test_the_parts_add_up_to_the_price(price: float, package: str, margin: str, unit: str, vat: str) -> None:
    found = household(price, package=package, margin=margin, unit=unit, vat=vat)
    assert abs(sum(number(amount) for _, amount in found.parts) - number(found.total)) <= HALF_A_HUNDREDTH


def test_each_part_is_named_and_what_costs_nothing_is_left_out() -> None:
    assert household(50.0, margin="0.5").parts == (
        ("Market price", "5.000"),
        ("Supplier's margin", "0.500"),
        ("Balancing capacity fee", "0.373"),
        ("Network fee, night", "2.100"),
        ("Renewable energy fee", "0.840"),
        ("Security of supply fee", "0.758"),
        ("Electricity excise", "0.307"),
        ("VAT 24%", "2.371"),
    )
    names = [name for name, _ in household(50.0, vat="none", package="vork_1").parts]
    assert "Network fee" in names
    assert not any("VAT" in name or "margin" in name for name in names)


def test_a_forecast_is_told_as_about_that() -> None:
    view = make_view({FRIDAY - HOUR_S: 1.0}, issued={FRIDAY: Percentiles(40.0, 50.0, 60.0)})
    found = summarise_dashboard(view, FRIDAY + 1800, Settings(), PageOptions.read({"package": "vork_4"})).household
    assert found is not None
    assert found.total == "about 12"


def test_it_is_said_from_when_the_rates_are_and_which_are_disputed() -> None:
    rates, disputed = household(50.0).remarks
    assert "price list of 1 June 2026" in rates
    assert "last checked on 20 November 2026" in rates
    assert disputed == "Electricity excise: sources disagree; another source says 0.210."


@pytest.mark.parametrize(
    ("day", "remarks", "uncertain"),
    [
        (date(2026, 12, 30), [], []),
        (date(2026, 12, 31), [RENEWABLE], []),
        (date(2027, 1, 1), [RENEWABLE], ["Renewable energy fee"]),
        (date(2027, 1, 31), [RENEWABLE], ["Renewable energy fee"]),
        (date(2027, 12, 31), [RENEWABLE, BALANCING], ["Renewable energy fee"]),
        (date(2028, 1, 1), [BALANCING, RENEWABLE], ["Balancing capacity fee", "Renewable energy fee"]),
        (date(2026, 5, 31), [NETWORK], ["Network fee, night"]),
        (date(2025, 12, 31), [FEES, NETWORK], ["Balancing capacity fee", "Network fee, night", *FEES_AFTER_NETWORK]),
    ],
)
def test_a_rate_that_is_not_known_for_a_day_shown_is_told_with_its_last_or_first_day(
    day: date, remarks: list[str], uncertain: list[str]
) -> None:
    found = summary_of(50.0, ESTONIA.midnight(day)).household
    assert found is not None
    assert [remark for remark in found.remarks if ": known " in remark] == remarks
    assert [name.removesuffix(NEAREST) for name, _ in found.parts if name.endswith(NEAREST)] == uncertain


def test_market_prices_have_no_household() -> None:
    assert summary_of(50.0, price="market").household is None
    assert summary_of(50.0, package="").household is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "c/kWh, all fees, Võrk 4, 24%\u00a0VAT"),
        ({"vat": "none"}, "c/kWh, all fees, Võrk 4, without VAT"),
        ({"price": "market"}, "c/kWh, with 24% VAT"),
        ({"lang": "et"}, "s/kWh, kõik tasud, Võrk 4, km\u00a024%"),
        ({"lang": "et", "vat": "none"}, "s/kWh, kõik tasud, Võrk 4, käibemaksuta"),
    ],
)
def test_the_unit_says_what_the_prices_include(options: dict[str, str], said: str) -> None:
    assert summary_of(50.0, **options).display.unit_and_basis == said


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/?package=vork_4", "The prices also include the supplier&#39;s margin, the network fee"),
        ("/", "Network fees and excise duty are not included."),
        ("/?package=vork_4&price=market", "Network fees and excise duty are not included."),
        ("/?package=vork_4&embed=1", "all fees, Võrk 4, 24%\N{NO-BREAK SPACE}VAT"),
    ],
)
async def test_a_page_says_which_fees_its_prices_include(serve: Serve, address: str, said: str) -> None:
    server = await serve(sample_views.ordinary())
    assert said in (await server.ask(address)).body.decode()
