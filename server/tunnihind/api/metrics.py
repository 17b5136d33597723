"""What a Prometheus server can scrape: requests, ages of the data, and how the sources behave.

Requests are counted in plain dictionaries and become samples when they are scraped: looking up labelled
children would cost every request more than the whole of the rest of its counting.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from tunnihind.api.health import judge
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.errors import StoreError
from tunnihind.forecast.scoring.live_scores import WindowScores

_SCORED_DAYS: Final = 30
_BOUNDS_S: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)


class RequestTally(Collector):
    """Counts requests by route and status, and their handling times by route."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS_S) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count one handled request."""
        self._counts[route, status] += 1
        self._times[route][bisect_left(_BOUNDS_S, seconds)] += 1
        self._seconds[route] += seconds

    def collect(self) -> Iterator[CounterMetricFamily | HistogramMetricFamily]:
        """Turn the counts into samples."""
        requests = CounterMetricFamily(
            "tunnihind_requests", "Requests answered, by route and status.", labels=("route", "status")
        )
        for (route, status), count in self._counts.items():
            requests.add_metric((route, str(status)), count)
        yield requests
        durations = HistogramMetricFamily(
            "tunnihind_request_duration_seconds", "Time from a request's headers to its answer.", labels=("route",)
        )
        for route, counts in self._times.items():
            durations.add_metric((route,), _cumulated(counts), self._seconds[route])
        yield durations


def _cumulated(counts: list[int]) -> list[tuple[str, float]]:
    """Turn counts per bucket into the cumulated ones of the exposition format."""
    total = 0
    buckets = []
    for bound, count in zip((*map(str, _BOUNDS_S), "+Inf"), counts, strict=True):
        total += count
        buckets.append((bound, float(total)))
    return buckets


class DataAges(Collector):
    """The ages of what is being served, by the server's own clock; nothing where there is no such data."""

    def __init__(self, snapshot: Snapshot, clock: Clock) -> None:
        self._snapshot = snapshot
        self._clock = clock

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Judge the current view."""
        try:
            view = self._snapshot.view
        except StoreError:
            return
        readiness = judge(view, int(self._clock.now()), pipeline_expected=False)
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
        """Describe the current view."""
        try:
            view = self._snapshot.view
        except StoreError:
            return
        if view.run is not None:
            tier = GaugeMetricFamily("tunnihind_forecast_tier", "1 for the tier of inputs in use.", labels=("tier",))
            tier.add_metric((view.run.tier,), 1.0)
            yield tier
        for window in view.accuracy:
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
        self.requests = RequestTally()
        self.registry.register(self.requests)
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

    def watch(self, snapshot: Snapshot, clock: Clock) -> None:
        """Show what this snapshot serves, and how old it is."""
        self.registry.register(DataAges(snapshot, clock))
        self.registry.register(ServedForecast(snapshot))

    def exposition(self) -> bytes:
        """Return all samples in the text exposition format."""
        return generate_latest(self.registry)
