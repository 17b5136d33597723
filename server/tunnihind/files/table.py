"""Reads a CSV file, plain or gzipped, cell by cell, with errors that name file, line and column."""

import csv
import gzip
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from tunnihind.errors import ImportFileError
from tunnihind.market import QUARTER_S

_GZIP_MAGIC: Final = b"\x1f\x8b"
_EARLIEST_TS: Final = 946_684_800  # 2000-01-01: no market, and no file, is older
_LATEST_TS: Final = 4_102_444_800  # 2100-01-01


class Row:
    """One line of the file; cells by column name."""

    def __init__(self, file: str, line: int, cells: dict[str, str]) -> None:
        self._file = file
        self.line = line
        self._cells = cells

    def instant(self, column: str, step_s: int = QUARTER_S) -> int:
        """Return an instant on a multiple of `step_s` seconds. Raises ImportFileError."""
        text = self._cells[column]
        try:
            ts = int(text)
        except ValueError:
            raise self.error(column, f"{text!r} is not a whole number of unix seconds UTC") from None
        if not _EARLIEST_TS <= ts < _LATEST_TS:
            hint = " (milliseconds? divide by 1000)" if _EARLIEST_TS <= ts / 1000 < _LATEST_TS else ""
            raise self.error(column, f"{ts} is no instant between the years 2000 and 2100{hint}")
        if ts % step_s:
            raise self.error(column, f"{ts} is not the start of a period: it has to be a multiple of {step_s}")
        return ts

    def number(self, column: str) -> float | None:
        """Return a finite number, None for an empty cell. Raises ImportFileError."""
        text = self._cells[column].strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            raise self.error(column, f"{text!r} is not a number") from None
        if not math.isfinite(value):
            raise self.error(column, f"{text!r} is not a finite number; leave the cell empty where nothing is known")
        return value

    def error(self, column: str, problem: str) -> ImportFileError:
        """Return the error that points at a cell of this line."""
        return ImportFileError(self._file, self.line, column, problem)


class Table:
    """An open file: its columns, and its rows in turn."""

    def __init__(self, file: str, stream: TextIO) -> None:
        self.file = file
        self._reader = csv.reader(stream, strict=True)
        self.columns = self._header()

    def rows(self) -> Iterator[Row]:
        """Yield the rows; blank lines are passed over. Raises ImportFileError."""
        for cells in self._reader:
            if not cells:
                continue
            line = self._reader.line_num
            if len(cells) != len(self.columns):
                problem = f"the line has {len(cells)} cells, the header {len(self.columns)}"
                raise ImportFileError(self.file, line, self.columns[0], problem)
            yield Row(self.file, line, dict(zip(self.columns, cells, strict=True)))

    def refuse(self, column: str, problem: str) -> ImportFileError:
        """Return the error that points at a column's header."""
        return ImportFileError(self.file, 1, column, problem)

    def line(self) -> int:
        """Return the number of the line read last."""
        return max(self._reader.line_num, 1)

    def _header(self) -> list[str]:
        columns = [name.strip().lower() for name in next(self._reader, [])]
        if not columns:
            raise ImportFileError(self.file, 1, "1", "the file is empty; its first line has to name the columns")
        for name in columns:
            if columns.count(name) > 1:
                raise self.refuse(name, "the column is there twice")
        return columns


@contextmanager
def open_table(path: Path) -> Iterator[Table]:
    """Open a CSV file, gzipped or not. Raises ImportFileError, also for what breaks while it is being read."""
    table: Table | None = None
    try:
        with _open_text(path) as stream:
            table = Table(path.name, stream)
            yield table
    except (csv.Error, UnicodeDecodeError, EOFError, zlib.error, OSError) as error:
        line = 1 if table is None else table.line()
        raise ImportFileError(path.name, line, "1", f"the file can't be read on: {error}") from error


def _open_text(path: Path) -> TextIO:
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == _GZIP_MAGIC
    if is_gzip:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
