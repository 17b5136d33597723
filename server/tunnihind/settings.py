"""The operator's settings, from command-line options and environment variables (see `cli.options`)."""

import os
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from tunnihind.core.market import HARMONISED_LIMITS, MARKETS, SPECIFIED_VAT_RATE, Market, PriceLimits, VatRates, Zone
from tunnihind.errors import SettingsError

ENVIRONMENT_PREFIX: Final = "TUNNIHIND_"


LONGEST_DRAIN_S: Final = 600

_IS_CLONE: Final = Path(__file__).parents[2].joinpath("run").is_file()
COMMAND: Final = "./run" if _IS_CLONE else "tunnihind"
"""The command that users type to run the program. It is `./run` in a clone of the repository, because `tunnihind` is
not on the `PATH` there."""


def install_advice(name: str) -> str:
    """Return advice on installing an extra of this package, such as `install tunnihind[plot]`."""
    return f"type `./run uv sync --inexact --extra {name}`" if _IS_CLONE else f"install tunnihind[{name}]"


def data_folder() -> Path:
    """Return Tunnihind's folder in `$XDG_DATA_HOME`, or else in `%LOCALAPPDATA%`, or else in `~/.local/share`."""
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "share") / "tunnihind"


def default_database_url() -> str:
    """Return the address of the SQLite database in the user's data folder."""
    return f"sqlite:///{data_folder() / 'tunnihind.db'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The server's settings with their defaults.

    The first of the `zones` is served at the root. Each further zone is served under a path such as `/lv`. The method
    `for_zone` sets `base_path` to a zone's path. `vat_rate` is a fraction, or None for the default rates.
    `price_floor` and `price_cap` are in EUR/MWh. `rate_limit` is in requests per second for each client, or 0 for no
    limit.
    """

    # `repr=False` keeps the token, and the password in the database's address, out of logs.
    database_url: str = field(default="", repr=False)
    zones: tuple[Zone, ...] = ("ee",)
    base_path: str = ""
    host: str = "0.0.0.0"  # noqa: S104  the household's other machines must reach it
    port: int = 8080
    public_url: str = ""
    announce: bool = True
    vat_rate: float | None = None
    attribution: str = ""
    full_horizon: bool = False
    rate_limit: float = 0.0
    trust_proxy: bool = False
    metrics: bool = True
    access_log: bool = False
    drain_seconds: float = 0.0

    elering_url: str = "https://dashboard.elering.ee/api"
    entsoe_url: str = "https://web-api.tp.entsoe.eu/api"
    entsoe_token: str = field(default="", repr=False)
    open_meteo_url: str = "https://api.open-meteo.com"
    open_meteo_single_runs_url: str = "https://single-runs-api.open-meteo.com"
    open_meteo_archive_url: str = "https://archive-api.open-meteo.com"
    weather: bool = True
    contact: str = ""
    price_floor: float = HARMONISED_LIMITS.floor
    price_cap: float = HARMONISED_LIMITS.cap
    history_start: int = 2021

    def __post_init__(self) -> None:
        """Raise SettingsError if a rate, a price limit, `drain_seconds` or a web address is invalid.

        The error names the setting and the broken rule.
        """
        # With `not`, these checks refuse NaN too, because all these comparisons with NaN are false.
        if self.vat_rate is not None and not 0 <= self.vat_rate < 1:
            raise SettingsError(f"vat-rate is {self.vat_rate}: give it as a fraction, 0.22 for 22%")
        if not self.price_floor < self.price_cap:
            raise SettingsError(f"price-floor {self.price_floor} is not below price-cap {self.price_cap}")
        if not 0 <= self.drain_seconds <= LONGEST_DRAIN_S:
            raise SettingsError(f"drain-seconds is {self.drain_seconds}: give 0 to {LONGEST_DRAIN_S}")
        if not self.rate_limit >= 0:
            raise SettingsError(f"rate-limit is {self.rate_limit}: give requests per second, or 0 for no limit")
        weather = "open_meteo_url", "open_meteo_single_runs_url", "open_meteo_archive_url"
        for name in ("public_url", "elering_url", "entsoe_url", *weather):
            url = getattr(self, name)
            if url and not _is_web_address(url):
                option = name.replace("_", "-")
                raise SettingsError(f"{option} is {url!r}: it has to start with http:// or https:// and name a host")

    @property
    def limits(self) -> PriceLimits:
        """The lowest and the highest possible price in EUR/MWh."""
        return PriceLimits(self.price_floor, self.price_cap)

    @property
    def market(self) -> Market:
        """The first served market, with the operator's price limits."""
        return self.markets[0]

    @property
    def markets(self) -> tuple[Market, ...]:
        """All served markets, with the operator's price limits."""
        return tuple(MARKETS[zone].with_limits(self.limits) for zone in self.zones)

    def path_of(self, zone: Zone) -> str:
        """Return the path under which a zone is served, such as `/lv`. The path of the first zone is empty."""
        return "" if zone == self.zones[0] else f"/{zone}"

    def for_zone(self, zone: Zone) -> Self:
        """Return the settings for serving `zone` alone, under the zone's path."""
        return replace(self, zones=(zone,), base_path=self.path_of(zone))

    @property
    def store_url(self) -> str:
        """The address of the database to use. By default, the database is an SQLite file in the user's data folder."""
        return self.database_url or default_database_url()

    @property
    def base_url(self) -> str:
        """The server's address for clients, with `base_path`. Without `public_url`, the host is `localhost`."""
        return (self.public_url.rstrip("/") or f"http://localhost:{self.port}") + self.base_path

    @property
    def is_private(self) -> bool:
        """True if the host's name or address in `base_url` exists only on this machine or in a local network."""
        return _is_local_host(urlsplit(self.base_url).hostname or "")

    @property
    def chosen_vat_rate(self) -> float | None:
        """The operator's own VAT rate. If it is None, consumer prices in feeds have the legal rate of each date.

        It is None if the operator has set no rate, or has set the newest legal rate. In Estonia, it is also None if the
        operator has set `SPECIFIED_VAT_RATE`.
        """
        newest = self.market.vat_laws[-1].rate
        is_specified = self.market.code == "EE" and self.vat_rate == SPECIFIED_VAT_RATE
        return None if is_specified or self.vat_rate == newest else self.vat_rate

    @property
    def api_vat_rates(self) -> VatRates:
        """The VAT rates of all consumer prices in the API, except in feeds.

        If the operator has set a rate, this rate applies. Otherwise, `SPECIFIED_VAT_RATE` applies in Estonia, and the
        legal rate of each date in other countries.
        """
        if self.vat_rate is not None:
            return ((0, self.vat_rate),)
        return ((0, SPECIFIED_VAT_RATE),) if self.market.code == "EE" else self.market.legal_vat_rates

    @property
    def attribution_text(self) -> str:
        """The credit line for those who republish the data. By default, it names Tunnihind and the server's host."""
        return self.attribution or f"Tunnihind ({urlsplit(self.base_url).hostname})"


_LOCAL_ENDINGS: Final = ("local", "localhost", "lan", "home", "home.arpa", "internal")
"""Endings of host names that exist only on one machine or in a local network, such as `local` (RFC 6762)."""


def _is_local_host(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        name = host.rstrip(".")
        return "." not in name or any(name.endswith(f".{end}") for end in _LOCAL_ENDINGS)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
