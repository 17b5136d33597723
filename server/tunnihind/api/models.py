"""The price answers of the API as types: the one source of its JSON, its OpenAPI document and their tests.

Schema names, field names, order and required fields are the specification's. Descriptions are
`string.Template`s: `$vat` stands for the VAT rate in force, which the OpenAPI document fills in.
"""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tunnihind.market import HOUR_S, QUARTER_S

_HOUR_EXAMPLE: Final = 1_765_792_800
_INSTANT_EXAMPLE: Final = 1_765_793_412


def _iso(description: str, example: str = "2025-12-15T10:00:00Z") -> Meta:
    return Meta(description=description, examples=[example], extra_json_schema={"format": "date-time"})


ZoneCode = Annotated[
    Literal["EE"],
    Meta(description="Bidding zone covered.", examples=["EE"], extra_json_schema={"type": "string", "const": "EE"}),
]
Currency = Annotated[
    Literal["EUR"],
    Meta(description="Currency.", examples=["EUR"], extra_json_schema={"type": "string", "const": "EUR"}),
]
Docs = Annotated[
    str,
    Meta(
        description="URL of the human-readable API description.",
        examples=["https://tunnihind.example/docs"],
        extra_json_schema={"format": "uri"},
    ),
]
HourStart = Annotated[
    int,
    Meta(description="Hour start, unix seconds UTC.", multiple_of=HOUR_S, examples=[_HOUR_EXAMPLE]),
]
HourStartIso = Annotated[str, _iso("Hour start, ISO 8601 UTC; the same instant as `ts`.")]
QuarterStart = Annotated[
    int,
    Meta(description="Quarter start, unix seconds UTC.", multiple_of=QUARTER_S, examples=[_HOUR_EXAMPLE]),
]
QuarterStartIso = Annotated[str, _iso("Quarter start, ISO 8601 UTC; the same instant as `ts`.")]
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
        description="10th percentile, EUR/MWh, excluding VAT, 2 decimals. p10 and p90 bound an 80% interval.",
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
            examples=[[_HOUR_EXAMPLE + HOUR_S, _HOUR_EXAMPLE + 2 * HOUR_S]],
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

    ts: QuarterStart
    starts_at: QuarterStartIso
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
            examples=[_HOUR_EXAMPLE + 60 * HOUR_S],
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


def _error(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, EUR/MWh. Null without hours to score.", examples=[example])


def _share(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, a fraction. Null without hours to score.", examples=[example])


class AccuracyScores(Struct, frozen=True, rename="camel", kw_only=True):
    """How forecasts did over a number of hours."""

    n: Annotated[int, Meta(description="Hours scored.", examples=[720], ge=0)]
    mae: Annotated[float | None, _error("Mean absolute error of p50", 31.4)]
    baseline_mae: Annotated[float | None, _error("MAE of the price one week earlier", 52.3)]
    skill: Annotated[float | None, _share("1 - mae/baselineMae", 0.3996)]
    coverage80: Annotated[float | None, _share("Hours whose price lay between p10 and p90; 0.8 is right", 0.802)]
    below10: Annotated[float | None, _share("Hours whose price lay below p10; 0.1 is right", 0.096)]
    above90: Annotated[float | None, _share("Hours whose price lay above p90; 0.1 is right", 0.102)]
    pinball: Annotated[float | None, _error("Mean pinball loss of p10, p50 and p90", 10.4)]
    winkler80: Annotated[float | None, _error("Mean Winkler score of the interval from p10 to p90", 154.3)]
    width: Annotated[float | None, _error("Mean width of the interval from p10 to p90", 101.7)]


class AccuracyAhead(AccuracyScores, frozen=True, rename="camel", kw_only=True):
    """How forecasts did that were made a number of days ahead."""

    days_ahead: Annotated[
        int,
        Meta(
            description="Delivery days from the morning on which the forecast was made to the hour.",
            examples=[1],
            ge=1,
            le=7,
        ),
    ]


def _saving(description: str, example: float) -> Meta:
    return Meta(description=f"{description}, EUR/MWh without VAT. Null without plans to score.", examples=[example])


class AccuracyPlans(Struct, frozen=True, rename="camel", kw_only=True):
    """What plans saved that took the cheapest hours by a forecast, wherever they lay; of equal hours the earliest.

    A plan saves the mean price of its days less the mean price of the hours that it takes. Shares are of sums over all
    plans. Days with an unknown price are left out.
    """

    hours: Annotated[int, Meta(description="Hours that each plan takes.", examples=[4])]
    n: Annotated[int, Meta(description="Plans scored: days, or weeks of seven days.", examples=[30], ge=0)]
    share: Annotated[
        float | None,
        Meta(
            description="Share of the ideal saving that plans by p50 caught, a fraction: 1 is perfect, 0 no better "
            "than any hours. Null where nothing could be saved.",
            examples=[0.8385],
        ),
    ]
    baseline_share: Annotated[
        float | None, Meta(description="The same for plans by the price one week earlier.", examples=[0.7112])
    ]
    seven_day_mean_share: Annotated[
        float | None,
        Meta(
            description="The same for plans by the mean of the seven delivery days up to the day of issue.",
            examples=[0.7571],
        ),
    ]
    saving: Annotated[float | None, _saving("Mean saving of plans by p50", 44.2)]
    baseline_saving: Annotated[float | None, _saving("Mean saving of plans by the price one week earlier", 37.49)]
    ideal_saving: Annotated[float | None, _saving("Mean saving with perfect foresight, the ideal", 52.71)]


class AccuracyDecisionsAhead(Struct, frozen=True, rename="camel", kw_only=True):
    """What plans within one delivery day saved that were made a number of days ahead."""

    days_ahead: Annotated[int, Meta(description="As in AccuracyAhead.", examples=[1], ge=1, le=7)]
    plans: Annotated[list[AccuracyPlans], Meta(description="Plans of 1, 3, 4 and 6 hours.")]
    boiler_eur_a_year: Annotated[
        float | None,
        Meta(
            description="EUR without VAT that a boiler of 3 kW saves in 365 such days if it runs in the 3 cheapest "
            "hours of each by p50, against the day's mean price. Null without plans to score.",
            examples=[152.6],
        ),
    ]
    baseline_boiler_eur_a_year: Annotated[
        float | None, Meta(description="The same by the price one week earlier.", examples=[128.2])
    ]
    ideal_boiler_eur_a_year: Annotated[
        float | None, Meta(description="The same with perfect foresight.", examples=[182.6])
    ]


class AccuracyDecisions(Struct, frozen=True, rename="camel", kw_only=True):
    """What the forecasts were worth to those who planned by them."""

    by_days_ahead: Annotated[
        list[AccuracyDecisionsAhead], Meta(description="Plans within one delivery day, by days ahead, ascending.")
    ]
    week: Annotated[
        AccuracyPlans,
        Meta(description="Plans of 4 hours within the seven delivery days that follow the day of issue."),
    ]


class AccuracyWindow(Struct, frozen=True, rename="camel", kw_only=True):
    """The scores over the delivery days up to the newest settled one."""

    days: Annotated[int, Meta(description="Delivery days in the window.", examples=[30])]
    overall: Annotated[AccuracyScores, Meta(description="Over all days ahead.")]
    by_days_ahead: Annotated[list[AccuracyAhead], Meta(description="By days ahead, ascending.")]
    decisions: Annotated[
        AccuracyDecisions, Meta(description="What plans by these forecasts saved of what could be saved.")
    ]


class AccuracyResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Forecasts exactly as they were issued, against the prices that came."""

    now: Now
    made_at: MadeAt
    tier: Annotated[
        str | None,
        Meta(
            description="What the served forecast rests on, from the richest inputs to the poorest. Null without one.",
            examples=["weather"],
        ),
    ]
    windows: Annotated[
        list[AccuracyWindow],
        Meta(description="Windows of 7, 30 and 90 delivery days; empty until forecasts have been scored."),
    ]


class HistoryPrice(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled price."""

    ts: Annotated[
        int,
        Meta(
            description="Start of the period, unix seconds UTC.",
            multiple_of=QUARTER_S,
            examples=[_HOUR_EXAMPLE],
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


PeriodStartIso = Annotated[str, _iso("Start of the period, ISO 8601 UTC.")]
PeriodEndIso = Annotated[
    str, _iso("End of the period, ISO 8601 UTC: the start of the next one.", "2025-12-15T10:15:00Z")
]


class EvccRate(Struct, frozen=True, kw_only=True):
    """The price of a period as evcc's custom tariff reads it."""

    start: PeriodStartIso
    end: PeriodEndIso
    value: Annotated[float, Meta(description="Settled price or median, EUR/kWh.", examples=[0.1029])]


class OctopusRate(Struct, frozen=True, kw_only=True):
    """The price of a period as Octopus Energy's `standard-unit-rates` has it."""

    value_inc_vat: Annotated[
        float,
        Meta(description="Settled price or median, cents per kWh; without VAT for `price=market`.", examples=[10.29]),
    ]
    valid_from: PeriodStartIso
    valid_to: PeriodEndIso


class OctopusRates(Struct, frozen=True, kw_only=True):
    """Prices in the form of Octopus Energy's `standard-unit-rates`, which Predbat reads: all on one page."""

    count: Annotated[int, Meta(description="How many prices there are.", examples=[384], ge=1)]
    next: Annotated[str | None, Meta(description="The next page: always null.", examples=[None])]
    previous: Annotated[str | None, Meta(description="The page before: always null.", examples=[None])]
    results: Annotated[list[OctopusRate], Meta(description="The prices, the newest first.")]
