"""Metrics for operators of several servers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import QueuePool

from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.store.database import Database

if TYPE_CHECKING:  # replicas need not load the pipeline
    from tunnihind.service.pipeline_runner import PipelineRunner


class LagCollector(Collector):
    """Reports the time since this server last made sure that it has the newest data of the database."""

    def __init__(self, updater: SnapshotUpdater) -> None:
        self._updater = updater

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the seconds since the last successful check of the store began.

        Before the first such check, yield nothing.
        """
        meaning = "Time since the served data were last seen to be the newest in the database."
        lag_s = self._updater.lag_s
        if lag_s is not None:
            yield GaugeMetricFamily("tunnihind_replica_lag_seconds", meaning, lag_s)


class LeaseCollector(Collector):
    """Reports the state of the pipeline's lease."""

    def __init__(self, runner: PipelineRunner | None) -> None:
        """`runner` is None on a server that never runs the pipeline."""
        self._runner = runner

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield the metrics of the lease. If `runner` is None, yield only `tunnihind_pipeline_held`, which is 0."""
        runner = self._runner
        meaning = "1 if this server holds the lease and runs the pipeline. The sum over all servers is 1."
        yield GaugeMetricFamily("tunnihind_pipeline_held", meaning, 0 if runner is None else int(runner.is_running))
        if runner is None:
            return
        meaning = "How often this server has taken the lease and begun to run the pipeline."
        yield CounterMetricFamily("tunnihind_pipeline_takeovers", meaning, runner.pipeline_start_count)
        silent_s = runner.holder_silent_s
        if silent_s is not None:
            meaning = "Time since the holder of the lease, this server or another, was last seen alive."
            yield GaugeMetricFamily("tunnihind_pipeline_lease_age_seconds", meaning, silent_s)


class DatabaseConnectionsCollector(Collector):
    """Reports the connections to the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the numbers of used and idle connections. For a database in memory, yield nothing."""
        pool = self._database.system.engine.pool
        if not isinstance(pool, QueuePool):
            return
        connections = GaugeMetricFamily(
            "tunnihind_database_connections", "Connections to the database, by state.", labels=("state",)
        )
        connections.add_metric(("in_use",), pool.checkedout())
        connections.add_metric(("idle",), pool.checkedin())
        yield connections
