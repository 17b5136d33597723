"""A real PostgreSQL for the tests: a server in a folder of its own, and a new database in milliseconds."""

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from psycopg import sql

ROOTS_STAND_IN = "postgres"
"""The user that runs PostgreSQL if root runs the tests, because PostgreSQL refuses to run as root."""

_CONFIGURATION = """
listen_addresses = ''
unix_socket_directories = '{folder}'
max_connections = 100
shared_buffers = 32MB
fsync = off
full_page_writes = off
jit = off
"""
_WHO_MAY = """
local all guarded scram-sha-256
local replication all trust
local all all trust
"""
"""The role `guarded` needs a password. All other roles need none."""


class PostgresqlServer:
    """A PostgreSQL server that listens on a socket in its own folder. `tunnihind` owns the databases."""

    def __init__(self, folder: Path, *, primary: PostgresqlServer | None = None) -> None:
        """Make a server's files in an empty folder.

        The folder's path has to be short, because a socket's path has at most 107 bytes. With a `primary`, the server
        is a read-only standby that copies the primary.
        """
        self.folder = folder
        self._data = folder / "data"
        if os.geteuid() == 0:
            shutil.chown(folder, ROOTS_STAND_IN, ROOTS_STAND_IN)
        if primary is not None:
            source = f"--host={primary.folder}", "--username=postgres", "--write-recovery-conf"
            self._run("pg_basebackup", *source, "--checkpoint=fast", "--no-sync")
            with (self._data / "postgresql.conf").open("a") as configuration:
                configuration.write(f"unix_socket_directories = '{folder}'\n")
            return
        self._run("initdb", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--username=postgres", "--auth=trust")
        with (self._data / "postgresql.conf").open("a") as configuration:
            configuration.write(_CONFIGURATION.format(folder=folder))
        (self._data / "pg_hba.conf").write_text(_WHO_MAY)

    @property
    def socket(self) -> Path:
        return self.folder / ".s.PGSQL.5432"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._run("pg_ctl", "--wait", "--silent", f"--log={self.folder / 'log'}", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: "fast" in good order, "immediate" as after a kill."""
        self._run("pg_ctl", "--wait", "--silent", f"--mode={mode}", "stop")

    def url(self, database: str, *, role: str = "tunnihind", password: str = "") -> str:
        """Return the address of a database."""
        credentials = f"{role}:{password}" if password else role
        return f"postgresql+psycopg://{credentials}@/{database}?host={self.folder}"

    @contextmanager
    def superuser(self, database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        """Connect as superuser. Each statement is a transaction of its own."""
        with psycopg.connect(host=str(self.folder), dbname=database, user="postgres", autocommit=True) as connection:
            yield connection

    def make_database(self, *, like: str = "template0", encoding: str = "UTF8", name: str = "") -> str:
        """Make a database as a copy of another database, which must have no connections. Return its name."""
        name = name or f"test_{uuid.uuid4().hex[:12]}"
        made = sql.SQL("CREATE DATABASE {} OWNER tunnihind TEMPLATE {} ENCODING {} LC_COLLATE 'C' LC_CTYPE 'C'")
        if encoding == "UTF8":
            made = sql.SQL("CREATE DATABASE {} OWNER tunnihind TEMPLATE {} ENCODING {}")
        with self.superuser() as connection:
            connection.execute(made.format(sql.Identifier(name), sql.Identifier(like), encoding))
        return name

    def drop_database(self, name: str) -> None:
        """Delete a database, even if it has connections."""
        with self.superuser() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def end_connections(self, database: str) -> None:
        """End all connections to a database, as an administrator does."""
        with self.superuser() as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])

    def _run(self, program: str, *arguments: str) -> None:
        user = ROOTS_STAND_IN if os.geteuid() == 0 else None
        groups: list[str] | None = None if user is None else []
        command = [str(_programs() / program), f"--pgdata={self._data}", *arguments]
        # The output goes into a file. The server would inherit a pipe and keep the pipe open.
        with (self.folder / "setup.log").open("ab") as log:
            done = subprocess.run(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                check=False,
                timeout=60,
                user=user,
                group=user,
                extra_groups=groups,
            )
        assert done.returncode == 0, (self.folder / "setup.log").read_text()


@contextmanager
def postgresql_server() -> Iterator[PostgresqlServer]:
    """Run a server within the context, with the role `tunnihind`. Skip the test if this machine has no PostgreSQL."""
    if not _versions() and shutil.which("pg_ctl") is None:
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = PostgresqlServer(folder)
    server.start()
    try:
        with server.superuser() as connection:
            connection.execute("CREATE ROLE tunnihind LOGIN")
        yield server
    finally:
        with suppress(AssertionError):
            server.stop("immediate")
        shutil.rmtree(folder)


@contextmanager
def standby_of(primary: PostgresqlServer) -> Iterator[PostgresqlServer]:
    """Run a standby within the context."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    standby = PostgresqlServer(folder, primary=primary)
    standby.start()
    try:
        yield standby
    finally:
        with suppress(AssertionError):
            standby.stop("immediate")
        shutil.rmtree(folder)


@contextmanager
def silenced_proxy(server: Path) -> Iterator[tuple[Path, Event]]:
    """Run a proxy in front of a server's socket.

    Return the folder of the proxy's socket, and an event. While the event is set, the proxy drops all bytes.
    """
    silence = Event()
    with tempfile.TemporaryDirectory(prefix="px-") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(Path(folder) / server.name))
        listener.listen()
        Thread(target=_accept, args=(listener, server, silence), daemon=True).start()
        yield Path(folder), silence
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, server: Path, silence: Event) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            upstream = socket.socket(socket.AF_UNIX)
            upstream.connect(str(server))
            for from_, to in ((client, upstream), (upstream, client)):
                Thread(target=_pass_on, args=(from_, to, silence), daemon=True).start()


def _pass_on(from_: socket.socket, to: socket.socket, silence: Event) -> None:
    with suppress(OSError), from_:
        while received := from_.recv(65_536):
            if not silence.is_set():
                to.sendall(received)
        to.shutdown(socket.SHUT_RDWR)


def _programs() -> Path:
    """Return the folder of the newest installed PostgreSQL."""
    if versions := _versions():
        return versions[-1]
    on_path = shutil.which("pg_ctl")
    assert on_path is not None
    return Path(on_path).resolve().parent


def _versions() -> list[Path]:
    # Debian has one folder for each version, and none of them is on the path.
    return sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
