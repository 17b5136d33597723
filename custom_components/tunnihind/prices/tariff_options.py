"""Reads a household's tariff from the entry's options."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, time
from typing import Any, Final

from ..core.market import ESTONIA, Market
from ..core.network_clock import DAY_RATE_TIMES, WEEKDAYS, RateTimes
from ..core.rates import Package, Part
from ..core.tariff import Tariff, TariffRow
from .billing import NEGATIVE_IS_ZERO

_CENTS: Final = 100
_PERCENT: Final = 100
# The names of a row's rates, in `TariffRow` and in the entry's options. A row in the options may lack some rates.
_RATE_NAMES: Final = tuple(one.name for one in fields(TariffRow) if one.type is float)

DAY_MONTHS: Final = "day_rate_months"
DAY_WEEKDAYS: Final = "day_rate_weekdays"
DAY_STARTS: Final = "day_rate_starts"
DAY_ENDS: Final = "day_rate_ends"
HOLIDAYS_AT_NIGHT_RATE: Final = "holidays_at_night_rate"
IN_WINTER_TIME: Final = "day_rate_in_winter_time"
DEFAULT_DAY_RATE: Final[Mapping[str, Any]] = {
    DAY_MONTHS: [str(month) for month in sorted(DAY_RATE_TIMES.months)],
    DAY_WEEKDAYS: [WEEKDAYS[day] for day in sorted(DAY_RATE_TIMES.weekdays)],
    DAY_STARTS: DAY_RATE_TIMES.starts.isoformat(),
    DAY_ENDS: DAY_RATE_TIMES.ends.isoformat(),
    HOLIDAYS_AT_NIGHT_RATE: not DAY_RATE_TIMES.on_holidays,
    IN_WINTER_TIME: DAY_RATE_TIMES.in_winter_time,
}
"""The times of the day rate in a row of the options that contains no times."""


def tariff_from(options: Mapping[str, Any], *, zone: Market = ESTONIA, chosen_vat_rate: float | None = None) -> Tariff:
    """Build the household's tariff from the entry's options, which contain fees in c/kWh and VAT rates in percent."""
    rows = sorted((_row_from(row) for row in options.get("rows", ())), key=lambda row: row.valid_from or date.min)
    return Tariff(
        zone=zone,
        chosen_vat_rate=chosen_vat_rate,
        rows=rows,
        fees_include_vat=options.get("fees_include_vat", False),
    )


def _row_from(row: Mapping[str, Any]) -> TariffRow:
    vat_percent = row.get("vat_percent")
    return TariffRow(
        valid_from=_date_from(row, "valid_from"),
        vat_rate=None if vat_percent is None else vat_percent / _PERCENT,
        package=Package(row.get("package", Package.OWN)),
        parts_from_table=frozenset(Part(part) for part in row.get("from_table", ())),
        compared_with_invoice_on=_date_from(row, "compared_on"),
        day_rate_times=_day_rate_times_from({**DEFAULT_DAY_RATE, **row}),
        negative_price_is_zero=row.get(NEGATIVE_IS_ZERO, False),
        **{figure: row.get(figure, 0.0) / _CENTS for figure in _RATE_NAMES},
    )


def _date_from(row: Mapping[str, Any], key: str) -> date | None:
    return date.fromisoformat(row[key]) if row.get(key) else None


def _day_rate_times_from(row: Mapping[str, Any]) -> RateTimes:
    return RateTimes(
        months=frozenset(map(int, row[DAY_MONTHS])),
        weekdays=frozenset(map(WEEKDAYS.index, row[DAY_WEEKDAYS])),
        starts=time.fromisoformat(row[DAY_STARTS]),
        ends=time.fromisoformat(row[DAY_ENDS]),
        on_holidays=not row[HOLIDAYS_AT_NIGHT_RATE],
        in_winter_time=row[IN_WINTER_TIME],
    )
