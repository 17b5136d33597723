"""What `/api/v1/forecast` answers, and the hours and the backtest that other answers have too."""

from typing import Annotated

from msgspec import Meta, Struct

from tunnihind.api.models.fields import (
    P10,
    P50,
    P90,
    Currency,
    Docs,
    FreeUntil,
    Gated,
    HourAhead,
    HourAheadIso,
    HourStart,
    HourStartIso,
    LastRefresh,
    MadeAt,
    Now,
    P10Consumer,
    P50Consumer,
    P90Consumer,
    SettledConsumerPrice,
    SettledPrice,
    ZoneCode,
)


class DayAheadHour(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled market hour."""

    ts: HourStart
    starts_at: HourStartIso
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice


class ForecastHour(Struct, frozen=True, rename="camel", kw_only=True):
    """One forecast hour."""

    ts: HourAhead
    starts_at: HourAheadIso
    p10: P10
    p50: P50
    p90: P90
    p10_kwh: P10Consumer
    p50_kwh: P50Consumer
    p90_kwh: P90Consumer


class Backtest(Struct, frozen=True, rename="camel", kw_only=True):
    """Walk-forward backtest of the served model."""

    mae: Annotated[float, Meta(description="Mean absolute error of the model, EUR/MWh.", examples=[24.81])]
    baseline_mae: Annotated[
        float,
        Meta(
            description="Mean absolute error of the seasonal-naive baseline (the price one week earlier), EUR/MWh.",
            examples=[51.2],
        ),
    ]
    skill: Annotated[
        float,
        Meta(
            description="1 − mae/baselineMae: the fraction of the baseline's error that the model removes.",
            examples=[0.5154],
        ),
    ]
    horizon_h: Annotated[
        int,
        Meta(
            description="Forecast horizon at which the numbers were measured, in hours ahead: the hours after the "
            "newest settled one.",
            examples=[24],
        ),
    ]


BacktestOrNull = Annotated[
    Backtest | None,
    Meta(description="Accuracy of the served model from a walk-forward backtest. Null while unavailable."),
]


class ForecastResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Settled prices from the current hour forward, and the public part of the forecast."""

    zone: ZoneCode
    currency: Currency
    now: Now
    made_at: MadeAt
    last_refresh: LastRefresh
    free_until: FreeUntil
    gated: Gated
    backtest: BacktestOrNull
    docs: Docs
    day_ahead: Annotated[
        list[DayAheadHour],
        Meta(description="Settled day-ahead prices from the current hour forward, ascending by `ts`."),
    ]
    forecast: Annotated[
        list[ForecastHour],
        Meta(
            description="Model forecast for strictly-future hours up to `freeUntil`, ascending by `ts`. Overlaps the "
            "settled tail of `dayAhead`, whose price is then authoritative."
        ),
    ]
