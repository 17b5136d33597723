"""Parses the address of the database, and hides the passwords of the address in messages."""

import re
from typing import Final
from urllib.parse import quote, quote_plus

from sqlalchemy import create_engine, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from tunnihind.errors import SettingsError
from tunnihind.settings import install_advice

_HIDDEN: Final = "***"
_SECRET_PARAMETER: Final = re.compile(r"\w*(?:pass(?!file)|pwd|secret)\w*", re.IGNORECASE)
"""Matches the names of secret parameters, such as `password` or `sslpassword`, but not `passfile`."""
_SECRETS: Final = re.compile(
    rf"(?P<user>^[\w+]*:?/*[^:]*:).*(?=@)|(?P<name>\b{_SECRET_PARAMETER.pattern}=)[^&]*", re.IGNORECASE
)
_POSTGRESQL: Final = "postgresql+psycopg"
_DRIVERS: Final = {"postgres": _POSTGRESQL, "postgresql": _POSTGRESQL}
"""Maps the schemes of PostgreSQL addresses to the driver that the extra `postgresql` installs."""
_SYSTEMS: Final = ("sqlite", "postgresql")


def parse_address(address: str, setting: str = "database-url") -> URL:
    """Parse the address of a database. The schemes `postgres` and `postgresql` select the driver psycopg.

    Raises SettingsError if the address is malformed, or if its database system or driver isn't supported or installed.
    The error's text names the setting and hides the password.
    """
    try:
        url = make_url(address)
        url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
        _require_whole_password(url)
        if url.get_backend_name() == "postgresql" and url.drivername != _POSTGRESQL:
            raise SettingsError(f"{setting} names {url.drivername}: write {_POSTGRESQL}://…, the driver that is used")
        create_engine(url)  # checks the address, but does not connect to the database
    except ImportError as error:
        if url.get_backend_name() in _SYSTEMS:
            message = f"{setting} names {url.drivername}, whose driver {error.name} is not installed"
            if url.drivername == _POSTGRESQL:
                message += f"; to install it, {install_advice('postgresql')}"
            raise SettingsError(message) from None
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        shown = _SECRETS.sub(lambda found: f"{found['user'] or found['name']}{_HIDDEN}", address)
        message = (
            f"{setting} is {shown!r}: give an address such as sqlite:////var/lib/tunnihind/tunnihind.db "
            "or postgresql+psycopg://user:password@host/name"
        )
        if "@" in address:
            message += ", with %40 for an @ in the password, %3A for a :, %2F for a / and %25 for a %"
        raise SettingsError(message) from error
    if url.get_backend_name() not in _SYSTEMS:
        raise SettingsError(f"{setting} names {url.drivername}: data is kept in SQLite or PostgreSQL")
    if url.get_backend_name() == "sqlite" and url.query:
        raise SettingsError(f"{setting} has options after ?: an address of SQLite is only the path of a file")
    return url


def _require_whole_password(url: URL) -> None:
    """Raise ValueError if a part of the password was parsed as the host or the database's name."""
    if url.get_backend_name() != "sqlite" and "@" in f"{url.host}{url.database}":
        raise ValueError("an @ in the password ended it")


def is_sqlite(address: str) -> bool:
    """Return whether an address names an SQLite database. Raises SettingsError."""
    return parse_address(address).get_backend_name() == "sqlite"


def address_without_passwords(url: URL) -> str:
    """Return an address as a string, with `***` in place of each password."""
    hidden = dict.fromkeys(_secret_parameters(url), _HIDDEN)
    rendered = url.update_query_dict(hidden).render_as_string(hide_password=True)
    return rendered.replace(quote(_HIDDEN), _HIDDEN)


def without_secrets(text: str, url: URL) -> str:
    """Hide the passwords of `url` in a string, even if they are URL-encoded."""
    found = [url.password, *(url.query[name] for name in _secret_parameters(url))]
    secrets = [str(secret) for secret in found if secret]
    for written in (form(secret) for secret in secrets for form in (str, repr, quote, quote_plus)):
        text = text.replace(written, _HIDDEN)
    return text


def _secret_parameters(url: URL) -> list[str]:
    return [name for name in url.query if _SECRET_PARAMETER.fullmatch(name)]
