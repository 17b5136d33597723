"""The server's page charges a household what the integration charges: by one table, but they share no code."""

from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.prices.rates import Package, Part
from custom_components.tunnihind.prices.tariff import Tariff, TariffRow
from tests.support.household.home import instant
from tunnihind.web import tariff as page

PACKAGES = [package for package in Package if package is not Package.OWN]
FOLLOWED = frozenset(Part) - {Part.MARGIN}


@given(
    st.sampled_from(PACKAGES),
    st.integers(0, 5_000).map(lambda margin: margin / 1000),
    st.integers(instant("2025-11-01T00:00:00+02:00"), instant("2028-02-01T00:00:00+02:00")),
)
def test_each_part_costs_the_same_at_any_instant(package: Package, margin: float, at: int) -> None:
    row = TariffRow(package=package, parts_from_table=FOLLOWED, margin=margin / 100)
    ours = Tariff(rows=[row]).charges(at).charges
    theirs = page.PackageTariff(package.value, margin)  # type: ignore[arg-type]  # both read the names from one table
    assert {charge.part.value: round(charge.eur_kwh * 100, 6) for charge in ours} == theirs.part_amounts(at)
