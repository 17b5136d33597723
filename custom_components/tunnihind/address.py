"""The server's address, as people type it and as it is kept."""

import re
from typing import Final

from yarl import URL

# What the documentation and the browser's address bar show, pasted whole.
_OWN_PATHS: Final = re.compile(r"(/+(api/(v1/(forecast|accuracy)|series|about|openapi\.json)|docs))*/*$")


def server_url(typed: str) -> str:
    """Return the server's base URL, without a slash at its end. A missing scheme is http.

    A path prefix stays; a path of the API itself goes, and so do query and fragment.
    Raises ValueError where this is no address of a web server.
    """
    text = typed.strip()
    url = URL(text if "://" in text else f"http://{text}")
    if url.scheme not in {"http", "https"} or not url.host or re.search(r"\s", url.host):
        raise ValueError("expected http://host:port")
    return str(url.with_host(url.host.lower()).with_path(_OWN_PATHS.sub("", url.path)))


def without_password(url: str) -> str:
    """Return the URL as it may be shown."""
    return str(URL(url).with_user(None))
