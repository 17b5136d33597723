"""Load on a server: `wrk` for steady load, and thousands of clients with a request at the same moment."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, override

from tests.support.machine.processes import Process

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_MS: Final = {"us": 0.001, "ms": 1.0, "s": 1000.0}
_LONGEST_ANSWER_S: Final = 10


@dataclass(frozen=True, slots=True)
class Load:
    """The result of some seconds of requests. Socket errors, timeouts and statuses of 400 and above count as failed."""

    requests: int
    failed: int
    per_second: float
    p99_ms: float


async def wrk(url: str, *headers: str, seconds: int, connections: int = 32) -> Load:
    """Send requests to a URL, over connections that stay open, for some seconds."""
    options = ["-t1", f"-c{connections}", f"-d{seconds}s", f"--timeout={_LONGEST_ANSWER_S}s", "--latency"]
    command = ["wrk", *options, *(part for header in headers for part in ("-H", header)), url]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(seconds + 3 * _LONGEST_ANSWER_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return read_report(output.decode())


def read_report(report: str) -> Load:
    """Read the output of `wrk --latency`. Raises ValueError."""
    per_second, requests = re.search(r"Requests/sec:\s+([\d.]+)", report), re.search(r"(\d+) requests in", report)
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)", report)
    if not (per_second and requests and p99):
        raise ValueError(f"wrk's report can't be read:\n{report}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", report)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", report)
    failed = (int(refused[1]) if refused else 0) + (sum(map(int, broken.groups())) if broken else 0)
    return Load(int(requests[1]), failed, float(per_second[1]), float(p99[1]) * _MS[p99[2]])


def processor_s(process: Process) -> float:
    """Return the processor time of a process and of the processes that it has started, in seconds."""
    total = 0
    for pid in process.family():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


@dataclass(frozen=True, slots=True)
class Got:
    """An answer, and the seconds from the common start to its last byte. The status is 0 if there is no answer."""

    status: int
    body: bytes
    after_s: float


class _Client(asyncio.Protocol):
    """A client with its own connection and one request."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._received = bytearray()
        self._done = done
        self._asked_at = 0.0
        self._transport: asyncio.Transport | None = None
        self.got = Got(0, b"", 0.0)

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, request: bytes, asked_at: float) -> None:
        assert self._transport is not None
        self._asked_at = asked_at
        self._transport.write(request)

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        if found and length and len(body) >= int(length[1]):
            after_s = time.perf_counter() - self._asked_at
            self.got = Got(int(head.split(b" ", 2)[1]), bytes(body), after_s)
            self.close()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._done()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def all_at_once(
    port: int, request: bytes, *, clients: int, start: asyncio.Future[None] | None = None, within_s: float = 60
) -> Sequence[Got]:
    """Connect so many clients, and send all of their requests when `start` is done."""
    loop = asyncio.get_running_loop()
    left = clients
    all_done = loop.create_future()

    def one_done() -> None:
        nonlocal left
        left -= 1
        if not left and not all_done.done():
            all_done.set_result(None)

    connected: list[_Client] = []
    try:
        for _ in range(clients):
            _, client = await loop.create_connection(lambda: _Client(one_done), "127.0.0.1", port)
            connected.append(client)
        if start is not None:
            await start
        now = time.perf_counter()
        for client in connected:
            client.ask(request, now)
        await asyncio.wait([all_done], timeout=within_s)
    finally:
        for client in connected:
            client.close()
    return [client.got for client in connected]
