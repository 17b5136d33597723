"""Serves the card's JavaScript files from Home Assistant's web server, and adds the card to all frontend pages."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from aiohttp import web
from homeassistant.components import frontend
from homeassistant.components.http.static import CACHE_HEADERS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.http import HomeAssistantView
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

FRONTEND_FOLDER: Final = Path(__file__).parents[1] / "frontend"
CARD_FILE: Final = "tunnihind-card.js"
_ADDRESS: Final[HassKey[str]] = HassKey(f"{DOMAIN}_card_module")
_DIGITS: Final = 12


class _CardFilesView(HomeAssistantView):
    """Serves the card's main file and the files that the main file imports.

    The addresses of the files contain no host name, so that they also work over https and behind a proxy. Browsers
    cache the files for up to a month, so the name of the folder in each address is a version that changes with the
    files. All files share one folder, because the main file imports the other files from its own folder. If a browser
    requests an old version, the newest version of the file is sent.
    """

    url = f"/{DOMAIN}/{{version}}/{{name}}"
    name = f"{DOMAIN}:card"
    requires_auth = False

    def __init__(self, paths: list[Path]) -> None:
        self._paths = {path.name: path for path in paths}

    async def get(self, _request: web.Request, version: str, name: str) -> web.FileResponse:  # noqa: ARG002  any gets the newest
        """Return the newest version of a file. If there is no such file, raise HTTPNotFound."""
        if name not in self._paths:
            raise web.HTTPNotFound
        return web.FileResponse(self._paths[name], headers=CACHE_HEADERS)


async def async_serve_files(hass: HomeAssistant) -> None:
    """Serve the card's files. If Home Assistant runs without its frontend, do nothing."""
    if frontend.DOMAIN not in hass.config.components:
        return
    paths, version = await hass.async_add_executor_job(_read_files)
    hass.http.register_view(_CardFilesView(paths))
    hass.data[_ADDRESS] = f"/{DOMAIN}/{version}/{CARD_FILE}"


@callback
def async_add_card_to_pages(hass: HomeAssistant) -> None:
    """Add the card to all pages. Each page loads the card only once, even if there are several entries."""
    if address := module_address(hass):
        frontend.add_extra_js_url(hass, address)


@callback
def async_remove_card_from_pages(hass: HomeAssistant) -> None:
    """Remove the card from all pages."""
    if address := module_address(hass):
        frontend.remove_extra_js_url(hass, address)


def module_address(hass: HomeAssistant) -> str | None:
    """Return the address of the card's main file. If Home Assistant runs without its frontend, return None."""
    return hass.data.get(_ADDRESS)


def _read_files() -> tuple[list[Path], str]:
    paths = sorted(FRONTEND_FOLDER.glob("*.js"))
    return paths, sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:_DIGITS]
