"""The errors of servers, actions and entities. Home Assistant translates the texts of these errors."""

from typing import ClassVar

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .const import DOMAIN


class Refusal(ServiceValidationError):
    """An action or an entity can't carry out the user's request."""

    def __init__(self, key: str, **placeholders: str) -> None:
        super().__init__(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


class TunnihindError(HomeAssistantError):
    """The server doesn't answer as expected.

    `url` is the server's address, without a password. `reason` is a detail for the error's text, such as the message of
    a network error. `retry_after` is the pause in seconds that the server requests, or None if the server names no
    number of seconds.
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
    """The server can't be reached, doesn't deliver its answer, or reports a failure, such as HTTP 503."""


class AnswerTimeout(CannotConnect, key="no_answer"):
    """The server takes too long to answer."""


class ConnectionRefused(CannotConnect, key="connection_refused"):
    """A computer has the address, but no server listens at the port."""


class UnknownHost(CannotConnect, key="unknown_host"):
    """The host name in the address can't be resolved."""


class NoHttps(CannotConnect, key="no_https"):
    """The https connection fails, for example because the server's certificate is not trusted."""


class BrokenTransfer(CannotConnect, key="broken_answer"):
    """The connection breaks off, or the answer can't be unpacked or isn't valid HTTP."""


class RateLimited(CannotConnect, key="rate_limited"):
    """The server has received too many requests."""


class RedirectLoop(CannotConnect, key="redirect_loop"):
    """The address redirects endlessly, or to something that is not a web address."""


class NotTunnihind(TunnihindError, key="not_tunnihind"):
    """The server at the address doesn't have Tunnihind's API."""


class ForeignAnswer(NotTunnihind, key="foreign_answer"):
    """The answer is a web page or a document of another program."""


class NoPastPrices(TunnihindError, key="no_past_prices"):
    """The server has no endpoint for past prices."""


class ServerIsRehearsal(TunnihindError, key="server_is_rehearsal"):
    """The server shows a past day, but the config entry is not for a rehearsal."""


class ServerIsNotRehearsal(TunnihindError, key="rehearsal_over"):
    """The config entry is for a rehearsal, but the server does not show a past day."""


class InvalidAnswer(TunnihindError, key="invalid_response"):
    """The answer doesn't follow the API's specification."""


class UnknownPriceZone(InvalidAnswer, key="unknown_zone"):
    """The prices belong to a zone that the integration doesn't support."""


class OtherZone(TunnihindError, key="other_zone"):
    """The server's prices are for another zone than the config entry's."""


class LongAnswer(InvalidAnswer, key="long_answer"):
    """The answer is longer than any correct answer of the API."""
