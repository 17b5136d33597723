"""How the household is billed: by the hour's mean price, or by the price of each quarter of an hour."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from .timeline import HOUR_S, QUARTER_S

BILLED_BY: Final = "billed_by"
LEVELS_BY: Final = "levels_by"


class Resolution(StrEnum):
    """The period that has a price of its own."""

    HOUR = "hour"
    QUARTER = "quarter"

    @property
    def step_s(self) -> int:
        """Its length in seconds."""
        return QUARTER_S if self is Resolution.QUARTER else HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """By what the household pays, and by what its prices are compared: level, rank and cheap hour."""

    billed_by: Resolution = Resolution.HOUR
    levels_by: Resolution = Resolution.HOUR


def billing_from(options: Mapping[str, Any]) -> Billing:
    """Read the entry's options. Levels by the quarter make sense only for those who pay by it."""
    billed_by = Resolution(options.get(BILLED_BY, Resolution.HOUR))
    levels_by = Resolution(options.get(LEVELS_BY, Resolution.HOUR))
    return Billing(billed_by=billed_by, levels_by=levels_by if billed_by is Resolution.QUARTER else Resolution.HOUR)
