"""The guides' pictures, each with the words that it shows, so that a test can tell whether a picture is still true.

Words are compared without figures, because machines with other fonts break lines elsewhere and draw other pixels.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import FloatRect, Locator, Page

MORNING = "2026-01-15T08:31:00Z"
"""10:31 in Tallinn: tomorrow still has a forecast. The quarter of an hour has begun only now, so that also on a slow
machine all pictures are of the same quarter."""

IMAGES = Path(__file__).parents[3] / "docs" / "images"
_WORDS = IMAGES / "words.json"
LARGEST_BYTES = 250_000
_MARGIN = 16
_LARGEST_CHANGE = 0.1
"""With other fonts, a picture is at most this much higher or lower, as a fraction of its height."""

_TEXT_ABOVE = """(root, end) => {
  const found = [];
  const collect = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      const isSeen = node.parentElement?.checkVisibility({ visibilityProperty: true }) ?? true;
      if (isSeen && box.width && box.top >= 0 && box.bottom <= end) found.push(node.data);
    } else if (!["SCRIPT", "STYLE", "TEMPLATE"].includes(node.nodeName)) {
      node.shadowRoot?.childNodes.forEach(collect);
      node.childNodes.forEach(collect);
      if (node.nodeName === "SLOT") node.assignedNodes().forEach(collect);
    }
  };
  collect(root);
  return found.join(" ");
}"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's file, and the words that the page shows within the picture."""

    name: str
    png: bytes
    words: frozenset[str]

    def save(self) -> None:
        """Put the picture and its words in the place of the earlier ones."""
        assert len(self.png) <= LARGEST_BYTES, f"{self.name} has {len(self.png)} bytes: make it smaller"
        (IMAGES / self.name).write_bytes(self.png)
        words = {**kept_words(), self.name: sorted(self.words)}
        _WORDS.write_text(json.dumps(dict(sorted(words.items())), ensure_ascii=False, indent=1) + "\n")

    def differences(self) -> list[str]:
        """Return what the picture in the guides shows otherwise."""
        kept = frozenset(kept_words()[self.name])
        found = [f"no longer shown: {word}" for word in sorted(kept - self.words)]
        found += [f"new: {word}" for word in sorted(self.words - kept)]
        (width, height), (kept_width, kept_height) = size_of(self.png), size_of((IMAGES / self.name).read_bytes())
        if width != kept_width or abs(height - kept_height) > _LARGEST_CHANGE * kept_height:
            found.append(f"the size is {width}x{height}, not {kept_width}x{kept_height}")
        return found


def kept_words() -> dict[str, list[str]]:
    """Return the words of the pictures in the guides, by the pictures' names."""
    words: dict[str, list[str]] = json.loads(_WORDS.read_text()) if _WORDS.exists() else {}
    return words


def size_of(png: bytes) -> tuple[int, int]:
    """Return a picture's width and height in pixels."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


async def take_picture(page: Page, name: str, *, last: Locator | None = None, only: Locator | None = None) -> Picture:
    """Take a picture of what is in view.

    If `last` is given, the picture ends below this element. If `only` is given, the picture has only this element.
    """
    assert page.viewport_size is not None
    clip: FloatRect = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": page.viewport_size["height"]}
    if only is not None:
        clip = await _box_of(only, name)
    if last is not None:
        box = await _box_of(last, name)
        clip["height"] = box["y"] + box["height"] + _MARGIN
    assert clip["y"] + clip["height"] <= page.viewport_size["height"], f"{name} does not fit into the view"
    text = await (only or page.locator("body")).evaluate(_TEXT_ABOVE, clip["y"] + clip["height"])
    return Picture(name, await page.screenshot(clip=clip), frozenset(re.findall(r"[^\W\d_]{2,}", text.lower())))


async def _box_of(element: Locator, name: str) -> FloatRect:
    box = await element.bounding_box()
    assert box is not None, f"{name}: the page does not show {element}"
    return box
