"""Local servers that play the upstreams, for tests: they answer as the real ones do, and misbehave as told."""

from tests.support.upstreams.elering import FakeElering
from tests.support.upstreams.entsoe import FakeEntsoe
from tests.support.upstreams.open_meteo import FakeOpenMeteo

__all__ = ["FakeElering", "FakeEntsoe", "FakeOpenMeteo"]
