"""The days before today, which a card asks for once somebody looks at them."""

from dataclasses import replace
from typing import Final, TypedDict

from ..coordinator import TunnihindCoordinator
from ..household.timelines import Timelines
from ..prices.days import day_at
from .columns import Columns, PriceColumns, columns_of, price_columns

# As far back as the server's history goes.
_DAYS: Final = 14


class CardPast(TypedDict):
    """Settled prices of the days before today, as far as they are known: at most two weeks.

    The two fields are those of `CardContents`. What the household pays is by the rates of each date.
    """

    prices: PriceColumns | None
    selling: Columns | None


async def async_past(coordinator: TunnihindCoordinator) -> CardPast:
    """Ask the server for the past days, and price them as the household is billed and paid now."""
    answer = await coordinator.async_past_market_prices(_DAYS)
    lines = Timelines()
    lines.update(answer, coordinator.tariff, coordinator.billing, coordinator.selling)
    prices = replace(coordinator.prices, answer=answer, timeline=lines.paid, levels=lines.levels)
    start, end = day_at(prices.now, days_later=1 - _DAYS).start, prices.today.start
    return CardPast(
        prices=price_columns(prices, coordinator.tariff, start, end),
        selling=columns_of(lines.sold, start, end),
    )
