"""What `/api/v1/scenarios` answers."""

from typing import Annotated

from msgspec import Meta, Struct

from tunnihind.api.models.fields import (
    HOUR_EXAMPLE,
    Currency,
    Docs,
    FreeUntil,
    Gated,
    HourStart,
    LastRefresh,
    MadeAt,
    Now,
    ZoneCode,
)
from tunnihind.api.models.forecast import DayAheadHour
from tunnihind.market import HOUR_S


class ScenariosResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Settled prices from the current hour forward, and equally likely courses that prices may take."""

    zone: ZoneCode
    currency: Currency
    now: Now
    made_at: MadeAt
    last_refresh: LastRefresh
    free_until: FreeUntil
    gated: Gated
    docs: Docs
    probability: Annotated[
        float,
        Meta(description="How likely each of the 20 paths is, a fraction; all are equally likely.", examples=[0.05]),
    ]
    day_ahead: Annotated[
        list[DayAheadHour],
        Meta(
            description="Settled day-ahead prices from the current hour forward, ascending by `ts`. They are "
            "authoritative: in a plan they take the place of the paths' prices for the same hours."
        ),
    ]
    ts: Annotated[
        list[HourStart],
        Meta(
            description="Starts of the hours of every path, unix seconds UTC, ascending: those of `forecast` in "
            "`/api/v1/forecast`. Empty where the served run has no paths.",
            examples=[[HOUR_EXAMPLE + HOUR_S, HOUR_EXAMPLE + 2 * HOUR_S]],
        ),
    ]
    paths: Annotated[
        list[list[float]],
        Meta(
            description="20 price paths, EUR/MWh, excluding VAT, 2 decimals: the price of each hour of `ts`. Their "
            "10th, 50th and 90th percentiles are p10, p50 and p90 of the hour, within 0.01.",
            examples=[[[71.9, 64.31], [88.2, 90.07]]],
        ),
    ]
    paths_kwh: Annotated[
        list[list[float]],
        Meta(
            description="The same paths in EUR/kWh, including $vat Estonian VAT, rounded to 4 decimal places.",
            examples=[[[0.0877, 0.0785], [0.1076, 0.1099]]],
        ),
    ]
