"""The server's page charges a household what the integration charges: they share no code, so they could drift apart."""

from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.prices import rates
from custom_components.tunnihind.prices.rates import Package, Part
from custom_components.tunnihind.prices.tariff import Tariff, TariffRow
from tests.support.household.home import instant
from tunnihind.web import rates as page_rates
from tunnihind.web import tariff as page

PACKAGES = [package for package in Package if package is not Package.OWN]
FOLLOWED = frozenset(Part) - {Part.MARGIN}


def test_both_tables_have_the_same_rates_with_the_same_dates() -> None:
    for ours, theirs in ((rates.NETWORK, page_rates.NETWORK), (rates.FEES, page_rates.FEES)):
        assert {
            name.value: [(_figures(entry.rate), entry.since, entry.until, entry.disputed) for entry in entries]
            for name, entries in ours.items()
        } == {
            name: [(_figures(entry.rate), entry.since, entry.until, entry.disputed) for entry in entries]
            for name, entries in theirs.items()
        }


def test_the_page_says_when_the_tables_sources_were_read_and_since_when_the_price_list_holds() -> None:
    entries = [entry for table in (rates.NETWORK, rates.FEES) for each in table.values() for entry in each]
    assert {entry.as_of for entry in entries} == {page_rates.READ_ON}
    assert {entries[-1].since for entries in rates.NETWORK.values()} == {page_rates.PRICE_LIST}


def _figures(rate: object) -> object:
    """Return a rate, of a package with its times."""
    times = ("day", "night", "peak", "rest_day_peak")
    return rate if isinstance(rate, float) else {time: getattr(rate, time) for time in times}


@given(
    st.sampled_from(PACKAGES),
    st.integers(0, 5_000).map(lambda margin: margin / 1000),
    st.integers(instant("2025-11-01T00:00:00+02:00"), instant("2028-02-01T00:00:00+02:00")),
)
def test_each_part_costs_the_same_at_any_instant(package: Package, margin: float, at: int) -> None:
    row = TariffRow(package=package, from_table=FOLLOWED, margin=margin / 100)
    ours = Tariff(rows=[row]).charges(at).charges
    theirs = page.Tariff(package.value, margin)  # type: ignore[arg-type]  # the first test holds the names alike
    assert {charge.part.value: round(charge.eur_kwh * 100, 6) for charge in ours} == theirs.parts(at)
