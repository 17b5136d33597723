from datetime import date
from pathlib import Path

import pytest

from tests.support.upstreams.elering import csv_quotes
from tunnihind.core.market import ZONES, PriceLimits
from tunnihind.settling.rule import AROUND
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
        days = {sheet.day: checked_prices(sheet, PriceLimits(-500.0, 4000.0)) for sheet in sheets}
        whole = {day: prices for day, prices in days.items() if not isinstance(prices, HeldReason)}
        refused += [found.reason for found in days.values() if isinstance(found, HeldReason)]
        doubts = {
            day: reason_to_doubt(prices, [whole[other] for other in whole if day - AROUND <= other < day])
            for day, prices in whole.items()
        }
        assert [(day, doubt) for day, doubt in doubts.items() if doubt] == []
    assert set(refused) <= {ReasonCode.INCOMPLETE}
