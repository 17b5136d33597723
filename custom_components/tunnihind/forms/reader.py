"""Finds the language of the person who reads a form."""

from homeassistant.components.frontend.storage import async_user_store
from homeassistant.components.http.const import KEY_HASS_USER
from homeassistant.core import HomeAssistant
from homeassistant.generated.languages import LANGUAGES
from homeassistant.helpers.http import current_request
from homeassistant.util.language import matches


async def language_of_reader(hass: HomeAssistant, user_id: str | None = None) -> str:
    """Return the language of the person who reads a form.

    The language comes from the reader's profile, or else from the browser, or else from the installation. If `user_id`
    is None, the reader is the user who sent the current HTTP request.
    """
    request = current_request.get()
    if user_id is None and request is not None and KEY_HASS_USER in request:
        user_id = request[KEY_HASS_USER].id
    if user_id is not None:
        profile: dict[str, str | None] = (await async_user_store(hass, user_id)).data.get("language") or {}
        if chosen := profile.get("language"):
            return chosen
    asked = request.headers.get("Accept-Language", "") if request is not None else ""
    for wish in asked.split(","):
        tag = wish.partition(";")[0].strip()
        if tag not in {"", "*"} and (found := matches(tag, sorted(LANGUAGES))):
            return found[0]
    return hass.config.language
