"""Reads a household's tariff from the entry's options."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, time
from typing import Any, Final

from ..core.market import ESTONIA, Market
from ..core.network_clock import DAY_RATE_ENDS, DAY_RATE_STARTS
from ..core.rates import Package, Part
from ..core.tariff import Tariff, TariffRow

_CENTS: Final = 100
_PERCENT: Final = 100
# The names of a row's rates, in `TariffRow` and in the entry's options. A row in the options may lack some rates.
_RATE_NAMES: Final = tuple(one.name for one in fields(TariffRow) if one.default == 0.0)


def tariff_from(options: Mapping[str, Any], *, zone: Market = ESTONIA, chosen_vat_rate: float | None = None) -> Tariff:
    """Build the household's tariff from the entry's options, which contain fees in c/kWh and VAT rates in percent."""
    rows = sorted((_row_from(row) for row in options.get("rows", ())), key=lambda row: row.valid_from or date.min)
    return Tariff(
        zone=zone,
        chosen_vat_rate=chosen_vat_rate,
        rows=rows,
        fees_include_vat=options.get("fees_include_vat", False),
        day_rate_starts=_time_from(options, "day_rate_starts", DAY_RATE_STARTS),
        day_rate_ends=_time_from(options, "day_rate_ends", DAY_RATE_ENDS),
        weekends_at_night_rate=options.get("weekends_at_night_rate", True),
        holidays_at_night_rate=options.get("holidays_at_night_rate", True),
    )


def _row_from(row: Mapping[str, Any]) -> TariffRow:
    vat_percent = row.get("vat_percent")
    return TariffRow(
        valid_from=_date_from(row, "valid_from"),
        vat_rate=None if vat_percent is None else vat_percent / _PERCENT,
        package=Package(row.get("package", Package.OWN)),
        parts_from_table=frozenset(Part(part) for part in row.get("from_table", ())),
        compared_with_invoice_on=_date_from(row, "compared_on"),
        **{figure: row.get(figure, 0.0) / _CENTS for figure in _RATE_NAMES},
    )


def _date_from(row: Mapping[str, Any], key: str) -> date | None:
    return date.fromisoformat(row[key]) if row.get(key) else None


def _time_from(options: Mapping[str, Any], key: str, default: time) -> time:
    return time.fromisoformat(options[key]) if key in options else default
