"""A home in a test: Home Assistant, a real server on the loopback, a market, and one clock for all.

The server may be `ahead_s` seconds ahead of the clock, because its own clock is wrong or because it rehearses a past
day.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.core.market import MARKET_OF_CODE
from custom_components.tunnihind.prices.zones import id_suffix
from tests.support.api.api_server import RunningServer, make_run, make_view
from tunnihind.core.market import ESTONIA, HOUR_S, MARKETS, QUARTER_S, vat_rate_at

DAY_S = 24 * HOUR_S
PLAN_ID = "plan"
DEFAULT_PLAN: Mapping[str, Any] = MappingProxyType({"duration": 180, "split": True, "min_piece": 60})

type PriceOf = Callable[[int], float]
"""A function that returns the market's price, EUR/MWh, of the hour with this start."""

MORNING = "2026-01-14T10:20:00+02:00"
"""A Wednesday in winter, before the auction."""
PUBLISHED_TODAY = "2026-01-15T01:00:00+02:00"
"""The end of the settled prices on that morning: the CET delivery day ends an hour after the day in Tallinn."""
PUBLISHED_TOMORROW = "2026-01-16T01:00:00+02:00"

type MakeHome = Callable[..., Awaitable[Home]]
"""A function that makes a home: see the fixture `make_home`."""


def instant(text: str) -> int:
    """Return the UTC seconds of an ISO instant with its offset."""
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo is not None
    return int(moment.timestamp())


def iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def wavy(start: int) -> float:
    """Return a price with two waves a day: cheap at night, expensive in the evening.

    Within some days no price comes twice.
    """
    hour = start // HOUR_S
    return round(60 + 40 * ((hour * 7) % 24 - 11.5) / 11.5 + (hour % 97) / 50, 2)


def shaped(start: int) -> float:
    """Return a price of a quarter. The mean price of an hour's quarters is the wavy price of the hour."""
    return round(wavy(start - start % HOUR_S) + (-6, -1, 2, 5)[start % HOUR_S // QUARTER_S], 2)


class Home:
    """The market, its server and the household's Home Assistant."""

    def __init__(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        server: RunningServer,
        *,
        now: int,
        settled_until: int,
        price_of: PriceOf = wavy,
        ahead_s: int = 0,
    ) -> None:
        self.ahead_s = ahead_s
        self.hass = hass
        self.server = server
        self.port = server.port
        self.user = ""
        self.price_of = price_of
        self.quarter_price_of: PriceOf | None = None
        self.settled_until = settled_until
        self.known_for_s = 3 * DAY_S
        self.forecast_for_s = 8 * DAY_S
        self.forecast_of: PriceOf | None = lambda start: 50 + start // HOUR_S % 24
        self.forecast_made_at: int | None = None
        self._freezer = freezer
        self.version = 0
        self.set_clock(now)
        self.serve()

    @property
    def now(self) -> int:
        return self.server_now - self.ahead_s

    @property
    def server_now(self) -> int:
        return int(self.server.clock.instant)

    def set_clock(self, now: int) -> None:
        """Set all clocks to `now`, without any event."""
        self._freezer.move_to(datetime.fromtimestamp(now, UTC))
        self.server.clock.instant = now + self.ahead_s

    async def move_server_clock(self, ahead_s: int) -> None:
        """Set only the server's clock ahead, and poll."""
        now = self.now
        self.ahead_s = ahead_s
        self.set_clock(now)
        self.serve()
        await self.poll()

    def serve(self) -> None:
        """Give the server the published prices, and a forecast made from them."""
        self.version += 1
        hour = self.server_now - self.server_now % HOUR_S
        settled = {start: self.price_of(start) for start in range(hour - self.known_for_s, self.settled_until, HOUR_S)}
        quarters = {}
        if self.quarter_price_of:
            quarters = {
                start: self.quarter_price_of(start)
                for start in range(hour - self.known_for_s, self.settled_until, QUARTER_S)
            }
        made_at = self.server_now if self.forecast_made_at is None else self.forecast_made_at
        run = (
            make_run(
                map(self.forecast_of, range(hour, hour + self.forecast_for_s, HOUR_S)), start=hour, made_at=made_at
            )
            if (self.forecast_of)
            else None
        )
        view = make_view(settled, run, quarters=quarters, version=str(self.version), last_refresh=made_at)
        self.server.snapshot.replace_data(view)
        for zone, snapshot in self.server.further.items():
            snapshot.replace_data(replace(view, market=MARKETS[zone]))

    def serve_quarters(self, price_of: PriceOf = shaped) -> None:
        """From now on, publish prices of quarters. Before this call, the server has hours only."""
        self.quarter_price_of = price_of
        self.serve()

    async def at(self, now: int) -> None:
        """Move time to `now` in steps of at most a quarter of an hour, and run all events."""
        while self.now < now:
            self.set_clock(min(now, self.now - self.now % 900 + 900))
            async_fire_time_changed(self.hass, datetime.fromtimestamp(self.now, UTC))
            await self.settle()

    async def settle(self) -> None:
        await self.hass.async_block_till_done(wait_background_tasks=True)

    async def publish(self, until: int) -> None:
        """Settle prices up to `until`, and poll."""
        self.settled_until = until
        self.serve()
        await self.poll()

    async def poll(self) -> None:
        """Let the coordinator poll the server."""
        await self.entry.runtime_data.async_refresh()
        await self.settle()

    async def add(
        self,
        *,
        options: Mapping[str, Any] | None = None,
        plans: Mapping[str, Mapping[str, Any]] | None = None,
        batteries: Mapping[str, Mapping[str, Any]] | None = None,
        entry_id: str = "entry",
        rehearsal: bool = False,
        zone: str = "EE",
    ) -> MockConfigEntry:
        """Set the integration up with a zone of this server.

        `plans` and `batteries` have the data of plans and batteries by subentry id.
        """
        of_zone = id_suffix(MARKET_OF_CODE[zone])
        self.entry = MockConfigEntry(
            domain=DOMAIN,
            title="Tunnihind",
            entry_id=entry_id,
            unique_id=f"test{of_zone}-rehearsal" if rehearsal else f"test{of_zone}",
            data={
                "url": f"http://{self.user}127.0.0.1:{self.port}{of_zone.replace('-', '/')}",
                "instance_id": f"test{of_zone}",
                **({"zone": zone} if of_zone else {}),
                **({"rehearsal": True} if rehearsal else {}),
            },
            options=dict(options or {}),
            subentries_data=[
                *(plan(name, data) for name, data in (plans or {PLAN_ID: DEFAULT_PLAN}).items()),
                *(plan(name, data, "battery") for name, data in (batteries or {}).items()),
            ],
        )
        self.entry.add_to_hass(self.hass)
        await self.hass.config_entries.async_setup(self.entry.entry_id)
        await self.settle()
        return self.entry

    def state(self, platform: str, key: str, owner: str = "entry") -> State:
        """Return the state of the entity with the key. `owner` is the id of the entry or of a plan."""
        entity_id = er.async_get(self.hass).async_get_entity_id(platform, DOMAIN, f"{owner}_{key}")
        assert entity_id is not None, f"there is no {platform} {key}"
        state = self.hass.states.get(entity_id)
        assert state is not None, f"{entity_id} has no state"
        return state

    def value(self, key: str, owner: str = "entry") -> str:
        return self.state("sensor", key, owner).state

    def is_on(self, key: str, owner: str = "entry") -> bool:
        state = self.state("binary_sensor", key, owner).state
        assert state in {"on", "off"}, state
        return state == "on"

    def consumer_price(self, start: int) -> float:
        """Return the hour's price of a household without fees, EUR/kWh: the market price with the legal VAT."""
        return _with_vat(self.price_of(start), start)

    def consumer_quarter_price(self, start: int) -> float:
        """Return the quarter's price of a household without fees that is billed by the quarter, EUR/kWh."""
        assert self.quarter_price_of is not None
        return _with_vat(self.quarter_price_of(start), start)


def _with_vat(eur_mwh: float, start: int) -> float:
    return round(eur_mwh / 1000 * (1 + vat_rate_at(ESTONIA.legal_vat_rates, start)), 4)


def plan(name: str, data: Mapping[str, Any], kind: str = "plan") -> ConfigSubentryDataWithId:
    return ConfigSubentryDataWithId(
        data=dict(data), subentry_id=name, subentry_type=kind, title=name.capitalize(), unique_id=None
    )
