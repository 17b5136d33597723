from datetime import date
from pathlib import Path

import pytest

from tests.support.upstreams.elering import csv_quotes
from tunnihind.market import ZONES, PriceLimits
from tunnihind.settling.sheet import HeldReason, ReasonCode, checked_prices, reason_to_doubt
from tunnihind.sources.base import Quote, day_sheets


@pytest.mark.parametrize("file", ["prices_hourly.csv", "prices_15min.csv"])
def test_no_true_day_since_2021_is_refused_but_for_holes_in_the_data(shared: Path, file: str) -> None:
    quotes = csv_quotes(shared / "data" / file)
    refused: list[ReasonCode] = []
    for zone in ZONES:
        pairs = [Quote(*pair) for pair in quotes[zone].items()]
        sheets = day_sheets("history", zone, pairs, date(2021, 8, 31), date(2025, 12, 31))
        assert sheets
        days = [checked_prices(sheet, PriceLimits(-500.0, 4000.0)) for sheet in sheets]
        whole = [day for day in days if isinstance(day, tuple)]
        refused += [day.reason for day in days if isinstance(day, HeldReason)]
        assert not any(reason_to_doubt(day, whole[:n]) for n, day in enumerate(whole))
    assert set(refused) <= {ReasonCode.INCOMPLETE}
