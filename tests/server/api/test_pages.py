from base64 import b64encode
from datetime import date
from hashlib import sha256

import pytest

from tests.server.api.conftest import Serve
from tests.server.api.support import HOUR, RunningServer, make_run, make_view
from tunnihind.api.view import View
from tunnihind.market import HOUR_S, day_start, hours_of
from tunnihind.settings import Settings
from tunnihind.web.summary import clock_time, summarise


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_the_policy_allows_the_pages_own_style_and_nothing_else(server: RunningServer, path: str) -> None:
    answer = await server.ask(path)
    html = answer.body.decode()
    style = html.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "<script" not in html
    assert " style=" not in html


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_links_within_the_pages_are_relative(server: RunningServer, path: str) -> None:
    html = (await server.ask(path)).body.decode()
    assert 'href="/' not in html
    assert 'src="' not in html


async def test_the_summary_shows_the_price_now_and_the_vat_rate_that_is_set(serve: Serve) -> None:
    server = await serve(settings=Settings(vat_rate=0.24, attribution="Credit <b>me</b>"))
    html = (await server.ask("/")).body.decode()
    assert "0.1046" in html
    assert "24 %" in html
    assert "22 %" not in html
    assert "Credit &lt;b&gt;me&lt;/b&gt;" in html


async def test_the_summary_follows_the_clock_and_new_prices(server: RunningServer) -> None:
    assert "0.1029" in (await server.ask("/")).body.decode()
    server.clock.instant += HOUR_S
    assert "71.90 EUR/MWh" in (await server.ask("/")).body.decode()
    server.snapshot.show(make_view({HOUR + HOUR_S: 12.34}, version="2"))
    assert "12.34 EUR/MWh" in (await server.ask("/")).body.decode()


async def test_the_reference_names_every_resource_schema_and_problem(server: RunningServer) -> None:
    html = (await server.ask("/docs")).body.decode()
    for name in ("/api/v1/forecast", "/api/series", "/readyz", "p50Kwh", "SeriesForecastPoint", 'id="problem-429"'):
        assert name in html


def test_a_settled_price_stands_before_the_forecast_of_its_hour() -> None:
    view = make_view({HOUR + HOUR_S: 20.0}, make_run([50.0, 60.0]))
    rows = summarise(view, HOUR, Settings()).days[0].rows
    assert [(row.clock_time, row.eur_mwh, row.band is None) for row in rows] == [
        ("13:00", 20.0, True),
        ("14:00", 60.0, False),
    ]


def test_with_nothing_known_the_summary_says_so() -> None:
    summary = summarise(View("empty"), HOUR, Settings())
    assert summary.current is None
    assert [day.rows for day in summary.days] == [(), ()]
    assert summary.ages == ("No settled prices yet", "No forecast yet", "Data never refreshed yet")


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2025, 3, 30), 23), (date(2025, 10, 26), 25), (date(2025, 12, 15), 24)]
)
def test_a_day_has_as_many_rows_as_the_estonian_clock_has_hours(day: date, hours: int) -> None:
    start = day_start(day) - HOUR_S
    view = make_view(dict.fromkeys(range(start, start + 30 * HOUR_S, HOUR_S), 1.0), None)
    assert len(summarise(view, start + 600, Settings()).days[0].rows) == hours


def test_the_hour_that_autumn_repeats_is_told_apart_by_its_zone() -> None:
    first = hours_of(date(2025, 10, 26))[0]
    times = [clock_time(first + i * HOUR_S) for i in range(5)]
    assert times == ["01:00", "02:00", "03:00 EEST", "03:00 EET", "04:00"]
