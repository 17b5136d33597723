"""Declares options of the commands. Each of these options also has an environment variable, `TUNNIHIND_…`."""

import dataclasses
import functools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, Final, override

import click

from tunnihind.cli.logs import set_up_logging
from tunnihind.core.market import ZONES, Zone
from tunnihind.errors import SettingsError
from tunnihind.numerals import decimal_number, whole_number
from tunnihind.settings import ENVIRONMENT_PREFIX, Settings

_DEFAULTS: Final = Settings()
_FIRST_YEAR: Final = 2010
_LAST_YEAR: Final = 2100

type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class InstantType(click.ParamType[int]):
    """An instant such as 2025-12-15T10:00:00Z. The parsed value is in unix seconds UTC."""

    name = "instant"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse an ISO 8601 time that ends with Z or an offset."""
        if isinstance(value, int):
            return value
        try:
            instant = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a valid time; write it like 2025-12-15T10:00:00Z", param, ctx)
        if instant.tzinfo is None:
            self.fail(f"{value!r} has no time zone; for UTC write {instant.isoformat()}Z", param, ctx)
        if not _FIRST_YEAR <= instant.year <= _LAST_YEAR:
            self.fail(f"{value!r} is not from the years {_FIRST_YEAR} to {_LAST_YEAR}", param, ctx)
        return int(instant.timestamp())


class NumberType(click.types.FloatParamType):
    """A number, as `numerals` reads it."""

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse a number."""
        try:
            return decimal_number(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)


class WholeNumberType(click.IntRange):
    """A whole number in a range, as `numerals` reads it."""

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a whole number."""
        try:
            number = whole_number(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return int(super().convert(number, param, ctx))


def option(
    name: str,
    parameter: str | None = None,
    *,
    variable: str | None = None,
    **attributes: Any,  # noqa: ANN401  click's own
) -> Decorator:
    """Declare an option that an environment variable can also set.

    `parameter` names the command's argument. By default, the argument is `name` with underscores instead of hyphens.
    The environment variable is `TUNNIHIND_` followed by `variable`. By default, `variable` is `name` in capitals, with
    underscores. Give `variable` if another command has an option with the same name and another meaning. If the
    attribute `is_switch` is true, the option can also be switched off, with `--no-` before its name.
    """
    variable = ENVIRONMENT_PREFIX + (variable or name.replace("-", "_").upper())
    switch = f"--{name}/--no-{name}" if attributes.pop("is_switch", False) else f"--{name}"
    declarations = [switch] if parameter is None else [switch, parameter]
    return click.option(*declarations, envvar=variable, show_envvar=True, **attributes)


class ZonesType(click.ParamType[tuple[Zone, ...]]):
    """A list of zones such as ee,lv. No zone may occur twice. If `is_single` is true, only one zone is allowed."""

    name = "zones"

    def __init__(self, *, is_single: bool = False) -> None:
        self._is_single = is_single

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Zone, ...]:
        """Parse zone names in upper or lower case."""
        if isinstance(value, tuple):
            return value
        names = [name.strip().lower() for name in value.split(",")]
        for name in names:
            if name not in ZONES:
                self.fail(f"{name!r} is not a zone; choose from {', '.join(ZONES)}", param, ctx)
            if names.count(name) > 1:
                self.fail(f"{name!r} is named twice; name each of {', '.join(ZONES)} at most once", param, ctx)
        if self._is_single and len(names) > 1:
            self.fail(f"{value!r} names several zones; name one of {', '.join(ZONES)}", param, ctx)
        return tuple(zone for name in names for zone in ZONES if zone == name)


def _setting_option(name: str, help_text: str, **attributes: Any) -> Decorator:  # noqa: ANN401  click's own attributes
    default = getattr(_DEFAULTS, name.replace("-", "_"))
    shown: dict[str, Any] = {"show_default": True} if default not in {"", None} else {}
    return option(name, default=default, help=help_text, **shown, **attributes)


_LOGGING_OPTIONS: Final = (
    option("log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True),
    option("log-format", type=click.Choice(["text", "json"]), default="text", show_default=True),
)

STORE_OPTIONS: Final = (
    _setting_option(
        "database-url",
        "Database address: sqlite:///… or postgresql+psycopg://….  [default: SQLite in your data folder]",
    ),
)

ZONE_OPTIONS: Final = (
    option(
        "zone",
        "zones",
        type=ZonesType(is_single=True),
        default=_DEFAULTS.zones[0],
        show_default=True,
        help=f"The zone to use: {', '.join(ZONES)}.",
    ),
)

MARKET_OPTIONS: Final = (
    _setting_option("price-floor", "Lowest valid price, EUR/MWh.", type=NumberType()),
    _setting_option("price-cap", "Highest valid price, EUR/MWh.", type=NumberType()),
)

SOURCES_OPTIONS: Final = (
    *MARKET_OPTIONS,
    option(
        "zones",
        type=ZonesType(),
        default=_DEFAULTS.zones[0],
        show_default=True,
        help=f"Zones to serve, from {', '.join(ZONES)}. The first zone is at the root, each other zone under its name.",
    ),
    _setting_option("elering-url", "Base URL of Elering's API."),
    _setting_option("entsoe-url", "Address of ENTSO-E's API."),
    _setting_option("entsoe-token", "Security token for ENTSO-E, the second source of prices."),
    option(
        "entsoe-token-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="File with the security token for ENTSO-E.",
    ),
    _setting_option("open-meteo-url", "Base URL of Open-Meteo's forecast API, the fallback for weather."),
    _setting_option("open-meteo-single-runs-url", "Base URL of Open-Meteo's Single Runs API."),
    _setting_option("open-meteo-archive-url", "Base URL of Open-Meteo's Historical Weather API."),
    _setting_option("weather", "Fetch weather for the forecast.", is_switch=True),
    _setting_option("contact", "Your e-mail address or URL, sent to the sources in the User-Agent."),
    _setting_option("history-start", "First year of prices to fetch.", type=WholeNumberType(_FIRST_YEAR, _LAST_YEAR)),
)

ADDRESS_OPTIONS: Final = (
    _setting_option("host", "Address to listen on."),
    _setting_option("port", "Port to listen on.", type=WholeNumberType(0, 65535)),
)

SERVER_OPTIONS: Final = (
    *ADDRESS_OPTIONS,
    _setting_option("public-url", "The server's URL for clients.  [default: http://localhost:PORT]"),
    _setting_option(
        "announce", "Let clients on the local network find the server. This is never done with --as-of.", is_switch=True
    ),
    _setting_option(
        "vat-rate",
        "VAT in prices in EUR/kWh. The default in Estonia is 0.22, as the API's specification says; elsewhere it is "
        "the legal rate of each date. The feeds and the integration use the legal rates, unless you set a rate other "
        "than the default and the newest legal rate.",
        type=NumberType(),
    ),
    _setting_option("attribution", "Credit that republishers must give.  [default: Tunnihind and the public host]"),
    _setting_option(
        "full-horizon", "Also serve the forecast past the public window. This is for a private server.", is_switch=True
    ),
    _setting_option(
        "rate-limit", "Maximum number of requests per second from one client. 0 means no limit.", type=NumberType()
    ),
    _setting_option("trust-proxy", "Trust X-Forwarded-For, behind your own reverse proxy.", is_switch=True),
    _setting_option("metrics", "Offer /metrics to Prometheus.", is_switch=True),
    _setting_option("access-log", "Log every request.", is_switch=True),
    _setting_option(
        "drain-seconds",
        "Keep serving for this many seconds after a stop signal, while /readyz fails.",
        type=NumberType(),
    ),
)

AS_OF_OPTIONS: Final = (
    option("as-of", type=InstantType(), help="Show the data known at an instant, such as 2025-12-15T10:00:00Z."),
)


def with_settings[**P, R](
    *groups: tuple[Decorator, ...],
) -> Callable[[Callable[Concatenate[Settings, P], R]], Callable[P, R]]:
    """Return a decorator that gives a command the options of `groups` and the options for logging.

    The command gets its `Settings` as the first argument. Logging is set up before the command runs.
    """

    def decorate(command: Callable[Concatenate[Settings, P], R]) -> Callable[P, R]:
        @functools.wraps(command)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            set_up_logging(str(kwargs.pop("log_level")), str(kwargs.pop("log_format")))
            return command(_take_settings(kwargs), *args, **kwargs)

        decorated: Callable[..., Any] = wrapped
        for declare in reversed([declare for group in (*groups, _LOGGING_OPTIONS) for declare in group]):
            decorated = declare(decorated)
        return decorated

    return decorate


def _take_settings(given: dict[str, Any]) -> Settings:
    """Remove the settings from `given`, a command's arguments, and return these settings as `Settings`.

    If a token file is given, the token is read from it. Raises UsageError.
    """
    token_file: Path | None = given.pop("entsoe_token_file", None)
    names = {field.name for field in dataclasses.fields(Settings)}
    chosen = {name: given.pop(name) for name in list(given) if name in names}
    if token_file is not None:
        chosen["entsoe_token"] = _read_token(token_file)
    try:
        return Settings(**chosen)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


def _read_token(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--entsoe-token-file: {file} can't be read as a text file") from error
