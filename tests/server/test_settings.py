"""The settings of an operator, and their errors."""

import math
from pathlib import Path
from typing import Any

import pytest

from tests.support.shared_rules import PRIVATE_ADDRESSES
from tunnihind.core.market import MARKETS, VatRates, Zone
from tunnihind.errors import SettingsError
from tunnihind.settings import Settings, default_database_url


@pytest.mark.parametrize("vat_rate", [-0.01, 1.0, 22.0, math.nan, math.inf])
def test_a_vat_rate_is_a_fraction(vat_rate: float) -> None:
    with pytest.raises(SettingsError, match=r"vat-rate is .*0.22 for 22%"):
        Settings(vat_rate=vat_rate)


@pytest.mark.parametrize("vat_rate", [0.0, 0.22, 0.24])
def test_any_fraction_will_do(vat_rate: float) -> None:
    assert Settings(vat_rate=vat_rate).vat_rate == vat_rate


@pytest.mark.parametrize(("floor", "cap"), [(5.0, 5.0), (10.0, -10.0), (math.nan, 1.0), (1.0, math.nan)])
def test_the_price_floor_is_below_the_cap(floor: float, cap: float) -> None:
    with pytest.raises(SettingsError, match=r"price-floor .* is not below price-cap"):
        Settings(price_floor=floor, price_cap=cap)


@pytest.mark.parametrize("rate_limit", [-1.0, math.nan])
def test_a_rate_limit_is_a_number_of_requests(rate_limit: float) -> None:
    with pytest.raises(SettingsError, match=r"rate-limit is .* 0 for no limit"):
        Settings(rate_limit=rate_limit)


@pytest.mark.parametrize(
    "name",
    [
        "public_url",
        "elering_url",
        "entsoe_url",
        "open_meteo_url",
        "open_meteo_single_runs_url",
        "open_meteo_archive_url",
    ],
)
@pytest.mark.parametrize(
    "url",
    ["example.org", "ftp://example.org", "//example.org", "http://", "https:///path", "http://[::1", "http://h:x"],
)
def test_an_address_of_the_web_has_a_scheme_and_a_host(name: str, url: str) -> None:
    given: dict[str, Any] = {name: url}
    with pytest.raises(SettingsError, match=f"{name.replace('_', '-')} is .*http://"):
        Settings(**given)


def test_clients_know_the_server_by_its_public_url_or_by_its_port() -> None:
    assert Settings(port=8081).base_url == "http://localhost:8081"
    assert Settings(public_url="https://prices.example.org/").base_url == "https://prices.example.org"


@pytest.mark.parametrize("port", [0, 8081])
def test_a_further_zone_is_below_the_servers_own_address_and_the_first_at_it(port: int) -> None:
    server = Settings(port=port, zones=("lv", "fi"))
    assert [server.for_zone(zone).base_url for zone in server.zones] == [server.base_url, f"{server.base_url}/fi"]
    assert [server.for_zone(zone).market.code for zone in server.zones] == ["LV", "FI"]
    assert (
        Settings(public_url="https://prices.example.org/", zones=("ee", "lt"))
        .for_zone("lt")
        .base_url.endswith(".org/lt")
    )


@pytest.mark.parametrize(
    ("vat_rate", "zone", "chosen", "rates"),
    [
        (None, "ee", None, ((0, 0.22),)),
        (0.22, "ee", None, ((0, 0.22),)),
        (0.24, "ee", None, ((0, 0.24),)),
        (0.09, "ee", 0.09, ((0, 0.09),)),
        (None, "fi", None, MARKETS["fi"].legal_vat_rates),
        (0.22, "fi", 0.22, ((0, 0.22),)),
        (0.255, "fi", None, ((0, 0.255),)),
    ],
)
def test_the_specified_rate_is_estonias_and_nobodys_choice_there(
    vat_rate: float | None, zone: Zone, chosen: float | None, rates: VatRates
) -> None:
    settings = Settings(vat_rate=vat_rate, zones=(zone,))
    assert (settings.chosen_vat_rate, settings.api_vat_rates) == (chosen, rates)


@pytest.mark.parametrize(("public_url", "is_private"), {"": True, **PRIVATE_ADDRESSES}.items())
def test_a_server_is_private_when_only_its_own_network_can_reach_its_address(public_url: str, is_private: bool) -> None:
    assert Settings(public_url=public_url).is_private == is_private


def test_republishers_credit_the_name_and_its_domain() -> None:
    assert (
        Settings(public_url="https://prices.example.org:8443/ee").attribution_text == "Tunnihind (prices.example.org)"
    )
    assert Settings(attribution="Prices of ours").attribution_text == "Prices of ours"


def test_the_database_is_in_the_user_s_data_folder_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Settings().store_url == default_database_url() == f"sqlite:///{tmp_path}/tunnihind/tunnihind.db"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings().store_url == f"sqlite:///{tmp_path}/.local/share/tunnihind/tunnihind.db"
    assert Settings(database_url="sqlite:///x.db").store_url == "sqlite:///x.db"


def test_secrets_are_in_no_text_of_the_settings() -> None:
    settings = Settings(entsoe_token="geheim", database_url="postgresql://tunnihind:geheim@db/tunnihind")  # noqa: S106
    assert "geheim" not in f"{settings} {settings!r}"
