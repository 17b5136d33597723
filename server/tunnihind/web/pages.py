"""The pages: a summary of the prices at `/` and the API's reference at `/docs`; complete without a script."""

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from tunnihind.api.negotiation import Coding
from tunnihind.api.representation import HTML, Representation, opaque_tag, represent, unchanging
from tunnihind.api.snapshot import Snapshot, cache_control
from tunnihind.clock import Clock
from tunnihind.settings import Settings
from tunnihind.web.summary import summarise


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("tunnihind.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _content_security_policy() -> str:
    """Allow the one style sheet that the pages carry in them, by its hash, and nothing else."""
    style = _templates().get_template("style.css").render()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def reference_page(document: dict[str, Any]) -> Callable[[Coding], Representation]:
    """Return the API reference, made from the OpenAPI document."""
    html = _templates().get_template("docs.html").render(api=document)
    return unchanging(html.encode(), content_type=HTML, content_security_policy=_content_security_policy())


class SummaryPage:
    """The page with the prices of today and tomorrow, made at most once a second and view for each coding."""

    def __init__(self, settings: Settings, snapshot: Snapshot, clock: Clock) -> None:
        self._settings = settings
        self._snapshot = snapshot
        self._clock = clock
        self._key = ("", 0)
        self._ready: dict[Coding, Representation] = {}

    def __call__(self, coding: Coding) -> Representation:
        """Return the page in a coding. Raises StoreError before the first view."""
        key = (self._snapshot.view.version, int(self._clock.now()))
        if key != self._key:
            self._key = key
            self._ready.clear()
        if coding not in self._ready:
            self._ready[coding] = self._make(coding, key[1])
        return self._ready[coding]

    def _make(self, coding: Coding, now: int) -> Representation:
        summary = summarise(self._snapshot.view, now, self._settings)
        html = _templates().get_template("summary.html").render(summary=summary).encode()
        return represent(
            html,
            coding,
            tag=opaque_tag(html),
            cache_control=cache_control(now),
            content_type=HTML,
            content_security_policy=_content_security_policy(),
        )
