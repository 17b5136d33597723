"""Content negotiation and conditional requests by RFC 9110, sections 12.5.3 and 13.1.2."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal

type Coding = Literal["zstd", "gzip", "identity"]

CODINGS: Final[tuple[Coding, ...]] = ("zstd", "gzip", "identity")
"""What the server can send, the smallest first: it wins where the client likes two alike."""

_ALIASES: Final = {"x-gzip": "gzip"}

_UNNAMED_IDENTITY: Final = 0.0005
"""An identity that isn't named is acceptable, but less welcome than the least weight that can be named, 0.001."""


@lru_cache(maxsize=256)
def best_coding(accept_encoding: str) -> Coding:
    """Choose the content coding for an Accept-Encoding field value; identity where nothing is acceptable."""
    weights = dict(_weights(accept_encoding))
    wildcard = weights.get("*")
    best: Coding = "identity"
    best_weight = 0.0
    for coding in CODINGS:
        unnamed = _UNNAMED_IDENTITY if coding == "identity" else 0.0
        weight = weights.get(coding, unnamed if wildcard is None else wildcard)
        if weight > best_weight:
            best, best_weight = coding, weight
    return best


def _weights(accept_encoding: str) -> Iterator[tuple[str, float]]:
    """Yield each named coding with its weight; a member whose weight makes no sense is passed over."""
    for member in accept_encoding.lower().split(","):
        name, *parameters = (part.strip() for part in member.split(";"))
        weight = _weight(parameters)
        if name and weight is not None:
            yield _ALIASES.get(name, name), weight


def _weight(parameters: list[str]) -> float | None:
    if not parameters:
        return 1.0
    key, _, value = parameters[0].partition("=")
    if key.strip() != "q":
        return None
    try:
        weight = float(value)
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None


def is_current(if_none_match: str, tag: str) -> bool:
    """Tell whether an If-None-Match field value names the opaque tag (given with its quotes), or is `*`.

    The comparison is the weak one. Tags are quoted and hold no quotes, so finding ours, quotes included,
    is finding it as a member of the list.
    """
    return tag in if_none_match or if_none_match.strip() == "*"
