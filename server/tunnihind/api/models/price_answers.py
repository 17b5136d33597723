"""The types of the answers about prices. EMHASS's feed needs no type, because it is a mapping of times to prices."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tunnihind.api.models.fields import (
    HOUR_EXAMPLE,
    P10,
    P50,
    P90,
    Currency,
    DocsUrl,
    FreeUntil,
    FutureHourStart,
    FutureHourStartIso,
    Gated,
    HourStart,
    HourStartIso,
    LastRefresh,
    MadeAt,
    Now,
    P10Consumer,
    P50Consumer,
    P90Consumer,
    ServedZoneCode,
    SettledConsumerPrice,
    SettledPrice,
    eur_kwh_field,
    iso_start_field,
    iso_time_field,
    start_field,
)
from tunnihind.core.market import HOUR_S, QUARTER_S


class DayAheadHour(Struct, frozen=True, rename="camel", kw_only=True):
    """The settled price of one hour."""

    ts: HourStart
    starts_at: HourStartIso
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice


class ForecastHour(Struct, frozen=True, rename="camel", kw_only=True):
    """The forecast of one hour."""

    ts: FutureHourStart
    starts_at: FutureHourStartIso
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
            description="Scored horizon, in hours after the newest settled hour.",
            examples=[24],
        ),
    ]


BacktestOrNull = Annotated[
    Backtest | None,
    Meta(description="Accuracy of the served model from a walk-forward backtest. Null while unavailable."),
]


class _CommonFields(Struct, frozen=True, rename="camel", kw_only=True):
    """The first fields of `ForecastResponse`, `QuartersResponse` and `ScenariosResponse`."""

    zone: ServedZoneCode
    currency: Currency
    now: Now
    made_at: MadeAt
    last_refresh: LastRefresh
    free_until: FreeUntil
    gated: Gated


class ForecastResponse(_CommonFields, frozen=True, rename="camel", kw_only=True):
    """Settled prices from the current hour on, and the forecast up to `freeUntil`."""

    backtest: BacktestOrNull
    docs: DocsUrl
    day_ahead: Annotated[
        list[DayAheadHour],
        Meta(description="Settled day-ahead prices from the current hour on, ascending by `ts`."),
    ]
    forecast: Annotated[
        list[ForecastHour],
        Meta(
            description="Forecast of future hours up to `freeUntil`, ascending by `ts`. If an hour is in `dayAhead` "
            "too, the settled price counts."
        ),
    ]


class DayAheadQuarter(DayAheadHour, frozen=True, rename="camel", kw_only=True):
    """The settled price of one quarter of an hour."""

    ts: Annotated[int, start_field("Quarter", QUARTER_S)]
    starts_at: Annotated[str, iso_start_field("Quarter")]
    hourly: Annotated[
        bool,
        Meta(
            description="True if only the price of the hour is known. The quarter then has this price. This holds for "
            "all quarters before the delivery day 2025-10-01.",
            examples=[False],
        ),
    ]


class ForecastQuarter(ForecastHour, frozen=True, rename="camel", kw_only=True):
    """The forecast of one quarter of an hour."""

    ts: Annotated[int, start_field("Quarter", QUARTER_S, QUARTER_S)]
    starts_at: Annotated[str, iso_start_field("Quarter", QUARTER_S)]


class QuartersResponse(_CommonFields, frozen=True, rename="camel", kw_only=True):
    """Settled prices and the forecast, by quarters of an hour."""

    free_until: Annotated[
        int,
        Meta(
            description="As in ForecastResponse, unix seconds UTC. The hour that begins then is served with all its "
            "quarters.",
            examples=[HOUR_EXAMPLE + 60 * HOUR_S],
        ),
    ]
    backtest: Annotated[
        Backtest | None,
        Meta(description="Accuracy of the forecast of quarters from a walk-forward backtest. Null while unavailable."),
    ]
    docs: DocsUrl
    day_ahead: Annotated[
        list[DayAheadQuarter],
        Meta(
            description="Settled day-ahead prices from the current quarter on, ascending by `ts`. With `days`, the "
            "settled prices of that many past days come first."
        ),
    ]
    forecast: Annotated[
        list[ForecastQuarter],
        Meta(
            description="Forecast of future quarters to the end of the public window, ascending by `ts`. With `days`, "
            "past quarters and the current quarter come first. Each has the newest forecast made before the quarter, "
            "exactly as issued. If only the hour was forecast, its four quarters have that forecast."
        ),
    ]


class SeriesActual(Struct, frozen=True, rename="camel", kw_only=True):
    """The settled price of one hour in the dashboard's series."""

    ts: HourStart
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice


class SeriesForecastPoint(Struct, frozen=True, rename="camel", kw_only=True):
    """The forecast of one hour in the dashboard's series."""

    ts: HourStart
    p10: P10
    p50: P50
    p90: P90
    p10_kwh: P10Consumer
    p50_kwh: P50Consumer
    p90_kwh: P90Consumer


class SeriesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """The dashboard's settled prices and forecasts, for past and future hours."""

    now: Now
    last_refresh: LastRefresh = None
    made_at: MadeAt = None
    actuals: Annotated[
        list[SeriesActual],
        Meta(
            description="Settled hourly prices of the requested past days, of the current hour and of later hours, "
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
        Meta(
            description="The future hour with the lowest p50, after the newest settled hour and up to `freeUntil`, or "
            "null."
        ),
    ] = None
    priciest_forecast: Annotated[
        SeriesForecastPoint | None,
        Meta(
            description="The future hour with the highest p50, after the newest settled hour and up to `freeUntil`, or "
            "null."
        ),
    ] = None


def _cheapest_hours_field(percentile: str, example: list[float]) -> Meta:
    return Meta(
        description=f"{percentile} of the mean price of the day's cheapest hour, of its 2 cheapest hours, and so on up "
        "to 8 hours. EUR/MWh, excluding VAT, 2 decimals.",
        examples=[example],
    )


class CheapestHours(Struct, frozen=True, rename="camel", kw_only=True):
    """The mean prices of the 1 to 8 cheapest hours of a day."""

    day: Annotated[
        str,
        Meta(
            description="The day by the $adjective clock.",
            examples=["2025-12-16"],
            extra_json_schema={"format": "date"},
        ),
    ]
    p10: Annotated[list[float], _cheapest_hours_field("10th percentile", [31.2, 33.75, 38.4])]
    p50: Annotated[list[float], _cheapest_hours_field("Median", [42.05, 46.3, 51.18])]
    p90: Annotated[list[float], _cheapest_hours_field("90th percentile", [63.9, 67.42, 72.55])]


class ScenariosResponse(_CommonFields, frozen=True, rename="camel", kw_only=True):
    """Settled prices from the current hour on, and equally likely price paths."""

    docs: DocsUrl
    probability: Annotated[
        float,
        Meta(description="Probability of each of the 20 paths, a fraction; all are equally likely.", examples=[0.05]),
    ]
    day_ahead: Annotated[
        list[DayAheadHour],
        Meta(
            description="Settled day-ahead prices from the current hour on, ascending by `ts`. In a plan, a settled "
            "price replaces the paths' prices of the same hour."
        ),
    ]
    ts: Annotated[
        list[HourStart],
        Meta(
            description="Starts of the hours of every path, unix seconds UTC, ascending. They are the hours of "
            "`forecast` in `/api/v1/forecast`. Empty if the served run has no paths.",
            examples=[[HOUR_EXAMPLE + HOUR_S, HOUR_EXAMPLE + 2 * HOUR_S]],
        ),
    ]
    paths: Annotated[
        list[list[float]],
        Meta(
            description="20 price paths, EUR/MWh, excluding VAT, 2 decimals. Each path has a price for each hour of "
            "`ts`. The 10th, 50th and 90th percentiles of an hour's prices are its p10, p50 and p90, within 0.01.",
            examples=[[[71.9, 64.31], [88.2, 90.07]]],
        ),
    ]
    paths_kwh: Annotated[list[list[float]], eur_kwh_field("The same paths", [[0.0877, 0.0785], [0.1076, 0.1099]])]
    cheapest_hours: Annotated[
        list[CheapestHours],
        Meta(
            description="The mean price of the 1 to 8 cheapest hours of today and of each later day, ascending by "
            "`day`. The hours are the cheapest of each path, and needn't be consecutive. Settled prices replace the "
            "paths' prices of the same hours. Of today's hours, only those that begin after `now` count; if fewer than "
            "8 are left, the lists are shorter. If the prices end before the end of a day, the day is left out."
        ),
    ]


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
            description="True if only the price of the hour is known, as before 2025-10-01. The quarter then has this "
            "price. Only at a resolution of 15m.",
            examples=[False],
        ),
    ] = UNSET


class HistoryResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """The settled prices of a calendar month by the $adjective clock."""

    zone: ServedZoneCode
    currency: Currency
    month: Annotated[str, Meta(description="The requested month.", examples=["2025-12"])]
    resolution: Annotated[str, Meta(description="The length of each period: 15m or 60m.", examples=["15m"])]
    prices: Annotated[
        list[HistoryPrice],
        Meta(description="Settled prices, ascending by `ts`. Periods with an unknown price are left out."),
    ]


PeriodStartIso = Annotated[str, iso_time_field("Start of the period, ISO 8601 UTC.")]
PeriodEndIso = Annotated[
    str, iso_time_field("End of the period, ISO 8601 UTC: the start of the next one.", HOUR_EXAMPLE + QUARTER_S)
]


class EvccRate(Struct, frozen=True, kw_only=True):
    """The price of a period in the format of evcc's custom tariff."""

    start: PeriodStartIso
    end: PeriodEndIso
    value: Annotated[
        float, Meta(description="Settled price or median, EUR/kWh; without VAT for `price=market`.", examples=[0.1046])
    ]


class OctopusRate(Struct, frozen=True, kw_only=True):
    """The price of a period in the format of Octopus Energy's `standard-unit-rates`."""

    value_inc_vat: Annotated[
        float,
        Meta(description="Settled price or median, cents per kWh; without VAT for `price=market`.", examples=[10.46]),
    ]
    valid_from: PeriodStartIso
    valid_to: PeriodEndIso


class OctopusRates(Struct, frozen=True, kw_only=True):
    """All prices on one page, in the format of Octopus Energy's `standard-unit-rates`."""

    count: Annotated[int, Meta(description="The number of prices.", examples=[1], ge=1)]
    next: Annotated[str | None, Meta(description="The next page: always null.", examples=[None])]
    previous: Annotated[str | None, Meta(description="The page before: always null.", examples=[None])]
    results: Annotated[list[OctopusRate], Meta(description="The prices, the newest first.")]


class EosPrices(Struct, frozen=True, kw_only=True):
    """Prices at equal steps in the import format of EOS (Energy Optimization System)."""

    start_datetime: PeriodStartIso
    interval: Annotated[str, Meta(description="The length of each step.", examples=["15 minutes"])]
    elecprice_marketprice_wh: Annotated[
        list[float],
        Meta(
            description="Settled prices, then the forecast, EUR per Wh; without VAT for `price=market`.",
            examples=[[0.0001046, 0.0000962]],
        ),
    ]
