"""What `/api/v1/history` answers."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tunnihind.api.models.fields import HOUR_EXAMPLE, Currency, SettledPrice, ZoneCode
from tunnihind.market import QUARTER_S


class HistoryPrice(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled price."""

    ts: Annotated[
        int,
        Meta(
            description="Start of the period, unix seconds UTC.",
            multiple_of=QUARTER_S,
            examples=[HOUR_EXAMPLE],
        ),
    ]
    eur_mwh: SettledPrice
    hourly: Annotated[
        bool | UnsetType,
        Meta(
            description="True for a quarter of which only the hour is known, and which has the hour's price: so are "
            "all before 2025-10-01. Only at a resolution of 15m.",
            examples=[False],
        ),
    ] = UNSET


class HistoryResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """The settled prices of a calendar month by the Estonian clock."""

    zone: ZoneCode
    currency: Currency
    month: Annotated[str, Meta(description="The month that was asked for.", examples=["2025-12"])]
    resolution: Annotated[str, Meta(description="How long each period is: 15m or 60m.", examples=["15m"])]
    prices: Annotated[
        list[HistoryPrice],
        Meta(description="Settled prices, ascending by `ts`. Periods whose price isn't known are left out."),
    ]
