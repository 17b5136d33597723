"""Weather over the wire, beside the prices: the present forecast and earlier ones."""

from datetime import date

from tests.support.machine.processes import Launch, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams import FakeElering, FakeOpenMeteo
from tunnihind.weather_points import POINTS, VARIABLES


async def test_weather_of_all_points_is_kept_and_its_history_filled_in(
    launch: Launch, clock: ShiftedClock, tunnihind: Tunnihind
) -> None:
    clock.set("2025-01-10T09:20:00Z")
    quotes = made_up_quotes(date(2024, 12, 20), date(2025, 1, 11))
    async with FakeElering(quotes, now=clock.now) as elering, FakeOpenMeteo(now=clock.now) as upstream:
        server = launch(
            *("--weather", "--open-meteo-url", upstream.url, "--open-meteo-single-runs-url", upstream.single_runs_url),
            *("--open-meteo-archive-url", upstream.archive_url),
            *("--elering-url", elering.url, "--history-start", "2025"),
            clock=clock,
        )
        await server.until_ready()
        await server.until_logged("filling in the history of open-meteo: 10 of 10 done")
        await server.until_logged("filling in the history of open-meteo-archive: 1 of 1 done")
        status = (await tunnihind("status", "--json", clock=clock)).json()
    assert len(status["covariates"]) == len(POINTS) * len(VARIABLES)
    assert min(status["covariates"].values()) > clock.now() - 60
    failures = {source["source"]: source["failures"] for source in status["sources"]}
    assert failures == {"elering": 0, "open-meteo": 0, "open-meteo-archive": 0}
    days = [f"2025-01-{day:02}T00:00" for day in range(9, 0, -1)]
    assert upstream.runs_asked == ["2025-01-10T00:00", *days]
