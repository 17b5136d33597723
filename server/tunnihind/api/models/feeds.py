"""What the feeds for evcc and Predbat answer. The feed for EMHASS is a plain mapping of times to prices."""

from typing import Annotated

from msgspec import Meta, Struct

from tunnihind.api.models.fields import iso_time

PeriodStartIso = Annotated[str, iso_time("Start of the period, ISO 8601 UTC.")]
PeriodEndIso = Annotated[
    str, iso_time("End of the period, ISO 8601 UTC: the start of the next one.", "2025-12-15T10:15:00Z")
]


class EvccRate(Struct, frozen=True, kw_only=True):
    """The price of a period as evcc's custom tariff reads it."""

    start: PeriodStartIso
    end: PeriodEndIso
    value: Annotated[
        float, Meta(description="Settled price or median, EUR/kWh; without VAT for `price=market`.", examples=[0.1046])
    ]


class OctopusRate(Struct, frozen=True, kw_only=True):
    """The price of a period as Octopus Energy's `standard-unit-rates` has it."""

    value_inc_vat: Annotated[
        float,
        Meta(description="Settled price or median, cents per kWh; without VAT for `price=market`.", examples=[10.46]),
    ]
    valid_from: PeriodStartIso
    valid_to: PeriodEndIso


class OctopusRates(Struct, frozen=True, kw_only=True):
    """Prices in the form of Octopus Energy's `standard-unit-rates`, which Predbat reads: all on one page."""

    count: Annotated[int, Meta(description="How many prices there are.", examples=[1], ge=1)]
    next: Annotated[str | None, Meta(description="The next page: always null.", examples=[None])]
    previous: Annotated[str | None, Meta(description="The page before: always null.", examples=[None])]
    results: Annotated[list[OctopusRate], Meta(description="The prices, the newest first.")]
