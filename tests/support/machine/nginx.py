"""A real nginx with one of the shipped configurations, on free ports and in a separate folder."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.support.machine.processes import Process

_PROJECT: Final = Path(__file__).parents[3]
ONE_SERVER: Final = _PROJECT / "packaging/nginx/tunnihind.conf"
REPLICAS: Final = _PROJECT / "packaging/scale/nginx.conf"

_AROUND_ONE_SERVER: Final = """
pid {folder}/pid;
events {{ worker_connections 64; }}
http {{
    {site}
}}
"""

_OF_ITS_OWN: Final = """
daemon off;
{user}
{environment}
"""

_HTTP: Final = """
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
"""


def program() -> str | None:
    """Return the path of nginx, or None if it isn't installed."""
    # Debian installs nginx into a folder that is only on root's path.
    return shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


def replaced(text: str, old: str, new: str) -> str:
    """Replace a text that occurs exactly once."""
    assert text.count(old) == 1, f"{text.count(old)} times: {old}"
    return text.replace(old, new)


def for_one_server(folder: Path, port: int, server: int) -> str:
    """Return the configuration for one server, with the lines that make it a whole nginx.conf."""
    site = replaced(ONE_SERVER.read_text(), "server 127.0.0.1:8080;", f"server 127.0.0.1:{server};")
    site = replaced(site, "listen 80;", f"listen 127.0.0.1:{port};")
    site = replaced(site, "/var/cache/tunnihind", f"{folder}/cache")
    site = replaced(site, "/var/log/nginx/", f"{folder}/")
    return _AROUND_ONE_SERVER.format(folder=folder, site=site)


def for_replicas(folder: Path, port: int, replicas: Sequence[int]) -> str:
    """Return the configuration for several replicas."""
    text = REPLICAS.read_text()
    named = re.findall(r"server 172\.31\.16\.1\d:8080 (.+);\n", text)
    servers = "\n".join(f"server 127.0.0.1:{replica} {named[0]};" for replica in replicas)
    text, count = re.subn(r"( +server 172\.31\.16\.1\d:8080 .+;\n)+", f"{servers}\n", text)
    assert count == 1, "the replicas are in one place"
    text = replaced(text, "listen 80 ", f"listen 127.0.0.1:{port} ")
    text = replaced(text, "/etc/nginx/tunnihind/", f"{folder}/more/")
    text = replaced(text, "/var/cache/tunnihind", f"{folder}/cache")
    text = replaced(text, "/run/nginx.pid", f"{folder}/pid")
    text = replaced(text, " buffer=64k flush=5s", "")
    return text.replace("/var/log/nginx/", f"{folder}/")


class Nginx(Process):
    """A running nginx; its error log is in `log`."""

    def __init__(
        self, folder: Path, configuration: str, *, more: str = "", environment: Mapping[str, str] | None = None
    ) -> None:
        """Start nginx with a configuration and with `more` directives in its `http` block."""
        nginx = program()
        assert nginx is not None, "needs nginx: Debian's package nginx-light"
        environment = environment or {}
        own = _OF_ITS_OWN.format(
            # nginx would change to another user, who may not use a test's folder.
            user="user root;" if os.getuid() == 0 else "",
            # nginx hides its environment from its worker processes.
            environment="\n".join(f"env {name};" for name in environment),
        )
        http = f"http {{{_HTTP.format(folder=folder)}\n{more}"
        configuration = re.sub(r"^error_log .+$", "", configuration, flags=re.MULTILINE)
        self.folder = folder
        file = folder / "nginx.conf"
        file.write_text(f"{own}\nerror_log stderr warn;\n{replaced(configuration, 'http {', http)}")
        command = [nginx, "-e", "stderr", "-p", str(folder), "-c", str(file)]
        super().__init__(command, {"TZ": "Europe/Tallinn"} | dict(environment), folder / "nginx.log")
