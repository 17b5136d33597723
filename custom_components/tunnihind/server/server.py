"""A server that has answered, and what it is known by."""

from dataclasses import dataclass, replace
from typing import Any

from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from yarl import URL

from ..const import CONF_INSTANCE_ID, CONF_REHEARSAL
from ..errors import TunnihindError
from ..prices.timeline import QUARTER_S
from .answers import About, ForecastAnswer, Mode, name_of
from .client import Client


@dataclass(frozen=True, slots=True)
class Server:
    """A server that has answered as the API's specification says: with `answer`, and who it is if it tells."""

    url: str
    answer: ForecastAnswer
    about: About | None

    @property
    def instance_id(self) -> str | None:
        """What it tells itself apart by; None where it sends none."""
        return self.about.instance_id if self.about else None

    @property
    def mode(self) -> Mode:
        """What it serves."""
        return self.about.mode if self.about else Mode.LIVE

    @property
    def host(self) -> str:
        """The host's name or address, in lower case."""
        return URL(self.url).host or ""

    @property
    def place(self) -> str:
        """Host, port and path, which tell it from others on the same host."""
        url = URL(self.url)
        return f"{url.host_port_subcomponent}{url.path.rstrip('/')}"

    @property
    def is_rehearsal(self) -> bool:
        """Whether it shows a past day."""
        return self.mode is Mode.REHEARSAL

    @property
    def unique_id(self) -> str:
        """What the server is known by: never its path, rate or version.

        A rehearsal has the identity of the live server whose data it reads, and is known by another.
        """
        identity = self.instance_id or self.host
        return f"{identity}-{CONF_REHEARSAL}" if self.is_rehearsal else identity

    def name(self, language: str) -> str:
        """Return what it is called."""
        return name_of(self.mode, language) if self.instance_id else self.host

    @property
    def data(self) -> dict[str, Any]:
        """The data of its config entry."""
        address = {CONF_URL: self.url, CONF_INSTANCE_ID: self.instance_id}
        return {**address, CONF_REHEARSAL: True} if self.is_rehearsal else address


async def ask(hass: HomeAssistant, url: str) -> Server:
    """Return the server at that address. Raises CannotConnect, NotTunnihind and InvalidResponse."""
    client = Client(async_get_clientsession(hass), url)
    about = await client.about()
    return Server(url, await client.forecast(), about)


async def with_quarters(hass: HomeAssistant, server: Server) -> Server:
    """Return the server with its prices by the quarter; as it is where it has none."""
    try:
        return replace(server, answer=await Client(async_get_clientsession(hass), server.url).forecast(QUARTER_S))
    except TunnihindError:
        return server
