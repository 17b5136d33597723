"""The addresses in a page, and its inline scripts and styles."""

from html.parser import HTMLParser


class Outline(HTMLParser):
    """The addresses in a page (`addresses`), and the names of its inline scripts and styles (`inline`)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses += [value for name, value in attrs if name in {"href", "src"} and value]
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json"):
            self.inline.append(tag)
