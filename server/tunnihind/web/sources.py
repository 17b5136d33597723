"""What the page says of the data sources: how each one is, and why there are no prices while there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tunnihind.api.models.service import Mode
from tunnihind.api.source_states import SourceState
from tunnihind.market import HOUR_S
from tunnihind.web.display import Display
from tunnihind.web.texts import Texts

_OF_PRICES: Final = frozenset({"elering", "entsoe", "simulated"})
_NAMED: Final = _OF_PRICES | {"entsoe-forecasts", "open-meteo"}

_UNASKED_AFTER_S: Final = 12 * HOUR_S
"""The weather is asked for least often, with each run of its model, every six hours: after twice that nobody asks."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source: what it gives, and since when it does or doesn't."""

    name: str
    state: str
    is_failing: bool


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Why there are no prices, and what the operator can do about it."""

    reason: str
    advice: tuple[str, ...]


def source_lines(sources: Sequence[SourceState], now: int, display: Display) -> tuple[SourceLine, ...]:
    """Return a line for each source as of `now`, unix seconds."""
    return tuple(_line(source, now, display) for source in sources)


def why_empty(sources: Sequence[SourceState], texts: Texts, *, pipeline_expected: bool, mode: Mode) -> Emptiness:
    """Say why a server knows no prices at all."""
    of_prices = [source for source in sources if source.name in _OF_PRICES]
    faults = [source.fault for source in of_prices if source.fault]
    if of_prices and len(faults) == len(of_prices):
        advice = tuple(texts(f"empty.do.{fault}") for fault in dict.fromkeys(faults))
        return Emptiness(texts("empty.failing"), advice)
    if mode == "rehearsal":
        why = "rehearsal"
    elif of_prices:
        why = "held"
    else:
        why = "starting" if pipeline_expected else "passing"
    return Emptiness(texts(f"empty.{why}"), (texts(f"empty.do.{why}"),))


def _line(source: SourceState, now: int, display: Display) -> SourceLine:
    texts = display.texts
    name = texts(f"source.{source.name}") if source.name in _NAMED else source.name
    moment = None if source.answered_ts is None else display.moment(source.answered_ts)
    if source.fault is None:
        is_asked = now - (source.answered_ts or 0) <= _UNASKED_AFTER_S
        return SourceLine(
            name, texts("source.ok" if is_asked else "source.old", moment=moment), is_failing=not is_asked
        )
    fault = texts(f"source.{source.fault}", status=source.status)
    state = texts("source.never" if moment is None else "source.failing", fault=fault, moment=moment)
    return SourceLine(name, state, is_failing=True)
