"""Local servers in place of the upstreams. They answer like the real ones, or fail on a test's order."""

from tests.support.upstreams.elering import FakeElering
from tests.support.upstreams.entsoe import FakeEntsoe
from tests.support.upstreams.open_meteo import FakeOpenMeteo

__all__ = ["FakeElering", "FakeEntsoe", "FakeOpenMeteo"]
