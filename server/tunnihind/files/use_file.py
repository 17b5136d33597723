"""Reads a file of consumption. The columns are `time` and `kWh`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from tunnihind.core.market import HOUR_S, QUARTER_S, Market
from tunnihind.files.table import CsvRow, open_table

_TIME: Final = "time"
_KWH: Final = "kwh"


@dataclass(frozen=True, slots=True)
class UseFile:
    """Consumption in kWh by the start of its period in UTC seconds. Each period lasts `step_s` seconds."""

    kwh: dict[int, float]
    step_s: int


def read_use(path: Path, market: Market) -> UseFile:
    """Read a whole file of consumption by the hour or by the quarter. Rows with an empty cell in `kWh` are left out.

    Times are ISO 8601. A time without a zone is local. If local clocks show a time twice, as in autumn, the first row
    is the earlier instant. Raises ImportFileError if the file is unreadable or invalid.
    """
    kwh: dict[int, float] = {}
    rows: dict[int, CsvRow] = {}
    with open_table(path) as table:
        for column in (_TIME, _KWH):
            if column not in table.columns:
                raise table.header_error(column, "the column is missing; the header must be time,kWh")
        for row in table.rows():
            ts = _instant(row, market, rows)
            rows[ts] = row
            if (energy := row.number(_KWH)) is None:
                continue
            if energy < 0:
                raise row.error(_KWH, f"{energy:g} is less than nothing; production belongs in another file")
            kwh[ts] = energy
        if not kwh:
            raise table.header_error(_KWH, "the file has no consumption")
    for ts in kwh:
        if ts % _length(ts, kwh):
            raise rows[ts].error(_TIME, "the time is not on the hour, and no row is 15 minutes from it")
    step_s = min(_length(ts, kwh) for ts in kwh)
    return UseFile(dict(_parts(kwh, step_s)), step_s)


def _length(ts: int, kwh: Mapping[int, float]) -> int:
    """Return the length of a row's period. A meter may have changed from hours to quarters in the file."""
    return QUARTER_S if ts + QUARTER_S in kwh or ts - QUARTER_S in kwh else HOUR_S


def _parts(kwh: Mapping[int, float], step_s: int) -> Iterator[tuple[int, float]]:
    """Yield periods of `step_s`, into which a longer period is split evenly."""
    for ts, energy in kwh.items():
        length = _length(ts, kwh)
        for part in range(ts, ts + length, step_s):
            yield part, energy * step_s / length


def _instant(row: CsvRow, market: Market, seen: dict[int, CsvRow]) -> int:
    """Return the start of a row's period. Raises ImportFileError, also for an instant in `seen`."""
    text = row.text(_TIME)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise row.error(_TIME, f"{text!r} is not a time such as 2025-03-01T14:00") from None
    found = [time] if time.tzinfo else [time.replace(tzinfo=market.time_zone, fold=fold) for fold in (0, 1)]
    instants = [int(one.timestamp()) for one in found]
    if time.tzinfo is None and market.local_time(instants[0]).replace(tzinfo=None, fold=0) != time:
        raise row.error(_TIME, f"{text} does not exist: the clocks go forward")
    if instants[0] % QUARTER_S or time.microsecond:
        raise row.error(_TIME, f"{text} is not the start of an hour or of a quarter")
    new = next((ts for ts in instants if ts not in seen), None)
    if new is None:
        raise row.error(_TIME, f"{text} is already in line {seen[instants[-1]].line}")
    return new
