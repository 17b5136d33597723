"""What becomes of weather and other covariates."""

from datetime import date

import numpy as np
import pytest

from tests.server.pipeline.support import JumpingClock, ScriptedWeather, Witness, local, utc_midnight
from tests.server.sources.conftest import StillClock
from tests.server.upstream import FakeOpenMeteo
from tunnihind.errors import SourceError, SourceRefused, SourceUnreachable
from tunnihind.known import IssuedSeries
from tunnihind.market import DAY_S, floor_hour
from tunnihind.pipeline.covariates import CovariateIngest
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.upstream import open_session
from tunnihind.sources.weather_points import POINTS
from tunnihind.store.store import Store

NOW = local("2025-12-15 10:00")
MONTH, TODAY = date(2025, 12, 1), date(2025, 12, 15)
DOWN = SourceUnreachable("weather", "no answer within 30 s")


def ingest_of(store: Store, *sources: ScriptedWeather) -> CovariateIngest:
    return CovariateIngest(store, sources, JumpingClock(NOW), Witness())


def kept(store: Store, name: str) -> tuple[IssuedSeries, ...]:
    return store.covariates.archive().series.get(name, ())


async def test_the_newest_forecast_is_kept_as_issued_now(store: Store) -> None:
    await ingest_of(store, ScriptedWeather()).ingest()
    (issue,) = kept(store, "weather@here")
    assert (issue.issued_ts, issue.start_ts, issue.lead_s, issue.values.size) == (NOW, floor_hour(NOW), 0, 48)


@pytest.mark.parametrize(
    ("month", "last"),
    [
        (date(2025, 12, 1), date(2025, 12, 15)),
        (date(2025, 11, 1), date(2025, 11, 30)),
        (date(2024, 2, 1), date(2024, 2, 29)),
        (date(2024, 12, 1), date(2024, 12, 31)),
    ],
)
async def test_a_month_is_asked_for_to_its_end_or_to_today(store: Store, month: date, last: date) -> None:
    source = ScriptedWeather()
    await ingest_of(store, source).fill_month(month, TODAY)
    assert source.asked == [(month, last)]


async def test_a_month_filled_again_grows_and_nothing_is_doubled(store: Store) -> None:
    ingest = ingest_of(store, ScriptedWeather())
    await ingest.fill_month(MONTH, date(2025, 12, 3))
    await ingest.fill_month(MONTH, TODAY)
    (issue,) = kept(store, "weather@here")
    assert (issue.start_ts, issue.values.size, issue.lead_s) == (utc_midnight(MONTH), 15 * 24, DAY_S)
    assert np.isfinite(issue.values).all()


async def test_one_sources_failure_does_not_keep_the_others_forecast_out(store: Store) -> None:
    down, up = ScriptedWeather("down"), ScriptedWeather("up")
    down.is_down = DOWN
    with pytest.raises(SourceError, match="30 s"):
        await ingest_of(store, down, up).ingest()
    assert len(kept(store, "up@here")) == 1


async def test_one_sources_failure_does_not_keep_the_others_history_out(store: Store) -> None:
    down, up = ScriptedWeather("down"), ScriptedWeather("up")
    down.is_down = SourceRefused("down", "HTTP 401", status=401)
    with pytest.raises(SourceError, match="401"):
        await ingest_of(store, down, up).fill_month(MONTH, TODAY)
    assert len(kept(store, "up@here")) == 1


async def test_a_month_that_one_source_failed_is_asked_of_no_other_again(store: Store) -> None:
    down, up = ScriptedWeather("down"), ScriptedWeather("up")
    ingest = ingest_of(store, down, up)
    down.errors.extend([DOWN, DOWN])
    for _ in range(2):
        with pytest.raises(SourceError):
            await ingest.fill_month(MONTH, TODAY)
    await ingest.fill_month(MONTH, TODAY)
    assert (len(down.asked), len(up.asked)) == (3, 1)
    await ingest.fill_month(MONTH, TODAY)
    assert (len(down.asked), len(up.asked)) == (4, 2)


async def test_a_months_previous_runs_come_over_the_wire_with_their_leads(store: Store) -> None:
    clock = StillClock(NOW)
    async with FakeOpenMeteo() as server, open_session("") as session:
        source = OpenMeteo(session, server.url, server.url, points=POINTS[:2], clock=clock)
        await CovariateIngest(store, [source], clock, Witness()).fill_month(MONTH, TODAY)
    issues = kept(store, f"temperature_2m@{POINTS[1].name}")
    assert [issue.lead_s // DAY_S for issue in issues] == [7, 6, 5, 4, 3, 2, 1]
    for issue in issues:
        assert issue.issued_ts + issue.lead_s == issue.start_ts == utc_midnight(MONTH)
        assert issue.values[5] == pytest.approx(5 + 0.1 + issue.lead_s // DAY_S / 100)
