"""`healthcheck`: checks whether the server on this machine works, for container engines and service managers."""

from http.client import HTTPConnection, HTTPException
from typing import Final

import click

from tunnihind.cli.options import ADDRESS_OPTIONS, with_settings
from tunnihind.settings import Settings

_TIMEOUT_S: Final = 5.0


@click.command()
@with_settings(ADDRESS_OPTIONS)
def healthcheck(settings: Settings) -> None:
    """Check whether the server at the given host and port works.

    If the server does not answer, or must be restarted, the exit status is 1.
    """
    connection = HTTPConnection(_local_address(settings.host), settings.port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
    except (OSError, HTTPException) as error:
        raise click.ClickException(f"no answer on port {settings.port}: {error}") from error
    finally:
        connection.close()
    if answer.status != 200:  # noqa: PLR2004
        raise click.ClickException(f"the server answers {answer.status} {answer.reason}")


def _local_address(host: str) -> str:
    """Return the address at which this machine reaches a server that listens on `host`."""
    match host:
        case "0.0.0.0":  # noqa: S104  compared, not bound
            return "127.0.0.1"
        case "::":
            return "::1"
        case _:
            return host
