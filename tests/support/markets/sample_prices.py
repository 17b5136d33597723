"""Made-up prices, and files and answers with them."""

import csv
from datetime import date
from pathlib import Path

import numpy as np

from tests.support.upstreams.elering import Quotes
from tunnihind.core.market import HOUR_S, QUARTER_S, ZONES, day_end, day_start, market_time_unit
from tunnihind.sources.base import days_between
from tunnihind.sources.simulated_market import SimulatedMarket


def made_up_quotes(first: date, last: date) -> Quotes:
    """Return all zones' quotes for some delivery days of the simulated market, each in its market time unit."""
    units = [(day_start(day), day_end(day), market_time_unit(day)) for day in days_between(first, last)]
    periods = np.array([(ts, step_s) for start, end, step_s in units for ts in range(start, end, step_s)])
    prices = SimulatedMarket(7).prices(periods[:, 0] + periods[:, 1] / 2)
    starts = periods[:, 0].tolist()
    return {zone: dict(zip(starts, row.tolist(), strict=True)) for zone, row in prices.items()}


def write_prices(file: Path, quotes: Quotes) -> Path:
    """Write a file for `import prices`."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("ts", *ZONES))
        instants = sorted({ts for prices in quotes.values() for ts in prices})
        writer.writerows((ts, *(quotes[zone].get(ts, "") for zone in ZONES)) for ts in instants)
    return file


def hourly(quotes: Quotes) -> dict[int, float]:
    """Return Estonia's hourly prices: an hour's own price, or the mean of its four quarters."""
    prices = quotes["ee"]
    hours = {}
    for hour in (ts for ts in prices if ts % HOUR_S == 0):
        quarters = [prices[ts] for ts in range(hour, hour + HOUR_S, QUARTER_S) if ts in prices]
        if len(quarters) in {1, 4}:
            hours[hour] = sum(quarters) / len(quarters)
    return hours
