import math
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from aiohttp import ClientSession

from tests.support.upstreams import FakeEntsoe
from tests.support.upstreams.entsoe import TOKEN
from tunnihind.core.market import HOUR_S, QUARTER_S, day_end, day_start
from tunnihind.errors import BadAnswer, RateLimited, SourceUnreachable
from tunnihind.known import IssuedSeries
from tunnihind.sources.entsoe import EntsoePlatform
from tunnihind.sources.entsoe_forecasts import EntsoeForecasts, hourly_means, publication_deadline
from tunnihind.sources.entsoe_xml import Period, TimeSeries

DAY = date(2025, 12, 15)
NOW = day_start(DAY) + 9 * HOUR_S


def every(step_s: int, first: date, last: date, scale: float) -> dict[int, float]:
    return {ts: scale * (1 + (ts // step_s) % 5) for ts in range(day_start(first), day_end(last), step_s)}


def forecasts(first: date, last: date) -> dict[str, dict[int, float]]:
    return {
        "ee_load": every(HOUR_S, first, last, 100.0),
        "ee_B16": every(QUARTER_S, first, last, 10.0),
        "ee_B18": every(HOUR_S, first, last, 3.0),
        "ee_B19": every(HOUR_S, first, last, 20.0),
        "lt_B19": every(QUARTER_S, first, last, 200.0),
    }


@pytest.fixture
async def server() -> AsyncIterator[FakeEntsoe]:
    async with FakeEntsoe({}, forecasts(DAY, DAY + timedelta(days=1))) as fake:
        yield fake


def source(session: ClientSession, server: FakeEntsoe) -> EntsoeForecasts:
    return EntsoeForecasts(EntsoePlatform(session, f"{server.url}/api", TOKEN), zones=("ee", "lt", "fi"))


async def test_todays_and_tomorrows_forecasts_are_issued_when_seen(session: ClientSession, server: FakeEntsoe) -> None:
    found = await source(session, server).newest_forecasts(NOW)
    assert set(found) == {"ee_load_da_mw", "ee_wind_da_mw", "ee_solar_da_mw", "lt_wind_da_mw"}
    assert set(found) < set(source(session, server).covariate_names)
    for issue in found.values():
        assert (issue.issued_ts, issue.start_ts) == (NOW, day_start(DAY))
        assert issue.values.shape == (48,)
        assert np.isfinite(issue.values).all()


async def test_asks_for_load_and_for_wind_and_sun_by_their_documents(
    session: ClientSession, server: FakeEntsoe
) -> None:
    await source(session, server).newest_forecasts(NOW)
    asked = [
        (query["documentType"], query["processType"], query.get("outBiddingZone_Domain") or query.get("in_Domain"))
        for query in server.requests[:2]
    ]
    assert asked == [("A65", "A01", "10Y1001A1001A39I"), ("A69", "A01", "10Y1001A1001A39I")]


async def test_wind_is_offshore_and_onshore_together(session: ClientSession, server: FakeEntsoe) -> None:
    found = await source(session, server).newest_forecasts(NOW)
    offshore, onshore = server.forecasts["ee_B18"], server.forecasts["ee_B19"]
    expected = [offshore[hour] + onshore[hour] for hour in sorted(offshore)]
    assert found["ee_wind_da_mw"].values.tolist() == expected


async def test_an_hour_is_the_mean_of_its_quarters(session: ClientSession, server: FakeEntsoe) -> None:
    found = await source(session, server).newest_forecasts(NOW)
    quarters = server.forecasts["ee_B16"]
    expected = [
        sum(quarters[hour + n * QUARTER_S] for n in range(4)) / 4 for hour in sorted(quarters) if hour % HOUR_S == 0
    ]
    assert found["ee_solar_da_mw"].values.tolist() == pytest.approx(expected)


async def test_tomorrow_is_unknown_until_it_is_published(session: ClientSession) -> None:
    async with FakeEntsoe({}, forecasts(DAY, DAY)) as server:
        found = await source(session, server).newest_forecasts(NOW)
    values = found["ee_load_da_mw"].values
    assert np.isfinite(values[:24]).all()
    assert np.isnan(values[24:]).all()


async def test_archived_versions_count_as_issued_at_their_deadlines(session: ClientSession) -> None:
    first, last = date(2025, 10, 25), date(2025, 10, 27)
    async with FakeEntsoe({}, forecasts(first, last)) as server:
        found = await source(session, server).archived_forecasts(first, last)
    load, wind = found["ee_load_da_mw"], found["ee_wind_da_mw"]
    assert [_utc(issue.issued_ts) for issue in load] == ["24T08:00", "25T08:00", "26T09:00"]
    assert [_utc(issue.issued_ts) for issue in wind] == ["24T16:00", "25T16:00", "26T17:00"]
    assert [(issue.start_ts, issue.values.size) for issue in load] == [
        (day_start(first), 24),
        (day_start(first + timedelta(days=1)), 25),
        (day_start(last), 24),
    ]


def _utc(ts: int) -> str:
    return datetime.fromtimestamp(ts, UTC).strftime("%dT%H:%M")


def test_deadlines_are_by_the_clock_of_brussels() -> None:
    assert publication_deadline("ee_load_da_mw", date(2026, 7, 2)) == int(
        datetime(2026, 7, 1, 8, tzinfo=UTC).timestamp()
    )
    assert publication_deadline("ee_solar_da_mw", date(2026, 1, 2)) == int(
        datetime(2026, 1, 1, 17, tzinfo=UTC).timestamp()
    )


async def test_days_without_data_have_no_issue(session: ClientSession, server: FakeEntsoe) -> None:
    found = await source(session, server).archived_forecasts(DAY - timedelta(days=5), DAY)
    assert [issue.start_ts for issue in found["ee_load_da_mw"]] == [day_start(DAY)]


async def test_one_garbled_document_does_not_cost_the_others(session: ClientSession, server: FakeEntsoe) -> None:
    server.say(b"<html/>")
    found = await source(session, server).newest_forecasts(NOW)
    assert set(found) == {"ee_wind_da_mw", "ee_solar_da_mw", "lt_wind_da_mw"}


async def test_only_garbled_documents_are_a_bad_answer(session: ClientSession, server: FakeEntsoe) -> None:
    server.say(b"<html/>", times=6)
    with pytest.raises(BadAnswer):
        await source(session, server).newest_forecasts(NOW)


async def test_a_ban_ends_the_asking(session: ClientSession, server: FakeEntsoe) -> None:
    server.fail(status=429)
    with pytest.raises(RateLimited):
        await source(session, server).newest_forecasts(NOW)
    assert len(server.requests) == 1


async def test_an_unreachable_platform_is_said_at_once(session: ClientSession) -> None:
    gone = EntsoeForecasts(EntsoePlatform(session, "http://127.0.0.1:1", TOKEN), zones=("ee",))
    with pytest.raises(SourceUnreachable):
        await gone.newest_forecasts(NOW)


def megawatts(step_s: int, values: list[float], unit: str = "MAW") -> TimeSeries:
    return TimeSeries({"quantity_Measure_Unit.name": unit}, (Period(day_start(DAY), step_s, tuple(values)),))


def test_an_hour_with_an_unknown_quarter_is_unknown() -> None:
    means = hourly_means([megawatts(QUARTER_S, [1.0, 2.0, math.nan, 4.0, 5.0, 6.0, 7.0, 8.0])])
    assert means == {day_start(DAY) + HOUR_S: 6.5}


def test_quarters_win_over_an_hour() -> None:
    means = hourly_means([megawatts(QUARTER_S, [1.0, 2.0, 3.0, 4.0]), megawatts(HOUR_S, [100.0, 200.0])])
    assert means == {day_start(DAY): 2.5, day_start(DAY) + HOUR_S: 200.0}


@pytest.mark.parametrize("nonsense", [-1.0, 1e6])
def test_impossible_megawatts_are_unknown(nonsense: float) -> None:
    assert hourly_means([megawatts(HOUR_S, [nonsense, 5.0])]) == {day_start(DAY) + HOUR_S: 5.0}


def test_another_unit_is_refused() -> None:
    with pytest.raises(BadAnswer, match=r"quantity_Measure_Unit\.name KWT, not MAW"):
        hourly_means([megawatts(HOUR_S, [1.0], "KWT")])


async def test_an_hour_that_only_one_kind_of_wind_knows_is_unknown(session: ClientSession, server: FakeEntsoe) -> None:
    del server.forecasts["ee_B18"][day_start(DAY)]
    issue: IssuedSeries = (await source(session, server).newest_forecasts(NOW))["ee_wind_da_mw"]
    assert np.isnan(issue.values).nonzero()[0].tolist() == [0]


def test_of_a_forecast_too_the_lowest_auction_position_of_each_day_counts() -> None:
    position = "classificationSequence_AttributeInstanceComponent.position"

    def of(number: str, level: float, days: int) -> TimeSeries:
        attributes = {"quantity_Measure_Unit.name": "MAW", position: number}
        return TimeSeries(attributes, (Period(day_start(DAY), HOUR_S, (level,) * 24 * days),))

    means = hourly_means([of("2", 5.0, 1), of("3", 7.0, 2)])
    assert [set(list(means.values())[:24]), set(list(means.values())[24:])] == [{5.0}, {7.0}]
