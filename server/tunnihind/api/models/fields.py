"""Fields that several answers share."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from tunnihind.core.market import HOUR_S, iso_utc

HOUR_EXAMPLE: Final = 1_765_792_800
_INSTANT_EXAMPLE: Final = 1_765_793_412


def iso_time_field(description: str, example: int = HOUR_EXAMPLE) -> Meta:
    """Describe a field that contains an instant in ISO 8601. `example` is in unix seconds."""
    return Meta(description=description, examples=[iso_utc(example)], extra_json_schema={"format": "date-time"})


def start_field(unit: str, step_s: int, later_s: int = 0) -> Meta:
    """Describe a field that contains the start of a period in unix seconds.

    The example is `later_s` seconds after `HOUR_EXAMPLE`.
    """
    return Meta(description=f"{unit} start, unix seconds UTC.", multiple_of=step_s, examples=[HOUR_EXAMPLE + later_s])


def iso_start_field(unit: str, later_s: int = 0) -> Meta:
    """Describe a field that contains the start of an hour or a quarter in ISO 8601."""
    return iso_time_field(f"{unit} start, ISO 8601 UTC; the same instant as `ts`.", HOUR_EXAMPLE + later_s)


def eur_kwh_field(what: str, example: object) -> Meta:
    """Describe a field that contains prices in EUR/kWh with VAT."""
    return Meta(description=f"{what} in EUR/kWh, including $vat, rounded to 4 decimal places.", examples=[example])


def uri_field(description: str, example: str = "https://tunnihind.example") -> Meta:
    """Describe a field that contains a URI."""
    return Meta(description=description, examples=[example], extra_json_schema={"format": "uri"})


ServedZoneCode = Annotated[
    str,
    Meta(
        description="Bidding zone.",
        examples=["$code"],
        extra_json_schema={"const": "$code", "enum": ["$code"]},
    ),
]
Currency = Annotated[
    Literal["EUR"],
    Meta(description="Currency.", examples=["EUR"], extra_json_schema={"type": "string", "const": "EUR"}),
]
DocsUrl = Annotated[str, uri_field("URL of the human-readable API description.", "https://tunnihind.example/docs")]
HourStart = Annotated[int, start_field("Hour", HOUR_S)]
HourStartIso = Annotated[str, iso_start_field("Hour")]
FutureHourStart = Annotated[int, start_field("Hour", HOUR_S, HOUR_S)]
FutureHourStartIso = Annotated[str, iso_start_field("Hour", HOUR_S)]
SettledPrice = Annotated[
    float, Meta(description="Settled day-ahead price, EUR/MWh, excluding VAT, 2 decimals.", examples=[84.37])
]
SettledConsumerPrice = Annotated[float, eur_kwh_field("The same price", 0.1029)]
P10 = Annotated[
    float,
    Meta(
        description="10th percentile, EUR/MWh, excluding VAT, 2 decimals. p10 and p90 bound an 80% interval.",
        examples=[52.1],
    ),
]
P50 = Annotated[float, Meta(description="Median, EUR/MWh, excluding VAT, 2 decimals.", examples=[81.4])]
P90 = Annotated[float, Meta(description="90th percentile, EUR/MWh, excluding VAT, 2 decimals.", examples=[128.95])]
P10Consumer = Annotated[float, eur_kwh_field("p10", 0.0636)]
P50Consumer = Annotated[float, eur_kwh_field("p50", 0.0993)]
P90Consumer = Annotated[float, eur_kwh_field("p90", 0.1573)]
Now = Annotated[int, Meta(description="When the response was computed, unix seconds UTC.", examples=[_INSTANT_EXAMPLE])]
MadeAt = Annotated[
    int | None,
    Meta(
        description="When the served forecast run was produced, unix seconds UTC. Null when no forecast exists yet.",
        examples=[HOUR_EXAMPLE + 300],
    ),
]
LastRefresh = Annotated[
    int | None,
    Meta(
        description="When the pipeline last processed prices from a source, unix seconds UTC. Null at first.",
        examples=[HOUR_EXAMPLE + 240],
    ),
]
FreeUntil = Annotated[
    int,
    Meta(
        description="Last instant whose forecast is served publicly, unix seconds UTC: the newest settled hour + 48 h, "
        "capped at 72 h after `now`.",
        examples=[HOUR_EXAMPLE + 60 * HOUR_S],
    ),
]
Gated = Annotated[bool, Meta(description="True if the model's forecast goes past `freeUntil`.", examples=[True])]
