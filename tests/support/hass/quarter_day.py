"""A day in a home that is billed by the quarter of an hour."""

from tests.support.hass.real_home import RealHome
from tunnihind.core.market import HOUR_S, QUARTER_S

_INTO_QUARTER_S = 2
_SERVER_ASKED_EACH_S = 6 * HOUR_S


async def bill_by_quarter(real_home: RealHome) -> None:
    """Set in the options that the household is billed by the quarter."""
    outcome = await real_home.hass.flow(
        (await real_home.entry())["entry_id"],
        {"next_step_id": "billing"},
        {"billed_by": "quarter"},
        kind="options/flow",
    )
    assert outcome["type"] == "create_entry", outcome


async def live_quarters(real_home: RealHome, start_ts: int, end_ts: int) -> tuple[dict[int, float], dict[int, float]]:
    """Move the clock to each quarter from `start_ts` to `end_ts`.

    Return the shown and the served prices, EUR/kWh, by the start of their quarter.
    """
    shown: dict[int, float] = {}
    served: dict[int, float] = {}
    for quarter in range(start_ts, end_ts, QUARTER_S):
        real_home.clock.jump(round(quarter + _INTO_QUARTER_S - real_home.clock.now()))
        await real_home.reload()
        await real_home.until_loaded()
        shown[quarter] = (await real_home.shows("current_price")).number
        if (quarter - start_ts) % _SERVER_ASKED_EACH_S == 0:
            answer = (await real_home.server.get("/api/v1/quarters")).json()
            served |= {item["ts"]: item["eurKwh"] for item in answer["dayAhead"]}
    return shown, {quarter: served[quarter] for quarter in shown}
