"""From the market's price to the household's."""

import math
import tracemalloc
from dataclasses import replace
from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.core.network_clock import RateTimes
from custom_components.tunnihind.core.rates import FEE_RATES, Package, Part
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from custom_components.tunnihind.prices.tariff_options import tariff_from
from tests.support.household.home import instant
from tests.support.markets.price_strategies import HOURS, eur_mwh, hour_starts
from tunnihind.core.market import ESTONIA, consumer_price, vat_rate_at

fees = st.integers(-1_000, 10_000).map(lambda price: price / 100_000)
rows = st.builds(
    TariffRow,
    valid_from=st.none(),
    vat_rate=st.none() | st.sampled_from([0.0, 0.22, 0.24]),
    package=st.sampled_from(Package),
    parts_from_table=st.frozensets(st.sampled_from([Part.NETWORK, *FEE_RATES])),
    margin=fees,
    balancing=fees,
    network_day=fees,
    network_night=fees,
    network_peak=fees,
    network_rest_day_peak=fees,
    excise=fees,
    renewable=fees,
    security=fees,
)
DAY_AND_NIGHT = TariffRow(network_day=1.0, network_night=0.5)


ALL_WEEK = frozenset(range(7))


def day_and_night(**times: Any) -> Tariff:  # noqa: ANN401  the fields of `RateTimes`
    return Tariff(chosen_vat_rate=0.0, rows=[replace(DAY_AND_NIGHT, day_rate_times=RateTimes(**times))])


def at_rate(moment: str, **times: Any) -> str:  # noqa: ANN401  the fields of `RateTimes`
    """Return the network's rate in the hour that starts then."""
    return {1.0: "day", 0.5: "night"}[day_and_night(**times).price(0.0, instant(moment))]


@given(eur_mwh, hour_starts)
def test_with_nothing_configured_it_is_the_market_price_with_vat_by_law(price: float, start: int) -> None:
    assert Tariff().price(price, start) == consumer_price(price, vat_rate_at(ESTONIA.legal_vat_rates, start))


@given(eur_mwh, hour_starts, st.sampled_from([0.0, 0.09, 0.22, 0.24]))
def test_a_rate_that_the_operator_chose_counts_on_all_days(price: float, start: int, vat: float) -> None:
    assert Tariff(chosen_vat_rate=vat).price(price, start) == consumer_price(price, vat)


@given(eur_mwh, hour_starts, rows, st.booleans())
def test_a_price_has_four_decimals_and_no_negative_zero(price: float, start: int, row: TariffRow, net: bool) -> None:
    paid = Tariff(rows=[row], fees_include_vat=net).price(price, start)
    assert paid == round(paid, 4)
    assert math.copysign(1, paid) == (1 if paid == 0 else math.copysign(1, paid))
    assert str(paid) != "-0.0"


@given(eur_mwh, hour_starts, rows, st.booleans())
def test_the_market_the_parts_and_the_vat_add_up_to_the_price(
    price: float, start: int, row: TariffRow, net: bool
) -> None:
    tariff = Tariff(rows=[row], fees_include_vat=net)
    charges = tariff.charges(start)
    parts = sum(charge.eur_kwh for charge in charges.charges)
    assert [charge.part for charge in charges.charges] == list(Part)
    assert tariff.price(price, start) == pytest.approx(price / 1000 + parts + charges.vat(price), abs=5.1e-5)


@given(eur_mwh, hour_starts, rows)
def test_a_price_is_known_if_every_part_is_and_then_is_the_same(price: float, start: int, row: TariffRow) -> None:
    tariff = Tariff(rows=[row])
    unknown = tariff.charges(start).unknown_parts
    assert set(unknown) <= row.parts_from_table
    assert tariff.known_price(price, start) == (None if unknown else tariff.price(price, start))


@given(eur_mwh, eur_mwh, hour_starts, rows, st.booleans())
def test_a_higher_market_price_never_gives_a_lower_household_price(
    one: float, other: float, start: int, row: TariffRow, net: bool
) -> None:
    tariff = Tariff(rows=[row], fees_include_vat=net)
    cheaper, dearer = sorted((one, other))
    assert tariff.price(cheaper, start) <= tariff.price(dearer, start)


@given(eur_mwh, hour_starts, rows)
def test_fees_typed_with_vat_are_added_as_they_are(price: float, start: int, row: TariffRow) -> None:
    own = replace(row, vat_rate=0.22, network_night=row.network_day, package=Package.OWN, parts_from_table=frozenset())
    paid = Tariff(chosen_vat_rate=0.0, rows=[own], fees_include_vat=True).price(price, start)
    fees_paid = own.margin + own.balancing + own.network_day + own.renewable + own.security + own.excise
    assert paid == pytest.approx(price / 1000 * 1.22 + fees_paid, abs=5.1e-5)


def test_fees_and_energy_have_the_rows_vat() -> None:
    row = TariffRow(vat_rate=0.24, margin=0.01, network_day=0.04, network_night=0.02, excise=0.002, renewable=0.008)
    start = instant("2026-01-14T10:00:00+02:00")
    paid = (100 / 1000 + 0.01 + 0.04 + 0.002 + 0.008) * 1.24
    assert Tariff(rows=[row]).price(100, start) == round(paid, 4)


def test_fees_that_include_vat_are_not_taxed_twice() -> None:
    row = TariffRow(vat_rate=0.24, margin=0.01, network_day=0.04)
    start = instant("2026-01-14T10:00:00+02:00")
    assert Tariff(rows=[row], fees_include_vat=True).price(100, start) == 0.174


@pytest.mark.parametrize(("chosen", "paid"), [(None, 0.124), (0.22, 0.122), (0.09, 0.109)])
def test_a_row_without_a_rate_has_the_legal_or_the_operators_rate(chosen: float | None, paid: float) -> None:
    start = instant("2026-01-14T10:00:00+02:00")
    assert Tariff(chosen_vat_rate=chosen, rows=[TariffRow(margin=0.1)]).price(0, start) == paid


@pytest.mark.parametrize(
    ("moment", "margin"),
    [
        ("2025-12-31T23:00:00+02:00", 0.01),
        ("2026-01-01T00:00:00+02:00", 0.02),  # still 2025 in UTC
        ("2026-06-30T23:00:00+03:00", 0.02),
        ("2026-07-01T00:00:00+03:00", 0.03),
    ],
)
def test_a_row_holds_from_tallinns_midnight_of_its_date(moment: str, margin: float) -> None:
    dated = [
        TariffRow(margin=0.01),
        TariffRow(valid_from=date(2026, 1, 1), margin=0.02),
        TariffRow(valid_from=date(2026, 7, 1), margin=0.03),
    ]
    assert Tariff(chosen_vat_rate=0.0, rows=dated).price(0, instant(moment)) == margin


def test_before_the_first_dated_row_nothing_is_added() -> None:
    tariff = Tariff(rows=[TariffRow(valid_from=date(2026, 7, 1), vat_rate=0.24, margin=1.0)])
    before = instant("2026-06-30T12:00:00+03:00")
    assert tariff.price(100, before) == 0.124
    assert tariff.known_price(100, before) is None


@pytest.mark.parametrize(
    ("moment", "rate"),
    [
        ("2026-01-14T06:00:00+02:00", "night"),
        ("2026-01-14T07:00:00+02:00", "day"),
        ("2026-01-14T21:00:00+02:00", "day"),
        ("2026-01-14T22:00:00+02:00", "night"),
        ("2026-07-14T06:00:00+03:00", "night"),
        ("2026-07-14T07:00:00+03:00", "day"),  # 04:00 in UTC, where winter's night still is
        ("2026-07-14T22:00:00+03:00", "night"),
    ],
)
def test_the_day_rate_follows_tallinns_clock(moment: str, rate: str) -> None:
    assert at_rate(moment) == rate


@pytest.mark.parametrize(
    ("moment", "holidays", "without"),
    [
        ("2026-01-17T12:00:00+02:00", "night", "night"),  # a Saturday
        ("2026-02-24T12:00:00+02:00", "night", "day"),  # Independence Day, a Tuesday
        ("2026-04-03T12:00:00+03:00", "night", "day"),  # Good Friday, which moves
        ("2026-06-23T12:00:00+03:00", "night", "day"),  # Victory Day
        ("2026-12-24T12:00:00+02:00", "night", "day"),  # Christmas Eve
        ("2026-01-06T12:00:00+02:00", "day", "day"),  # Epiphany is no public holiday in Estonia
        ("2027-06-24T12:00:00+03:00", "night", "day"),
    ],
)
def test_estonias_public_holidays_are_at_the_night_rate(moment: str, holidays: str, without: str) -> None:
    assert at_rate(moment) == holidays
    assert at_rate(moment, on_holidays=True) == without


@pytest.mark.parametrize(
    ("moment", "rate"),
    [
        ("2026-01-16T23:00:00+02:00", "night"),
        ("2026-01-17T00:00:00+02:00", "night"),  # Friday's 22:00 in UTC
        ("2026-01-17T12:00:00+02:00", "day"),
        ("2026-01-18T23:00:00+02:00", "night"),
        ("2026-01-19T07:00:00+02:00", "day"),
    ],
)
def test_weekends_may_have_the_day_rate(moment: str, rate: str) -> None:
    assert at_rate(moment, weekdays=ALL_WEEK) == rate


def test_the_weekend_ends_at_tallinns_midnight() -> None:
    early = {"starts": time(0), "ends": time(5)}
    assert at_rate("2026-01-18T23:00:00+02:00", **early) == "night"
    assert at_rate("2026-01-19T00:00:00+02:00", **early) == "day"


@pytest.mark.parametrize(
    ("wall", "rate"), [("21", "night"), ("22", "day"), ("23", "day"), ("05", "day"), ("06", "night")]
)
def test_a_day_rate_may_reach_over_midnight(wall: str, rate: str) -> None:
    over_midnight = {"starts": time(22), "ends": time(6)}
    assert at_rate(f"2026-01-14T{wall}:00:00+02:00", **over_midnight) == rate


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2026-03-29T00:00:00+02:00", 23), ("2026-10-25T00:00:00+03:00", 25)],
)
def test_on_the_days_the_clocks_change_the_day_rate_has_its_fifteen_hours(day: str, hours: int) -> None:
    tariff = day_and_night(weekdays=ALL_WEEK)
    paid = [tariff.price(0.0, instant(day) + place * HOUR_S) for place in range(hours)]
    assert paid.count(1.0) == 15
    assert paid.index(1.0) == hours - 17


@given(hour_starts)
def test_night_and_day_rate_follow_the_wall_clock_in_every_hour_of_six_years(start: int) -> None:
    tariff = day_and_night(weekdays=ALL_WEEK, on_holidays=True)
    assert tariff.price(0.0, start) == (1.0 if 7 <= ESTONIA.local_time(start).hour < 22 else 0.5)


def test_options_are_in_cents_and_percent() -> None:
    tariff = tariff_from(
        {
            "rows": [
                {
                    "valid_from": "2026-07-01",
                    "vat_percent": 24.0,
                    "margin": 1.0,
                    "negative_price_is_zero": True,
                    "day_rate_months": ["1", "12"],
                    "day_rate_weekdays": ["mon", "sat"],
                    "day_rate_starts": "08:00:00",
                    "day_rate_ends": "23:00",
                    "holidays_at_night_rate": False,
                    "day_rate_in_winter_time": True,
                },
                {"margin": 0.5, "network_day": 4.0, "network_night": 2.0, "excise": 0.2, "renewable": 0.8},
            ],
            "fees_include_vat": True,
        },
        chosen_vat_rate=0.22,
    )
    assert tariff == Tariff(
        chosen_vat_rate=0.22,
        rows=[
            TariffRow(margin=0.005, network_day=0.04, network_night=0.02, excise=0.002, renewable=0.008),
            TariffRow(
                valid_from=date(2026, 7, 1),
                vat_rate=0.24,
                margin=0.01,
                negative_price_is_zero=True,
                day_rate_times=RateTimes(
                    months=frozenset({1, 12}),
                    weekdays=frozenset({0, 5}),
                    starts=time(8),
                    ends=time(23),
                    on_holidays=True,
                    in_winter_time=True,
                ),
            ),
        ],
        fees_include_vat=True,
    )


def test_without_options_nothing_is_added() -> None:
    assert tariff_from({}, chosen_vat_rate=0.24) == Tariff(chosen_vat_rate=0.24, rows=[])


def test_a_rate_of_zero_is_the_households_own() -> None:
    tariff = tariff_from({"rows": [{"vat_percent": 0}]})
    assert tariff.price(100, HOURS.start) == 0.1


def test_a_row_of_the_options_may_follow_the_table() -> None:
    options = {"rows": [{"margin": 0.5, "package": "vork_5", "from_table": ["network", "balancing"], "security": 0.5}]}
    [row] = tariff_from(options).rows
    assert row.package is Package.VORK_5
    assert row.parts_from_table == frozenset({Part.NETWORK, Part.BALANCING})
    assert (row.margin, row.security, row.renewable) == (0.005, 0.005, 0.0)


def test_years_of_past_prices_take_little_memory() -> None:
    tariff = Tariff(rows=[TariffRow(package=Package.VORK_5, parts_from_table=frozenset({Part.NETWORK, *FEE_RATES}))])
    start = instant("2026-06-01T00:00+03:00")
    tracemalloc.start()
    try:
        for quarter in range(start, start + 20_000 * 900, 900):
            tariff.known_price(50.0, quarter)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3_000_000
