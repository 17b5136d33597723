"""What past use would cost now: by hand, by Python, and by the page's script."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import date
from typing import Any

import pytest

from tests.support.household.compared_homes import COMPARED_HOMES, TODAY, ComparedHome
from tests.support.machine.node import STATIC, run_module
from tunnihind.core.comparison import NO_PACKAGE, Bills, Comparison, Offer, compare_contracts, fees_today
from tunnihind.core.market import ESTONIA, FINLAND, HOUR_S
from tunnihind.core.rates import Package
from tunnihind.core.tariff import TariffRow
from tunnihind.web.comparison_page import comparison_rates, comparison_remarks
from tunnihind.web.texts import texts_in

ALL = Offer(margin=0.005, spot_monthly=1.0, fixed=0.1, fixed_monthly=2.0, cap=0.15)


def compared(home: ComparedHome) -> Comparison:
    return compare_contracts(home.use, home.use_step_s, home.prices, home.fees, home.offer, billed_s=home.billed_s)


def at(text: str) -> int:
    """Return the instant of a local day and hour such as `2025-03-03 12`."""
    day, hour = text.split()
    return ESTONIA.midnight(date.fromisoformat(day)) + int(hour) * HOUR_S


def test_two_months_of_a_household_are_as_worked_out_by_hand() -> None:
    """Fees of Võrk 4 and VAT are those of 29 November 2026.

    By day 3.69 + 0.373 + 0.84 + 0.758 + 0.307 = 5.968 c/kWh, at night 2.10 + 2.278 = 4.378 c/kWh; VAT is 24%.

    March 2025, spot: Monday noon  2 kWh * (10.0 + 0.5 + 5.968) = 32.936 c
                      Monday night 3 kWh * ( 2.0 + 0.5 + 4.378) = 20.634 c
                      Sunday noon  1 kWh * (-1.0 + 0.5 + 4.378) =  3.878 c   sum 57.448 c * 1.24 + 1.24 € = 1.9524 €
        fixed:        2 * 15.968 + 3 * 14.378 + 1 * 14.378 = 89.448 c * 1.24 + 2.48 € = 3.5892 €
    April 2025, spot: Thursday 17 April, a working day,  4 kWh * (30.0 + 0.5 + 5.968) = 145.872 c
                      Friday 18 April, Good Friday,      4 kWh * (30.0 + 0.5 + 4.378) = 139.512 c
                      sum 285.384 c * 1.24 + 1.24 € = 4.7788 €
        with a cap:   4 * (15 + 5.968) + 4 * (15 + 4.378) = 161.384 c * 1.24 + 1.24 € = 3.2412 €
        half:         4 * (20.25 + 5.968) + 4 * (20.25 + 4.378) = 203.384 c * 1.24 + 1.24 € = 3.7620 €
    """
    rows = {
        "2025-03-03 12": (2.0, 100.0),
        "2025-03-03 3": (3.0, 20.0),
        "2025-03-02 12": (1.0, -10.0),
        "2025-04-17 12": (4.0, 300.0),
        "2025-04-18 12": (4.0, 300.0),
    }
    use = {at(text): kwh for text, (kwh, _) in rows.items()}
    prices = {at(text): price for text, (_, price) in rows.items()}
    found = compare_contracts(use, HOUR_S, prices, fees_today(ESTONIA, Package.VORK_4, TODAY), ALL)
    assert list(found.months) == ["2025-03", "2025-04"]
    march, april = found.months.values()
    assert [march.kwh, march.spot, march.fixed] == pytest.approx([6.0, 1.95236, 3.58916], abs=1e-5)
    assert [april.kwh, april.spot] == pytest.approx([8.0, 4.77876], abs=1e-5)
    assert [april.capped, april.half] == pytest.approx([3.24116, 3.76196], abs=1e-5)
    assert found.total.spot == pytest.approx(march.spot + april.spot)


def test_without_a_package_only_the_market_price_the_margin_and_vat_count() -> None:
    noon = at("2025-03-03 12")
    fees = fees_today(ESTONIA, Package.OWN, TODAY)
    offer = Offer(margin=0.005, fixed=0.1)
    bills = compare_contracts({noon: 10.0}, HOUR_S, {noon: 100.0}, fees, offer).total
    assert asdict(bills) == pytest.approx({"kwh": 10.0, "spot": 1.302, "fixed": 1.24, "half": 1.271, "capped": None})


SCRIPT = """
import {{ compareContracts, ownPackage, totalOf }} from "{folder}/contracts.js";
const [use, prices, rates, packageName, offer, own] = JSON.parse(process.argv[2]);
prices.byStart = new Map(prices.byStart);
if (own) rates.packages.own = ownPackage(rates, own);
const {{ months, unpriced }} = compareContracts(use, prices, rates, packageName, offer);
console.log(JSON.stringify({{ months: Object.fromEntries(months), unpriced, total: totalOf(months.values()) }}));
"""


def own_rates_document(row: TariffRow) -> dict[str, Any]:
    """Write own rates as the page reads them from its fields."""
    times = row.day_rate_times
    return {
        "day": row.network_day,
        "night": row.network_night,
        "times": {
            "months": sorted(times.months),
            "weekdays": sorted(times.weekdays),
            "starts": times.starts.hour,
            "ends": times.ends.hour,
            "onHolidays": times.on_holidays,
        },
    }


async def by_the_script(home: ComparedHome) -> Mapping[str, Any]:
    offer = home.offer
    asked = [
        {"entries": list(home.use.items()), "step": home.use_step_s},
        {"byStart": list(home.prices.items()), "step": home.billed_s},
        comparison_rates(ESTONIA, TODAY),
        Package.OWN if home.own_rates else NO_PACKAGE if home.package is Package.OWN else home.package,
        {
            "margin": offer.margin,
            "spotMonthly": offer.spot_monthly,
            "fixed": offer.fixed,
            "fixedMonthly": offer.fixed_monthly,
            "cap": offer.cap,
            "zeroBelow": home.negative_price_is_zero,
        },
        own_rates_document(home.own_rates) if home.own_rates else None,
    ]
    found: Mapping[str, Any] = json.loads(await run_module(SCRIPT.format(folder=STATIC.as_uri()), json.dumps(asked)))
    return found


@pytest.mark.parametrize("name", COMPARED_HOMES)
async def test_the_page_and_the_command_compute_the_same_bills(name: str) -> None:
    home = COMPARED_HOMES[name]
    found, computed = await by_the_script(home), compared(home)
    assert computed.months
    assert found["unpriced"] == list(computed.months_without_price)
    assert list(found["months"]) == list(computed.months)
    for bills, expected in zip(
        [*found["months"].values(), found["total"]], [*computed.months.values(), computed.total], strict=True
    ):
        assert bills == pytest.approx(asdict(expected), abs=1e-6)


def test_a_month_without_a_price_is_left_out_and_named() -> None:
    found = compared(COMPARED_HOMES["a month that lacks a day of prices"])
    assert found.months_without_price == ("2025-02",)
    assert list(found.months) == ["2025-01", "2025-03", "2025-04"]


def test_an_hour_without_use_needs_no_price() -> None:
    home = COMPARED_HOMES["the market price alone"]
    fees = fees_today(ESTONIA, home.package, TODAY)
    few = dict(list(home.use.items())[:10])
    prices = {ts: home.prices[ts] for ts in few}
    assert compare_contracts(few, HOUR_S, prices, fees, home.offer).months_without_price == ()


def test_bills_of_contracts_that_are_not_compared_stay_unknown_in_the_sum() -> None:
    assert Bills(1.0, 2.0) + Bills(1.0, 2.0, 3.0) == Bills(2.0, 4.0, 3.0)
    home = COMPARED_HOMES["the market price alone"]
    assert compared(replace(home, offer=Offer(cap=0.1))).total.fixed is None


def test_the_page_says_which_rates_are_in_doubt_and_which_are_not_known() -> None:
    english = texts_in("en")
    remarks = comparison_remarks(ESTONIA, date(2027, 1, 1), english)
    assert any("Renewable energy fee: known until 31 December 2026" in remark for remark in remarks)
    assert any("Electricity excise: sources disagree; another source says 0.210 c/kWh" in remark for remark in remarks)
    assert comparison_remarks(FINLAND, date(2027, 1, 1), english) == [english("footer.fees.market")]
