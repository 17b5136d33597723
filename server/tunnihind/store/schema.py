"""Describes the database's tables. The package `migrations` upgrades the tables of older databases.

Instants are unix seconds UTC. Each forecast of a covariate is packed into one row (see `packing`), because with one
row for each hour, the database would grow by hundreds of megabytes a year.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Date, Float, Index, Integer, LargeBinary, MetaData, Table, Text

metadata: Final = MetaData(naming_convention={"pk": "pk_%(table_name)s", "ix": "ix_%(table_name)s_%(column_0_N_name)s"})

prices: Final = Table(
    "prices",
    metadata,
    Column("zone", Text, primary_key=True),
    Column("ts", BigInteger, primary_key=True, autoincrement=False),
    Column("step_s", Integer, primary_key=True, autoincrement=False),
    Column("seen_ts", BigInteger, primary_key=True, autoincrement=False),
    Column("known_ts", BigInteger, nullable=False),
    Column("eur_mwh", Float(53), nullable=False),
    Column("source", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""A version of a price. The server first saw the version at `seen_ts`. A forecast may use the version if the forecast
is issued at `known_ts` or later. A correction is another row for the same period, with a later `seen_ts`. `source` is
the name of the only source that gave the price, `agreed` if two sources gave it, or `import` if the operator gave
it."""

witnesses: Final = Table(
    "witnesses",
    metadata,
    Column("source", Text, primary_key=True),
    Column("zone", Text, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("prices", Text, nullable=False),
    Column("since_ts", BigInteger, nullable=False),
    Column("heard_ts", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("replaced", Text, nullable=False),
)
"""A witness, with the fields of `witnesses.Witness`. `prices` and `replaced` are JSON lists."""

covariates: Final = Table(
    "covariates",
    metadata,
    Column("name", Text, primary_key=True),
    Column("issued_ts", BigInteger, primary_key=True, autoincrement=False),
    Column("start_ts", BigInteger, nullable=False),
    Column("run_ts", BigInteger),
    Column("scale", Integer, nullable=False),
    Column("series", LargeBinary, nullable=False),
    Index(None, "issued_ts"),
)
"""One forecast of a covariate (`known.IssuedSeries`). `series` and `scale` are the results of
`packing.pack_covariate_values`."""

observations: Final = Table(
    "observations",
    metadata,
    Column("name", Text, primary_key=True),
    Column("start_ts", BigInteger, primary_key=True, autoincrement=False),
    Column("scale", Integer, nullable=False),
    Column("series", LargeBinary, nullable=False),
)
"""The observations of a covariate in one block of 32 days. `series` and `scale` are the results of
`packing.pack_covariate_values`."""

runs: Final = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("made_at", BigInteger, nullable=False),
    Column("zone", Text, nullable=False),
    Column("step_s", Integer, nullable=False),
    Column("tier", Text, nullable=False),
    Column("start_ts", BigInteger, nullable=False),
    Column("p10", LargeBinary, nullable=False),
    Column("p50", LargeBinary, nullable=False),
    Column("p90", LargeBinary, nullable=False),
    Column("inputs", LargeBinary, nullable=False),
    Index(None, "made_at"),
)
"""A forecast run exactly as it was issued."""

scenarios: Final = Table(
    "scenarios",
    metadata,
    Column("zone", Text, primary_key=True),
    Column("made_at", BigInteger, nullable=False),
    Column("start_ts", BigInteger, nullable=False),
    Column("paths", LargeBinary, nullable=False),
)
"""The newest price paths of a zone (`run.Scenarios`)."""

backtest_forecasts: Final = Table(
    "backtest_forecasts",
    metadata,
    Column("model", Text, primary_key=True),
    Column("zone", Text, primary_key=True),
    Column("issued_ts", BigInteger, primary_key=True, autoincrement=False),
    Column("step_s", Integer, primary_key=True, autoincrement=False),
    Column("start_ts", BigInteger, nullable=False),
    Column("p10", LargeBinary, nullable=False),
    Column("p50", LargeBinary, nullable=False),
    Column("p90", LargeBinary, nullable=False),
)
"""A model's forecast as of a past instant (`backtest.Next24HoursForecast`)."""

day_scores: Final = Table(
    "day_scores",
    metadata,
    Column("zone", Text, primary_key=True),
    Column("issued_on", Date, primary_key=True),
    Column("days_ahead", Integer, primary_key=True, autoincrement=False),
    Column("made_at", BigInteger, nullable=False),
    Column("tier", Text, nullable=False),
    Column("figures", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""The scores of one forecast of a delivery day (`live_scores.DayScores`)."""

accuracy_records: Final = Table(
    "accuracy_records",
    metadata,
    Column("zone", Text, primary_key=True),
    Column("month", Text, primary_key=True),
    Column("forecasts", LargeBinary, nullable=False),
    Column("scores", LargeBinary, nullable=False),
    Column("checksums", Text, nullable=False),
)
"""The record of a month's forecasts (`records.MonthRecord`). A row is written once and never changed."""

source_health: Final = Table(
    "source_health",
    metadata,
    Column("source", Text, primary_key=True),
    Column("tried_ts", BigInteger, nullable=False),
    Column("ok_ts", BigInteger),
    Column("failures", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("fault", Text),
    Column("status", Integer),
)
"""The last success of a source, and the last failure since then (`health.SourceHealth`)."""

leases: Final = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("token", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("beat_ts", BigInteger, nullable=False),
)
"""The lease of the pipeline (see `lease`)."""

state: Final = Table(
    "state",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""A fact, with its key and its JSON value (see `state.StateBook`)."""
