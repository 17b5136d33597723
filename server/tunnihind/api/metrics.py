"""What a Prometheus server can scrape: requests, answers, ages of the data, and how sources and database behave."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tunnihind import __version__
from tunnihind.api.health import awaits_tomorrow, is_late, judge
from tunnihind.api.served_data import ServedData
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.errors import StoreError
from tunnihind.forecast.scoring.live_scores import WindowScores

_SCORED_DAYS: Final = 30
_DURATION_BUCKETS_S: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)
_TRANSACTION_BUCKETS_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0)


class Served(Collector):
    """What is being served, by the server's own clock: how old it is, its state, how it was made, and how it did."""

    def __init__(self, snapshot: Snapshot, clock: Clock) -> None:
        self._snapshot = snapshot
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """Return what there is; of data that aren't there nothing."""
        snapshot, now = self._snapshot, int(self._clock.now())
        try:
            data = snapshot.data
        except StoreError:
            data = None
        if data:
            yield from _ages(data, now)
        troubles = len([*snapshot.troubles])
        yield GaugeMetricFamily("tunnihind_troubles", "Reasons by which /readyz says no, other than age.", troubles)
        if data:
            yield from _state(data, now)
        meaning = "Answers of prices and forecasts: `made` anew, or one of the same second again from `memory`."
        answers = CounterMetricFamily("tunnihind_answers", meaning, labels=("from",))
        answers.add_metric(("made",), snapshot.made)
        answers.add_metric(("memory",), snapshot.from_memory)
        yield answers
        if data:
            yield from _forecast(data)


def _ages(data: ServedData, now: int) -> Iterator[Metric]:
    readiness = judge(data, now, pipeline_expected=False)
    for name, meaning, age in (
        ("settled_age", "Time since the newest settled hour ended, 0 while it lies ahead.", readiness.settled_age_s),
        ("forecast_age", "Time since the served forecast was made.", readiness.forecast_age_s),
        ("refresh_age", "Time since the data pipeline last ingested.", readiness.refresh_age_s),
    ):
        if age is not None:
            yield GaugeMetricFamily(f"tunnihind_{name}_seconds", meaning, value=age)


def _state(data: ServedData, now: int) -> Iterator[Metric]:
    if data.version.isdigit():
        meaning = "Count of the changes in the database that are served. Servers of one database share it."
        yield GaugeMetricFamily("tunnihind_data_version", meaning, int(data.version))
    late = awaits_tomorrow(data, now) and is_late(data.market, now)
    meaning = "1 while tomorrow's prices are overdue, 0 otherwise."
    yield GaugeMetricFamily("tunnihind_publication_late", meaning, int(late))


def _forecast(data: ServedData) -> Iterator[Metric]:
    """Describe what the served forecast rests on, and how those of the last 30 days did."""
    if (run := data.hours.run) is not None:
        tier = GaugeMetricFamily("tunnihind_forecast_tier", "1 for the tier of inputs in use.", labels=("tier",))
        tier.add_metric((run.tier,), 1.0)
        yield tier
    for window in data.accuracy:
        if window.days == _SCORED_DAYS:
            yield from _scores(window)


def _scores(window: WindowScores) -> Iterator[Metric]:
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
        build = Gauge("tunnihind_build_info", "1 for the version that runs.", ("version",), registry=self.registry)
        build.labels(__version__).set(1)
        self.source_outcomes = Counter(
            "tunnihind_source_requests",
            "Requests to upstream sources, by source and outcome.",
            ("source", "outcome"),
            registry=self.registry,
        )
        self.held_days = Counter(
            "tunnihind_held_days",
            "Delivery days whose prices were held back, by source and reason.",
            ("source", "reason"),
            registry=self.registry,
        )

        self._database_up = Gauge(
            "tunnihind_database_up", "1 if the last transaction went well, 0 if it failed.", registry=self.registry
        )
        self._database_errors = Counter(
            "tunnihind_database_errors", "Transactions that failed, by access.", ("access",), registry=self.registry
        )
        self._transactions = Histogram(
            "tunnihind_database_transaction_seconds",
            "Time that a transaction was open, by access.",
            ("access",),
            buckets=_TRANSACTION_BUCKETS_S,
            registry=self.registry,
        )
        for access in ("read", "write"):
            self._database_errors.labels(access)
            self._transactions.labels(access)

    def count_transaction(self, access: str, seconds: float, *, failed: bool) -> None:
        """Count a transaction, to "read" or to "write"; may be called from any thread."""
        self._transactions.labels(access).observe(seconds)
        if failed:
            self._database_errors.labels(access).inc()
        self._database_up.set(0 if failed else 1)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count one answered request, and the seconds from its headers to its answer."""
        self._requests_of(route, status).inc()
        self._durations_of(route).observe(seconds)

    def watch(self, snapshot: Snapshot, clock: Clock) -> None:
        """Show what this snapshot serves, and how old it is."""
        self.show(Served(snapshot, clock))

    def show(self, *collectors: Collector) -> None:
        """Show what these collect, too."""
        for collector in collectors:
            self.registry.register(collector)

    def exposition(self) -> bytes:
        """Return all samples in the text exposition format."""
        return generate_latest(self.registry)
