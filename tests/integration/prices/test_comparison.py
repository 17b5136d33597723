"""The bill of past use is the bill by the prices that the integration shows."""

from datetime import date

import pytest

from custom_components.tunnihind.core.comparison import Offer, compare_contracts, fees_today
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
