"""The messages to systemd, over a real socket."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clocks import JumpingClock, TimeIsUp
from tunnihind.api.health import Troubles
from tunnihind.service.systemd import feed_watchdog, notify_manager

NOW = 1_765_792_800


class Manager:
    """A service manager's end of the socket."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.setblocking(False)

    def told(self) -> list[str]:
        """Return the received messages so far."""
        messages = []
        while True:
            try:
                messages.append(self._socket.recv(100).decode())
            except BlockingIOError:
                return messages

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    name = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", name if request.param == "path" else f"@{name}")
    made = Manager(name if request.param == "path" else f"\0{name}")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("stuck", "told"), [(None, ["WATCHDOG=1"] * 6), ("the pipeline has made no progress for 15 minutes", [])]
)
async def test_the_watchdog_hears_twice_in_its_time_unless_only_a_restart_can_help(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, stuck: str | None, told: list[str]
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "120000000")
    troubles, clock = Troubles(), JumpingClock(NOW, nap_s=0.0)
    troubles.stuck, clock.until = stuck, NOW + 300
    with pytest.raises(TimeIsUp):
        await feed_watchdog(troubles, clock)
    assert manager.told() == told


async def test_the_watchdog_of_another_process_is_left_alone(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "120000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid() + 1))
    await feed_watchdog(Troubles(), JumpingClock(NOW))
    assert manager.told() == []


def test_without_a_service_manager_nobody_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify_manager("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    notify_manager("READY=1")
