"""Start the server in a Home Assistant app with the app's options as settings, and announce it to Home Assistant.

This script runs as root and does only work that needs root. The server runs as the user `tunnihind`. The script uses
only the standard library.
"""

import errno
import json
import os
import pwd
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

DATA: Final = Path("/data")
USER: Final = "tunnihind"
PORT: Final = 8080
SUPERVISOR: Final = "http://supervisor"

_LOOK_AGAIN_S: Final = 1.0


def settings(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options as environment variables of the server. Options that are empty keep their defaults."""
    return {f"TUNNIHIND_{name.upper()}": str(value) for name, value in options.items() if value not in {None, ""}}


def hand_over(folder: Path) -> None:
    """Make the server's user the owner of the data folder and of the database in it, but follow no links.

    That user owns the folder from the first start on, and could put links to root's files into it.
    """
    user = pwd.getpwnam(USER)
    for path in (folder, *folder.glob("tunnihind.db*")):
        try:
            give(path, user.pw_uid, user.pw_gid)
        except OSError as error:
            sys.stderr.write(f"{path} stays as it is: {error.strerror}\n")


def give(path: Path, uid: int, gid: int) -> None:
    """Make a user the owner of a folder or a file. Raises OSError for symbolic links and files with a second name."""
    # Without O_NONBLOCK, opening a pipe would wait until somebody writes to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISDIR(found.st_mode) and not (stat.S_ISREG(found.st_mode) and found.st_nlink == 1):
            raise OSError(errno.EMLINK, "not a plain file, or it has a second name")
        os.fchown(descriptor, uid, gid)
    finally:
        os.close(descriptor)


def announce(supervisor: str, token: str, *, host: str, port: int) -> None:
    """Announce the server to Home Assistant. Raises OSError."""
    message = {"service": "tunnihind", "config": {"host": host, "port": port}}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = Request(f"{supervisor}/discovery", json.dumps(message).encode(), headers)  # noqa: S310  a constant address
    with urlopen(request, timeout=10):  # noqa: S310  the same
        pass


def answers(port: int) -> bool:
    """Return whether the server answers yet."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
            return True
    except OSError, HTTPException:
        return False


def main() -> None:
    """Start the server, announce it once it answers, and end with it."""
    options = json.loads((DATA / "options.json").read_text())
    token = os.environ.pop("SUPERVISOR_TOKEN", "")
    hand_over(DATA)
    server = subprocess.Popen(
        ["tunnihind", "serve"],  # noqa: S607  the image's PATH begins with it
        env=os.environ | settings(options),
        user=USER,
        group=USER,
        extra_groups=[],
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    # Home Assistant sends requests to an announced server at once.
    while server.poll() is None and not answers(PORT):
        time.sleep(_LOOK_AGAIN_S)
    if server.poll() is None:
        try:
            announce(SUPERVISOR, token, host=socket.gethostname(), port=PORT)
        except OSError as error:
            sys.stderr.write(f"The server could not be announced to Home Assistant: {error}\n")
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
