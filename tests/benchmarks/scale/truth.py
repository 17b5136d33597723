"""The watcher, which reads answers all the time and notes every wrong or missing answer."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from tunnihind.market import HOUR_S, floor_hour

_MAX_TOLD: Final = 5
_EVERY_S: Final = 0.05


@dataclass
class Watcher:
    """Reads `/api/v1/forecast` and `/api/series` at an address, and compares them with the upstream's prices.

    `hourly` returns the true price of each hour, EUR/MWh; `now` returns the servers' time. Requests for series bypass
    the edge's cache, so that they always reach a replica.
    """

    url: str
    hourly: Mapping[int, float]
    now: Callable[[], float]
    read: int = 0
    failed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    newest: int = 0
    newest_since: float = 0.0

    async def run(self) -> None:
        """Read until cancelled."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:
            while True:
                await self._look(session, "/api/v1/forecast", "dayAhead")
                await self._look(session, f"/api/series?days=2&n={self.read}", "actuals")
                await asyncio.sleep(_EVERY_S)

    async def _look(self, session: aiohttp.ClientSession, path: str, settled: str) -> None:
        before = self.now()
        self.read += 1
        try:
            async with session.get(self.url + path) as response:
                if response.status != 200:
                    self.failed.append(f"{path}: {response.status} {(await response.text())[:200]}")
                    return
                answer = await response.json()
        except (aiohttp.ClientError, TimeoutError) as error:
            self.failed.append(f"{path}: {error!r}")
            return
        faults = [*self._faults(answer, settled, before, self.now())]
        self.wrong += [f"{path.split('&', maxsplit=1)[0]} at {before:.1f}: {fault}" for fault in faults]
        newest = max((item["ts"] for item in answer[settled]), default=0)
        if newest > self.newest:
            self.newest, self.newest_since = newest, self.now()

    def _faults(self, answer: Any, settled: str, before: float, after: float) -> list[str]:  # noqa: ANN401  JSON
        """Return the errors of an answer that came between two instants."""
        faults = []
        hours = {floor_hour(int(before)), floor_hour(int(after))}
        if settled == "dayAhead":
            current, predicted = next((item["ts"] for item in answer[settled]), None), answer["forecast"]
            faults += [f"a forecast of {item['ts']}, which has begun" for item in predicted if item["ts"] <= min(hours)]
        else:
            current = (answer["current"] or {}).get("ts")
        if current not in hours:
            faults.append(f"the current hour is said to be {current}")
        for item in answer[settled]:
            if abs(item["eurMwh"] - self.hourly.get(item["ts"], float("nan"))) < 0.00501:
                continue
            faults.append(f"the price of {item['ts']} is said to be {item['eurMwh']}")
        starts = [item["ts"] for item in answer[settled]]
        if starts != [*range(starts[0], starts[-1] + HOUR_S, HOUR_S)] if starts else True:
            faults.append("hours are missing")
        return faults

    def told(self) -> str:
        """Return a short text about the findings."""
        kinds = Counter(text.split(" at ")[0] for text in self.wrong)
        some = "; ".join([*self.failed[:_MAX_TOLD], *self.wrong[:_MAX_TOLD]])
        said = f"{self.read} answers read, {len(self.failed)} failed, {len(self.wrong)} wrong"
        return f"{said} ({dict(kinds)}: {some})" if some else said
