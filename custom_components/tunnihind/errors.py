"""What can go wrong with a server, in words that Home Assistant translates."""

from homeassistant.exceptions import HomeAssistantError

from .const import DOMAIN


class TunnihindError(HomeAssistantError):
    """Anything that this integration reports."""

    key: str

    def __init__(self, **placeholders: str) -> None:
        super().__init__(translation_domain=DOMAIN, translation_key=self.key, translation_placeholders=placeholders)


class CannotConnect(TunnihindError):
    """The server can't be reached, or answers that it can't serve now. Placeholders: `url`, `reason`."""

    key = "cannot_connect"

    def __init__(self, *, url: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(url=url, reason=reason)
        self.retry_after = retry_after


class RateLimited(CannotConnect):
    """The server asks to be asked less often. Placeholders: `url`, `reason`."""

    key = "rate_limited"


class RedirectLoop(CannotConnect):
    """The address leads in a circle. Placeholders: `url`, `reason`."""

    key = "redirect_loop"


class NotTunnihind(TunnihindError):
    """Something answers at the address, but it isn't this API. Placeholders: `url`, `reason`."""

    key = "not_tunnihind"

    def __init__(self, *, url: str, reason: str) -> None:
        super().__init__(url=url, reason=reason)


class NoPastPrices(TunnihindError):
    """The server doesn't give out past prices: the specification has none. Placeholder: `url`."""

    key = "no_past_prices"

    def __init__(self, *, url: str) -> None:
        super().__init__(url=url)


class ServerIsRehearsal(TunnihindError):
    """A live server has become a rehearsal of a past day. Placeholder: `url`."""

    key = "server_is_rehearsal"

    def __init__(self, *, url: str) -> None:
        super().__init__(url=url)


class RehearsalOver(TunnihindError):
    """A server that rehearsed a past day no longer does. Placeholder: `url`."""

    key = "rehearsal_over"

    def __init__(self, *, url: str) -> None:
        super().__init__(url=url)


class InvalidResponse(TunnihindError):
    """The answer isn't what the API's specification says. Placeholders: `url`, `reason`."""

    key = "invalid_response"

    def __init__(self, *, url: str, reason: str) -> None:
        super().__init__(url=url, reason=reason)
