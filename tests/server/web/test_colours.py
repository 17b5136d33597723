"""The scale of colours in light, dark and grey: the colour-blind can tell colours apart, and figures are readable."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import tunnihind.web
from tests.support.pages.colour_vision import VISIONS, Colour, colour, contrast, distance, oklab

SHEET = (Path(tunnihind.web.__file__).parent / "static/style.css").read_text()
LIGHT, DARK, _ = (
    dict(re.findall(r"--([\w-]+): (#\w+);", block)) for block in re.findall(r"color-scheme: [^}]*", SHEET)
)
TOLD_APART = 0.045
"""Twice the smallest visible distance."""


def tints(palette: dict[str, str]) -> list[Colour]:
    return [colour(palette[f"t{i}"]) for i in range(5)]


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_each_tint_is_told_from_the_next_and_from_a_price_below_zero(palette: dict[str, str], vision: str) -> None:
    assert min(distance(one, other, vision) for one, other in pairwise(tints(palette))) > TOLD_APART
    negative = colour(palette["negative"])
    assert min(distance(negative, tint, vision) for tint in tints(palette)) > TOLD_APART


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_dearer_tints_stand_out_more_from_the_ground_even_in_grey(palette: dict[str, str], vision: str) -> None:
    lightness = [oklab(VISIONS[vision] @ tint)[0] for tint in tints(palette)]
    assert lightness == sorted(lightness, reverse=palette is LIGHT)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_figures_can_be_read_on_every_tint(palette: dict[str, str]) -> None:
    *others, dearest = tints(palette)
    ink = colour(palette["on-tint"])
    assert min(contrast(ink, ground) for ground in (*others, colour(palette["negative"]))) >= 4.5
    assert contrast(colour(palette["on-dearest"]), dearest) >= 4.5


def test_distance_and_contrast_are_those_of_the_standards() -> None:
    assert contrast(colour("#fff"), colour("#000")) == pytest.approx(21)
    assert distance(colour("#fff"), colour("#000"), "all cones") == pytest.approx(1, abs=1e-3)
    red, green = colour("#c00000"), colour("#6f6f00")
    assert distance(red, green, "deuteranopia") < distance(red, green, "all cones") / 2
