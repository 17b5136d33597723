"""The types of the answers about the server, and of problem answers."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tunnihind.api.models.fields import Now, ServedZoneCode, uri_field

type Mode = Literal["live", "demo", "rehearsal"]
"""`live` serves the market, `demo` a simulated market (`--demo`), and `rehearsal` a past day (`--as-of`)."""


class ZoneAddress(Struct, frozen=True, rename="camel", kw_only=True):
    """The address of a zone's API."""

    zone: Annotated[str, Meta(description="Bidding zone: EE, LV, LT or FI.", examples=["$code"])]
    url: Annotated[str, uri_field("The zone's base URL, without a slash at its end.")]


class About(Struct, frozen=True, rename="camel", kw_only=True):
    """Who serves this API, and with which settings."""

    name: Annotated[str, Meta(description="Name of the service.", examples=["Tunnihind"])]
    version: Annotated[str, Meta(description="Version of the server's software.", examples=["1.0.0"])]
    instance_id: Annotated[
        str,
        Meta(
            description="Identity of this installation. It stays the same when the address changes.",
            examples=["4d6bd6f2-6a1c-4a53-9c63-0b0f1f2f9d5e"],
        ),
    ]
    zone: ServedZoneCode
    zones: Annotated[list[ZoneAddress], Meta(description="All zones of this server, with their addresses.")]
    vat_rate: Annotated[
        float,
        Meta(description="VAT rate in the prices in EUR/kWh, as a fraction.", examples=[0.22], ge=0, lt=1),
    ]
    vat_rate_is_chosen: Annotated[
        bool,
        Meta(
            description="True if the operator chose one rate for all dates. False if household prices use the legal "
            "rate of each date.",
            examples=[False],
        ),
    ]
    attribution: Annotated[
        str,
        Meta(
            description="The credit that anyone republishing the data must give.",
            examples=["Tunnihind (tunnihind.example)"],
        ),
    ]
    public_url: Annotated[str, uri_field("The server's address for clients, without a slash at its end.")]
    full_horizon: Annotated[
        bool,
        Meta(
            description="True if `/api/v1/quarters`, `/api/v1/scenarios` and the feeds continue past `freeUntil` to "
            "the end of the forecast. This is an option for private servers (`--full-horizon`). Usually false.",
            examples=[False],
        ),
    ]
    price_scale: Annotated[
        list[float],
        Meta(
            description="Four prices, EUR/MWh, between the five colours from cheap to expensive. Each colour has a "
            "fifth of the hourly prices of the last 30 days and the known hours ahead. Prices below zero have another "
            "colour, and don't count. Empty before prices are known.",
            examples=[[21.4, 58.7, 84.3, 121.9]],
        ),
    ]
    mode: Annotated[
        Mode,
        Meta(
            description="The served data: `live` is the market, `demo` a simulated market, and `rehearsal` a past day "
            "as it was known then. The clock of a rehearsal runs on from that day.",
            examples=["live"],
        ),
    ]


class Health(Struct, frozen=True, rename="camel", kw_only=True):
    """The server's process is alive."""

    status: Annotated[
        Literal["ok"],
        Meta(
            description="Always `ok`: a dead process doesn't answer.",
            examples=["ok"],
            extra_json_schema={"type": "string", "const": "ok"},
        ),
    ]


class Readiness(Struct, frozen=True, rename="camel", kw_only=True):
    """Whether the server is ready, and the ages of its data by its own clock."""

    ready: Annotated[
        bool,
        Meta(
            description="True if the data are complete and fresh, and the server can do its work and is not stopping. "
            "A server that only serves another server's data (`--no-pipeline`, or standing by) is also ready with old "
            "data.",
            examples=[True],
        ),
    ]
    now: Now
    settled_age_s: Annotated[
        int | None,
        Meta(
            description="Seconds since the newest settled hour ended; 0 while settled prices reach past `now`. Null "
            "when no price is settled.",
            examples=[0],
        ),
    ]
    forecast_age_s: Annotated[
        int | None,
        Meta(description="Seconds since the forecast was made. Null when there is none.", examples=[312]),
    ]
    refresh_age_s: Annotated[
        int | None,
        Meta(
            description="Seconds since the pipeline last processed prices from a source. Null at first.",
            examples=[372],
        ),
    ]
    reasons: Annotated[
        list[str],
        Meta(description="Missing or stale data and other faults, in plain words; empty when ready.", examples=[[]]),
    ]
    warnings: Annotated[
        list[str],
        Meta(
            description="Reservations about the served data, in plain words: prices that no second source has "
            "confirmed yet, or old data that another server should keep fresh. Usually empty.",
            examples=[[]],
        ),
    ]


class Problem(Struct, frozen=True, rename="camel", kw_only=True):
    """A problem with a request, in the form of RFC 9457."""

    type: Annotated[
        str,
        uri_field(
            "URI of the kind of problem. The URI leads to a description of this kind.",
            "https://tunnihind.example/docs#problem-503",
        ),
    ]
    title: Annotated[str, Meta(description="A short name of the kind of problem.", examples=["Service Unavailable"])]
    status: Annotated[int, Meta(description="The HTTP status.", examples=[503], ge=400, le=599)]
    detail: Annotated[
        str,
        Meta(
            description="The problem with this request, and how to fix it.",
            examples=["Data is missing or stale, or the server can't do its work: the forecast is 4 h old."],
        ),
    ]


class NotReady(Problem, frozen=True, rename="camel", kw_only=True):
    """The problem answer of a server that isn't ready, with the fields of `Readiness`."""

    ready: Annotated[bool, Meta(description="Always false here.", examples=[False])]
    now: Now
    settled_age_s: Annotated[int | None, Meta(description="As in Readiness, seconds.", examples=[7200])]
    forecast_age_s: Annotated[int | None, Meta(description="As in Readiness, seconds.", examples=[14400])]
    refresh_age_s: Annotated[int | None, Meta(description="As in Readiness, seconds.", examples=[14400])]
    reasons: Annotated[
        list[str],
        Meta(
            description="Missing or stale data and other faults, in plain words.",
            examples=[["the forecast is 4 h old"]],
            min_length=1,
        ),
    ]
    warnings: Annotated[list[str], Meta(description="As in Readiness.", examples=[[]])]
