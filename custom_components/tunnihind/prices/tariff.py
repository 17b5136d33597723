"""From the market's price to what the household pays for a kilowatt-hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from typing import Any, Final

import holidays

# Left to itself, the library would import it at first use: in the event loop.
import holidays.countries.estonia

from .days import local
from .timeline import rounded

_KWH_PER_MWH: Final = 1_000
_CENTS: Final = 100
_PERCENT: Final = 100
_SATURDAY: Final = 5

DAY_RATE_STARTS: Final = time(7)
DAY_RATE_ENDS: Final = time(22)


@dataclass(frozen=True, slots=True, kw_only=True)
class TariffRow:
    """What comes on top of the market's price from `valid_from` on (None: from the beginning). Fees in EUR/kWh.

    `vat_rate` is a fraction; None stands for the server's own rate.
    """

    valid_from: date | None = None
    vat_rate: float | None = None
    margin: float = 0.0
    network_day: float = 0.0
    network_night: float = 0.0
    excise: float = 0.0
    renewable: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """A household's contract: dated rows, and when the night rate of the network holds.

    `rows` are in the order of their dates. `server_vat_rate` is a fraction, used where a row names none.
    """

    server_vat_rate: float
    rows: Sequence[TariffRow] = ()
    fees_include_vat: bool = False
    day_rate_starts: time = DAY_RATE_STARTS
    day_rate_ends: time = DAY_RATE_ENDS
    weekends_at_night_rate: bool = True
    holidays_at_night_rate: bool = True

    def price(self, eur_mwh: float, start: int) -> float:
        """Return the household's price, EUR/kWh to 4 decimals, for the hour from `start` (UTC seconds).

        With nothing configured this is the server's consumer price, as the API's specification rounds it.
        """
        wall = local(start)
        row = self._row_of(wall.date())
        vat = 1 + (self.server_vat_rate if row.vat_rate is None else row.vat_rate)
        network = row.network_night if self._night_rate(wall) else row.network_day
        fees = row.margin + network + row.excise + row.renewable
        energy = eur_mwh / _KWH_PER_MWH * vat
        return rounded(energy + (fees if self.fees_include_vat else fees * vat))

    def _row_of(self, day: date) -> TariffRow:
        held = [row for row in self.rows if row.valid_from is None or row.valid_from <= day]
        return held[-1] if held else TariffRow()

    def _night_rate(self, wall: datetime) -> bool:
        if self.weekends_at_night_rate and wall.weekday() >= _SATURDAY:
            return True
        if self.holidays_at_night_rate and wall.date() in _public_holidays():
            return True
        starts, ends, clock = self.day_rate_starts, self.day_rate_ends, wall.time()
        in_the_day = starts <= clock < ends if starts <= ends else clock >= starts or clock < ends
        return not in_the_day


def tariff_from(options: Mapping[str, Any], *, server_vat_rate: float) -> Tariff:
    """Build the tariff from the entry's options, whose fees are in cents and rates in percent."""
    rows = sorted((_row_from(row) for row in options.get("rows", ())), key=lambda row: row.valid_from or date.min)
    return Tariff(
        server_vat_rate=server_vat_rate,
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
        valid_from=date.fromisoformat(row["valid_from"]) if row.get("valid_from") else None,
        vat_rate=None if vat_percent is None else vat_percent / _PERCENT,
        margin=row.get("margin", 0.0) / _CENTS,
        network_day=row.get("network_day", 0.0) / _CENTS,
        network_night=row.get("network_night", 0.0) / _CENTS,
        excise=row.get("excise", 0.0) / _CENTS,
        renewable=row.get("renewable", 0.0) / _CENTS,
    )


def _time_from(options: Mapping[str, Any], key: str, default: time) -> time:
    return time.fromisoformat(options[key]) if key in options else default


@cache
def _public_holidays() -> holidays.HolidayBase:
    """Estonia's public holidays; the library fills in a year when it is first asked for."""
    return holidays.country_holidays("EE")
