"""The card's files: their address, and when pages load them."""

import re
import shutil
from http import HTTPStatus
from pathlib import Path

import pytest
from homeassistant.components.frontend import DATA_EXTRA_MODULE_URL
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.tunnihind.card import module
from tests.support.household.home import Home, MakeHome


@pytest.fixture
async def with_frontend(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "frontend", {})


def loaded_modules(hass: HomeAssistant) -> list[str]:
    """Return the card's modules that a page of Home Assistant loads."""
    return [url for url in hass.data[DATA_EXTRA_MODULE_URL].urls if "tunnihind" in url]


@pytest.mark.usefixtures("with_frontend")
async def test_pages_load_the_card_once_while_there_is_any_server(hass: HomeAssistant, make_home: MakeHome) -> None:
    for entry_id in ("one", "two"):
        await (await make_home()).add(entry_id=entry_id)
    address = module.module_address(hass)
    assert loaded_modules(hass) == [address]
    await hass.config_entries.async_remove("one")
    assert loaded_modules(hass) == [address]
    await hass.config_entries.async_remove("two")
    assert loaded_modules(hass) == []
    await (await make_home()).add(entry_id="another")
    assert loaded_modules(hass) == [address]


@pytest.mark.usefixtures("with_frontend")
async def test_the_card_is_there_before_the_server_answers_and_while_it_is_loaded_again(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home()
    await home.server.runner.cleanup()
    await home.add()
    [address] = loaded_modules(hass)
    await hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()
    assert loaded_modules(hass) == [address]


@pytest.mark.usefixtures("with_frontend")
async def test_anybody_gets_the_card_and_what_it_imports_and_may_keep_them(
    hass: HomeAssistant, make_home: MakeHome, hass_client_no_auth: ClientSessionGenerator
) -> None:
    await (await make_home()).add()
    client = await hass_client_no_auth()
    [address] = loaded_modules(hass)
    imported = re.findall(
        r'^import .* from "\./(.+?)";$', (module.FRONTEND_FOLDER / module.CARD_FILE).read_text(), re.MULTILINE
    )
    assert imported == ["chart.js"]
    for name in (module.CARD_FILE, *imported):
        answer = await client.get(f"{address.rpartition('/')[0]}/{name}")
        assert answer.status == HTTPStatus.OK
        assert answer.content_type == "text/javascript"
        assert "max-age=2678400" in answer.headers["Cache-Control"]
        assert await answer.read() == (module.FRONTEND_FOLDER / name).read_bytes()
    assert (await client.get(f"{address}.map")).status == HTTPStatus.NOT_FOUND
    # A page from before an update gets the newest card.
    answer = await client.get("/tunnihind/0123456789ab/tunnihind-card.js")
    assert await answer.read() == (module.FRONTEND_FOLDER / module.CARD_FILE).read_bytes()


@pytest.mark.parametrize("name", ["tunnihind-card.js", "chart.js"])
@pytest.mark.usefixtures("with_frontend")
async def test_when_any_of_its_files_has_changed_the_card_has_another_address_on_the_same_host(
    hass: HomeAssistant, make_home: MakeHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    await (await make_home()).add()
    [before] = loaded_modules(hass)
    changed = shutil.copytree(module.FRONTEND_FOLDER, tmp_path / "frontend")
    (changed / name).write_bytes((module.FRONTEND_FOLDER / name).read_bytes() + b"\n")
    monkeypatch.setattr(module, "FRONTEND_FOLDER", changed)
    await module.async_serve_files(hass)
    after = module.module_address(hass)
    assert after is not None
    assert after != before
    assert before.startswith("/tunnihind/")
    assert after.startswith("/tunnihind/")


async def test_without_a_frontend_prices_work_and_no_card_is_served(home: Home) -> None:
    assert module.module_address(home.hass) is None
    assert home.value("current_price")
    await home.hass.config_entries.async_remove(home.entry.entry_id)
