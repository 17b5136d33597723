"""Copies a whole database into another one, of the same or another database system.

What is there already is compared and left alone. So a copy that was interrupted goes on where it was, and one that is
made again brings over only what has changed. The source is read in one transaction: the copy is of one moment, whatever
is written meanwhile. Until it is finished and compared, no server opens the target.

A table is compared by parts. Each row goes into the digest of its part, on both sides, so no row can differ unseen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, inspect, true

from tunnihind.errors import SettingsError, StoreError
from tunnihind.store.address import parsed
from tunnihind.store.content import Cell, Content, Digest
from tunnihind.store.database import Database
from tunnihind.store.lease import Lease
from tunnihind.store.revision import HEAD, current, newer
from tunnihind.store.rows import DamageLog
from tunnihind.store.schema import leases, metadata, state
from tunnihind.store.state import COPYS_OWN, StateBook
from tunnihind.store.store import Store
from tunnihind.store.upgrade import upgrade

NOT_COPIED: Final = (leases,)
"""Who runs the pipeline on the source doesn't on the copy."""

_ROWS_A_WRITE: Final = 2000
_PARTS_A_WRITE: Final = 50
_ALIVE_S: Final = 60
"""A server that runs the pipeline on the target has been seen within this time."""


type Show = Callable[[str, int, int], None]
"""Shows what is being done, how many parts of it are done, and of how many."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """What became of a table: how many rows the copy has, how many were written, and how many damaged ones left out."""

    rows: int
    written: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied, table by table, and whether the source has been written to since."""

    source: str
    target: str
    tables: Mapping[str, CopiedTable]
    source_has_moved: bool


def copy(source_url: str, target_url: str, show: Show) -> Copied:
    """Make the target's database hold what the source's does, and compare the two.

    Raises SettingsError for an address that is none, SchemaError for a source of another version, StoreError where
    either can't be used, or the target holds other data.
    """
    with ExitStack() as stack:
        source = stack.enter_context(Store(source_url, read_only=True))
        if _is_same(source.database, target_url):
            raise SettingsError("to is the address that is copied from: give another one")
        target = Database(target_url)
        stack.callback(target.close)
        token = _prepare(target, source.state.instance_id())
        return _Copy(source, target, token, show).run()


class _Copy:
    """One run of a copy."""

    def __init__(self, source: Store, target: Database, token: str, show: Show) -> None:
        self._source = source
        self._target = target
        self._book = StateBook(target)
        self._token = token
        self._show = show
        self._contents = {table.name: Content(table, _is_copied(table)) for table in _tables()}

    def run(self) -> Copied:
        # Before the source is opened, which is not to be left waiting within its transaction.
        found = {name: self._found(content) for name, content in self._contents.items()}
        wanted: dict[str, Digest] = {}
        tables: dict[str, CopiedTable] = {}
        with self._source.database.reading() as snapshot:
            began = self._source.state.progress(snapshot)
            for name, content in self._contents.items():
                wanted[name], tables[name] = self._bring(content, snapshot, found[name])
        self._compare(wanted)
        with self._writing() as connection:
            self._book.finish_copy(connection)
        with self._source.database.reading() as connection:
            has_moved = self._source.state.progress(connection) != began
        return Copied(str(self._source.database), str(self._target), tables, has_moved)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Write to the target, unless another run has begun to, whose work this would double. Raises StoreError."""
        with self._target.writing() as connection:
            if not self._book.is_copied_by(connection, self._token):
                raise StoreError(
                    f"another `tunnihind copy` to {self._target} has begun, and goes on instead of this one"
                )
            yield connection

    def _found(self, content: Content) -> Digest:
        """Return the digest of a table of the target, which is emptied where it is damaged."""
        with self._target.reading() as connection:
            digest = Digest(content, content.rows(connection, DamageLog()))
            if digest.count == content.count(connection):
                return digest
        self._delete(content, [content.where])
        return Digest(content)

    def _bring(self, content: Content, snapshot: Connection, found: Digest) -> tuple[Digest, CopiedTable]:
        """Write what the target lacks of a table; return the digest that it has then, and what became of it."""
        total = content.count(snapshot)
        wanted = Digest(content)
        # Closed here, so that no cursor is left when the writing fails: its connection would be gone before it.
        with closing(content.rows(snapshot, self._source.database.damage)) as rows:
            if not found.count:
                written = self._write(content, wanted.passing(rows), total)
                return wanted, CopiedTable(wanted.count, written, total - wanted.count)
            for _ in wanted.passing(rows):
                pass
        differing, written = wanted.differing(found), 0
        if differing:
            self._delete(content, map(content.within, differing))
            with closing(content.rows(snapshot, DamageLog())) as rows:
                lacking = (row for row in rows if content.part_of(row) in differing)
                written = self._write(content, lacking, wanted.count_in(differing))
        return wanted, CopiedTable(wanted.count, written, total - wanted.count)

    def _delete(self, content: Content, conditions: Iterable[ColumnElement[bool]]) -> None:
        for some in batched(conditions, _PARTS_A_WRITE, strict=False):
            with self._writing() as connection:
                for condition in some:
                    connection.execute(delete(content.table).where(condition))

    def _write(self, content: Content, rows: Iterable[tuple[Cell, ...]], total: int) -> int:
        """Insert rows, a few in memory at a time; return how many."""
        steps, written = -(-total // _ROWS_A_WRITE), 0
        for step, some in enumerate(batched(rows, _ROWS_A_WRITE, strict=False), start=1):
            with self._writing() as connection:
                connection.execute(insert(content.table), [content.values(row) for row in some])
            written += len(some)
            self._show(f"copying {content.table.name}", step, steps)
        return written

    def _compare(self, wanted: Mapping[str, Digest]) -> None:
        """Read all of the copy, and compare it row by row with what was read from the source. Raises StoreError."""
        for step, (name, content) in enumerate(self._contents.items(), start=1):
            with self._target.reading() as connection:
                digest = Digest(content, content.rows(connection, DamageLog()))
                count = content.count(connection)
            if count != digest.count or wanted[name].differing(digest):
                raise StoreError(
                    f"{name} in {self._target} is not what was copied: {count} rows instead of {wanted[name].count}, "
                    "or other ones. Does anything else write to it? Run the command again"
                )
            self._show("comparing both", step, len(self._contents))


def _tables() -> list[Table]:
    """Return the tables to copy. The state is last: it tells which version of the data this is."""
    return sorted(
        (table for table in metadata.sorted_tables if table not in NOT_COPIED), key=lambda table: table is state
    )


def _is_copied(table: Table) -> ColumnElement[bool]:
    return table.c.key.not_in(COPYS_OWN) if table is state else true()


def _is_same(source: Database, target_url: str) -> bool:
    """Return whether two addresses lead to one database, as far as they tell."""
    target = parsed(target_url, "to")
    if source.path is None or target.get_backend_name() != "sqlite":
        where = ("drivername", "host", "port", "database", "query")
        return all(getattr(source.url, name) == getattr(target, name) for name in where)
    path = Path(str(target.database))
    return path.exists() and path.samefile(source.path)


def _prepare(target: Database, instance_id: str) -> str:
    """Make the target's tables, and note that it becomes a copy; return our token. Raises SchemaError, StoreError."""
    book = StateBook(target)
    with target.reading() as connection:
        found = set(inspect(connection).get_table_names())
        revision = current(connection)
        if revision is not None and revision > HEAD:
            raise newer(target)
        if revision is not None:
            _require_free(target, connection, book, instance_id, [table for table in _tables() if table.name in found])
    if revision != HEAD:
        upgrade(target)
    with target.writing() as connection:
        return book.begin_copy(connection, instance_id)


def _require_free(
    target: Database, connection: Connection, book: StateBook, instance_id: str, tables: Iterable[Table]
) -> None:
    """Make sure that a database may be written over: it is empty, or a copy of the source. Raises StoreError."""
    holder = Lease(target).holder()
    if holder is not None and abs(target.now(connection) - holder.beat_ts) < _ALIVE_S:
        raise StoreError(f"process {holder.pid} on {holder.host} runs the pipeline on {target}: stop it first")
    unfinished = book.unfinished_copy_in(connection)
    if unfinished is not None:
        if unfinished != instance_id:
            raise StoreError(
                f"{target} is an unfinished copy of another database: delete it, or name another with --to"
            )
        return
    if book.instance_id_in(connection) == instance_id and book.is_untouched_copy(connection):
        return
    for table in tables:
        rows = Content(table, table.c.key != "instance_id" if table is state else true())
        if rows.count(connection):
            raise StoreError(
                f"the database {target} holds other data, in {table.name}: name an empty one with --to. A copy is "
                "brought up to date only as long as nothing else has written to it"
            )
