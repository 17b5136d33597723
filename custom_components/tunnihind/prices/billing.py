"""A household's billing for the electricity that it buys, and its contract for selling electricity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

from ..core.market import ESTONIA, HOUR_S, QUARTER_S, Market, rounded_price

BILLED_BY: Final = "billed_by"
LEVELS_BY: Final = "levels_by"
SELLING: Final = "selling"
RESOLUTION: Final = "resolution"
NEGATIVE_IS_ZERO: Final = "negative_price_is_zero"
_KWH_PER_MWH: Final = 1_000
_CENTS: Final = 100


class Resolution(StrEnum):
    """The length of a price period: an hour or a quarter-hour."""

    HOUR = "hour"
    QUARTER = "quarter"

    @property
    def step_s(self) -> int:
        """The length of a period in seconds."""
        return {Resolution.HOUR: HOUR_S, Resolution.QUARTER: QUARTER_S}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """How a household is billed for the electricity that it buys.

    `billed_by` is the length of the periods whose prices the household pays. `levels_by` is the length of the periods
    for which price levels, ranks and cheap hours are computed.
    """

    billed_by: Resolution = Resolution.HOUR
    levels_by: Resolution = Resolution.HOUR


def billing_from(options: Mapping[str, Any]) -> Billing:
    """Read the billing from the entry's options.

    If the household is billed by the hour, levels are computed by the hour too.
    """
    billed_by = Resolution(options.get(BILLED_BY, Resolution.HOUR))
    levels_by = Resolution(options.get(LEVELS_BY, Resolution.HOUR))
    return Billing(billed_by=billed_by, levels_by=levels_by if billed_by is Resolution.QUARTER else Resolution.HOUR)


def selling_price(eur_mwh: float, *, margin: float = 0.0, balancing: float = 0.0) -> float:
    """Convert a market price in EUR/MWh to the selling price in EUR/kWh.

    The buyer keeps `margin` and `balancing` (EUR/kWh). The selling price has 4 decimals and doesn't include VAT. If the
    selling price is negative, the household pays the buyer.
    """
    return rounded_price(eur_mwh / _KWH_PER_MWH - margin - balancing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deductions:
    """The amounts in EUR/kWh that the buyer deducts from the market price. They apply from `valid_from` on.

    If `valid_from` is None, the deductions have always applied. If `negative_price_is_zero` is true, the buyer counts a
    negative market price as zero.
    """

    valid_from: date | None = None
    margin: float = 0.0
    balancing: float = 0.0
    negative_price_is_zero: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SellingContract:
    """A household's contract with the buyer of its electricity.

    `resolution` is the length of the buyer's price periods. `deductions` are in the order of their dates, which begin
    at midnight in `zone`.
    """

    resolution: Resolution
    zone: Market = ESTONIA
    deductions: Sequence[Deductions] = ()

    def price(self, eur_mwh: float, start: int) -> float:
        """Return the selling price in EUR/kWh for the period that starts at `start` (UTC seconds).

        `eur_mwh` is the market price. The result has 4 decimals. Before the first deductions, nothing is deducted.
        """
        day = self.zone.local_time(start).date()
        begun = [one for one in self.deductions if one.valid_from is None or one.valid_from <= day]
        applying = begun[-1] if begun else Deductions()
        billed = max(eur_mwh, 0.0) if applying.negative_price_is_zero else eur_mwh
        return selling_price(billed, margin=applying.margin, balancing=applying.balancing)


def selling_contract_from(options: Mapping[str, Any], zone: Market) -> SellingContract | None:
    """Read the selling contract from the entry's options.

    The options contain the deductions in c/kWh. If the household sells nothing, return None.
    """
    contract = options.get(SELLING)
    if not contract:
        return None
    deductions = (
        Deductions(
            valid_from=date.fromisoformat(row["valid_from"]) if row.get("valid_from") else None,
            margin=row.get("margin", 0.0) / _CENTS,
            balancing=row.get("balancing", 0.0) / _CENTS,
            negative_price_is_zero=row.get(NEGATIVE_IS_ZERO, False),
        )
        for row in contract.get("rows", ())
    )
    return SellingContract(
        resolution=Resolution(contract.get(RESOLUTION, Resolution.QUARTER)),
        zone=zone,
        deductions=tuple(sorted(deductions, key=lambda one: one.valid_from or date.min)),
    )
