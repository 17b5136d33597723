"""The page's notices about missing, old or late data, and its texts about the sources."""

import re
from dataclasses import replace
from datetime import date
from typing import get_args

import pytest

from tests.support.api.api_server import HOUR, Serve, html_of, make_run, make_view, with_series
from tests.support.pages import sample_views
from tests.support.pages.summaries import summary_of
from tests.support.store.stores import HELD
from tunnihind.api.models.service import Mode
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, day_start
from tunnihind.errors import SourceFault
from tunnihind.settings import Settings
from tunnihind.web.notices import ShownFault, SourceState
from tunnihind.web.options import LANGUAGES, PageOptions
from tunnihind.web.summary import DashboardSummary, PageContext, summarise_dashboard
from tunnihind.web.texts import texts_in


def warnings(summary: DashboardSummary) -> list[str]:
    return [notice.text for notice in summary.notices if notice.is_warning]


def test_old_data_is_said_plainly_with_its_age() -> None:
    texts = " ".join(warnings(summary_of(sample_views.stale())))
    assert "forecast is 9 h old" in texts
    assert "refreshed 9 h ago" in texts


@pytest.mark.parametrize(("age_s", "is_old"), [(3 * HOUR_S, False), (3 * HOUR_S + 1, True)])
def test_a_forecast_is_called_old_after_three_hours(age_s: int, *, is_old: bool) -> None:
    view = make_view({HOUR: 5.0}, make_run([5.0] * 48, made_at=HOUR - age_s), last_refresh=HOUR)
    assert any("forecast is" in text for text in warnings(summary_of(view, HOUR))) is is_old


def test_a_missing_price_is_said_once() -> None:
    view = sample_views.stale()
    hour = HOUR // HOUR_S * HOUR_S
    assert summary_of(view).current is None  # the page says so in place of the price
    assert "market price is missing" not in " ".join(warnings(summary_of(view)))
    forecast = summary_of(with_series(view, issued={hour: sample_views.percentiles(hour)}))
    assert forecast.current is not None
    assert "market price is missing" in " ".join(warnings(forecast))


def test_fresh_data_warns_of_nothing() -> None:
    assert warnings(summary_of(sample_views.ordinary())) == []


def test_a_server_without_a_pipeline_is_not_blamed_for_old_data() -> None:
    assert "refreshed" not in " ".join(warnings(summary_of(sample_views.stale(), pipeline_expected=False)))


@pytest.mark.parametrize(("minutes", "is_late"), [(15 * 60 + 29, False), (15 * 60 + 30, True)])
@pytest.mark.parametrize("tz", ["local", "utc"])
def test_prices_of_tomorrow_are_due_and_after_half_past_three_late(minutes: int, is_late: bool, tz: str) -> None:
    midnight = day_start(date(2025, 12, 15)) - HOUR_S
    view = make_view({midnight + HOUR_S + i * HOUR_S: 5.0 for i in range(24)})
    summary = summary_of(view, midnight + minutes * 60, tz=tz)
    assert any("late" in text for text in warnings(summary)) is is_late
    assert summary.tomorrow_is_due is not is_late


@pytest.mark.parametrize(
    ("reason", "is_settled", "told"),
    [
        ("disagreement", False, "Tue 16 Dec: two sources give different prices. Until it is clear"),
        ("off", False, "Tue 16 Dec: the prices that came look wrong"),
        ("incomplete", False, "Tomorrow's prices are late"),
        ("disagreement", True, "Tue 16 Dec: two sources give different prices. This page shows the prices of one"),
        ("off", True, None),
    ],
)
def test_why_prices_of_tomorrow_are_held_back_is_said(reason: str, *, is_settled: bool, told: str | None) -> None:
    today, tomorrow = date(2025, 12, 15), date(2025, 12, 16)
    start, evening = day_start(today), day_start(today) + 18 * HOUR_S
    view = replace(
        make_view({start + hour * HOUR_S: 5.0 for hour in range(48 if is_settled else 24)}),
        held=(replace(HELD, day=tomorrow, reason=reason), replace(HELD, day=tomorrow, zone="fi", reason="zeros")),
        unconfirmed={("ee", tomorrow): "elering"} if is_settled else {},
    )
    found = [text for text in warnings(summary_of(view, evening)) if " h " not in text]
    assert [text.startswith(told or "") for text in found] == ([True] if told else [])


def test_prices_of_tomorrow_that_are_there_are_not_late() -> None:
    evening = HOUR + 10 * HOUR_S
    for tz in ("local", "utc"):
        summary = summary_of(sample_views.ordinary(evening), evening, tz=tz)
        assert warnings(summary) == []
        assert not summary.tomorrow_is_due


FAULTS: tuple[ShownFault, ...] = (*get_args(SourceFault.__value__), "unknown")
STATUS = {"token": 401, "refused": 403, "busy": 429, "error": 503}
WELL = SourceState("elering", HOUR, None, None)


def failing(fault: ShownFault, name: str = "elering", answered: int | None = None) -> SourceState:
    return SourceState(name, answered, fault, STATUS.get(fault))


def empty_with(
    *sources: SourceState, pipeline_expected: bool = True, mode: Mode = "live", lang: str = "en"
) -> DashboardSummary:
    return summarise_dashboard(
        ServedData("empty", ESTONIA),
        HOUR + 612,
        Settings(),
        PageOptions.read({"lang": lang}),
        PageContext(sources=sources),
        pipeline_expected=pipeline_expected,
        mode=mode,
    )


def reason(summary: DashboardSummary) -> str:
    assert summary.no_prices_explanation is not None
    return summary.no_prices_explanation.reason


def advice(summary: DashboardSummary) -> str:
    assert summary.no_prices_explanation is not None
    return " ".join(summary.no_prices_explanation.advice)


def test_a_server_that_has_asked_nobody_yet_asks_for_patience() -> None:
    assert "just started" in reason(empty_with())


def test_a_server_without_a_pipeline_says_that_another_one_is_missing() -> None:
    assert "another server stores" in reason(empty_with(pipeline_expected=False))


def test_a_rehearsal_of_a_day_before_the_archive_says_so() -> None:
    assert "rehearsed" in reason(empty_with(mode="rehearsal", pipeline_expected=False))


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", "1 January 2025 01:00"), ("et", "1. jaanuar 2025 kell 01:00"), ("ru", "1 января 2025, 01:00")],
)
def test_an_old_database_says_how_old_its_prices_are_and_of_which_year(lang: str, told: str) -> None:
    midnight = day_start(date(2025, 1, 1)) - HOUR_S
    summary = summary_of(make_view({midnight: 50.0}), midnight + 348 * DAY_S, pipeline_expected=False, lang=lang)
    assert summary.no_prices_explanation is not None
    assert "347" in summary.no_prices_explanation.title
    assert told in summary.no_prices_explanation.reason
    assert told in " ".join(summary.freshness)


def test_sources_that_fail_are_each_named_with_what_to_do() -> None:
    summary = empty_with(failing("unreachable"), failing("token", "entsoe"), failing("unreachable", "open-meteo"))
    assert [(line.name, line.state, line.is_failing) for line in summary.sources] == [
        ("Elering (market prices)", "can't be reached; no usable answer yet", True),
        ("ENTSO-E (market prices)", "refuses access (HTTP 401); no usable answer yet", True),
        ("Open-Meteo (weather)", "can't be reached; no usable answer yet", True),
    ]
    assert "gets no prices" in reason(summary)
    assert re.findall("internet connection|--entsoe-token", advice(summary)) == [
        "internet connection",
        "--entsoe-token",
    ]


def test_a_source_of_weather_alone_is_no_reason_for_missing_prices() -> None:
    summary = empty_with(WELL, failing("busy", "open-meteo"))
    assert "passed the server's checks" in reason(summary)
    assert "./run status" in advice(summary)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_words_and_its_advice(fault: ShownFault, lang: str) -> None:
    for answered in (None, HOUR):
        summary = empty_with(failing(fault, answered=answered), lang=lang)
        [line] = summary.sources
        assert not re.search(r"None|[{}]", line.state + reason(summary) + advice(summary))
        assert (str(STATUS[fault]) in line.state) if fault in STATUS else True


@pytest.mark.parametrize(("hours", "is_asked"), [(12, True), (13, False)])
def test_a_source_that_nobody_asks_any_more_is_not_shown_as_well(hours: int, *, is_asked: bool) -> None:
    [line] = empty_with(replace(WELL, answered_ts=HOUR + 612 - hours * HOUR_S)).sources
    assert line.is_failing is not is_asked
    assert ("not asked since then" in line.state) is not is_asked


def test_a_source_of_another_name_goes_by_that_name() -> None:
    assert empty_with(SourceState("nordpool", HOUR, None, None)).sources[0].name == "nordpool"


async def test_an_empty_page_says_once_what_is_wrong_and_promises_nothing(serve: Serve) -> None:
    html = await html_of(
        await serve(ServedData("empty", ESTONIA), page_context=lambda: PageContext(sources=(failing("unreachable"),))),
        "/",
    )
    assert html.count("No prices yet") == 1
    assert html.count("can't be reached".replace("'", "&#39;")) == 1
    # The texts of the page's scripts are not shown.
    shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    for promise in ("14:00", "<iframe", "&lt;iframe", "No price for this hour", 'class="plot"', "data-finder"):
        assert promise not in shown


async def test_the_small_view_of_an_empty_server_has_no_advice_for_its_operator(serve: Serve) -> None:
    html = await html_of(
        await serve(ServedData("empty", ESTONIA), page_context=lambda: PageContext(sources=(failing("unreachable"),))),
        "/?embed=1",
    )
    assert "No prices yet" in html
    assert texts_in("en")("empty.operator") not in html


async def test_a_page_follows_its_sources_at_once_though_the_version_of_the_data_stays(serve: Serve) -> None:
    states = [WELL]
    server = await serve(sample_views.ordinary(), page_context=lambda: PageContext(sources=(*states,)))
    assert "can&#39;t be reached" not in await html_of(server, "/")
    states[:] = [failing("unreachable", answered=HOUR)]
    assert "can&#39;t be reached" in await html_of(server, "/")


async def test_a_page_with_prices_says_how_its_sources_are(serve: Serve) -> None:
    sources = WELL, failing("error", "open-meteo", HOUR)
    server = await serve(sample_views.ordinary(), page_context=lambda: PageContext(sources=sources))
    html = await html_of(server, "/?lang=et")
    section = html.partition("Andmeallikad")[2].partition("</details>")[0]
    assert re.search(r"<li><b>Elering \(börsihinnad\)</b>: vastas ", section)
    assert re.search(r'<li class="failing"><b>Open-Meteo \(ilm\)</b>: teatab veast \(HTTP 503\)', section)
