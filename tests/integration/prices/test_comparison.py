"""The bill of past use is the bill by the prices that the integration shows."""

from datetime import date

import pytest

from custom_components.tunnihind.core.comparison import (
    Offer,
    compare_contracts,
    fees_today,
    household_today,
    with_package,
)
from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.core.rates import FEE_RATES, NETWORK_RATES, Package, Part
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from tests.support.household.compared_homes import TODAY, ComparedHome

MARGIN = 0.0045


@pytest.mark.parametrize("package", NETWORK_RATES)
@pytest.mark.parametrize("negative_price_is_zero", [False, True])
def test_the_bill_of_this_month_is_the_sum_of_the_shown_prices(package: Package, negative_price_is_zero: bool) -> None:
    """In the month of the run, the rates of the run are those of each date."""
    home = ComparedHome(first=date(2026, 11, 1), last=date(2026, 12, 1))
    row = TariffRow(
        margin=MARGIN,
        package=package,
        parts_from_table=frozenset({Part.NETWORK, *FEE_RATES}),
        negative_price_is_zero=negative_price_is_zero,
    )
    tariff = Tariff(rows=[row])
    shown = sum(kwh * tariff.price(home.prices[ts], ts) for ts, kwh in home.use.items())
    fees = fees_today(ESTONIA, package, TODAY, negative_price_is_zero=negative_price_is_zero)
    found = compare_contracts(home.use, HOUR_S, home.prices, fees, Offer(margin=MARGIN))
    assert found.total.spot == pytest.approx(shown, abs=0.01)


def test_the_rates_of_a_day_hold_on_all_dates_but_each_date_keeps_its_hours() -> None:
    tariff = Tariff(
        rows=[TariffRow(package=Package.VORK_4, parts_from_table=frozenset({Part.NETWORK, *FEE_RATES}))], rates_on=TODAY
    )
    friday_noon = ESTONIA.midnight(date(2023, 11, 17)) + 12 * HOUR_S
    charges = tariff.charges(friday_noon)
    assert charges.vat_rate == 0.24
    assert charges.are_known
    assert [charge.rate_period for charge in charges.charges if charge.part is Part.NETWORK] == ["day"]
    holiday = ESTONIA.midnight(date(2023, 2, 24)) + 12 * HOUR_S
    assert [one.rate_period for one in tariff.charges(holiday).charges if one.part is Part.NETWORK] == ["night"]


@pytest.mark.parametrize("fees_include_vat", [False, True])
def test_a_households_margin_is_no_part_of_the_fees_of_a_fixed_price(fees_include_vat: bool) -> None:
    """Later fees don't count today, and the margin is without VAT however the household entered it."""
    row = TariffRow(margin=0.0124, excise=0.01, vat_rate=0.24)
    later = TariffRow(valid_from=date(2027, 1, 1), margin=0.5)
    fees, margin = household_today(Tariff(rows=[row, later], fees_include_vat=fees_include_vat), TODAY)
    assert margin == pytest.approx(0.01 if fees_include_vat else 0.0124)
    midsummer = ESTONIA.midnight(date(2027, 6, 24))
    assert fees.charges(midsummer).fees == pytest.approx(0.01 if fees_include_vat else 0.0124)


def test_a_package_changes_only_the_network_rates_of_a_household() -> None:
    noon = ESTONIA.midnight(date(2026, 11, 20)) + 12 * HOUR_S
    rows = [TariffRow(network_day=0.05, network_night=0.04, excise=0.002, vat_rate=0.2)]
    fees, _ = household_today(Tariff(rows=rows), TODAY)
    changed = with_package(fees, Package.VORK_1, TODAY)
    charged = {one.part: one.eur_kwh for one in changed.charges(noon).charges if one.eur_kwh}
    assert charged == {Part.NETWORK: pytest.approx(0.0772), Part.EXCISE: 0.002}
    assert changed.charges(noon).vat_rate == 0.2


def test_a_household_without_fees_today_has_all_fees_of_the_table_with_a_package() -> None:
    rows = [TariffRow(valid_from=date(2027, 1, 1), margin=0.5)]
    fees, margin = household_today(Tariff(rows=rows, chosen_vat_rate=0.09), TODAY)
    noon = ESTONIA.midnight(TODAY) + 12 * HOUR_S
    charges = with_package(fees, Package.VORK_1, TODAY).charges(noon)
    assert (margin, charges.vat_rate) == (0, 0.09)
    expected = fees_today(ESTONIA, Package.VORK_1, TODAY).charges(noon).charges
    assert [one.eur_kwh for one in charges.charges] == [one.eur_kwh for one in expected]
