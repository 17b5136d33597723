"""The feeds: prices in the form that other programs read."""

from collections.abc import Iterable, Mapping
from typing import Final

from tunnihind.api.feeds import VAT_RATE, Reader
from tunnihind.api.http.headers import JSON
from tunnihind.api.openapi.operation import operation
from tunnihind.api.openapi.parameters import KNOWN_TAG, PRICE, RESOLUTION
from tunnihind.api.openapi.responses import Document, cached, problems, reference

_FEED: Final = (
    "From Estonian midnight of today to the end of what is served, without a gap: settled prices, and the median after "
    "them. Parameters that aren't known are refused. With no price from now on the answer is 503, so that readers keep "
    "what they have."
)

_FEEDS: Final[Mapping[Reader, tuple[str, str, str, Document]]] = {
    "evcc": (
        "getEvccFeed",
        "Prices for evcc",
        (
            "A list for a tariff of `type: custom`, EUR/kWh. evcc adds `charges` to a price, and `tax` on both: give "
            "it `price=market`, margin and fees without VAT as `charges`, and the law's VAT as `tax`. For `feedin` "
            "give it `price=market`, and as `charges` what the buyer keeps, below zero."
        ),
        {"type": "array", "items": reference("EvccRate")},
    ),
    "emhass": (
        "getEmhassFeed",
        "Prices for EMHASS",
        (
            "A mapping of times to EUR/kWh for `load_cost_forecast` and `prod_price_forecast`. EMHASS adds nothing: "
            "take `price=market`, and before you send it add margin, fees and VAT to the first, and take what the "
            "buyer keeps off the second."
        ),
        {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "examples": [{"2025-12-15T10:00:00Z": 0.1046, "2025-12-15T10:15:00Z": 0.0962}],
        },
    ),
    "octopus": (
        "getOctopusFeed",
        "Prices for Predbat, in Octopus's form",
        (
            "For `rates_import_octopus_url`, cents per kWh. Predbat adds no VAT, so leave it `price=consumer`. Margin "
            "and fees with VAT go into `rates_import_override` as `rate_increment`. Give `rates_export_octopus_url` "
            "`price=market`."
        ),
        reference("OctopusRates"),
    ),
}
"""For each feed the name of its operation, a summary, where VAT and fees go in that program, and the schema."""


def feed_operations() -> Iterable[tuple[str, Document]]:
    """Give the path and the operation of each."""
    for reader, (name, summary, advice, schema) in _FEEDS.items():
        yield (
            f"/api/feeds/{reader}",
            operation(
                name,
                "Feeds",
                summary,
                f"{_FEED} {advice}",
                answers=cached({JSON: {"schema": schema}}, VAT_RATE) | problems(400, 405, 429, 500, 503),
                parameters=[RESOLUTION, PRICE, KNOWN_TAG],
            ),
        )
