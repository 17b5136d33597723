"""The bytes of the card, and its script's time for a frame during a drag through a week of quarters.

    uv run --no-sync python -m tests.benchmarks.bench_card [--steps 200]

The figures are measured in Debian's chromium with its CPU four times slower, as on a phone. A frame is the work of the
card's script between two pictures: handling the pointer's event, and drawing. Home Assistant sets `hass` with each
change of any state of the home. On a busy machine, the median and the processor time say more than the longest frames.
"""

import asyncio
import gzip
import statistics

import click
from playwright.async_api import CDPSession, Page

from tests.benchmarks.bench_page import busy_s
from tests.support.pages.browser import chromium
from tests.support.pages.card_page import MODULE, Look, example, opened_card

SLOWER = 4
CARD = "document.querySelector('tunnihind-card')"

# Each step moves the pointer, then draws, and times both.
DRAG = f"""async (steps) => {{
  const {{ chart }} = {CARD};
  const place = chart.place.getBoundingClientRect();
  const [y, start] = [place.top + 60, place.left + place.width / 2];
  const send = (type, x) => chart.place.dispatchEvent(new PointerEvent(type, {{
    pointerId: 1, pointerType: "touch", button: 0, clientX: x, clientY: y, bubbles: true }}));
  chart.place.setPointerCapture = () => {{}};
  send("pointerdown", start);
  const times = [];
  for (let step = 1; step <= steps; step++) {{
    const from = performance.now();
    send("pointermove", start - 100 - 80 * Math.sin(step / 10));
    cancelAnimationFrame(chart.frame);
    chart.frame = 0;
    chart.drawing.draw(chart.scene);
    times.push(performance.now() - from);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }}
  send("pointerup", start);
  return times;
}}"""
SET_HASS = f"""() => {{
  const card = {CARD};
  const home = card.homeAssistant;
  const from = performance.now();
  for (let i = 0; i < 10000; i++) card.hass = {{ ...home, states: {{}} }};
  return (performance.now() - from) / 10000;
}}"""
TELL = f"""() => {{
  const from = performance.now();
  tell({{}});
  {CARD}.chart.drawing.draw({CARD}.chart.scene);
  return performance.now() - from;
}}"""


async def slow_down(page: Page) -> CDPSession:
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    await devtools.send("Performance.enable")
    return devtools


async def measure(steps: int) -> None:
    at, contents = example("week_of_quarters")
    periods = len(contents["prices"]["price"])
    async with chromium() as browser:
        for days in ("two_days", "week"):
            look = Look(config={"range": days, "show_selling": True}, width=500)
            async with opened_card(browser, contents, at, look, still=False) as page:
                devtools = await slow_down(page)
                await page.evaluate(f"{CARD}.chart.zoom(1.25)")
                await page.evaluate(DRAG, 50)
                before = await busy_s(devtools)
                times = sorted(await page.evaluate(DRAG, steps))
                busy_ms = 1000 * (await busy_s(devtools) - before) / steps
                click.echo(
                    f"{days}: {periods} periods, a frame of a drag takes {statistics.median(times):.1f} ms, "
                    f"95 of 100 at most {times[int(0.95 * len(times))]:.1f} ms, the longest {times[-1]:.1f} ms; "
                    f"{busy_ms:.1f} ms of a processor, layout and painting included"
                )
                news, idle = await page.evaluate(TELL), await page.evaluate(SET_HASS)
                click.echo(f"{days}: news take {news:.1f} ms, setting hass {1000 * idle:.2f} µs")


@click.command()
@click.option("--steps", default=200)
def main(steps: int) -> None:
    """Measure and print."""
    for file in sorted(MODULE.parent.glob("*.js")):
        click.echo(f"{file.name}: {file.stat().st_size} bytes, {len(gzip.compress(file.read_bytes()))} compressed")
    asyncio.run(measure(steps))


if __name__ == "__main__":
    main()
