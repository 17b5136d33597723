"""How the household is billed and paid for electricity: by the hour or the quarter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

from .days import local
from .timeline import HOUR_S, QUARTER_S, rounded

BILLED_BY: Final = "billed_by"
LEVELS_BY: Final = "levels_by"
SELLING: Final = "selling"
RESOLUTION: Final = "resolution"
_KWH_PER_MWH: Final = 1_000
_CENTS: Final = 100


class Resolution(StrEnum):
    """The length of the periods that have separate prices."""

    HOUR = "hour"
    QUARTER = "quarter"

    @property
    def step_s(self) -> int:
        """Its length in seconds."""
        return QUARTER_S if self is Resolution.QUARTER else HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """The periods by which the household pays, and the periods of comparison for level, rank and cheap hours."""

    billed_by: Resolution = Resolution.HOUR
    levels_by: Resolution = Resolution.HOUR


def billing_from(options: Mapping[str, Any]) -> Billing:
    """Read the entry's options. Levels by the quarter need billing by the quarter."""
    billed_by = Resolution(options.get(BILLED_BY, Resolution.HOUR))
    levels_by = Resolution(options.get(LEVELS_BY, Resolution.HOUR))
    return Billing(billed_by=billed_by, levels_by=levels_by if billed_by is Resolution.QUARTER else Resolution.HOUR)


def selling_price(eur_mwh: float, *, margin: float = 0.0, balancing: float = 0.0) -> float:
    """Return the price that the household gets at a market price in EUR/MWh: in EUR/kWh, to 4 decimals.

    The buyer keeps `margin` and `balancing` (EUR/kWh). VAT is not added. Below zero, the household pays.
    """
    return rounded(eur_mwh / _KWH_PER_MWH - margin - balancing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deductions:
    """The amounts that the buyer keeps, EUR/kWh, from `valid_from` on. With None they count from the beginning."""

    valid_from: date | None = None
    margin: float = 0.0
    balancing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SellingContract:
    """The periods by which the household is paid, and dated deductions in the order of their dates."""

    resolution: Resolution
    deductions: Sequence[Deductions] = ()

    def price(self, eur_mwh: float, start: int) -> float:
        """Return the price that the household gets, EUR/kWh to 4 decimals, in the period from `start` (UTC seconds)."""
        day = local(start).date()
        held = [one for one in self.deductions if one.valid_from is None or one.valid_from <= day]
        kept = held[-1] if held else Deductions()
        return selling_price(eur_mwh, margin=kept.margin, balancing=kept.balancing)


def selling_from(options: Mapping[str, Any]) -> SellingContract | None:
    """Read the entry's options, whose deductions are in cents; None if the household sells nothing."""
    contract = options.get(SELLING)
    if not contract:
        return None
    deductions = (
        Deductions(
            valid_from=date.fromisoformat(row["valid_from"]) if row.get("valid_from") else None,
            margin=row.get("margin", 0.0) / _CENTS,
            balancing=row.get("balancing", 0.0) / _CENTS,
        )
        for row in contract.get("rows", ())
    )
    return SellingContract(
        resolution=Resolution(contract.get(RESOLUTION, Resolution.QUARTER)),
        deductions=tuple(sorted(deductions, key=lambda one: one.valid_from or date.min)),
    )
