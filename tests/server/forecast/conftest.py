"""Markets with known prices, published at the usual time, for the tests of the forecast."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import numpy as np
import pytest

from tunnihind.core.market import ZONES, day_end, day_start, market_time_unit, publication_time
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.known import Archive, CovariateArchive, KnownPrice, PriceArchive

type Rule = Callable[[int], float]


@pytest.fixture(scope="session")
def market() -> Callable[[date, date, Rule], Archive]:
    """Return a function that builds a market's archive from a rule: one price for all zones, known when published.

    NaN stands for a missing price.
    """

    def build(first: date, last: date, rule: Rule) -> Archive:
        prices: list[KnownPrice] = []
        for day in days_between(first, last):
            step = market_time_unit(day)
            for ts in range(day_start(day), day_end(day), step):
                if not np.isnan(price := rule(ts)):
                    prices += [KnownPrice(zone, ts, step, publication_time(day), price) for zone in ZONES]
        return Archive(PriceArchive.of(prices), CovariateArchive())

    return build


@pytest.fixture(scope="session")
def utc() -> Callable[..., int]:
    """Return a function from a UTC date and time to unix seconds."""

    def instant(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
        return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp())

    return instant
