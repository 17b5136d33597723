"""The answer about how the served forecasts did."""

import json

from tests.support.api_server import Serve
from tunnihind.api.examples import EXAMPLE_DATA
from tunnihind.api.served_data import ServedData
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.forecast.scoring.scores import Scores

NAN = float("nan")


async def test_windows_come_with_their_scores_by_days_ahead(serve: Serve) -> None:
    server = await serve(EXAMPLE_DATA)
    answer = json.loads((await server.ask("/api/v1/accuracy")).body)
    [window] = answer["windows"]
    assert window["days"] == 30
    assert window["overall"]["n"] == 720
    assert window["byDaysAhead"] == [window["overall"] | {"daysAhead": 1}]
    assert answer["tier"] == "weather"


async def test_what_could_not_be_scored_is_null(serve: Serve) -> None:
    nothing = Scores(0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN)
    server = await serve(ServedData("1", accuracy=(WindowScores(7, {1: nothing}, nothing),)))
    answer = json.loads((await server.ask("/api/v1/accuracy")).body)
    overall = answer["windows"][0]["overall"]
    assert overall.pop("n") == 0
    assert set(overall.values()) == {None}


async def test_before_any_forecast_was_scored_there_are_no_windows(serve: Serve) -> None:
    answer = json.loads((await (await serve()).ask("/api/v1/accuracy")).body)
    assert answer["windows"] == []


async def test_a_poll_with_nothing_new_gets_304(serve: Serve) -> None:
    server = await serve()
    tag = (await server.ask("/api/v1/accuracy")).headers["ETag"]
    assert (await server.ask("/api/v1/accuracy", f"If-None-Match: {tag}")).status == 304
