"""The errors of servers and actions, with texts that Home Assistant translates."""

from typing import ClassVar

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .const import DOMAIN


class Refusal(ServiceValidationError):
    """A call that an action can't carry out."""

    def __init__(self, key: str, **placeholders: str) -> None:
        super().__init__(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


class TunnihindError(HomeAssistantError):
    """The server doesn't answer as it should.

    `url` is the server's address, without a password. If we have no text for an error, `reason` is the error's original
    message. `retry_after` is the pause in seconds that the server requests; None if the server requests no pause.
    """

    key: ClassVar[str]
    """The translation key of the error's text."""

    def __init_subclass__(cls, *, key: str) -> None:
        super().__init_subclass__()
        cls.key = key

    def __init__(self, url: str, reason: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(
            translation_domain=DOMAIN,
            translation_key=self.key,
            translation_placeholders={"url": url, "reason": reason},
        )
        self.retry_after = retry_after


class CannotConnect(TunnihindError, key="cannot_connect"):
    """The server can't be reached, or can't serve now."""


class NoAnswer(CannotConnect, key="no_answer"):
    """The server takes too long."""


class ConnectionRefused(CannotConnect, key="connection_refused"):
    """The computer is there, but no server answers at the port."""


class UnknownHost(CannotConnect, key="unknown_host"):
    """No computer has that name."""


class BrokenAnswer(CannotConnect, key="broken_answer"):
    """The answer breaks off, can't be unpacked or isn't valid HTTP."""


class RateLimited(CannotConnect, key="rate_limited"):
    """The server has received too many requests."""


class RedirectLoop(CannotConnect, key="redirect_loop"):
    """The address redirects in circles."""


class NotTunnihind(TunnihindError, key="not_tunnihind"):
    """The server at the address doesn't have this API."""


class ForeignAnswer(NotTunnihind, key="foreign_answer"):
    """The answer is a web page or another program's document, without prices."""


class NoPastPrices(TunnihindError, key="no_past_prices"):
    """The server has no endpoint for past prices. The specification doesn't require this endpoint."""


class ServerIsRehearsal(TunnihindError, key="server_is_rehearsal"):
    """A live server has become a rehearsal of a past day."""


class RehearsalOver(TunnihindError, key="rehearsal_over"):
    """A server that was a rehearsal no longer shows a past day."""


class InvalidResponse(TunnihindError, key="invalid_response"):
    """The answer doesn't follow the API's specification."""


class UnknownPriceZone(InvalidResponse, key="unknown_zone"):
    """The prices are of a zone that the integration doesn't support."""


class OtherZone(TunnihindError, key="other_zone"):
    """The server has the prices of another zone than the entry."""


class LongAnswer(InvalidResponse, key="long_answer"):
    """The answer is longer than any answer of the API."""
