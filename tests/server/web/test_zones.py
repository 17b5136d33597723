"""The pages of each zone name their own country, lead to the other zones, and accept a household's own rates."""

import re
from datetime import datetime
from typing import Any, get_args
from urllib.parse import urljoin

import pytest

from tests.support.api.api_server import HOUR, Serve, html_of, make_view
from tests.support.markets.time_of_use import CASES, FINNISH, LITHUANIAN
from tests.support.pages import sample_views
from tests.support.pages.outline import Outline
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA, FINLAND, LATVIA, MARKETS, ZONES, Market, Zone, consumer_price
from tunnihind.errors import SourceFault
from tunnihind.settings import Settings
from tunnihind.web.notices import SourceState
from tunnihind.web.options import LANGUAGES, Language, PageOptions
from tunnihind.web.summary import DashboardSummary, PageContext, summarise_dashboard
from tunnihind.web.texts import texts_in

OF_ESTONIA = re.compile(r"\w*(?:Estonia|Eesti|Эстони|Tallinn|Elektrilevi|Võrk|vork_)\w*")
PAGES = ("/", "/?period=quarter&vat=none", "/?embed=1", "/accuracy", "/compare", "/docs")
RATES = {"network": "5", "night": "3", "other": "1.25", "margin": "0.5"}
OWN = "&".join(f"{name}={rate}" for name, rate in RATES.items())


def instant(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


def own_words(html: str, lang: Language) -> str:
    """Remove the parts of a page that are about all zones, and the choices of other zones and languages."""
    html = re.sub(r'<details class="zones".*?</details>', "", html, flags=re.DOTALL)
    texts = texts_in(lang)
    return html.replace(texts("accuracy.word.inputs.text"), "").replace(texts("option.lang.et"), "")


EMPTY = ServedData("empty", ESTONIA)
AFTERNOON = instant("2025-12-15T16:00:00+02:00")
WELL = SourceState("elering", HOUR, None, None)
FAILING = [SourceState("elering", None, fault, 503) for fault in get_args(SourceFault.__value__)]
STATES: dict[str, dict[str, Any]] = {
    "ordinary": {"view": sample_views.ordinary()},
    "not scored": {"view": sample_views.before_the_first_scores()},
    "late": {"view": make_view({AFTERNOON: 50.0}, last_refresh=AFTERNOON), "now": AFTERNOON},
    "old": {"view": sample_views.stale()},
    "failing": {"view": EMPTY, "page_context": lambda: PageContext(sources=(*FAILING,))},
    "held back": {"view": EMPTY, "page_context": lambda: PageContext(sources=(WELL,))},
    "empty": {"view": EMPTY, "page_context": PageContext},
}
"""The data of a server."""


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("zones", [("lv", "ee"), ("fi",), ("lt",)])
async def test_no_page_of_another_country_speaks_of_estonia(
    serve: Serve, zones: tuple[Zone, ...], lang: Language, state: str
) -> None:
    server = await serve(settings=Settings(zones=zones), **STATES[state])
    for path in (*PAGES, f"/?{OWN}", "/?package=vork_4"):
        html = await html_of(server, f"{path}{'&' if '?' in path else '?'}lang={lang}")
        # The page's links to itself contain the query string.
        found = OF_ESTONIA.findall(own_words(html, lang))
        assert found == [], path


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("zone", ZONES)
async def test_title_heading_and_description_name_the_country(serve: Serve, zone: Zone, lang: Language) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=(zone,)))
    names = texts_in(lang).country_forms(zone)
    for path in ("/", "/accuracy", "/docs", "/?embed=1"):
        html = await html_of(server, f"{path}{'&' if '?' in path else '?'}lang={lang}")
        [title], [heading] = re.findall("<title>(.*?)</title>", html), re.findall("<h1[^>]*>(.*?)</h1>", html)
        assert any(name in title for name in names.values())
        assert heading in title
        assert names["where"] in re.findall('name="description" content="(.*?)"', html)[0]


def test_the_names_of_countries_are_in_the_form_that_the_language_needs() -> None:
    said = [texts_in(lang)("title", **texts_in(lang).country_forms("lv")) for lang in LANGUAGES]
    assert said == ["Electricity price in Latvia", "Elektri hind Lätis", "Цена на электричество в Латвии"]


def zones_of(html: str) -> dict[str, str]:
    """Return the addresses of the zones in a page's picker, by their names."""
    picker = re.findall(r'<details class="zones".*?</details>', html, flags=re.DOTALL)
    links = re.findall(r'<a href="([^"]*)"[^>]*>(\w+)</a>', "".join(picker))
    return {name: href.replace("&amp;", "&") for href, name in links}


@pytest.mark.parametrize("page", ["", "accuracy", "docs"])
@pytest.mark.parametrize("prefix", ["", "/api/hassio_ingress/token"])
async def test_the_picker_leads_to_the_same_page_of_each_zone_under_any_path(
    serve: Serve, page: str, prefix: str
) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "lv", "fi")))
    paths = {"Estonia": "/", "Latvia": "/lv/", "Finland": "/fi/"}
    for path in paths.values():
        html = await html_of(server, f"{path}{page}")
        here = f"http://house.example{prefix}{path}{page}"
        reached = {name: urljoin(here, href) for name, href in zones_of(html).items()}
        assert reached == {name: f"http://house.example{prefix}{to}{page}" for name, to in paths.items()}
        assert all(re.match(r"\.|\w+[/?]", address) for address in zones_of(html).values())
        for address in reached.values():
            assert (await server.ask(address.removeprefix(f"http://house.example{prefix}"))).status == 200


async def test_a_server_of_one_zone_shows_no_picker(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("fi",)))
    for path in ("/", "/accuracy", "/docs"):
        assert zones_of(await html_of(server, path)) == {}


async def test_only_zones_that_are_served_are_there(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("lv", "fi")))
    assert b'"zone":"LV"' in (await server.ask("/api/about")).body
    for path in ("/lv/api/about", "/ee/", "/lt/", "/lt/api/v1/forecast"):
        assert (await server.ask(path)).status == 404, path


async def test_another_zone_keeps_the_options_but_not_what_a_household_pays_here(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "lv")))
    html = await html_of(server, "/?lang=et&unit=mwh&theme=dark&period=quarter&package=vork_4&margin=1&price=all")
    assert zones_of(html)["Läti"] == "lv/?lang=et&unit=mwh&period=quarter&theme=dark"
    assert zones_of(html)["Eesti"].endswith("&package=vork_4&margin=1&price=all&theme=dark")
    html = await html_of(server, f"/lv/?lang=et&tz=utc&{OWN}")
    assert zones_of(html)["Eesti"] == "../?lang=et&tz=utc"


def summary_in(market: Market, eur_mwh: float, now: int, /, **options: str) -> DashboardSummary:
    """Return the dashboard of a market with the same price for two days."""
    first = market.midnight(market.local_time(now).date())
    view = make_view({first + i * 3600: eur_mwh for i in range(48)})
    view = ServedData("1", market, view.series)
    return summarise_dashboard(
        view, now, Settings(zones=(market.zone,)), PageOptions.read({"lang": "en"} | options, "", market.zone)
    )


NIGHT = instant("2026-11-20T03:00:00+02:00")
DAY = instant("2026-11-20T12:00:00+02:00")
FINNISH_VAT = 0.255


@pytest.mark.parametrize(
    ("now", "network", "named"), [(NIGHT, 3.0, "Network fee, night"), (DAY, 5.0, "Network fee, day")]
)
def test_own_rates_are_added_with_the_countrys_vat_and_told_part_by_part(now: int, network: float, named: str) -> None:
    summary = summary_in(FINLAND, 50.0, now, **RATES)
    assert summary.current is not None
    assert summary.household is not None
    with_fees = 50.0 + 10 * (network + 1.25 + 0.5)
    assert summary.display.shown_price(summary.current) == pytest.approx(100 * consumer_price(with_fees, FINNISH_VAT))
    assert summary.household.parts == (
        ("Market price", "5.000"),
        ("Supplier's margin", "0.500"),
        (named, f"{network:.3f}"),
        ("Other fees", "1.250"),
        ("VAT 25.5%", f"{(5 + 0.5 + network + 1.25) * FINNISH_VAT:.3f}"),
    )
    assert summary.display.unit_and_basis == "c/kWh, your fees, 25.5% VAT"


def test_a_rate_of_vat_with_a_fraction_has_the_languages_decimal_point() -> None:
    assert summary_in(FINLAND, 50.0, DAY, lang="et").display.unit_and_basis == "s/kWh, koos 25,5% käibemaksuga"
    household = summary_in(FINLAND, 50.0, DAY, lang="et", network="5").household
    assert household is not None
    assert household.parts[-1][0] == "Käibemaks 25,5%"


@pytest.mark.parametrize("rates", [{"network": "5"}, {"network": "5", "night": "5"}])
def test_one_rate_of_the_network_holds_at_all_hours(rates: dict[str, str]) -> None:
    for now in (NIGHT, DAY):
        summary = summary_in(LATVIA, 50.0, now, **rates)
        assert summary.household is not None
        assert ("Network fee", "5.000") in summary.household.parts
        assert summary.drawing is not None
        assert summary.drawing.nights == ()


@pytest.mark.parametrize(
    ("zone", "row", "moment", "cents"), [case for case in CASES if case.values[1] in (FINNISH, LITHUANIAN)]
)
def test_a_page_has_the_network_rate_of_its_month_day_and_hour(
    zone: Zone, row: dict[str, Any], moment: str, cents: int
) -> None:
    times = "winter_days" if row == FINNISH else "winter_time"
    tariff = PageOptions.read({"network": "9", "night": "5", "times": times}, "", zone).tariff
    assert tariff is not None
    [network] = [charge for charge in tariff.charges(instant(moment)).charges if charge.eur_kwh]
    assert network.eur_kwh == cents / 100


async def test_the_form_offers_the_times_of_the_day_rate_where_rates_are_entered(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "fi")))
    form = await html_of(server, "/fi/?network=9&times=winter_days")
    assert '<option value="winter_days" selected>' in form
    assert 'name="times"' not in await html_of(server, "/?times=winter_days")


def test_what_is_entered_elsewhere_means_nothing_here() -> None:
    assert summary_in(LATVIA, 50.0, DAY, package="vork_4").household is None
    assert summary_in(ESTONIA, 50.0, DAY, network="5", night="3", other="1").household is None
    assert summary_in(LATVIA, 50.0, DAY, price="market", **RATES).household is None


@pytest.mark.parametrize("market", MARKETS.values(), ids=MARKETS)
def test_nights_are_shaded_only_where_the_prices_include_a_night_rate(market: Market) -> None:
    flat, rates = ({"package": "vork_1"}, {"package": "vork_4"}) if market is ESTONIA else ({"network": "5"}, RATES)
    for options, has_nights in (({}, False), (flat, False), (rates, True), ({**rates, "price": "market"}, False)):
        summary = summary_in(market, 50.0, DAY, **options)
        assert summary.drawing is not None
        assert bool(summary.drawing.nights) is has_nights


@pytest.mark.parametrize(
    ("zone", "rate", "choices"),
    [
        ("ee", None, ["none", "api", "law"]),
        ("lv", None, ["none", "law"]),
        ("fi", None, ["none", "law"]),
        ("fi", 0.24, ["none", "api", "law"]),
    ],
)
def test_the_apis_vat_is_a_choice_only_where_it_is_not_the_laws(
    zone: Zone, rate: float | None, choices: list[str]
) -> None:
    view = make_view({HOUR: 50.0})
    settings = Settings(zones=(zone,), vat_rate=rate)
    view = ServedData("1", MARKETS[zone], view.series)
    assert [*summarise_dashboard(view, HOUR, settings, PageOptions.read({}, "", zone)).display.vat.choices] == choices


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("ee", "Forecast for the Baltic states."),
        ("lt", "Forecast for the Baltic states."),
        ("fi", "Forecast for Finland."),
    ],
)
async def test_the_weather_is_said_to_be_that_of_its_region(serve: Serve, zone: Zone, said: str) -> None:
    assert said in await html_of(await serve(sample_views.ordinary(), Settings(zones=(zone,))), "/")


async def test_the_clock_of_a_page_is_its_zones_and_named_after_it(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("lv", "ee")))
    for path, country, clock in (("/", "Latvia", "Riga"), ("/ee/", "Estonia", "Tallinn")):
        html = await html_of(server, path)
        assert f'data-option="tz" aria-current="true">{country}</a>' in html
        assert f'"tz": "Europe/{clock}"' in html
        assert '"tz": "UTC"' in await html_of(server, f"{path}?tz=utc")


async def test_an_address_without_its_final_slash_leads_to_the_page(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "lv")))
    answer = await server.ask("/lv?lang=ru")
    assert (answer.status, answer.headers["Location"]) == (308, "lv/?lang=ru")
    assert answer.headers["Server"] == "Tunnihind"


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/ee", "/"),
        ("/ee/", "/"),
        ("/ee/docs", "/docs"),
        ("/ee/accuracy/", "/accuracy"),
        ("/ee/index.html", "/"),
        ("/docs/", "/docs"),
        ("/accuracy/", "/accuracy"),
        ("/index.html", "/"),
        ("/lv", "/lv/"),
        ("/lv/index.html", "/lv/"),
        ("/lv/docs/", "/lv/docs"),
    ],
)
async def test_another_spelling_of_an_address_leads_to_the_page(serve: Serve, path: str, page: str) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "lv")))
    answer = await server.ask(f"{path}?lang=ru")
    assert answer.status == 308
    assert urljoin(path, answer.headers["Location"]) == f"{page}?lang=ru"
    assert (await server.ask(f"{page}?lang=ru")).status == 200


@pytest.mark.parametrize("path", ["/fi", "/api/", "/docs/x", "/lv/lv", "/ee/ee/", "/index.html/x", "/docs.html"])
async def test_an_unknown_address_leads_nowhere(serve: Serve, path: str) -> None:
    server = await serve(sample_views.ordinary(), Settings(zones=("ee", "lv")))
    assert (await server.ask(path)).status == 404


async def test_recipes_and_the_snippet_to_embed_have_the_address_of_their_zone(serve: Serve) -> None:
    settings = Settings(zones=("ee", "lv"), public_url="https://hind.example")
    server = await serve(sample_views.ordinary(), settings)
    docs = await html_of(server, "/lv/docs")
    assert "https://hind.example/lv/api/v1/forecast" in docs
    assert "https://hind.example/api/" not in docs
    assert "https://hind.example/lv/?lang=en&amp;embed=1" in await html_of(server, "/lv/")


@pytest.mark.parametrize("path", ["/", "/docs", "/lv/", "/lv/docs"])
async def test_scripts_put_the_visitors_address_where_the_operator_named_none(serve: Serve, path: str) -> None:
    guess = re.compile(r'"address": "http://localhost:8080(?:/lv)?"')
    zones: tuple[Zone, ...] = ("ee", "lv")
    assert guess.search(await html_of(await serve(settings=Settings(zones=zones)), path))
    named = await serve(settings=Settings(zones=zones, public_url="https://hind.example"))
    assert '"address": null' in await html_of(named, path)


async def test_a_zone_without_prices_says_so_itself(serve: Serve) -> None:
    server = await serve(settings=Settings(zones=("ee", "lv")), **STATES["held back"])
    html = await html_of(server, "/lv/")
    assert "none of their prices for Latvia passed" in html
    assert "./run status --zone lv" in html
    assert Outline(html).addresses
    for path in ("/lv/api/v1/forecast", "/api/v1/forecast"):
        assert (await server.ask(path)).status == 200
    blank = await serve(settings=Settings(zones=("ee", "lv")), blank=True)
    for path in ("/lv/api/v1/forecast", "/api/v1/forecast", "/lv/", "/"):
        assert (await blank.ask(path)).status == 503


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("ee", "include 22% VAT. Programs"),
        ("lv", "include 21% VAT. Programs"),
        ("fi", "legal rate, 25.5% today. Programs"),
    ],
)
async def test_the_reference_says_which_vat_the_api_has(serve: Serve, zone: Zone, said: str) -> None:
    assert said in await html_of(await serve(settings=Settings(zones=(zone,))), "/docs")
