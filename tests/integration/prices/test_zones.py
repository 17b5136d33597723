"""The differences between zones: VAT, public holidays and names."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.client.answers import Mode, server_name
from custom_components.tunnihind.core.market import MARKETS, Market, vat_rate_at
from custom_components.tunnihind.core.public_holidays import is_holiday
from custom_components.tunnihind.core.rates import Package, rate_table_of
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from tests.support.household.home import instant

EE, LV, LT, FI = MARKETS.values()
JANUARY_2023 = instant("2023-01-18T10:00:00+02:00")
JANUARY_2025 = instant("2025-01-15T10:00:00+02:00")
ROW = TariffRow(margin=0.01, network_day=0.05, network_night=0.03, excise=0.02)


@pytest.mark.parametrize(
    ("zone", "day", "rate", "on_network"),
    [
        (EE, "2023-12-31", 0.20, 0.20),
        (EE, "2024-01-01", 0.22, 0.22),
        (EE, "2025-06-30", 0.22, 0.22),
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
def test_vat_is_that_of_the_zones_law_by_date(zone: Market, day: str, rate: float, on_network: float) -> None:
    assert zone.legal_vat_rate(date.fromisoformat(day)) == rate
    assert zone.legal_vat_rate(date.fromisoformat(day), on_network=True) == on_network


@given(st.sampled_from([*MARKETS.values()]), st.dates(date(2009, 9, 1), date(2036, 1, 1)))
def test_the_rate_on_electricity_changes_at_the_midnight_of_its_day(zone: Market, day: date) -> None:
    assert vat_rate_at(zone.legal_vat_rates, zone.midnight(day)) == zone.legal_vat_rate(day)
    assert vat_rate_at(zone.legal_vat_rates, zone.midnight(day + timedelta(days=1)) - 1) == zone.legal_vat_rate(day)


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
def test_a_household_pays_its_zones_vat_on_electricity_and_on_the_network(
    zone: Market, start: int, paid: float
) -> None:
    tariff = Tariff(zone=zone, rows=[ROW])
    assert tariff.price(100, start) == round(paid, 4)
    charges = tariff.charges(start)
    without = 0.10 + sum(charge.eur_kwh for charge in charges.charges)
    assert charges.vat(100) == pytest.approx(paid - without)


@pytest.mark.parametrize("zone", [*MARKETS.values()])
def test_a_rate_that_the_operator_chose_holds_in_any_zone_on_the_network_too(zone: Market) -> None:
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
def test_the_night_rate_holds_on_the_public_holidays_of_the_zones_country(day: str, countries: set[Market]) -> None:
    assert {zone for zone in MARKETS.values() if is_holiday(date.fromisoformat(day), zone.country)} == countries
    row = TariffRow(vat_rate=0, network_day=2.0, network_night=1.0)
    noon = instant(f"{day}T12:00:00+02:00")
    assert {zone for zone in MARKETS.values() if Tariff(zone=zone, rows=[row]).price(0, noon) == 1.0} == countries


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
def test_the_name_of_a_server_names_every_country_but_estonia(
    zone: Market, mode: Mode, language: str, name: str
) -> None:
    assert server_name(mode, zone, language) == name
