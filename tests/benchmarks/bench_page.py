"""The cost of a page for its reader: bytes by kind, loading times, and the time to move the chart.

    uv run --no-sync python -m tests.benchmarks.bench_page [--rounds 5] [--address http://localhost:8080]

Bytes are counted over the wire. Loading times end when something, and then everything, is visible. The time to move the
chart is the time of the browser's main thread for one step of a drag through a week.

Without an address, a server with a fortnight of made-up prices is started. The browser is Debian's chromium with an
empty cache. The browser runs first at this machine's speed, then like a phone: with a small window, a processor four
times slower, and slow 4G (1.6 Mbit/s with 150 ms of latency). The goals are 110 kB, a first paint within a second on
the phone, and no layout shift.
"""

import asyncio
import statistics
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import click
from aiohttp import web
from playwright.async_api import Browser, CDPSession, Page

from tests.support.api.api_server import NOW, no_prices
from tests.support.clocks import StillClock
from tests.support.pages import sample_views
from tests.support.pages.browser import PHONE, chromium
from tunnihind.api.server import Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.service.application import ServedZone, create_app
from tunnihind.settings import Settings

PATHS: Final = ("", "?period=quarter", "?embed=1", "accuracy", "docs")
CHARTS: Final = ("?span=week", "?span=week&period=quarter")
DRAG_STEPS: Final = 200
SLOW_4G: Final = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
SHIFT: Final = """window.shift = 0; window.largest = 0;
new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; })
  .observe({type: "layout-shift", buffered: true});
new PerformanceObserver((list) => { for (const entry of list.getEntries()) largest = entry.startTime; })
  .observe({type: "largest-contentful-paint", buffered: true});"""


@dataclass
class Load:
    """One loading of a page: bytes by kind of file, and milliseconds."""

    wire: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    first_paint_ms: float = 0
    largest_paint_ms: float = 0
    shift: float = 0


async def load(browser: Browser, address: str, *, like_a_phone: bool) -> Load:
    """Load a page with an empty cache."""
    options: dict[str, Any] = dict(PHONE) if like_a_phone else {}
    context = await browser.new_context(**options)
    page = await context.new_page()
    devtools = await context.new_cdp_session(page)
    measured = Load()
    await listen(devtools, measured)
    if like_a_phone:
        await devtools.send("Network.emulateNetworkConditions", SLOW_4G)
        await devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    await page.add_init_script(SHIFT)
    await page.goto(address, wait_until="networkidle")
    await read(page, measured)
    await context.close()
    return measured


async def listen(devtools: CDPSession, measured: Load) -> None:
    """Count the received bytes, including header fields."""
    kinds: dict[str, str] = {}

    def answered(event: dict[str, Any]) -> None:
        kinds[event["requestId"]] = event["type"]

    def finished(event: dict[str, Any]) -> None:
        measured.wire[kinds.get(event["requestId"], "Other")] += int(event["encodedDataLength"])
        measured.requests += 1

    devtools.on("Network.responseReceived", answered)
    devtools.on("Network.loadingFinished", finished)
    await devtools.send("Network.enable")


async def read(page: Page, measured: Load) -> None:
    measured.first_paint_ms = await page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
    )
    measured.largest_paint_ms = await page.evaluate("window.largest")
    measured.shift = await page.evaluate("window.shift")


async def drag(browser: Browser, address: str) -> float:
    """Return the milliseconds of one step of a drag through a week."""
    page = await browser.new_page()
    devtools = await page.context.new_cdp_session(page)
    await page.goto(address, wait_until="networkidle")
    chart = await page.locator(".over").bounding_box()
    if chart is None:
        raise RuntimeError(f"{address} shows no chart")
    await page.mouse.move(chart["x"] + 10, chart["y"] + 50)
    await page.mouse.down()
    await devtools.send("Performance.enable")
    before = await busy_s(devtools)
    for step in range(DRAG_STEPS):
        await page.mouse.move(chart["x"] + 10 + 3 * step, chart["y"] + 50)
    taken = await busy_s(devtools) - before
    await page.close()
    return 1000 * taken / DRAG_STEPS


async def busy_s(devtools: CDPSession) -> float:
    """Return the processor time of the main thread in seconds."""
    metrics = (await devtools.send("Performance.getMetrics"))["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime"))


def tell(path: str, label: str, loads: list[Load]) -> None:
    """Print the medians of some loadings."""
    kinds = ", ".join(f"{kind} {size / 1000:.1f}" for kind, size in sorted(loads[0].wire.items()))
    total = statistics.median(sum(one.wire.values()) for one in loads) / 1000
    first, largest = (
        statistics.median(getattr(one, f"{name}_paint_ms") for one in loads) for name in ("first", "largest")
    )
    click.echo(
        f"/{path:15} {label:8} {total:6.1f} kB in {loads[0].requests} requests ({kinds}); first paint {first:.0f} ms, "
        f"largest {largest:.0f} ms, layout shift {max(one.shift for one in loads):.3f}"
    )


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """Serve the made-up fortnight."""
    clock, settings = StillClock(NOW), Settings()
    snapshot = Snapshot(settings, clock)
    snapshot.replace_data(sample_views.ordinary())
    runner = Runner(
        create_app(settings, [ServedZone(snapshot=snapshot, read_prices=no_prices)], clock, instance_id="benchmark")
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def measure(rounds: int, address: str) -> None:
    async with chromium() as browser:
        for path in PATHS:
            for label, like_a_phone in (("here", False), ("phone", True)):
                loads = [await load(browser, f"{address}/{path}", like_a_phone=like_a_phone) for _ in range(rounds)]
                tell(path, label, loads)
        for path in CHARTS:
            steps = [await drag(browser, f"{address}/{path}") for _ in range(rounds)]
            click.echo(f"/{path:24} a step of a drag takes {statistics.median(steps):.1f} ms")


async def run(rounds: int, address: str) -> None:
    if address:
        await measure(rounds, address.rstrip("/"))
        return
    async with served() as own:
        await measure(rounds, own)


@click.command()
@click.option("--rounds", default=5)
@click.option("--address", default="")
def main(rounds: int, address: str) -> None:
    """Measure and print."""
    asyncio.run(run(rounds, address))


if __name__ == "__main__":
    main()
