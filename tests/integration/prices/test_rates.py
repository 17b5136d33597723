"""The table of network and state fees: its figures, and the dates and hours at which they apply."""

from datetime import date, datetime
from itertools import pairwise

import pytest

from custom_components.tunnihind.core.network_clock import WITH_PEAKS, NetworkRatePeriod, network_rate_period
from custom_components.tunnihind.core.rates import FEE_RATES, NETWORK_RATES, Package, Part, nearest_rate
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from tests.support.household.home import instant

TABLE = [*NETWORK_RATES.values(), *FEE_RATES.values()]
FOLLOWED = frozenset({Part.NETWORK, *FEE_RATES})


def cents(part: Part, at: str, package: Package = Package.VORK_5) -> float:
    """Return the rate of a part at that instant for a household that follows the table, c/kWh without VAT."""
    tariff = Tariff(rows=[TariffRow(package=package, parts_from_table=FOLLOWED)])
    [charge] = [charge for charge in tariff.charges(instant(at)).charges if charge.part is part]
    assert charge.vat_rate == 0.24
    return round(charge.eur_kwh * 100, 4)


def test_every_package_and_every_fee_but_the_margin_is_in_the_table() -> None:
    assert NETWORK_RATES.keys() == set(Package) - {Package.OWN}
    assert FEE_RATES.keys() == set(Part) - {Part.MARGIN, Part.NETWORK, Part.OTHER}


@pytest.mark.parametrize("entries", TABLE)
def test_entries_of_the_table_follow_each_other_and_never_overlap(entries: list) -> None:  # type: ignore[type-arg]
    for earlier, later in pairwise(entries):
        assert earlier.until is not None
        assert earlier.since <= earlier.until < later.since
    assert all(
        entry.source and entry.source_read_on >= entry.since.replace(year=entry.since.year - 1) for entry in entries
    )


@pytest.mark.parametrize(
    ("package", "wall", "expected"),
    [
        (Package.VORK_1, "2026-10-14T10:00:00+03:00", 7.72),
        (Package.VORK_1, "2026-10-14T03:00:00+03:00", 7.72),
        (Package.VORK_2, "2026-10-14T10:00:00+03:00", 6.07),
        (Package.VORK_2, "2026-10-14T03:00:00+03:00", 3.51),
        (Package.VORK_4, "2026-10-14T10:00:00+03:00", 3.69),
        (Package.VORK_4, "2026-10-18T10:00:00+03:00", 2.10),
        (Package.VORK_5, "2026-10-14T10:00:00+03:00", 5.29),
        (Package.VORK_5, "2026-10-14T03:00:00+03:00", 3.03),
    ],
)
def test_a_package_has_the_rates_of_the_price_list(package: Package, wall: str, expected: float) -> None:
    assert cents(Part.NETWORK, wall, package) == expected


@pytest.mark.parametrize(
    ("wall", "expected"),
    [
        # A Tuesday in January: day from 07, peaks from 09 to 12 and from 16 to 20.
        ("2027-01-12T06:45:00+02:00", 3.03),
        ("2027-01-12T07:00:00+02:00", 5.29),
        ("2027-01-12T08:45:00+02:00", 5.29),
        ("2027-01-12T09:00:00+02:00", 8.18),
        ("2027-01-12T11:45:00+02:00", 8.18),
        ("2027-01-12T12:00:00+02:00", 5.29),
        ("2027-01-12T15:45:00+02:00", 5.29),
        ("2027-01-12T16:00:00+02:00", 8.18),
        ("2027-01-12T19:45:00+02:00", 8.18),
        ("2027-01-12T20:00:00+02:00", 5.29),
        ("2027-01-12T22:00:00+02:00", 3.03),
        # A Sunday, and Independence Day, a Wednesday: the evening's peak only.
        ("2027-01-17T10:00:00+02:00", 3.03),
        ("2027-01-17T16:00:00+02:00", 4.74),
        ("2027-01-17T19:45:00+02:00", 4.74),
        ("2027-01-17T20:00:00+02:00", 3.03),
        ("2027-02-24T10:00:00+02:00", 3.03),
        ("2027-02-24T17:00:00+02:00", 4.74),
        # The peaks' first and last day, in Estonia's summer time at the end; none the day before and after.
        ("2026-10-30T17:00:00+02:00", 5.29),
        ("2026-11-02T17:00:00+02:00", 8.18),
        ("2027-03-31T19:45:00+03:00", 8.18),
        ("2027-04-01T17:00:00+03:00", 5.29),
        # Midnight in Tallinn starts the month, when it is still October in UTC.
        ("2026-11-01T16:00:00+02:00", 4.74),
    ],
)
def test_vork_5_has_its_peaks_in_winter(wall: str, expected: float) -> None:
    assert cents(Part.NETWORK, wall) == expected


@pytest.mark.parametrize("package", [Package.VORK_1, Package.VORK_2, Package.VORK_4])
def test_no_other_package_has_peaks(package: Package) -> None:
    assert cents(Part.NETWORK, "2027-01-12T17:00:00+02:00", package) == NETWORK_RATES[package][0].rate.day


@pytest.mark.parametrize(
    ("part", "wall", "expected"),
    [
        (Part.BALANCING, "2026-12-31T23:45:00+02:00", 0.373),
        (Part.BALANCING, "2027-01-01T00:00:00+02:00", 0.297),  # still 2026 in UTC
        (Part.RENEWABLE, "2026-06-01T12:00:00+03:00", 0.84),
        (Part.SECURITY, "2026-06-01T12:00:00+03:00", 0.758),
        (Part.EXCISE, "2026-04-30T23:45:00+03:00", 0.21),
        (Part.EXCISE, "2026-05-01T00:00:00+03:00", 0.307),  # still April in UTC
    ],
)
def test_a_fee_changes_at_the_estonian_midnight_of_its_date(part: Part, wall: str, expected: float) -> None:
    assert cents(part, wall) == expected


def test_a_day_without_an_entry_has_no_known_price_and_names_the_part() -> None:
    tariff = Tariff(rows=[TariffRow(package=Package.VORK_2, parts_from_table=FOLLOWED)])
    before, within = instant("2026-05-31T23:00:00+03:00"), instant("2026-06-01T00:00:00+03:00")
    assert tariff.charges(before).unknown_parts == (Part.NETWORK,)
    assert tariff.known_price(100, before) is None
    assert tariff.known_price(100, within) == tariff.price(100, within)


def test_after_the_last_entry_the_live_price_still_uses_it() -> None:
    tariff = Tariff(rows=[TariffRow(package=Package.VORK_2, parts_from_table=FOLLOWED)])
    after = instant("2028-01-01T12:00:00+02:00")
    assert tariff.charges(after).unknown_parts == (Part.BALANCING, Part.RENEWABLE)
    assert tariff.known_price(0, after) is None
    # A Saturday and New Year, so the night: 3.51 + .297 + .84 + .758 + .307 = 5.712, with 24 % VAT 7.0829.
    assert tariff.price(0, after) == 0.0708


def test_an_entry_is_old_a_year_after_it_was_read() -> None:
    entry = FEE_RATES[Part.EXCISE][-1]
    assert not entry.is_old_on(date(2027, 11, 20))
    assert entry.is_old_on(date(2027, 11, 21))


def test_a_part_has_the_rate_of_the_day_from_the_table_while_a_row_of_fees_follows_it() -> None:
    tariff = Tariff(rows=[TariffRow(valid_from=date(2026, 6, 1), package=Package.VORK_2, parts_from_table=FOLLOWED)])
    assert tariff.table_rates(date(2026, 5, 31)) == tariff.table_rates(date.min) == {}
    rates = tariff.table_rates(date(2026, 6, 1))
    assert rates.keys() == FOLLOWED
    assert rates[Part.NETWORK] in NETWORK_RATES[Package.VORK_2]
    assert all(rates[part] in FEE_RATES[part] for part in FEE_RATES)
    assert tariff.outdated_parts(date(2026, 5, 31)) == tariff.outdated_parts(date(2026, 12, 31)) == ()
    assert set(tariff.outdated_parts(date(2028, 12, 1))) == FOLLOWED


def test_before_the_table_begins_the_nearest_entry_is_the_first() -> None:
    entries = FEE_RATES[Part.EXCISE]
    assert not any(entry.applies_on(date(2020, 1, 1)) for entry in entries)
    assert nearest_rate(entries, date(2020, 1, 1)) is entries[0]


@pytest.mark.parametrize("day", ["2027-03-28", "2026-10-25"])
def test_on_the_days_the_clocks_change_the_hours_are_those_of_the_wall(day: str) -> None:
    at = {
        hour: network_rate_period(datetime.fromisoformat(f"{day}T{hour:02}:00"), "EE", WITH_PEAKS) for hour in range(24)
    }
    peak = range(16, 20) if day == "2027-03-28" else range(0)
    assert [hour for hour, now in at.items() if now is NetworkRatePeriod.REST_DAY_PEAK] == list(peak)
