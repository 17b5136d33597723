"""Home Assistant's process: started, stopped and started again on the same folder."""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.machine.processes import Process

COMMAND = str(Path(sys.executable).with_name("hass"))


class HassProcess:
    """A `hass` on a folder, at a time none or one."""

    def __init__(self, folder: Path, environment: Mapping[str, str], port: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self._environment = environment
        self._processes: list[Process] = []

    @property
    def log(self) -> str:
        """What all its starts have logged so far."""
        return "\n".join(process.log for process in self._processes)

    @property
    def log_of_this_start(self) -> str:
        """What it has logged since it was last started."""
        return self._processes[-1].log

    def progress(self) -> object:
        """Return what changes as long as something goes on."""
        return len(self._processes), len(self.log)

    def is_running(self) -> bool:
        return bool(self._processes) and self._processes[-1].is_running()

    def start(self) -> None:
        """Start it, without leave to install anything."""
        log = self.folder / f"hass-{len(self._processes)}.log"
        command = [COMMAND, "--config", str(self.folder), "--log-no-color", "--skip-pip"]
        self._processes.append(Process(command, self._environment, log))

    async def stop(self) -> None:
        """Ask it to end, as service managers do; it has to, with nobody left behind."""
        process = self._processes[-1]
        assert await process.terminate() == 0, process.log
        assert await process.until_alone(), process.family()

    async def kill(self) -> None:
        """End it without a word, as a power cut does."""
        await self._processes[-1].kill()

    def clear_away(self) -> None:
        """End all that may be left, whatever state a failed test has left it in."""
        for process in self._processes:
            process.clear_away()
