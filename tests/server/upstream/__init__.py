"""Local servers that play the upstreams, for tests: they answer as the real ones do, and misbehave as told."""

from tests.server.upstream.elering import FakeElering
from tests.server.upstream.entsoe import FakeEntsoe
from tests.server.upstream.open_meteo import FakeOpenMeteo

__all__ = ["FakeElering", "FakeEntsoe", "FakeOpenMeteo"]
