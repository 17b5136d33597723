"""What a Prometheus server can scrape: requests, ages of the data, and how the sources behave."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from tunnihind.api.health import judge
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.errors import StoreError
from tunnihind.forecast.scoring.live_scores import WindowScores

_SCORED_DAYS: Final = 30
_DURATION_BUCKETS_S: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)


class DataAges(Collector):
    """The ages of what is being served, by the server's own clock; nothing where there is no such data."""

    def __init__(self, snapshot: Snapshot, clock: Clock) -> None:
        self._snapshot = snapshot
        self._clock = clock

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the ages of the served data."""
        try:
            data = self._snapshot.data
        except StoreError:
            return
        readiness = judge(data, int(self._clock.now()), pipeline_expected=False)
        ages = (
            (
                "settled_age",
                "Time since the newest settled hour ended, 0 while it lies ahead.",
                readiness.settled_age_s,
            ),
            ("forecast_age", "Time since the served forecast was made.", readiness.forecast_age_s),
            ("refresh_age", "Time since the data pipeline last ingested.", readiness.refresh_age_s),
        )
        for name, meaning, age in ages:
            if age is not None:
                yield GaugeMetricFamily(f"tunnihind_{name}_seconds", meaning, value=age)


class ServedForecast(Collector):
    """What the served forecast rests on, and how those of the last 30 days did; nothing where there is none."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Describe the served forecast."""
        try:
            data = self._snapshot.data
        except StoreError:
            return
        if data.run is not None:
            tier = GaugeMetricFamily("tunnihind_forecast_tier", "1 for the tier of inputs in use.", labels=("tier",))
            tier.add_metric((data.run.tier,), 1.0)
            yield tier
        for window in data.accuracy:
            if window.days == _SCORED_DAYS:
                yield from _scores(window)


def _scores(window: WindowScores) -> Iterator[GaugeMetricFamily]:
    for name, figure, meaning in (
        ("mae_eur_mwh", "mae", "Mean absolute error of p50, by days ahead."),
        ("skill", "skill", "Share of the weekly naive forecast's error that is removed, by days ahead."),
        ("coverage", "coverage80", "Share of hours whose price lay between p10 and p90, by days ahead."),
    ):
        family = GaugeMetricFamily(f"tunnihind_forecast_{name}", f"{meaning} Last 30 days.", labels=("days_ahead",))
        for lead, scores in window.by_days_ahead.items():
            if scores.n:
                family.add_metric((str(lead),), getattr(scores, figure))
        yield family


class Metrics:
    """All metrics of one server, in a registry of its own; the pipeline counts into it too."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        requests = Counter(
            "tunnihind_requests",
            "Requests answered, by route and status.",
            ("route", "status"),
            registry=self.registry,
        )
        durations = Histogram(
            "tunnihind_request_duration_seconds",
            "Time from a request's headers to its answer.",
            ("route",),
            buckets=_DURATION_BUCKETS_S,
            registry=self.registry,
        )
        # To look up a labelled child takes longer than to count.
        self._requests_of = cache(requests.labels)
        self._durations_of = cache(durations.labels)
        ProcessCollector(registry=self.registry)
        self.source_outcomes = Counter(
            "tunnihind_source_requests",
            "Requests to upstream sources, by source and outcome.",
            ("source", "outcome"),
            registry=self.registry,
        )
        self.gate_rejections = Counter(
            "tunnihind_gate_rejections",
            "Delivery days that the plausibility gate put into quarantine, by source and reason.",
            ("source", "reason"),
            registry=self.registry,
        )

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count one answered request, and the seconds from its headers to its answer."""
        self._requests_of(route, status).inc()
        self._durations_of(route).observe(seconds)

    def watch(self, snapshot: Snapshot, clock: Clock) -> None:
        """Show what this snapshot serves, and how old it is."""
        self.registry.register(DataAges(snapshot, clock))
        self.registry.register(ServedForecast(snapshot))

    def exposition(self) -> bytes:
        """Return all samples in the text exposition format."""
        return generate_latest(self.registry)
