"""The errors of servers and actions, with texts that Home Assistant translates."""

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .const import DOMAIN


class Refusal(ServiceValidationError):
    """An action that can't do what it is asked for."""

    def __init__(self, key: str, **placeholders: str) -> None:
        super().__init__(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


class TunnihindError(HomeAssistantError):
    """A server that doesn't answer as it should.

    Its text has the `url`, without a password. `reason` is the original message where no text of ours fits.
    `retry_after` is the pause that the server asks for, in seconds, if it does.
    """

    key: str

    def __init__(self, url: str, reason: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(
            translation_domain=DOMAIN,
            translation_key=self.key,
            translation_placeholders={"url": url, "reason": reason},
        )
        self.retry_after = retry_after


class CannotConnect(TunnihindError):
    """The server can't be reached, or can't serve now."""

    key = "cannot_connect"


class NoAnswer(CannotConnect):
    """The server takes too long."""

    key = "no_answer"


class ConnectionRefused(CannotConnect):
    """The computer is there, but no server answers at the port."""

    key = "connection_refused"


class UnknownHost(CannotConnect):
    """No computer has that name."""

    key = "unknown_host"


class BrokenAnswer(CannotConnect):
    """The answer breaks off, can't be unpacked or isn't valid HTTP."""

    key = "broken_answer"


class RateLimited(CannotConnect):
    """The server asks for fewer requests."""

    key = "rate_limited"


class RedirectLoop(CannotConnect):
    """The address leads in a circle."""

    key = "redirect_loop"


class NotTunnihind(TunnihindError):
    """Something answers at the address, but it isn't this API."""

    key = "not_tunnihind"


class ForeignAnswer(NotTunnihind):
    """The answer has no prices: it is a page, or a document of something else."""

    key = "foreign_answer"


class NoPastPrices(TunnihindError):
    """The server has no endpoint for past prices; the specification doesn't ask for one."""

    key = "no_past_prices"


class ServerIsRehearsal(TunnihindError):
    """A live server has become a rehearsal of a past day."""

    key = "server_is_rehearsal"


class RehearsalOver(TunnihindError):
    """A server that rehearsed a past day no longer does."""

    key = "rehearsal_over"


class InvalidResponse(TunnihindError):
    """The answer isn't what the API's specification says."""

    key = "invalid_response"


class UnknownPriceZone(InvalidResponse):
    """The prices are of a zone that the integration does not know."""

    key = "unknown_zone"


class OtherZone(TunnihindError):
    """The server is, or has become, one of another zone than the entry's."""

    key = "other_zone"


class LongAnswer(InvalidResponse):
    """The answer is longer than any answer of the API."""

    key = "long_answer"
