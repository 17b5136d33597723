"""A cluster on one machine: PostgreSQL, an upstream, servers, replicas and the shipped edge, as real processes."""

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp
from psycopg import sql

from tests.benchmarks.scale.cut import Link
from tests.support.machine.nginx import Nginx, for_replicas, replaced
from tests.support.machine.processes import Server, free_port, server_environment
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import hourly, made_up_quotes
from tests.support.store.postgresql import PostgresqlServer, postgresql_server
from tests.support.upstreams import FakeElering
from tunnihind.market import delivery_day

REPLICAS: Final = 3
_DAYS_BEFORE: Final = 20
_DAYS_AHEAD: Final = 4
FROM_A_CDN: Final = "X-Forwarded-For: 192.0.2.1"
"""A header field. The edge takes requests with this field as a CDN's requests, and sends them all to a replica."""

_AS_FROM_A_CDN: Final = "set_real_ip_from 127.0.0.1;"
_FILE: Final = """
server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {folder};
    default_type application/json;
}}
"""


@dataclass
class Cluster:
    """The processes of a cluster. If `clock` is given, all processes except PostgreSQL use it."""

    folder: Path
    postgresql: PostgresqlServer
    upstream: FakeElering
    now: Callable[[], float]
    clock: ShiftedClock | None
    stack: AsyncExitStack
    database: str
    servers: dict[str, Server] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)

    @property
    def truth(self) -> Mapping[int, float]:
        """The true price of each hour, EUR/MWh."""
        return hourly(self.upstream.quotes)

    @property
    def database_url(self) -> str:
        """The database of all servers of the cluster."""
        return self.postgresql.url(self.database)

    async def start(
        self,
        name: str,
        *arguments: str,
        database_url: str | None = None,
        cuttable: bool = False,
        first_year: int = 2100,
    ) -> Server:
        """Start a server; it replaces a server of the same name.

        Without `database_url` it uses the cluster's database.
        """
        url = database_url or self.database_url
        if cuttable:
            link = self.links[name] = await self.stack.enter_async_context(Link(self.postgresql.socket))
            url = f"postgresql+psycopg://tunnihind@127.0.0.1:{link.port}/{self.database}"
        home = self.folder / name
        home.mkdir(exist_ok=True)
        environment = server_environment(home, home / "unused.db") | {
            "TUNNIHIND_DATABASE_URL": url,
            "TUNNIHIND_ELERING_URL": self.upstream.url,
            "TUNNIHIND_HISTORY_START": str(first_year),
            "TUNNIHIND_TRUST_PROXY": "yes",
            "TUNNIHIND_ANNOUNCE": "no",
            **(self.clock.environment if self.clock else {}),
        }
        log = home / f"{len([*home.glob('*.log')])}.log"
        server = self.servers[name] = Server(arguments, environment, free_port(), log, wrapper=())
        self.stack.callback(server.clear_away)
        return server

    async def start_replicas(self) -> list[Server]:
        """Start the replicas, and wait until they answer."""
        replicas = [await self.start(f"replica-{n}", "--no-pipeline") for n in range(1, REPLICAS + 1)]
        for replica in replicas:
            await replica.until("/api/v1/forecast", lambda reply: reply.status == 200 and reply.json()["dayAhead"])
        return replicas

    def restart(self, name: str) -> Server:
        """Restart a server with the same settings, at the port that the edge knows."""
        server = self.servers[name] = self.servers[name].again()
        self.stack.callback(server.clear_away)
        return server

    @property
    def replicas(self) -> list[Server]:
        return [server for name, server in self.servers.items() if name.startswith("replica-")]

    async def start_edge(self, *, file: bytes = b"{}", workers: str = "auto") -> Edge:
        """Start the shipped edge in front of the replicas, with a plain `file` beside it."""
        folder = self.folder / "edge"
        (folder / "more").mkdir(parents=True)
        (folder / "more/cdn.conf").write_text(_AS_FROM_A_CDN)
        (folder / "file.json").write_bytes(file)
        port, tls_port, file_port = free_port(), free_port(), free_port()
        configuration = for_replicas(folder, port, [int(server.url.rpartition(":")[2]) for server in self.replicas])
        # All load comes from one address here, so the limits are raised. Their cost stays included.
        configuration = replaced(configuration, "rate=10r/s", "rate=1000000r/s")
        configuration = replaced(configuration, "burst=20 nodelay", "burst=1000000 nodelay")
        configuration = replaced(configuration, "worker_processes auto;", f"worker_processes {workers};")
        encrypted = f"listen 127.0.0.1:{tls_port} ssl backlog=4096;{_certificate(folder)}\nserver_name _;"
        configuration = replaced(configuration, "server_name _;", encrypted)
        # An ordinary user may not raise this limit.
        configuration = re.sub(r"worker_rlimit_nofile \d+;", "", configuration)
        environment = self.clock.environment if self.clock else {}
        nginx = Nginx(folder, configuration, more=_FILE.format(port=file_port, folder=folder), environment=environment)
        self.stack.callback(nginx.clear_away)
        url, tls_url = f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls_port}"
        edge = Edge(nginx, port, url, tls_url, f"http://127.0.0.1:{file_port}/file.json")
        async with asyncio.timeout(10), aiohttp.ClientSession() as session:
            while True:
                try:
                    async with session.get(f"{edge.url}/healthz"):
                        return edge
                except aiohttp.ClientError:
                    assert nginx.is_running(), nginx.log
                    await asyncio.sleep(0.05)

    async def asked_of_replicas(self, route: str) -> int:
        """Return the number of requests of a route that have reached the replicas so far."""
        total = 0.0
        for replica in self.replicas:
            samples = (await replica.get("/metrics")).body.decode()
            total += sum(
                float(line.rpartition(" ")[2])
                for line in samples.splitlines()
                if line.startswith(f'tunnihind_requests_total{{route="{route}"')
            )
        return int(total)

    def rows(self, statement: str) -> list[Any]:
        """Return the rows of a query of the cluster's database."""
        with self.postgresql.superuser(self.database) as connection:
            return connection.execute(statement.encode()).fetchall()

    def holder(self) -> str | None:
        """Return the name of the server that holds the pipeline's lease."""
        pids = {server.pid: name for name, server in self.servers.items()}
        rows = self.rows("SELECT pid FROM leases WHERE name = 'pipeline'")
        return pids.get(rows[0][0]) if rows else None


@dataclass(frozen=True)
class Edge:
    """A running edge, also with encryption, and the plain file beside it."""

    nginx: Nginx
    port: int
    url: str
    tls_url: str
    file_url: str


def _certificate(folder: Path) -> str:
    """Make a certificate with the kind of key that signs fastest. Return nginx's lines for the certificate."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-x509", "-subj", "/CN=localhost")
    subprocess.run(
        ["openssl", "req", *kind, "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=30
    )
    return f"ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_session_tickets off;"


@asynccontextmanager
async def opened(
    folder: Path, *, now: Callable[[], float], clock: ShiftedClock | None = None
) -> AsyncIterator[Cluster]:
    """Open a cluster with an upstream and a database, but without servers."""
    async with AsyncExitStack() as stack:
        postgresql = stack.enter_context(postgresql_server())
        today = delivery_day(int(now()))
        quotes = made_up_quotes(date(today.year - 1, 1, 1), today + timedelta(days=_DAYS_AHEAD))
        upstream = await stack.enter_async_context(FakeElering(quotes, now=now))
        database = postgresql.make_database()
        with postgresql.superuser() as connection:
            # Committed data must stay after a crash, as with PostgreSQL's default settings.
            connection.execute(
                sql.SQL("ALTER DATABASE {} SET synchronous_commit = on").format(sql.Identifier(database))
            )
        yield Cluster(folder, postgresql, upstream, now, clock, stack, database)
