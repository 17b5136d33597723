"""The parts of a chart in SVG: a frame with a scale, lines with marks, bars, words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree.ElementTree import Element, SubElement

type Mark = Literal["circle", "square", "triangle"]

_MARKS: Final[dict[Mark, str]] = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "square": "M-3.5-3.5h7v7h-7z",
    "triangle": "M0-4.8L4.6 3.4h-9.2z",
}
_WIDEST_BAR: Final = 40
_TICK_STEPS: Final = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Chart:
    """A frame in pixels with one category after the other along, and a scale from 0 to `high` up."""

    parent: Element
    left: float
    top: float
    width: float
    height: float
    categories: Sequence[str]
    high: float

    @property
    def right(self) -> float:
        """The frame's right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The frame's lower edge, where the scale is 0."""
        return self.top + self.height

    def x(self, category: int) -> float:
        """Return the middle of a category."""
        return self.left + self.width * (category + 0.5) / len(self.categories)

    def y(self, value: float) -> float:
        """Return where a value lies."""
        return self.bottom - self.height * value / self.high

    def scale(self, ticks: Sequence[float]) -> None:
        """Draw a thin line and a number at each tick."""
        for tick in ticks:
            self.level(tick, "grid")
            write(self.parent, self.left - 8, self.y(tick) + 4, f"{tick:g}", "small soft", anchor="end")

    def name_categories(self, what: str) -> None:
        """Write the categories, and what they are, under the frame."""
        for n, category in enumerate(self.categories):
            write(self.parent, self.x(n), self.bottom + 18, category, "small soft", anchor="middle")
        write(self.parent, self.left + self.width / 2, self.bottom + 38, what, "small soft", anchor="middle")

    def level(self, value: float, style: str) -> None:
        """Draw a level line through the frame."""
        y = pixels(self.y(value))
        SubElement(
            self.parent, "line", {"class": style, "x1": pixels(self.left), "x2": pixels(self.right), "y1": y, "y2": y}
        )

    def line(self, values: Sequence[float], style: str, mark: Mark) -> None:
        """Draw a line through the values by category, with a mark at each; NaN is passed over."""
        points = [(self.x(n), self.y(value)) for n, value in enumerate(values) if not math.isnan(value)]
        drawn = " ".join(f"{pixels(x)},{pixels(y)}" for x, y in points)
        SubElement(self.parent, "polyline", {"class": f"line {style}", "points": drawn})
        for x, y in points:
            draw_mark(self.parent, x, y, style, mark)

    def bars(self, values: Sequence[float], style: str) -> None:
        """Draw a bar for each category."""
        width = min(_WIDEST_BAR, self.width / len(self.categories) * 0.6)
        for n, value in enumerate(values):
            box = {
                "x": self.x(n) - width / 2,
                "y": self.y(value),
                "width": width,
                "height": self.bottom - self.y(value),
            }
            SubElement(self.parent, "rect", {"class": style} | {name: pixels(size) for name, size in box.items()})

    def numbers(self, values: Sequence[float], shift: float, decimals: int = 1) -> None:
        """Write the values `shift` pixels below where they lie."""
        for n, value in enumerate(values):
            if not math.isnan(value):
                place = self.y(value) + shift
                write(self.parent, self.x(n), place, f"{value:.{decimals}f}", "number", anchor="middle")


def draw_mark(parent: Element, x: float, y: float, style: str, mark: Mark) -> None:
    """Draw a mark with its middle at a place."""
    place = f"translate({pixels(x)} {pixels(y)})"
    SubElement(parent, "path", {"class": f"mark {style}", "d": _MARKS[mark], "transform": place})


def write(parent: Element, x: float, y: float, words: str, style: str, anchor: str = "start") -> None:
    """Write words with their baseline at a place."""
    place = {"class": style, "x": pixels(x), "y": pixels(y), "text-anchor": anchor}
    SubElement(parent, "text", place).text = words


def pixels(size: float) -> str:
    """Write a length."""
    return f"{round(size, 1):g}"


def ticks_to(highest: float, about: int) -> list[float]:
    """Return round numbers from 0 to the first one not below `highest`, `about` so many steps."""
    rough = max(highest, 1.0) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in _TICK_STEPS if step * power >= rough)
    return [n * step for n in range(math.ceil(max(highest, 1.0) / step) + 1)]
