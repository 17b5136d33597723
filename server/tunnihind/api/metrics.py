"""Prometheus metrics of requests, answers, sources, the database and the served data."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tunnihind import __version__
from tunnihind.api.health import judge_readiness, prices_are_overdue
from tunnihind.api.served_data import ServedData
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock

_SCORED_DAYS: Final = 30
_DURATION_BUCKETS_S: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)
_TRANSACTION_BUCKETS_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0)


class ServedDataCollector(Collector):
    """Collects metrics of the served data, of the server's troubles, and of the answers made from the data."""

    def __init__(self, snapshots: Sequence[Snapshot], clock: Clock) -> None:
        self._snapshots = snapshots
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics. Zones without data are left out."""
        now = int(self._clock.now())
        zones_data = [snapshot.data for snapshot in self._snapshots if snapshot.has_data]
        yield from _age_metrics(zones_data, now)
        troubles = len([*self._snapshots[0].troubles])
        yield GaugeMetricFamily(
            "tunnihind_troubles", "Number of reasons, other than missing or old data, why /readyz fails.", troubles
        )
        yield from _version_and_lateness_metrics(zones_data, now)
        meaning = "Answers on prices and forecasts: `made` anew, or reused from `memory` within the same second."
        answers = CounterMetricFamily("tunnihind_answers", meaning, labels=("from",))
        answers.add_metric(("made",), sum(snapshot.answers_made for snapshot in self._snapshots))
        answers.add_metric(("memory",), sum(snapshot.answers_reused for snapshot in self._snapshots))
        yield answers
        yield from _forecast_metrics(zones_data)


def _age_metrics(zones_data: Iterable[ServedData], now: int) -> Iterator[Metric]:
    judged = {data.market.code: judge_readiness(data, now, pipeline_expected=False) for data in zones_data}
    for name, meaning, age in (
        ("settled_age", "Time since the newest settled hour ended. 0 until it ends.", "settled_age_s"),
        ("forecast_age", "Time since the served forecast was made.", "forecast_age_s"),
        ("refresh_age", "Time since the pipeline last processed prices from a source.", "refresh_age_s"),
    ):
        family = GaugeMetricFamily(f"tunnihind_{name}_seconds", meaning, labels=("zone",))
        for code, readiness in judged.items():
            if (seconds := getattr(readiness, age)) is not None:
                family.add_metric((code,), seconds)
        yield from _metric_unless_empty(family)


def _version_and_lateness_metrics(zones_data: Sequence[ServedData], now: int) -> Iterator[Metric]:
    for data in zones_data[:1]:
        if data.version.isdigit():
            meaning = "Number of the newest change in the database that this server serves."
            yield GaugeMetricFamily("tunnihind_data_version", meaning, int(data.version))
    meaning = "1 while prices are overdue, or if there never was a price. 0 otherwise."
    late = GaugeMetricFamily("tunnihind_publication_late", meaning, labels=("zone",))
    for data in zones_data:
        late.add_metric((data.market.code,), int(prices_are_overdue(data, now)))
    yield from _metric_unless_empty(late)


def _forecast_metrics(zones_data: Sequence[ServedData]) -> Iterator[Metric]:
    """Yield the tier of the newest run, and the scores of the forecasts over the last 30 delivery days."""
    tier = GaugeMetricFamily("tunnihind_forecast_tier", "1 for the tier of inputs in use.", labels=("zone", "tier"))
    for data in zones_data:
        if (run := data.hours.run) is not None:
            tier.add_metric((data.market.code, run.tier), 1.0)
    yield from _metric_unless_empty(tier)
    for name, figure, meaning in (
        ("mae_eur_mwh", "mae", "Mean absolute error of p50, by days ahead."),
        ("skill", "skill", "Share of the error of last week's price that the forecast saves, by days ahead."),
        ("coverage", "coverage80", "Share of hours whose price lay between p10 and p90, by days ahead."),
    ):
        labels = ("zone", "days_ahead")
        family = GaugeMetricFamily(f"tunnihind_forecast_{name}", f"{meaning} Last 30 days.", labels=labels)
        for data in zones_data:
            for window in (one for one in data.recent_scores if one.days == _SCORED_DAYS):
                for lead, scores in window.by_days_ahead.items():
                    if scores.n:
                        family.add_metric((data.market.code, str(lead)), getattr(scores, figure))
        yield from _metric_unless_empty(family)


def _metric_unless_empty(family: Metric) -> Iterator[Metric]:
    if family.samples:
        yield family


class Metrics:
    """All metrics of one server, in a registry of their own."""

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
        # The metrics are cached by their labels, because `labels` takes longer than counting.
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
            "tunnihind_database_up", "1 if the last transaction succeeded, 0 if it failed.", registry=self.registry
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

    def record_transaction(self, access: str, seconds: float, *, failed: bool) -> None:
        """Record a database transaction: its duration, and whether it failed.

        `access` is "read" or "write". Any thread may call this method.
        """
        self._transactions.labels(access).observe(seconds)
        if failed:
            self._database_errors.labels(access).inc()
        self._database_up.set(0 if failed else 1)

    def record_request(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request, and record its duration.

        `seconds` is the time from the request's headers to the answer.
        """
        self._requests_of(route, status).inc()
        self._durations_of(route).observe(seconds)

    def add_collectors(self, *collectors: Collector) -> None:
        """Add collectors. `prometheus_text` returns their metrics too."""
        for collector in collectors:
            self.registry.register(collector)

    def prometheus_text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)
