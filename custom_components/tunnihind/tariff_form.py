"""What a household pays: the dated rows that the options keep, and their form, in sections as on invoices."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    BooleanSelector,
    DateSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    TimeSelector,
)

from .prices.network_clock import DAY_RATE_ENDS, DAY_RATE_STARTS

ROWS: Final = "rows"
VALID_FROM: Final = "valid_from"
VAT_PERCENT: Final = "vat_percent"
# What a row without a date is called where rows are chosen from.
BEGINNING: Final = "beginning"

FEES: Final = ("margin", "network_day", "network_night", "excise", "renewable")
SUPPLY: Final = "supply"
NETWORK: Final = "network"
LEVIES: Final = "levies"
DAY_STARTS: Final = "day_rate_starts"
DAY_ENDS: Final = "day_rate_ends"

type Row = Mapping[str, Any]
"""The figures that hold from a date on, as the entry's options keep them."""
type _Field = NumberSelector | BooleanSelector | TimeSelector

_BOX: Final = NumberSelectorMode.BOX
_VAT: Final = NumberSelector(NumberSelectorConfig(min=0, max=99, step="any", unit_of_measurement="%", mode=_BOX))


def _cents(lowest: float) -> NumberSelector:
    return NumberSelector(
        NumberSelectorConfig(
            min=lowest,
            max=100,
            step="any",
            unit_of_measurement="cents_per_kwh",
            translation_key="fee",
            mode=_BOX,
        )
    )


_FEE: Final = _cents(0)
# A supplier may give a discount.
_MARGIN: Final = _cents(-100)

# What holds from a date on, by section.
_ROW: Final[Mapping[str, Mapping[str, _Field]]] = {
    SUPPLY: {VAT_PERCENT: _VAT, "margin": _MARGIN},
    NETWORK: {"network_day": _FEE, "network_night": _FEE},
    LEVIES: {"excise": _FEE, "renewable": _FEE},
}
# What holds for all rows, by section.
_CONTRACT: Final[Mapping[str, Mapping[str, _Field]]] = {
    SUPPLY: {"fees_include_vat": BooleanSelector()},
    NETWORK: {
        DAY_STARTS: TimeSelector(),
        DAY_ENDS: TimeSelector(),
        "weekends_at_night_rate": BooleanSelector(),
        "holidays_at_night_rate": BooleanSelector(),
    },
    LEVIES: {},
}
CONTRACT_DEFAULTS: Final[Mapping[str, Any]] = {
    "fees_include_vat": False,
    DAY_STARTS: DAY_RATE_STARTS.isoformat(),
    DAY_ENDS: DAY_RATE_ENDS.isoformat(),
    "weekends_at_night_rate": True,
    "holidays_at_night_rate": True,
}


def name_of(row: Row) -> str:
    """Return the row's name: the date from which it holds."""
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


def prices_schema() -> vol.Schema:
    """Return the form of one row, whose date may be blank, and of what holds for all rows."""
    return _schema(vol.Optional(VALID_FROM), with_contract=True)


def row_schema() -> vol.Schema:
    """Return the form of a new row."""
    return _schema(vol.Required(VALID_FROM), with_contract=False)


def suggested(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures in the form's sections."""
    sections = {
        name: {key: figures[key] for key in (*_ROW[name], *_CONTRACT[name]) if figures.get(key) is not None}
        for name in _ROW
    }
    return {**sections, **({VALID_FROM: figures[VALID_FROM]} if figures.get(VALID_FROM) else {})}


def figures_of(user_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed, without the form's sections."""
    figures = {key: value for name in _ROW for key, value in user_input[name].items()}
    return {**figures, VALID_FROM: user_input.get(VALID_FROM)}


def contract_of(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds for all rows."""
    return {key: figures[key] for key in CONTRACT_DEFAULTS}


def _schema(date_field: vol.Marker, *, with_contract: bool) -> vol.Schema:
    fields: dict[vol.Marker, Any] = {date_field: DateSelector()}
    for name, row in _ROW.items():
        figures: dict[vol.Marker, Any] = {vol.Optional(key): selector for key, selector in row.items()}
        if with_contract:
            figures |= {vol.Required(key): selector for key, selector in _CONTRACT[name].items()}
        fields[vol.Required(name)] = section(vol.Schema(figures), {"collapsed": False})
    return vol.Schema(fields)
