"""`tunnihind check`, as people and workflows use it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from time import time

import pytest
from click.testing import Result

from tests.server.cli.conftest import Run
from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import flat_quotes
from tunnihind.core.market import QUARTER_S, delivery_day

type Check = Callable[..., Awaitable[Result]]


@pytest.fixture
async def elering() -> AsyncIterator[FakeElering]:
    today = delivery_day(time())
    # The prices cover two more days than the command fetches, because midnight may pass during the test.
    async with FakeElering(flat_quotes(today, today + timedelta(days=2), QUARTER_S)) as server:
        yield server


@pytest.fixture
def check(run: Run, elering: FakeElering) -> Check:
    async def command(*arguments: str) -> Result:
        return await asyncio.to_thread(run, "check", "--elering-url", elering.url, "--no-weather", *arguments)

    return command


async def test_all_is_well(check: Check) -> None:
    result = await check()
    assert result.exit_code == 0
    assert result.stdout.startswith("elering: good, in ")
    assert "entsoe: not asked, because there is no token (--entsoe-token-file)" in result.stdout
    assert "open-meteo: not asked, because it is switched off (--no-weather)" in result.stdout
    assert result.stdout.endswith("All is well.\n")


async def test_what_is_wrong_is_told_in_words_and_by_the_exit_status(check: Check, elering: FakeElering) -> None:
    elering.say(b"<html>new</html>", times=9)
    result = await check()
    assert result.exit_code == 1
    assert "elering: WRONG, after " in result.stdout
    assert "its prices can't be read" in result.stdout
    assert "1 of 1 checks failed." in result.stdout


async def test_a_source_out_of_reach_has_a_word_and_an_exit_status_of_its_own(check: Check) -> None:
    result = await check("--elering-url", "http://127.0.0.1:9")
    assert result.exit_code == 3
    assert "elering: NO ANSWER, after " in result.stdout


async def test_the_answers_are_kept_for_a_report(check: Check, elering: FakeElering, tmp_path: Path) -> None:
    elering.say(b"<html>new</html>")
    folder = tmp_path / "for" / "report"
    assert (await check("--save", str(folder))).exit_code == 1
    assert (folder / "01-elering.html").read_text() == "<html>new</html>"
    report = (folder / "check.txt").read_text()
    assert "elering: WRONG" in report
    assert "01-elering.html: HTTP 200 from http://127.0.0.1:" in report


async def test_a_folder_that_can_not_be_is_told(check: Check, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = await check("--save", str(tmp_path / "file" / "folder"))
    assert result.exit_code == 1
    assert "the answers can't be saved in" in result.stderr


async def test_a_wrong_option_is_wrong_usage(check: Check) -> None:
    assert (await check("--elering-url", "nowhere")).exit_code == 2
