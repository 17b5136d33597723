"""Real processes of `tunnihind`, and functions that wait for their effects."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from aiohttp import ClientConnectionError, ClientSession, ClientTimeout
from multidict import CIMultiDictProxy

from tests.support.machine.shifted_clock import ShiftedClock

COMMAND = str(Path(sys.executable).with_name("tunnihind"))
PATIENCE_S = 60.0
"""The longest wait of a test for events that take a second or two on an idle machine."""

UNREACHABLE_URL = "http://127.0.0.1:9"
"""An address without a listener (the discard port), so that no test ever sends requests to the real upstreams."""

_MAX_EXTENSIONS = 10

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 0.25
"""The pauses between two looks at what may take long. They grow, so that looking doesn't slow down what is awaited."""

_MOMENT_S = 0.002
"""The pause between two checks for a moment that may be over at once."""

_SHOWN_BYTES = 1000
"""The number of bytes of an answer that a failed test shows."""


def _no_progress() -> None:
    """Report no progress, so that only time counts."""


async def until[Found](
    look: Callable[[], Awaitable[Found]],
    *,
    within: float = PATIENCE_S,
    progress: Callable[[], object] = _no_progress,
) -> Found | None:
    """Return the first true result of `look`, or None if there is none in time.

    Whenever `progress` returns a new value, the time starts again, up to ten times in all. On a busy machine, work that
    makes progress is slow, not stuck.
    """
    last_deadline = time.monotonic() + _MAX_EXTENSIONS * within
    deadline, reached = time.monotonic() + within, progress()
    pause = _FIRST_PAUSE_S
    while not (found := await look()):
        if (now_reached := progress()) != reached:
            deadline, reached = min(time.monotonic() + within, last_deadline), now_reached
        if time.monotonic() > deadline:
            return None
        await asyncio.sleep(pause)
        pause = min(1.2 * pause, _LONGEST_PAUSE_S)
    return found


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended: its exit status and its output."""

    status: int
    output: str
    errors: str

    def json(self) -> Any:  # noqa: ANN401  any JSON document
        return json.loads(self.output)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a request."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes

    def __repr__(self) -> str:
        return f"{self.status} {self.body[:_SHOWN_BYTES]!r}"

    def json(self) -> Any:  # noqa: ANN401  any JSON document
        return json.loads(self.body)


async def run(arguments: Sequence[str], environment: Mapping[str, str]) -> Done:
    """Run one `tunnihind` command to its end. The test's own time limit applies."""
    process = await asyncio.create_subprocess_exec(
        COMMAND, *arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode is not None
    return Done(process.returncode, output.decode(), errors.decode())


class Process:
    """A running program in its own process group, so that a test can find processes that it leaves behind."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return self._log.read_text()

    def is_running(self) -> bool:
        return self._process.poll() is None

    def family(self) -> set[int]:
        """Return the ids of the process and of its descendants that are alive."""
        return {int(path.name) for path in Path("/proc").glob("[0-9]*") if _group(path) == self.pid}

    async def until_logged(self, text: str, *, within: float = PATIENCE_S) -> None:
        """Wait for a text in the log."""

        async def look() -> bool:
            return text in self.log

        found = await until(look, within=within, progress=self._logged_bytes)
        assert found, f"never logged: {text}\n{self.log}"

    async def ended(self, *, within: float = PATIENCE_S) -> int:
        """Wait for the process's end and return its exit status."""

        async def look() -> bool:
            return not self.is_running()

        assert await until(look, within=within, progress=self._logged_bytes), f"it does not end:\n{self.log}"
        assert self._process.returncode is not None
        return self._process.returncode

    async def freeze(self) -> None:
        """Stop the process (SIGSTOP). Return when all its threads have stopped, or when the process has ended."""
        os.kill(self.pid, signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def thaw(self) -> None:
        """Continue a frozen process."""
        os.kill(self.pid, signal.SIGCONT)

    async def freeze_when(self, holds: Callable[[], bool], *, within: float = PATIENCE_S) -> None:
        """Freeze the process at a moment at which a condition holds. Fails if the condition never holds.

        The condition may hold for some milliseconds only. While the process is frozen, the test has time to act.
        """
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            assert self.is_running(), f"it has ended before:\n{self.log}"
            if holds():
                await self.freeze()
                if holds():
                    return
                self.thaw()
            await asyncio.sleep(_MOMENT_S)
        pytest.fail(f"the moment never came:\n{self.log}")

    def ask_to_end(self) -> None:
        """Ask the process to end, as service managers do."""
        self._process.send_signal(signal.SIGTERM)

    async def terminate(self, *, within: float = PATIENCE_S) -> int:
        """Ask the process to end and return its exit status."""
        self.ask_to_end()
        return await self.ended(within=within)

    async def kill(self) -> None:
        """Kill the process (kill -9), but not its helpers."""
        self._process.kill()
        await self.ended()

    async def until_alone(self, *, within: float = PATIENCE_S) -> bool:
        """Return whether all processes of the family have ended in time."""

        async def look() -> bool:
            return not self.family()

        return bool(await until(look, within=within))

    def _logged_bytes(self) -> int:
        return self._log.stat().st_size

    def clear_away(self) -> None:
        """End all processes of the family, in whatever state a failed test has left them."""
        if self.family():
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


class Server(Process):
    """A running `tunnihind serve`."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], port: int, log: Path, *, wrapper: Sequence[str]
    ) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._started = arguments, environment, port, log, wrapper
        super().__init__([*wrapper, COMMAND, "serve", "--port", str(port), *arguments], environment, log)

    def again(self) -> Server:
        """Start the same server again after it has ended, with an empty log."""
        arguments, environment, port, log, wrapper = self._started
        return Server(arguments, environment, port, log, wrapper=wrapper)

    async def get(self, path: str, **headers: str) -> Reply:
        """Request a path. Headers are named with underscores. Raises ClientConnectionError."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with (
            ClientSession(timeout=ClientTimeout(total=PATIENCE_S)) as session,
            session.get(self.url + path, headers=named) as response,
        ):
            return Reply(response.status, response.headers, await response.read())

    async def get_at_once(self, *paths: str) -> list[Any]:
        """Return the JSON answers of several resources. No price and no forecast changes between these answers."""
        while True:
            answers = [(await self.get(path)).json() for path in paths]
            if at_any_moment(answers[0]) == at_any_moment((await self.get(paths[0])).json()):
                return answers

    @asynccontextmanager
    async def connected(self, request: bytes) -> AsyncIterator[None]:
        """Keep a connection open after sending these bytes."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(request)
        await writer.drain()
        try:
            yield
        finally:
            writer.close()

    async def until(
        self, path: str, holds: Callable[[Reply], object], *, within: float = PATIENCE_S, say: str = ""
    ) -> Reply:
        """Return the first answer that meets a condition. Fails if there is none in time."""
        last: list[Reply] = []

        async def look() -> Reply | None:
            assert self.is_running(), f"the server has ended with {self._process.returncode}:\n{self.log}"
            try:
                last[:] = [await self.get(path)]
            except ClientConnectionError, TimeoutError:
                return None
            return last[0] if holds(last[0]) else None

        def progress() -> tuple[int, int]:
            return self._logged_bytes(), len(last[0].body) if last else 0

        found = await until(look, within=within, progress=progress)
        assert found is not None, f"{path} never came to {say or 'what was expected'}; last: {last}\n{self.log}"
        return found

    async def until_ready(self, *, within: float = PATIENCE_S) -> Any:  # noqa: ANN401  any JSON document
        """Return the answer to `/readyz` once it is 200."""
        return (await self.until("/readyz", lambda reply: reply.status == 200, within=within, say="200")).json()


def at_any_moment(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of prices without the fields that change while the data stays."""
    return {name: value for name, value in answer.items() if name not in {"now", "freeUntil"}}


def server_environment(home: Path, database: Path) -> dict[str, str]:
    """Return the environment of a server, with only the machine's variables that the server needs."""
    # PYTHONDONTWRITEBYTECODE is left out: with it, each process would compile all modules again.
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "TUNNIHIND_DATABASE_URL": f"sqlite:///{database}",
        "TUNNIHIND_HOST": "127.0.0.1",
        "TUNNIHIND_ELERING_URL": UNREACHABLE_URL,
        "TUNNIHIND_WEATHER": "no",
    }


def free_port() -> int:
    """Return a port that nobody listens on, and that the system gives to no outgoing connection."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    candidates = [port for port in range(20_000, 65_536) if not first <= port <= last] or [0]
    while True:
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", random.choice(candidates)))  # noqa: S311  to spread, not to hide
            port: int = listener.getsockname()[1]
            return port


type Tunnihind = Callable[..., Awaitable[Done]]
"""The type of the fixture `tunnihind`: runs a command to its end."""


class Launch(Protocol):
    """The type of the fixture `launch`: starts a server."""

    def __call__(
        self, *arguments: str, clock: ShiftedClock | None = None, port: int | None = None, wrapper: Sequence[str] = ()
    ) -> Server: ...


def _group(process: Path) -> int | None:
    """Return the process group of a living process, or None.

    The fields are read after the name, which may have any character (proc(5)).
    """
    try:
        state, _parent, group, *_ = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else int(group)
