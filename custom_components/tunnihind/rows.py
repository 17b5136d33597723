"""The dated figures of a household's contract, as the entry's options keep them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

ROWS: Final = "rows"
VALID_FROM: Final = "valid_from"
VAT_PERCENT: Final = "vat_percent"
# What a row without a date is called where rows are chosen from.
BEGINNING: Final = "beginning"

FEES: Final = ("margin", "network_day", "network_night", "excise", "renewable")

type Row = Mapping[str, Any]


def name_of(row: Row) -> str:
    """Return what tells the row from the others: the date it holds from."""
    return row.get(VALID_FROM) or BEGINNING


def ordered(rows: Iterable[Row]) -> list[Row]:
    """Return the rows in the order in which they come to hold."""
    return sorted(rows, key=lambda row: row.get(VALID_FROM) or "")


def named(rows: Iterable[Row], name: str) -> Row:
    """Return the row of that name."""
    return next(row for row in rows if name_of(row) == name)


def without(rows: Iterable[Row], name: str) -> list[Row]:
    """Return the rows but the one of that name."""
    return [row for row in rows if name_of(row) != name]


def row_from(figures: Mapping[str, Any], *, server_vat_percent: float) -> Row:
    """Return a row of typed figures. Blank fees are none; a VAT rate that is the server's follows the server's."""
    row: dict[str, Any] = {fee: float(figures.get(fee) or 0) for fee in FEES}
    vat_percent = figures.get(VAT_PERCENT)
    if vat_percent is not None and vat_percent != server_vat_percent:
        row[VAT_PERCENT] = vat_percent
    if figures.get(VALID_FROM):
        row[VALID_FROM] = figures[VALID_FROM]
    return row
