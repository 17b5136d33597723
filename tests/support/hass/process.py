"""The process of Home Assistant, with restarts on the same folder."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.machine.processes import Process

COMMAND = os.environ.get("TUNNIHIND_HASS") or str(Path(sys.executable).with_name("hass"))
"""The script `test-newest-home-assistant` names another Home Assistant."""

_PROJECT = Path(__file__).parents[3]
_LEVEL = re.compile(r"^\d{4}-\d\d-\d\d \S+ (?P<level>[A-Z]+) \(")
"""The beginning of an entry in the log; the other lines belong to the entry before them."""
_COMPLAINTS = {"WARNING", "ERROR", "CRITICAL"}
_UNTESTED = "We found a custom integration tunnihind which has not been tested by Home Assistant"
"""Home Assistant warns of each custom integration."""


class HassProcess:
    """A `hass` process on a folder; at most one runs at a time."""

    def __init__(self, folder: Path, environment: Mapping[str, str], port: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self._environment = environment
        self._processes: list[Process] = []

    @property
    def log(self) -> str:
        """The log of all starts so far."""
        return "\n".join(process.log for process in self._processes)

    @property
    def log_of_this_start(self) -> str:
        """The log since the last start."""
        return self._processes[-1].log

    def complaints_about_us(self) -> list[str]:
        """Return the entries of the log, from warnings up, and Python's own warnings, that name the integration."""
        # The folder of the project may have its name too.
        entries = entries_to_heed(self.log.replace(str(_PROJECT), ""))
        return [entry for entry in entries if "tunnihind" in entry and _UNTESTED not in entry]

    def progress(self) -> object:
        """Return a value that changes while Home Assistant is busy."""
        return len(self._processes), len(self.log)

    def is_running(self) -> bool:
        return bool(self._processes) and self._processes[-1].is_running()

    def start(self) -> None:
        """Start Home Assistant without permission to install packages."""
        log = self.folder / f"hass-{len(self._processes)}.log"
        command = [COMMAND, "--config", str(self.folder), "--log-no-color", "--skip-pip"]
        self._processes.append(Process(command, self._environment, log))

    async def stop(self) -> None:
        """Ask Home Assistant to end, like a service manager. It has to end, and leave no processes behind."""
        process = self._processes[-1]
        assert await process.terminate() == 0, process.log
        assert await process.until_alone(), process.family()

    async def kill(self) -> None:
        """Kill Home Assistant, like a power cut."""
        await self._processes[-1].kill()

    def clear_away(self) -> None:
        """End all processes that a failed test may have left."""
        for process in self._processes:
            process.clear_away()


def entries_to_heed(log: str) -> Iterator[str]:
    """Yield the entries from warnings up, and each line outside of them that Python's module `warnings` has written."""
    entry: list[str] = []
    for line in [*log.splitlines(), "9999-12-31 end INFO ("]:
        begins = _LEVEL.match(line)
        if begins is None and entry:
            entry.append(line)
        elif begins is None and "Warning: " in line:
            yield line
        elif begins is not None:
            if entry:
                yield "\n".join(entry)
            entry = [line] if begins["level"] in _COMPLAINTS else []
