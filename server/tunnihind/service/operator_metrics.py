"""Metrics of one of several servers: the pipeline's lease, the lag behind the database, and the connections."""

from collections.abc import Iterator
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import QueuePool

from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.store.database import Database


class RunsPipeline(Protocol):
    """An object that runs the pipeline while this server holds the lease. A replica doesn't load its class."""

    @property
    def is_running(self) -> bool:
        """Whether this server runs the pipeline."""

    @property
    def takeovers(self) -> int:
        """How often this server has begun to run the pipeline."""

    @property
    def holder_silent_s(self) -> float | None:
        """Seconds since the holder of the lease was last seen alive. None if nobody holds the lease."""


class Lag(Collector):
    """The lag of a server behind the database."""

    def __init__(self, updater: SnapshotUpdater) -> None:
        self._updater = updater

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the lag, or nothing before the first data."""
        meaning = "Time since the served data were last seen to be the newest in the database."
        lag_s = self._updater.lag_s
        if lag_s is not None:
            yield GaugeMetricFamily("tunnihind_replica_lag_seconds", meaning, lag_s)


class PipelineLease(Collector):
    """Whether this server runs the pipeline, and how long the lease's holder has been silent."""

    def __init__(self, runner: RunsPipeline | None) -> None:
        """Report on a runner. Without one, the server never runs the pipeline."""
        self._runner = runner

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Return the state of the lease as this server knows it."""
        runner = self._runner
        meaning = "1 if this server runs the pipeline: it holds the lease. Over all servers this is 1."
        yield GaugeMetricFamily("tunnihind_pipeline_held", meaning, 0 if runner is None else int(runner.is_running))
        if runner is None:
            return
        meaning = "Times that this server has taken the lease and begun to run the pipeline."
        yield CounterMetricFamily("tunnihind_pipeline_takeovers", meaning, runner.takeovers)
        silent_s = runner.holder_silent_s
        if silent_s is not None:
            meaning = "Time since the holder of the lease, this server or another, was last seen alive."
            yield GaugeMetricFamily("tunnihind_pipeline_lease_age_seconds", meaning, silent_s)


class Connections(Collector):
    """The connections to the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Count the connections in the pool. A database in memory has no pool."""
        pool = self._database.system.engine.pool
        if not isinstance(pool, QueuePool):
            return
        connections = GaugeMetricFamily(
            "tunnihind_database_connections", "Connections to the database, by state.", labels=("state",)
        )
        connections.add_metric(("in_use",), pool.checkedout())
        connections.add_metric(("idle",), pool.checkedin())
        yield connections
