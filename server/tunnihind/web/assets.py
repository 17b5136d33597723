"""Serves the pages' scripts, style sheets and pictures from memory.

If the content of any file changes, the addresses of all files change. So browsers may keep the files for ever.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from aiohttp import web
from rjsmin import jsmin

from tunnihind.api.http.headers import DENY_ALL_CSP, Coding, coding_for_request
from tunnihind.api.http.representation import CACHE_FOR_EVER, Representation, reply, representation_maker

_CONTENT_TYPES: Final[Mapping[str, str]] = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_DIGEST_BYTES: Final = 6
_INDENTATION: Final = re.compile(rb"\n[ \t]+")
_IMPORT_LINE: Final = re.compile(rb'^import .* from "\./([\w-]+\.js)";$', re.MULTILINE)


class Assets:
    """The scripts, style sheets and pictures of the pages. Scripts are served minified."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        served = {name: _minified_content(name, body) for name, body in contents.items()}
        digest = blake2b(digest_size=_DIGEST_BYTES)
        for name in sorted(served):
            digest.update(name.encode() + b"\0" + served[name])
        self.digest = digest.hexdigest()
        self._representations = {name: _representations(name, body) for name, body in served.items()}
        self._imports = {
            name: [found.decode() for found in _IMPORT_LINE.findall(body)] for name, body in contents.items()
        }

    def __contains__(self, name: str) -> bool:
        return name in self._representations

    def address(self, name: str) -> str:
        """Return a file's address relative to the pages. Raises KeyError for an unknown name."""
        if name not in self:
            raise KeyError(name)
        return f"static/{self.digest}/{name}"

    def imported_modules(self, name: str) -> list[str]:
        """Return the names of all modules that a script imports, directly or indirectly.

        Raises KeyError for an unknown name.
        """
        found: set[str] = set()
        waiting = [name]
        while waiting:
            new = set(self._imports[waiting.pop()]) - found
            found |= new
            waiting += new
        return sorted(found)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Handle `GET /static/{digest}/{name}`.

        If the name is unknown, or if `digest` belongs to another version of the files, the answer is 404.
        """
        representations = self._representations.get(request.match_info["name"])
        if representations is None or request.match_info["digest"] != self.digest:
            raise web.HTTPNotFound
        return reply(request, representations(coding_for_request(request)))


def _minified_content(name: str, body: bytes) -> bytes:
    """Remove comments and needless white space from a script. Compressed scripts then have about 40% fewer bytes.

    Style sheets only lose the indentation of their lines, because the minifier rcssmin wrongly joins selectors within
    `@container`.
    """
    if _extension(name) == "css":
        return _INDENTATION.sub(b"\n", body)
    return jsmin(body.decode()).encode() if _extension(name) == "js" else body


def _extension(name: str) -> str:
    return name.rpartition(".")[2]


def _representations(name: str, body: bytes) -> Callable[[Coding], Representation]:
    extension = _extension(name)
    return representation_maker(
        body,
        content_type=_CONTENT_TYPES[extension],
        # A browser can open an SVG picture as a document, so the picture needs a Content-Security-Policy.
        content_security_policy=DENY_ALL_CSP if extension == "svg" else None,
        cache_control=CACHE_FOR_EVER,
        with_api_fields=False,
    )


@cache
def page_assets() -> Assets:
    """Return the `Assets` made from `page_files`. The files are read only once."""
    return Assets({path.name: path.read_bytes() for path in page_files()})


def page_files() -> list[Path]:
    """Return the paths of the pages' scripts, style sheets and pictures."""
    return [*Path(__file__).with_name("static").glob("*.*")]
