"""Reads a CSV file, plain or gzipped. Errors name the file, the line and the column."""

import csv
import gzip
import zlib
from codecs import iterdecode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from reprlib import repr as shortened
from typing import Final

from tunnihind.core.market import QUARTER_S
from tunnihind.errors import ImportFileError
from tunnihind.numerals import decimal_number, whole_number

_GZIP_MAGIC: Final = b"\x1f\x8b"
_EARLIEST_TS: Final = 946_684_800
"""2000-01-01."""
_LATEST_TS: Final = 4_102_444_800
"""2100-01-01. Instants before `_EARLIEST_TS`, or from `_LATEST_TS` on, are refused as mistakes."""


class CsvRow:
    """One row of a CSV file. Its cells are read by the names of their columns."""

    def __init__(self, file: str, line: int, cells: dict[str, str]) -> None:
        self._file = file
        self.line = line
        self._cells = cells

    def instant(self, column: str, step_s: int = QUARTER_S) -> int:
        """Return a cell's instant in unix seconds UTC.

        Raises ImportFileError if the cell has no instant of the years 2000 to 2099, or if the instant is not a multiple
        of `step_s`.
        """
        text = self.text(column)
        try:
            ts = whole_number(text)
        except ValueError:
            raise self.error(column, f"{shortened(text)} is not a whole number of unix seconds UTC") from None
        if not _EARLIEST_TS <= ts < _LATEST_TS:
            hint = " (milliseconds? divide by 1000)" if _EARLIEST_TS <= ts // 1000 < _LATEST_TS else ""
            raise self.error(column, f"{shortened(ts)} is not a time between the years 2000 and 2100{hint}")
        if ts % step_s:
            raise self.error(column, f"{ts} is not the start of a period: it must be a multiple of {step_s}")
        return ts

    def number(self, column: str) -> float | None:
        """Return the number in a cell, or None if the cell is empty.

        Raises ImportFileError if the text in the cell is not a finite number.
        """
        text = self.text(column)
        if not text:
            return None
        try:
            return decimal_number(text)
        except ValueError:
            problem = f"{shortened(text)} is not a number; leave the cell empty if no value is known"
            raise self.error(column, problem) from None

    def text(self, column: str) -> str:
        """Return the text in a cell, without spaces around it."""
        return self._cells[column].strip(" \t")

    def error(self, column: str, problem: str) -> ImportFileError:
        """Return an error that names the file, the column, and the row's line."""
        return ImportFileError(self._file, self.line, column, problem)


class CsvTable:
    """An open CSV file. `columns` holds the names of the columns in lower case."""

    def __init__(self, file: str, lines: Iterable[bytes]) -> None:
        """Read the header. Raises ImportFileError."""
        self.file = file
        # Lines are decoded one by one, so that an error about an invalid byte can name the line.
        self._reader = csv.reader(iterdecode(lines, "utf-8-sig"), strict=True)
        self._lines = self._read_lines()
        self.columns = self._read_header()

    def rows(self) -> Iterator[CsvRow]:
        """Yield the rows, without blank lines. Raises ImportFileError."""
        for cells in self._lines:
            if not cells:
                continue
            line = self._reader.line_num
            if len(cells) != len(self.columns):
                problem = f"the line has {len(cells)} cells, the header {len(self.columns)}"
                raise ImportFileError(self.file, line, self.columns[0], problem)
            yield CsvRow(self.file, line, dict(zip(self.columns, cells, strict=True)))

    def header_error(self, column: str, problem: str) -> ImportFileError:
        """Return an error that names the file, the column, and the file's first line."""
        return ImportFileError(self.file, 1, column, problem)

    def _read_header(self) -> list[str]:
        columns = [name.strip().lower() for name in next(self._lines, [])]
        if not columns:
            raise self.header_error("1", "the first line is empty; it must name the columns")
        for number, name in enumerate(columns, start=1):
            if not name:
                raise self.header_error(str(number), "the column has no name")
            if columns.count(name) > 1:
                raise self.header_error(name, "two columns have this name")
        return columns

    def _read_lines(self) -> Iterator[list[str]]:
        try:
            yield from self._reader
        except csv.Error as error:
            raise self._unreadable_error(self._reader.line_num, error) from error
        except (UnicodeDecodeError, EOFError, zlib.error, OSError) as error:
            # `line_num` counts only the lines that could be read, so the faulty line is the next line.
            raise self._unreadable_error(self._reader.line_num + 1, error) from error

    def _unreadable_error(self, line: int, error: Exception) -> ImportFileError:
        return ImportFileError(self.file, line, "1", f"the rest of the file can't be read: {error}")


@contextmanager
def open_table(path: Path) -> Iterator[CsvTable]:
    """Open a CSV file, plain or gzipped. Raises ImportFileError if this fails, or if the header is invalid."""
    try:
        stream = _open_stream(path)
    except OSError as error:
        raise ImportFileError(path.name, 1, "1", f"the file can't be opened: {error.strerror}") from error
    with stream:
        yield CsvTable(path.name, stream)


def _open_stream(path: Path) -> BufferedReader | gzip.GzipFile:
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == _GZIP_MAGIC
    return gzip.open(path) if is_gzip else path.open("rb")
