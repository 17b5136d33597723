"""Local servers that play the upstreams: they answer as the real ones do, or fail as a test says."""

from tests.support.upstreams.elering import FakeElering
from tests.support.upstreams.entsoe import FakeEntsoe
from tests.support.upstreams.open_meteo import FakeOpenMeteo

__all__ = ["FakeElering", "FakeEntsoe", "FakeOpenMeteo"]
