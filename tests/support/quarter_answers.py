"""A server with `/api/v1/quarters`, as the household's proxy plays it: quarters around the hours of a home's market."""

from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

from tests.support import recording_proxy as paths
from tests.support.api_documents import ABOUT
from tests.support.home import DAY_S, Home
from tests.support.recording_proxy import RecordingProxy
from tunnihind.market import HOUR_S

QUARTER_S: Final = 900
SHAPE: Final = (-6.0, -1.0, 2.0, 5.0)
"""What the quarters of an hour differ from it, EUR/MWh: nothing on average."""
BAND: Final = 10.0
"""Half of the range from p10 to p90, EUR/MWh."""


class QuarterMarket:
    """Answers for the quarters of `home`, whose household asks through `proxy`; other requests reach its server."""

    def __init__(self, home: Home, proxy: RecordingProxy) -> None:
        self._home = home
        self.horizon_h = 72
        """How many hours ahead the forecast is told."""
        self.full_horizon = False
        self._about: dict[str, Any] | None = None
        proxy.instead = self._answer

    def tell(self, about: Mapping[str, Any]) -> None:
        """Let the server tell these fields of itself, besides what it must."""
        self._about = {**ABOUT, "instanceId": "test", "vatRate": 0.22, **about}

    def price(self, start: int) -> float:
        """Return the market's price of a quarter, EUR/MWh."""
        return round(self._home.price_of(start - start % HOUR_S) + SHAPE[start % HOUR_S // QUARTER_S], 2)

    def document(self, days: int = 0) -> dict[str, Any]:
        """Return the answer as of the server's clock."""
        home, now = self._home, self._home.server_now
        quarter = now - now % QUARTER_S
        made_at = now if home.forecast_made_at is None else home.forecast_made_at
        settled = range(quarter - days * DAY_S, home.settled_until, QUARTER_S)
        ahead = range(quarter + QUARTER_S, now - now % HOUR_S + self.horizon_h * HOUR_S, QUARTER_S)
        return {
            "zone": "EE",
            "currency": "EUR",
            "now": now,
            "madeAt": made_at if home.forecast_of else None,
            "lastRefresh": made_at,
            "freeUntil": home.settled_until + 47 * HOUR_S,
            "gated": True,
            "backtest": None,
            "docs": "https://example.org/docs",
            "dayAhead": [{"ts": start, "eurMwh": self.price(start), "hourly": False} for start in settled],
            "forecast": [self._forecast(start) for start in ahead] if home.forecast_of else [],
        }

    def _forecast(self, start: int) -> dict[str, float]:
        assert self._home.forecast_of is not None
        p50 = self._home.forecast_of(start - start % HOUR_S) + SHAPE[start % HOUR_S // QUARTER_S]
        return {"ts": start, "p10": p50 - BAND, "p50": p50, "p90": p50 + BAND}

    def _answer(self, request: web.Request) -> web.Response | None:
        if request.path == paths.ABOUT and self._about:
            return web.json_response(self._about)
        if request.path != paths.QUARTERS:
            return None
        tag = f'"{self._home.version}-{self._home.server_now // QUARTER_S}-{request.query_string}"'
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={"ETag": tag})
        return web.json_response(self.document(int(request.query.get("days", "0"))), headers={"ETag": tag})
