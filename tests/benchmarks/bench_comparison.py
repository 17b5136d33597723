"""How long the comparison page computes on a phone whose processor is four times slower than this machine's.

    uv run --no-sync python -m tests.benchmarks.bench_comparison

The file has five years by the hour and one year by the quarter. Prices are loaded before the measurement. The page
should take less than 3 s.
"""

import asyncio
from datetime import date
from typing import Final

import click
from playwright.async_api import FilePayload

from tests.e2e.pages.test_comparison_page import month_prices
from tests.support.api.serving import serving
from tests.support.pages import sample_views
from tests.support.pages.browser import PHONE, address_of, chromium, open_page
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S

SLOWER: Final = 4
TURNS: Final = 5
FIRST, QUARTERS_FROM, LAST = (ESTONIA.midnight(day) for day in (date(2021, 1, 1), date(2026, 1, 1), date(2027, 1, 1)))
NOW: Final = LAST + 12 * HOUR_S

CHANGE_SETTING = """() => new Promise((resolve) => {
  const results = document.querySelector("[data-results]");
  const begun = performance.now();
  const watcher = new MutationObserver(() => {
    if (results.hidden) return;
    watcher.disconnect();
    // After the next frame, the reader sees the results.
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
  });
  watcher.observe(results, { attributes: true });
  document.querySelector("[data-offer]").dispatchEvent(new Event("change"));
})"""

READ_AGAIN = CHANGE_SETTING.replace("[data-offer]", "[data-columns]")


def meter_text() -> str:
    """Return the file: 43,824 hours and 35,040 quarters."""
    periods = [*range(FIRST, QUARTERS_FROM, HOUR_S), *range(QUARTERS_FROM, LAST, QUARTER_S)]
    return "time;kWh\n" + "".join(
        f"{ESTONIA.local_time(ts):%d.%m.%Y %H:%M};0,{ts // QUARTER_S % 90 + 10}\n" for ts in periods
    )


async def measure() -> None:
    """Print the shortest and the median times in seconds. Other programs on the machine make them longer."""
    async with serving() as serve, chromium() as browser:
        server = await serve(sample_views.ordinary(), now=NOW, read_prices=month_prices)
        async with open_page(browser, address_of(server), **PHONE) as seen:
            page = await seen.show("/compare?package=vork_4&fixed=9&cap=15&margin=0.5")
            file = FilePayload(name="meter.csv", mimeType="text/csv", buffer=meter_text().encode())
            await page.locator("[data-file]").set_input_files(file)
            await page.locator("[data-totals] tr").first.wait_for(timeout=120_000)
            devtools = await page.context.new_cdp_session(page)
            await devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            for name, action in (("bills", CHANGE_SETTING), ("file and bills", READ_AGAIN)):
                times = sorted([await page.evaluate(action) / 1000 for _ in range(TURNS)])
                shortest, median = times[0], times[TURNS // 2]
                click.echo(f"{name}: shortest {shortest:.2f} s, median {median:.2f} s, {SLOWER} times slower")


if __name__ == "__main__":
    asyncio.run(measure())
