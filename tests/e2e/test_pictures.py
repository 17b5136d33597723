"""The guides' pictures still show what the pages, the card and the forms show: by words and by size, not by pixels.

If a test fails because a page has changed on purpose, take the pictures again with `scripts/screenshots`.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.hass.home_pictures import HOME, QUARTERS, home_pictures
from tests.support.pages.page_pictures import PAGES, page_pictures
from tests.support.pages.pictures import IMAGES, LARGEST_BYTES, Picture, kept_words, size_of

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).parents[2]
ALL = {*PAGES, *HOME, QUARTERS}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pages_now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Picture]:
    """Return the pages' pictures as they would be taken now."""
    return {one.name: one async for one in page_pictures(tmp_path_factory.mktemp("pages"))}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def homes_now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Picture]:
    """Return the pictures of a home as they would be taken now."""
    return {one.name: one async for one in home_pictures(tmp_path_factory.mktemp("home"))}


@pytest.mark.parametrize("name", PAGES)
async def test_a_picture_of_a_page_is_still_true(pages_now: dict[str, Picture], name: str) -> None:
    assert pages_now[name].differences() == []


@pytest.mark.parametrize("name", HOME)
async def test_a_picture_of_a_home_is_still_true(homes_now: dict[str, Picture], name: str) -> None:
    assert homes_now[name].differences() == []


def test_every_picture_of_the_guides_is_taken_by_the_command_and_small() -> None:
    assert {path.name for path in IMAGES.glob("*.png")} == ALL == {*kept_words()}
    assert [path.name for path in IMAGES.iterdir() if path.stat().st_size > LARGEST_BYTES] == []


def test_every_picture_is_in_a_guide() -> None:
    guides = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    shown = {name for guide in guides for name in re.findall(r"images/([\w.-]+)\)", guide.read_text())}
    assert shown == ALL


def test_other_words_and_another_width_are_noticed() -> None:
    name = "dashboard.png"
    kept = Picture(name, (IMAGES / name).read_bytes(), frozenset(kept_words()[name]))
    assert kept.differences() == []
    other = replace(kept, words=kept.words - {"forecast"} | {"prophecy"})
    assert other.differences() == ["no longer shown: forecast", "new: prophecy"]
    week = (IMAGES / "home-assistant-week.png").read_bytes()
    width, height = size_of(kept.png)
    assert replace(kept, png=week).differences() == [f"the size is 760x520, not {width}x{height}"]
