"""An answer of any size costs little memory, from any source and in any encoding.

Each answer is read in a separate process, whose peak memory is measured.
"""

import asyncio
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from tests.support.upstreams.server import FakeUpstream

MAX_MB: Final = 100
MEASURE: Final = """
import asyncio, re, sys
from datetime import date
from pathlib import Path
from tunnihind.errors import SourceError
from tunnihind.core.market import ZONES
from tunnihind.sources.elering import EleringPrices
from tunnihind.sources.entsoe import EntsoePlatform, EntsoePrices
from tunnihind.sources.entsoe_forecasts import EntsoeForecasts
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.upstream import open_session

def peak_kb():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

async def ask(url):
    day = date(2025, 12, 15)
    async with open_session("") as session:
        platform = EntsoePlatform(session, url, "secret")
        before = peak_kb()
        prices = EleringPrices(session, url), EntsoePrices(platform, ZONES)
        asked = [source.fetch_sheets(day, day) for source in prices]
        covariates = OpenMeteo(session, url, url), EntsoeForecasts(platform, ("ee", "lv"))
        asked += [source.newest_forecasts(1_765_792_800) for source in covariates]
        errors = await asyncio.gather(*asked, return_exceptions=True)
        after = peak_kb()
    bugs = [one for one in errors if isinstance(one, Exception) and not isinstance(one, SourceError)]
    assert not bugs, bugs
    print((after - before) // 1024, max(len(str(one)) for one in errors if isinstance(one, SourceError)))

asyncio.run(ask(sys.argv[1]))
"""

type Pieces = Callable[[], Iterable[bytes]]

MB: Final = 1_000_000


def much(head: bytes, piece: bytes, tail: bytes, *, size: int) -> Pieces:
    """Return the pieces of an answer of about `size` bytes, which are never in memory all at once."""
    block = piece * (MB // len(piece))
    return lambda: chain([head], repeat(block, size // MB), [tail])


def different_rows() -> Iterator[bytes]:
    """Yield rows of a zone for one day, each with a different price, about as many as an answer can hold."""
    yield b'{"success":true,"data":{"ee":['
    for thousand in range(70):
        rows = (b'{"timestamp":1765792800,"price":%d},' % (1000 * thousand + one) for one in range(1000))
        yield b"".join(rows)
    yield b'{"timestamp":1765792800,"price":1}]}}'


ACKNOWLEDGEMENT: Final = b"<Acknowledgement_MarketDocument><Reason><text>"
ANSWERS: Final[Mapping[str, Pieces]] = {
    "a reason of 7 MB": much(
        ACKNOWLEDGEMENT, b"reason ", b"</text></Reason></Acknowledgement_MarketDocument>", size=7 * MB
    ),
    "a reason of 100 MB": much(ACKNOWLEDGEMENT, b"reason ", b"</text></Reason>", size=100 * MB),
    "empty elements": much(b"<GL_MarketDocument>", b"<a/>", b"</GL_MarketDocument>", size=7 * MB),
    "attributes": much(b"<GL_MarketDocument>", b"<a b=''/>", b"</GL_MarketDocument>", size=7 * MB),
    "elements in elements": much(b"", b"<a>", b"", size=7 * MB),
    "rows": much(
        b'{"success":true,"data":{"ee":[',
        b'{"timestamp":1765792800,"price":1},',
        b'{"timestamp":1765792800,"price":1}]}}',
        size=2 * MB,
    ),
    "unreadable rows": much(b'{"success":true,"data":{"ee":[', b'{"timestamp":"1","price":1},', b"{}]}}", size=2 * MB),
    "short unreadable rows": lambda: [b'{"success":true,"data":{"ee":[', b"{}," * 260_000, b"{}]}}"],
    "different rows": different_rows,
    "numbers": much(b'{"hourly_units":{},"hourly":{"time":[', b"1,", b"1]}}", size=MB),
    "many numbers": much(b'{"hourly_units":{},"hourly":{"time":[', b"1,", b"1]}}", size=100 * MB),
    "a text": much(b'{"hourly":"', b"a", b'"}', size=100 * MB),
    "lists in lists": much(b"", b"[", b"", size=100 * MB),
}


class Large(FakeUpstream):
    """Answers every request with a large stream, compressed or not."""

    def __init__(self, pieces: Pieces, coding: str, status: int) -> None:
        super().__init__()
        self._pieces = pieces
        self._coding = coding
        self._status = status

    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        raise AssertionError(path, query)

    async def _handle(self, request: web.Request) -> web.StreamResponse:  # type: ignore[override]
        response = web.StreamResponse(status=self._status, headers={"Content-Encoding": self._coding})
        await response.prepare(request)
        packer = zlib.compressobj(wbits=31) if self._coding == "gzip" else None
        try:
            for piece in self._pieces():
                await response.write(packer.compress(piece) if packer else piece)
            if packer:
                await response.write(packer.flush())
            await response.write_eof()
        except ConnectionError:
            pass
        return response


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads a process's highest memory as Linux tells it")
@pytest.mark.parametrize(
    ("name", "coding"),
    [
        *((name, "identity") for name in ANSWERS),
        *((name, "gzip") for name in ("a reason of 100 MB", "different rows", "many numbers")),
    ],
)
async def test_an_answer_costs_little_memory_and_is_told_in_a_line(name: str, coding: str) -> None:
    # ENTSO-E may answer 400 with a document. The others may answer 400 with any text.
    async with Large(ANSWERS[name], coding, 400 if "reason" in name else 200) as server:
        command = sys.executable, "-c", MEASURE, server.url
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        output, _ = await process.communicate()
    assert process.returncode == 0
    peak_mb, longest = map(int, output.split())
    assert peak_mb <= MAX_MB
    assert longest < 400
