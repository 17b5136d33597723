"""What `/api/v1/quarters` answers."""

from typing import Annotated

from msgspec import Meta, Struct

from tunnihind.api.models.fields import (
    HOUR_EXAMPLE,
    P10,
    P50,
    P90,
    Currency,
    Docs,
    Gated,
    LastRefresh,
    MadeAt,
    Now,
    P10Consumer,
    P50Consumer,
    P90Consumer,
    SettledConsumerPrice,
    SettledPrice,
    ZoneCode,
    iso_time,
)
from tunnihind.api.models.forecast import Backtest
from tunnihind.market import HOUR_S, QUARTER_S

QuarterStart = Annotated[
    int,
    Meta(description="Quarter start, unix seconds UTC.", multiple_of=QUARTER_S, examples=[HOUR_EXAMPLE]),
]
QuarterStartIso = Annotated[str, iso_time("Quarter start, ISO 8601 UTC; the same instant as `ts`.")]
QuarterAhead = Annotated[
    int,
    Meta(description="Quarter start, unix seconds UTC.", multiple_of=QUARTER_S, examples=[HOUR_EXAMPLE + QUARTER_S]),
]
QuarterAheadIso = Annotated[
    str, iso_time("Quarter start, ISO 8601 UTC; the same instant as `ts`.", "2025-12-15T10:15:00Z")
]


class DayAheadQuarter(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled quarter of an hour."""

    ts: QuarterStart
    starts_at: QuarterStartIso
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice
    hourly: Annotated[
        bool,
        Meta(
            description="True where only the hour is known, whose price the quarter then carries. So are all quarters "
            "before the delivery day 2025-10-01.",
            examples=[False],
        ),
    ]


class ForecastQuarter(Struct, frozen=True, rename="camel", kw_only=True):
    """One forecast quarter of an hour."""

    ts: QuarterAhead
    starts_at: QuarterAheadIso
    p10: P10
    p50: P50
    p90: P90
    p10_kwh: P10Consumer
    p50_kwh: P50Consumer
    p90_kwh: P90Consumer


class QuartersResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Settled quarters from the current one forward, and the public part of the forecast, by the quarter."""

    zone: ZoneCode
    currency: Currency
    now: Now
    made_at: MadeAt
    last_refresh: LastRefresh
    free_until: Annotated[
        int,
        Meta(
            description="As in ForecastResponse, unix seconds UTC. The hour that begins then is served with all its "
            "quarters.",
            examples=[HOUR_EXAMPLE + 60 * HOUR_S],
        ),
    ]
    gated: Gated
    backtest: Annotated[
        Backtest | None,
        Meta(description="Accuracy of the forecast of quarters from a walk-forward backtest. Null while unavailable."),
    ]
    docs: Docs
    day_ahead: Annotated[
        list[DayAheadQuarter],
        Meta(
            description="Settled day-ahead prices from the current quarter forward, ascending by `ts`; with `days`, "
            "those of that many days before it come first."
        ),
    ]
    forecast: Annotated[
        list[ForecastQuarter],
        Meta(
            description="Model forecast for strictly-future quarters, to the end of the last public hour, ascending by "
            "`ts`. With `days`, past quarters and the current one come first, each with the freshest forecast made "
            "before it, exactly as issued; a forecast that was made by the hour counts for all four quarters."
        ),
    ]
