"""The price answers of the API as types: the one source of its JSON, its OpenAPI document and their tests.

Schema names, field names, order and required fields are the specification's. Descriptions are
`string.Template`s: `$vat` stands for the VAT rate in force, which the OpenAPI document fills in.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from tunnihind.market import HOUR_S

_HOUR_EXAMPLE: Final = 1_765_792_800
_INSTANT_EXAMPLE: Final = 1_765_793_412

HourStart = Annotated[
    int,
    Meta(description="Hour start, unix seconds UTC.", multiple_of=HOUR_S, examples=[_HOUR_EXAMPLE]),
]
HourStartIso = Annotated[
    str,
    Meta(
        description="Hour start, ISO 8601 UTC; the same instant as `ts`.",
        examples=["2025-12-15T10:00:00Z"],
        extra_json_schema={"format": "date-time"},
    ),
]
SettledPrice = Annotated[
    float, Meta(description="Settled day-ahead price, EUR/MWh, excluding VAT, 2 decimals.", examples=[84.37])
]
SettledConsumerPrice = Annotated[
    float,
    Meta(
        description="The same price in EUR/kWh, including $vat Estonian VAT, rounded to 4 decimal places.",
        examples=[0.1029],
    ),
]
P10 = Annotated[
    float,
    Meta(
        description="10th percentile, EUR/MWh, excluding VAT, 2 decimals. p10 and p90 bound an 80 % interval.",
        examples=[52.1],
    ),
]
P50 = Annotated[float, Meta(description="Median, EUR/MWh, excluding VAT, 2 decimals.", examples=[81.4])]
P90 = Annotated[float, Meta(description="90th percentile, EUR/MWh, excluding VAT, 2 decimals.", examples=[128.95])]
P10Consumer = Annotated[
    float,
    Meta(description="p10 in EUR/kWh, including $vat Estonian VAT, rounded to 4 decimal places.", examples=[0.0636]),
]
P50Consumer = Annotated[
    float,
    Meta(description="p50 in EUR/kWh, including $vat Estonian VAT, rounded to 4 decimal places.", examples=[0.0993]),
]
P90Consumer = Annotated[
    float,
    Meta(description="p90 in EUR/kWh, including $vat Estonian VAT, rounded to 4 decimal places.", examples=[0.1573]),
]
Now = Annotated[int, Meta(description="When the response was computed, unix seconds UTC.", examples=[_INSTANT_EXAMPLE])]
MadeAt = Annotated[
    int | None,
    Meta(
        description="When the served forecast run was produced, unix seconds UTC. Null when no forecast exists yet.",
        examples=[_HOUR_EXAMPLE + 300],
    ),
]
LastRefresh = Annotated[
    int | None,
    Meta(
        description="When the data pipeline last ingested, unix seconds UTC. Null before its first time.",
        examples=[_HOUR_EXAMPLE + 240],
    ),
]
FreeUntil = Annotated[
    int,
    Meta(
        description="Last instant whose forecast is served publicly, unix seconds UTC: the newest settled hour + 48 h, "
        "capped at 72 h after `now`.",
        examples=[_HOUR_EXAMPLE + 60 * HOUR_S],
    ),
]
Gated = Annotated[bool, Meta(description="True when the model holds forecast hours past `freeUntil`.", examples=[True])]


class DayAheadHour(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled market hour."""

    ts: HourStart
    starts_at: HourStartIso
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice


class ForecastHour(Struct, frozen=True, rename="camel", kw_only=True):
    """One forecast hour."""

    ts: HourStart
    starts_at: HourStartIso
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

    zone: Annotated[
        Literal["EE"],
        Meta(description="Bidding zone covered.", examples=["EE"], extra_json_schema={"type": "string", "const": "EE"}),
    ]
    currency: Annotated[
        Literal["EUR"],
        Meta(description="Currency.", examples=["EUR"], extra_json_schema={"type": "string", "const": "EUR"}),
    ]
    now: Now
    made_at: MadeAt
    last_refresh: LastRefresh
    free_until: FreeUntil
    gated: Gated
    backtest: BacktestOrNull
    docs: Annotated[
        str,
        Meta(
            description="URL of the human-readable API description.",
            examples=["https://tunnihind.example/docs"],
            extra_json_schema={"format": "uri"},
        ),
    ]
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


class SeriesActual(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled hour in the dashboard series."""

    ts: HourStart
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice


class SeriesForecastPoint(Struct, frozen=True, rename="camel", kw_only=True):
    """One hour of the dashboard forecast series."""

    ts: HourStart
    p10: P10
    p50: P50
    p90: P90
    p10_kwh: P10Consumer
    p50_kwh: P50Consumer
    p90_kwh: P90Consumer


class SeriesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Price history and a continuous past-to-future forecast series, shaped for the dashboard."""

    now: Now
    last_refresh: LastRefresh = None
    made_at: MadeAt = None
    actuals: Annotated[
        list[SeriesActual],
        Meta(
            description="Hourly settled prices over the requested history window, plus settled future hours, "
            "ascending by `ts`."
        ),
    ]
    forecast: Annotated[
        list[SeriesForecastPoint],
        Meta(
            description="Continuous past-to-future forecast series, ascending by `ts`. For each past hour and the "
            "current one: the freshest forecast made before that hour. For future hours: the latest run, up to "
            "`freeUntil`."
        ),
    ]
    backtest: BacktestOrNull = None
    free_until: FreeUntil
    gated: Gated
    current: Annotated[
        SeriesActual | None, Meta(description="The current hour's settled price. Null while it isn't settled.")
    ] = None
    cheapest: Annotated[
        SeriesActual | None, Meta(description="The cheapest settled hour from the current one on, or null.")
    ] = None
    priciest: Annotated[
        SeriesActual | None, Meta(description="The priciest settled hour from the current one on, or null.")
    ] = None
    cheapest_forecast: Annotated[
        SeriesForecastPoint | None,
        Meta(description="By p50 the cheapest future hour after the newest settled one up to `freeUntil`, or null."),
    ] = None
    priciest_forecast: Annotated[
        SeriesForecastPoint | None,
        Meta(description="By p50 the priciest future hour after the newest settled one up to `freeUntil`, or null."),
    ] = None
