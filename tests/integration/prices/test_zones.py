"""The differences between zones: VAT, public holidays and names. The clock is the same."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.prices.days import tallinn_time
from custom_components.tunnihind.prices.network_clock import is_public_holiday
from custom_components.tunnihind.prices.rates import Package, rate_table_of
from custom_components.tunnihind.prices.tariff import Tariff, TariffRow
from custom_components.tunnihind.prices.zones import Zone, legal_vat_rate
from custom_components.tunnihind.server.answers import Mode, server_name
from tests.support.household.home import instant
from tunnihind.market import MARKETS, vat_rate_at

EE, LV, LT, FI = Zone
JANUARY_2023 = instant("2023-01-18T10:00:00+02:00")
JANUARY_2025 = instant("2025-01-15T10:00:00+02:00")
ROW = TariffRow(margin=0.01, network_day=0.05, network_night=0.03, excise=0.02)


@pytest.mark.parametrize("clock", ["Europe/Riga", "Europe/Vilnius", "Europe/Helsinki"])
@given(st.integers(instant("2021-01-01T00:00:00Z"), instant("2036-01-01T00:00:00Z")))
def test_the_clocks_of_all_zones_show_the_same_time(clock: str, moment: int) -> None:
    there = datetime.fromtimestamp(moment, ZoneInfo(clock))
    assert there.replace(tzinfo=None) == tallinn_time(moment).replace(tzinfo=None)
    assert there.utcoffset() == tallinn_time(moment).utcoffset()


@pytest.mark.parametrize(
    ("zone", "day", "rate", "on_network"),
    [
        (EE, "2023-12-31", 0.20, 0.20),
        (EE, "2024-01-01", 0.22, 0.22),
        (EE, "2025-07-01", 0.24, 0.24),
        (LV, "2021-01-01", 0.21, 0.21),
        (LV, "2026-01-14", 0.21, 0.21),
        (LT, "2023-01-18", 0.21, 0.21),
        (FI, "2022-11-30", 0.24, 0.24),
        (FI, "2022-12-01", 0.10, 0.24),
        (FI, "2023-04-30", 0.10, 0.24),
        (FI, "2023-05-01", 0.24, 0.24),
        (FI, "2024-08-31", 0.24, 0.24),
        (FI, "2024-09-01", 0.255, 0.255),
    ],
)
def test_vat_is_that_of_the_zones_law_by_date(zone: Zone, day: str, rate: float, on_network: float) -> None:
    assert legal_vat_rate(zone, date.fromisoformat(day)) == rate
    assert legal_vat_rate(zone, date.fromisoformat(day), on_network=True) == on_network


@given(st.sampled_from(Zone), st.dates(date(2009, 9, 1), date(2036, 1, 1)))
def test_the_server_has_the_same_rates_on_electricity(zone: Zone, day: date) -> None:
    market = next(market for market in MARKETS.values() if market.code == zone)
    assert vat_rate_at(market.legal_vat_rates, market.midnight(day)) == legal_vat_rate(zone, day)


@pytest.mark.parametrize(
    ("zone", "start", "paid"),
    [
        (FI, JANUARY_2023, (0.10 + 0.01) * 1.10 + (0.05 + 0.02) * 1.24),
        (FI, JANUARY_2025, 0.18 * 1.255),
        (LV, JANUARY_2023, 0.18 * 1.21),
        (LT, JANUARY_2025, 0.18 * 1.21),
        (EE, JANUARY_2025, 0.18 * 1.22),
    ],
)
def test_a_household_pays_its_zones_vat_on_electricity_and_on_the_network(zone: Zone, start: int, paid: float) -> None:
    tariff = Tariff(zone=zone, rows=[ROW])
    assert tariff.price(100, start) == round(paid, 4)
    charges = tariff.charges(start)
    without = 0.10 + sum(charge.eur_kwh for charge in charges.charges)
    assert charges.vat(100) == pytest.approx(paid - without)


@pytest.mark.parametrize("zone", [*Zone])
def test_a_rate_that_the_operator_chose_holds_in_any_zone_on_the_network_too(zone: Zone) -> None:
    tariff = Tariff(zone=zone, rows=[ROW], chosen_vat_rate=0.09)
    assert tariff.price(100, JANUARY_2023) == tariff.price(100, JANUARY_2025) == round(0.18 * 1.09, 4)


@pytest.mark.parametrize(
    ("day", "countries"),
    [
        ("2024-12-06", {FI}),  # Finland's independence
        ("2026-02-24", {EE}),
        ("2026-11-18", {LV}),
        ("2026-02-16", {LT}),
        ("2026-12-25", {EE, LV, LT, FI}),
        ("2026-01-14", set()),
    ],
)
def test_the_night_rate_holds_on_the_public_holidays_of_the_zones_country(day: str, countries: set[Zone]) -> None:
    assert {zone for zone in Zone if is_public_holiday(zone, date.fromisoformat(day))} == countries
    row = TariffRow(vat_rate=0, network_day=2.0, network_night=1.0)
    noon = instant(f"{day}T12:00:00+02:00")
    assert {zone for zone in Zone if Tariff(zone=zone, rows=[row]).price(0, noon) == 1.0} == countries


@pytest.mark.parametrize("day", ["2026-01-02", "2026-01-17", "2026-06-22", "2026-06-27"])
def test_the_night_rate_holds_on_both_days_that_latvia_swaps(day: str) -> None:
    row = TariffRow(vat_rate=0, network_day=2.0, network_night=1.0)
    assert Tariff(zone=LV, rows=[row]).price(0, instant(f"{day}T12:00:00+02:00")) == 1.0


def test_only_estonia_has_packages_and_fees_in_the_table() -> None:
    assert rate_table_of(EE).packages.keys() == set(Package) - {Package.OWN}
    assert rate_table_of(EE).fees
    assert not any(rate_table_of(zone).packages or rate_table_of(zone).fees for zone in (LV, LT, FI))


@pytest.mark.parametrize(
    ("zone", "mode", "language", "name"),
    [
        (EE, Mode.LIVE, "en", "Tunnihind"),
        (EE, Mode.DEMO, "en", "Tunnihind demo"),
        (LV, Mode.LIVE, "en", "Tunnihind Latvia"),
        (LV, Mode.LIVE, "et", "Tunnihind Läti"),
        (FI, Mode.REHEARSAL, "ru", "Tunnihind Финляндия репетиция"),
        (FI, Mode.REHEARSAL, "fi", "Tunnihind Finland rehearsal"),
    ],
)
def test_the_name_of_a_server_names_every_country_but_estonia(zone: Zone, mode: Mode, language: str, name: str) -> None:
    assert server_name(mode, zone, language) == name
