"""A shifted clock for real processes: libfaketime between the processes and the C library."""

import time
from datetime import datetime
from pathlib import Path

AFTERNOON = "2026-01-15T12:40:00Z"
"""14:40 in Tallinn, after the publication of tomorrow's prices. In January a demo's history is shortest: it begins with
the year before."""

_LIBRARIES = Path("/usr/lib")
_LIBRARY = "*/faketime/libfaketimeMT.so.1"
"""The path of the library in Debian's package `libfaketime`."""


def library() -> Path | None:
    """Return the path of libfaketime, or None if it is not installed."""
    return next(_LIBRARIES.glob(_LIBRARY), None)


class ShiftedClock:
    """The machine's clock, shifted for the processes that get `environment`.

    A test may move the clock while the processes run. The monotonic clock is not shifted, as when somebody sets a
    machine's clock.
    """

    def __init__(self, library: Path, file: Path) -> None:
        self._file = file
        self._shift_s = 0
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # libfaketime's workaround for old C libraries makes Python's threads wait a hundred times too long for each
            # other.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",
        }
        self.jump(0)

    def now(self) -> float:
        """Return the shifted time in unix seconds UTC."""
        return time.time() + self._shift_s

    def set(self, instant: str) -> None:
        """Set the clock to an instant in ISO 8601."""
        self.jump(round(datetime.fromisoformat(instant).timestamp() - self.now()))

    def jump(self, seconds: int) -> None:
        """Move the clock forward, or back by a negative number."""
        self._shift_s += seconds
        # The file is renamed into place, because a process that read half a file would be in the year 1970 for a
        # moment.
        new = self._file.with_suffix(".new")
        new.write_text(f"{self._shift_s:+d}\n")
        new.replace(self._file)
