"""Writing rows whether they are there or not."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert whole rows, each in place of the one with its key where there is one."""
    if not rows:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    others = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    connection.execute(statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=others), rows)
