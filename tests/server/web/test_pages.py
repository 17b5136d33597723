import asyncio
import json
import re
from collections.abc import Callable, Hashable
from datetime import date, datetime
from html.parser import HTMLParser
from importlib import resources
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.support.api.api_server import HOUR, RunningServer, Serve, html_of, make_view, with_series
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.outline import Outline
from tunnihind.api.models.service import Mode
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from tunnihind.settings import Settings
from tunnihind.web import pages
from tunnihind.web.options import PageOptions
from tunnihind.web.pages import PageQueue
from tunnihind.web.summary import DashboardSummary, PageContext, summarise_dashboard

EVERY_PAGE = [
    "/",
    "/docs",
    "/accuracy",
    "/compare",
    "/compare?lang=ru",
    "/?embed=1",
    "/?lang=et&unit=mwh&tz=utc&theme=dark",
    "/docs?lang=et",
    "/accuracy?lang=et&ahead=7",
]


class RenewedControls(HTMLParser):
    """Controls that can have the focus in the replaceable parts of a page: their tags and ids."""

    VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})
    CONTROLS = frozenset({"a", "button", "input", "select", "summary"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self._open: list[bool] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        # Content for browsers without scripts is never replaced.
        is_renewed = tag != "noscript" and ("data-live" in given or any(self._open[-1:]))
        if tag in self.CONTROLS and given.get("type") != "hidden" and is_renewed:
            self.found.append((tag, given.get("id")))
        if tag not in self.VOID:
            self._open.append(is_renewed)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            self._open.pop()


@pytest.mark.parametrize("path", EVERY_PAGE)
async def test_a_page_has_nothing_inline_and_a_policy_that_forbids_it(server: RunningServer, path: str) -> None:
    answer = await server.ask(path)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert Outline(answer.body.decode()).inline == []


@pytest.mark.parametrize("path", ["/", "/?package=vork_4", "/?package=vork_4&price=market&lang=et", "/?embed=1"])
async def test_what_a_fresh_page_replaces_can_give_the_keyboard_its_place_back(serve: Serve, path: str) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "lv")))
    controls = RenewedControls(await html_of(server, path)).found
    assert bool(controls) is ("embed" not in path)
    assert [tag for tag, identifier in controls if not identifier] == []


@pytest.mark.parametrize("path", EVERY_PAGE)
async def test_all_addresses_are_relative_so_that_a_path_prefix_does_no_harm(server: RunningServer, path: str) -> None:
    addresses = Outline(await html_of(server, path)).addresses
    assert addresses
    assert [address for address in addresses if re.match(r"/|\w+:", address)] == []


@pytest.mark.parametrize("path", EVERY_PAGE)
async def test_all_files_that_a_page_refers_to_are_there(server: RunningServer, path: str) -> None:
    for address in Outline(await html_of(server, path)).addresses:
        if not address.startswith("#"):
            assert (await server.ask(f"/{address.removeprefix('./')}")).status == 200, address


@pytest.mark.parametrize("path", ["/", "/?embed=1", "/docs", "/?lang=et", "/docs?lang=et"])
@pytest.mark.parametrize("mode", ["live", "demo", "rehearsal"])
async def test_a_page_is_marked_where_its_market_is_not_todays(serve: Serve, path: str, mode: Mode) -> None:
    html = await html_of(await serve(mode=mode), path)
    word = {"demo": "demo", "rehearsal": "möödunud päev" if "et" in path else "past day"}.get(mode)
    assert [re.sub(r"<.*?>", "", mark) for mark in re.findall(r'<span class="mode">.*?</span>', html)] == [word] * bool(
        word
    )
    assert ("Tunnihind</title>" in html) is (mode == "live")


async def test_the_dashboard_says_that_prices_are_simulated_or_of_which_past_day(serve: Serve) -> None:
    assert "no price is real" in await html_of(await serve(mode="demo"), "/")
    assert "Replaying 15 December 2025: prices and forecast as they were known then" in await html_of(
        await serve(mode="rehearsal"), "/"
    )
    live = await html_of(await serve(), "/")
    assert "real" not in live
    assert "rehearsal" not in live


async def test_a_price_in_the_summing_sentences_is_not_parted_from_its_unit(serve: Serve) -> None:
    html = await html_of(await serve(sample_views.ordinary(prices={HOUR + 5 * HOUR_S: 900.0})), "/?unit=mwh")
    sentences = html.partition('id="outlook"')[2].partition("</p>")[0]
    assert "900.00\u00a0€/MWh" in sentences


async def test_weather_stands_under_the_chart_and_credits_who_forecast_it(serve: Serve) -> None:
    html = await html_of(await serve(sample_views.ordinary()), "/")
    chart, rest = html.split('data-start="', 1)
    assert 'data-chart="' in chart
    assert 'href="https://open-meteo.com/"' in rest
    simulated = await html_of(await serve(sample_views.ordinary(), mode="demo"), "/")
    assert 'data-start="' in simulated
    assert "open-meteo" not in simulated


@pytest.mark.parametrize("path", ["/", "/?embed=1"])
async def test_nothing_stands_where_the_weather_is_unknown_or_has_no_room(serve: Serve, path: str) -> None:
    unknown = None if "embed" in path else PageContext
    html = await html_of(await serve(sample_views.ordinary(), page_context=unknown), path)
    assert 'data-start="' not in html
    assert "open-meteo" not in html


async def test_a_page_is_cached_like_the_api_and_told_apart_by_language(server: RunningServer) -> None:
    answer = await server.ask("/")
    series = await server.ask("/api/series")
    assert answer.headers["Cache-Control"] == series.headers["Cache-Control"]
    assert answer.headers["Vary"] == "Accept-Encoding, Accept-Language"
    assert (await server.ask("/", f"If-None-Match: {answer.headers['ETag']}")).status == 304
    by_quarter = await server.ask("/?period=quarter")
    quarters = await server.ask("/api/v1/quarters")
    assert by_quarter.headers["Cache-Control"] == quarters.headers["Cache-Control"] != answer.headers["Cache-Control"]
    server.clock.instant += 70
    assert (await server.ask("/", f"If-None-Match: {answer.headers['ETag']}")).status == 304


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("et-EE,et;q=0.9,en;q=0.8", "et"),
        ("en,et;q=0.9", "en"),
        ("sv,fi;q=0.8", "en"),
        ("ru,et;q=0.1", "ru"),
        ("ru-RU,ru;q=0.9,et;q=0.8,en-US;q=0.7", "ru"),
        ("fi,et;q=0.1", "et"),
        ("et;q=nonsense", "en"),
    ],
)
async def test_the_language_is_the_readers_unless_the_address_names_one(
    server: RunningServer, accepted: str, language: str
) -> None:
    for page in ("/", "/docs"):
        assert f'<html lang="{language}"' in await html_of(server, page, f"Accept-Language: {accepted}")
        assert '<html lang="et"' in await html_of(server, f"{page}?lang=et", f"Accept-Language: {accepted}")


async def test_a_value_of_the_address_that_means_nothing_is_left_out_and_said(server: RunningServer) -> None:
    html = await html_of(server, "/?unit=btu&package=vork_3&margin=-5&hours=3&network=4&times=&span=year&by=noon&kw=x")
    assert "an unknown value for unit, package, margin, network, span, kw, by. The page ignores this value" in html
    assert re.sub(r'<div class="notices".*?</div>', "", html, flags=re.DOTALL) == re.sub(
        r'<div class="notices".*?</div>', "", await html_of(server, "/"), flags=re.DOTALL
    )


@pytest.mark.parametrize(
    ("path", "lang", "said"),
    [
        ("/prices", "et", "Lehte ei leitud"),
        ("/api/v1/none", "ru", "Страница не найдена"),
        ("/a/b/c", "en", "Page not found"),
    ],
)
async def test_a_browser_gets_a_page_where_there_is_none_and_a_program_its_json(
    server: RunningServer, path: str, lang: str, said: str
) -> None:
    page = await server.ask(path, f"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Language: {lang}")
    assert (page.status, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    html = page.body.decode()
    assert said in html
    for part in ('id="brand"', 'id="nav-prices"', 'id="nav-docs"', 'class="menu"'):
        assert part in html
    root = urljoin(f"http://house.example/prefix{path}", re.findall('<base href="(.*?)">', html)[0])
    assert root == "http://house.example/prefix/"
    for address in Outline(html).addresses[1:]:
        assert (await server.ask(urljoin("/", address))).status == 200, address
    program = await server.ask(path, "Accept: */*")
    assert (program.status, program.headers["Content-Type"]) == (404, "application/problem+json")


async def test_an_address_names_the_language_only_where_the_reader_has_chosen_it(server: RunningServer) -> None:
    by_browser, chosen = [
        await html_of(server, f"/?unit=mwh{lang}", "Accept-Language: et") for lang in ("", "&lang=et")
    ]
    assert 'href="docs?unit=mwh"' in by_browser
    assert 'href="docs?lang=et&amp;unit=mwh"' in chosen
    # A link has the language only if the reader chose it. Code to copy always has a language, because its page has
    # other readers.
    assert "/?lang=et&amp;unit=mwh&amp;embed=1" in by_browser


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[PageOptions]:
    """Return a list that collects the options of all dashboards that are made."""
    options: list[PageOptions] = []

    def count(*args: Any, **named: Any) -> DashboardSummary:  # noqa: ANN401  passed on
        options.append(args[3])
        return summarise_dashboard(*args, **named)

    monkeypatch.setattr(pages, "summarise_dashboard", count)
    return options


async def test_only_so_many_sets_of_options_are_kept_in_memory(
    server: RunningServer, made: list[PageOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_CACHED_PAGES", 2)
    asked = ["/?vat=none", "/?vat=api", "/?vat=api", "/?vat=law", "/?vat=none"]
    for path in asked:
        await html_of(server, path)
    assert [options.vat for options in made] == ["none", "api", "law", "none"]


async def test_a_page_that_many_ask_for_at_once_is_made_once(server: RunningServer, made: list[PageOptions]) -> None:
    answers = await asyncio.gather(*(server.ask("/?package=vork_4&margin=0.5") for _ in range(5)))
    assert len({answer.body for answer in answers}) == len(made) == 1


async def test_of_too_many_new_pages_at_once_some_are_refused_and_what_is_ready_is_answered(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_QUEUED_PAGES", 0)
    refused = await server.ask("/?package=vork_4&margin=0.5")
    assert (refused.status, refused.headers["Retry-After"]) == (503, "10")
    assert json.loads(refused.body)["detail"].startswith("Too many different pages")
    monkeypatch.setattr(pages, "MAX_QUEUED_PAGES", 1)
    assert (await server.ask("/?package=vork_4&margin=0.5")).status == 200
    monkeypatch.setattr(pages, "MAX_QUEUED_PAGES", 0)
    for path in ("/?package=vork_4&margin=0.50", "/api/series"):
        for _ in range(2):
            assert (await server.ask(path)).status == 200
            # A second later the page has other header fields, but the same content.
            server.clock.instant += 1


async def test_no_page_is_made_for_a_client_that_has_gone(
    serve: Serve, made: list[PageOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked, has_gone = asyncio.Event(), asyncio.Event()

    class HeldUp(PageQueue):
        async def make[Page](self, key: Hashable, make: Callable[[], Page]) -> Page | None:
            is_asked.set()
            await has_gone.wait()
            return await super().make(key, make)

    monkeypatch.setattr(pages, "PageQueue", HeldUp)
    server = await serve()
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET /?vat=law HTTP/1.1\r\nHost: test\r\n\r\n")
    await is_asked.wait()
    writer.close()
    assert server.runner.server is not None
    while any(connection.transport for connection in server.runner.server.connections):  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0)
    has_gone.set()
    assert (await server.ask("/?vat=none")).status == 200
    assert [options.vat for options in made] == ["none"]


async def test_links_keep_the_options_that_they_do_not_change(server: RunningServer) -> None:
    html = await html_of(server, "/?lang=et&unit=mwh&theme=dark")
    assert 'href="docs?lang=et&amp;unit=mwh&amp;theme=dark"' in html
    assert 'href="?lang=et&amp;unit=mwh&amp;tz=utc&amp;theme=dark"' in html
    assert 'href="?lang=en&amp;unit=mwh&amp;theme=dark"' in html


@pytest.mark.parametrize(
    ("options", "price", "named"),
    [
        ("", "10.46", "with 24% VAT"),
        ("?vat=law", "10.46", "with 24% VAT"),
        ("?vat=api", "10.29", "with 22% VAT"),
        ("?vat=none", "8.44", "without VAT"),
        ("?unit=mwh", "84.37", "without VAT"),
        ("?unit=mwh&vat=law", "104.62", "with 24% VAT"),
        ("?lang=et", "10,46", "koos 24% käibemaksuga"),
        ("?lang=et&vat=api", "10,29", "koos 22% käibemaksuga"),
    ],
)
async def test_the_price_now_has_the_vat_that_is_chosen_and_names_it(
    server: RunningServer, options: str, price: str, named: str
) -> None:
    html = await html_of(server, f"/{options}")
    assert f"<strong data-now-price>{price}</strong>" in html
    assert f'<span class="soft vat">{named}</span>' in html


async def test_the_price_now_is_that_of_the_quarter_and_changes_with_it(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), now=HOUR + 899)
    shown = re.compile(r"<strong data-now-price>(.*?)</strong>")
    for quarter in range(4):
        ts = HOUR + quarter * QUARTER_S
        [price] = shown.findall(await html_of(server, "/?period=quarter&unit=mwh"))
        assert price == f"{sample_views.shaped(ts, sample_views.price(HOUR)):.2f}"
        answer = json.loads((await server.ask("/api/v1/quarters")).body)
        assert price == f"{answer['dayAhead'][0]['eurMwh']:.2f}"
        assert shown.findall(await html_of(server, "/?period=hour&unit=mwh")) == [f"{sample_views.price(HOUR):.2f}"]
        server.clock.instant += QUARTER_S


@pytest.mark.parametrize(("day", "quarters"), [(SPRING, 92), (AUTUMN, 100)])
async def test_the_table_has_a_row_for_each_quarter_of_a_day(serve: Serve, day: date, quarters: int) -> None:
    now = sample_views.noon_of(day)
    html = await html_of(await serve(sample_views.ordinary(now), now=now), "/?period=quarter")
    [today] = re.findall(r"<caption>Today.*?</table>", html, re.DOTALL)
    clocks = re.findall(r'<th scope="row">(.*?)</th>', today)
    assert len(clocks) == len(set(clocks)) == quarters
    assert ("03:45 EEST" in clocks) is (quarters == 100)
    assert ("03:45" in clocks) is False


async def test_the_page_follows_the_clock_and_new_prices(server: RunningServer) -> None:
    server.clock.instant += HOUR_S
    assert "<strong data-now-price>71.90</strong>" in await html_of(server, "/?unit=mwh")
    server.snapshot.replace_data(make_view({HOUR + HOUR_S: 12.34}, version="2"))
    assert "<strong data-now-price>12.34</strong>" in await html_of(server, "/?unit=mwh")


async def test_the_references_vat_rate_is_the_one_that_is_set(serve: Serve) -> None:
    server = await serve(settings=Settings(vat_rate=0.24, attribution="Credit <b>me</b>"))
    for page in ("/", "/docs"):
        html = await html_of(server, page)
        assert "24%" in html
        assert "22%" not in html
        assert "Credit &lt;b&gt;me&lt;/b&gt;" in html
    assert "include 22% VAT" in await html_of(await serve(), "/docs")


def choices_of(html: str, option: str) -> list[str]:
    return re.findall(rf'data-option="{option}"[^>]*>([^<]*)<', html)


@pytest.mark.parametrize(
    ("rate", "choices"),
    [
        (0.22, ["No VAT", "22% (as in the API)", "24% (by law)"]),
        (0.09, ["No VAT", "9% (as in the API)", "24% (by law)"]),
        (0.24, ["No VAT", "24% (by law)"]),
        (0.0, ["No VAT", "24% (by law)"]),
    ],
)
async def test_a_rate_of_the_apis_that_is_the_laws_or_none_is_no_choice_of_its_own(
    serve: Serve, rate: float, choices: list[str]
) -> None:
    server = await serve(settings=Settings(vat_rate=rate))
    html = await html_of(server, "/?vat=api")
    assert choices_of(html, "vat") == choices
    series = json.loads((await server.ask("/api/series")).body)
    assert f"<strong data-now-price>{100 * series['current']['eurKwh']:.2f}</strong>" in html


async def test_another_vat_rate_than_the_laws_is_told_as_such(serve: Serve) -> None:
    server = await serve()
    for vat, told in (
        ("none", "are not included. By law, VAT is 24%. This server&#39;s API uses 22% VAT. </p>"),
        ("api", "are not included. By law, VAT is 24%. </p>"),
        ("law", "are not included. This server&#39;s API uses 22% VAT. </p>"),
    ):
        assert told in " ".join((await html_of(server, f"/?vat={vat}")).split())
    assert "Selle serveri API hindades on käibemaks 22%." in await html_of(server, "/?lang=et")
    assert "Seadusjärgne käibemaks on 24%." in await html_of(server, "/?lang=et&vat=api")
    assert "By law" not in await html_of(await serve(settings=Settings(vat_rate=0.24)), "/")


async def test_the_first_hour_of_a_day_is_in_the_table_of_hours_and_no_day_of_its_own(serve: Serve) -> None:
    ends_at_one = with_series(
        sample_views.ordinary(), settled=sample_views.settled(HOUR - 24 * HOUR_S, HOUR + 12 * HOUR_S)
    )
    _, after = (await html_of(await serve(ends_at_one), "/")).split('<div id="days"')
    by_day, hours = after.split('<div class="all-hours"')
    assert "<caption>Thu 18 Dec</caption>" in hours
    assert by_day.count('<th scope="row">Wed 17 Dec <small') == 1
    assert '<th scope="row">Thu 18 Dec <small' not in by_day


MIDNIGHT = int(datetime(2025, 7, 1, tzinfo=ESTONIA.time_zone).timestamp())


@pytest.mark.parametrize(
    ("now", "price", "named", "choices"),
    [
        (MIDNIGHT - 1, "12.20", "with 22% VAT", ["No VAT", "22% (by law)"]),
        (MIDNIGHT, "12.40", "with 24% VAT", ["No VAT", "22% (as in the API)", "24% (by law)"]),
    ],
)
async def test_a_first_visit_sees_the_laws_rate_of_its_day_and_each_hour_that_of_its_own(
    serve: Serve, now: int, price: str, named: str, choices: list[str]
) -> None:
    around = {MIDNIGHT + i * HOUR_S: 100.0 for i in range(-24, 24)}
    server = await serve(make_view(around), now=now)
    html = await html_of(server, "/")
    assert f"<strong data-now-price>{price}</strong>" in html
    assert f'<span class="soft vat">{named}</span>' in html
    assert choices_of(html, "vat") == choices
    tables = dict(re.findall(r'<table data-day="(.*?)">(.*?)</table>', html, re.DOTALL))
    amounts = {day: set(re.findall(r"<td>([\d.]+)</td>", table)) for day, table in tables.items()}
    first_day = datetime.fromtimestamp(MIDNIGHT, ESTONIA.time_zone).date().isoformat()
    assert amounts.pop(first_day) == {"12.40"}
    assert set().union(*amounts.values()) <= {"12.20"}


async def test_a_settled_price_of_a_hair_below_zero_is_not_a_negative_zero(serve: Serve) -> None:
    server = await serve(sample_views.negative())
    html = await html_of(server, "/")
    assert "−0.0" not in html.replace("−0.01", "")
    assert "−1.5" in html
    assert "-1.5" not in html


async def test_the_snippet_to_embed_names_the_public_address_and_the_credit(serve: Serve) -> None:
    html = await html_of(await serve(settings=Settings(public_url="https://hind.example")), "/?unit=mwh")
    assert "https://hind.example/?lang=en&amp;unit=mwh&amp;embed=1" in html
    assert "Tunnihind (hind.example)" in html


@pytest.mark.parametrize(("public_url", "warns"), [("", True), ("http://nas", True), ("https://hind.example", False)])
async def test_the_snippet_warns_of_an_address_that_others_cannot_reach(
    serve: Serve, public_url: str, *, warns: bool
) -> None:
    html = await html_of(await serve(settings=Settings(public_url=public_url)), "/")
    assert re.search(r"data-private( hidden)?>", html)[1] == (None if warns else " hidden")  # type: ignore[index]  # a match


async def test_comments_of_recipes_are_in_the_language_of_the_page(server: RunningServer) -> None:
    assert "prices by quarters of an hour" in await html_of(server, "/docs")
    html = await html_of(server, "/docs?lang=et")
    assert "prices by quarters of an hour" not in html
    assert "hinnad veerandtundide kaupa" in html


def test_both_ways_to_dark_have_the_same_colours() -> None:
    sheet = (resources.files("tunnihind.web") / "static/style.css").read_text()
    palettes = [
        dict(re.findall(r"(--[\w-]+): ([^;]+);", rule)) for rule in re.findall(r"color-scheme: dark;([^}]*)", sheet)
    ]
    assert len(palettes) == 2
    assert palettes[0] == palettes[1] != {}
