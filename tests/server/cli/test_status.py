from pathlib import Path

from tunnihind.cli.inspect import read_status
from tunnihind.market import ESTONIA
from tunnihind.store.store import Store

NOW = 1_765_792_800


def test_the_size_counts_what_is_still_in_the_log_beside_the_file(store: Store, database: Path) -> None:
    log = database.with_name(f"{database.name}-wal")
    before = read_status(store, ESTONIA, NOW, is_past=False).database_bytes
    store.state.write("something that takes room", "x" * 100_000)
    assert log.stat().st_size > 100_000
    after = read_status(store, ESTONIA, NOW, is_past=False).database_bytes
    assert before is not None
    assert after is not None
    assert after - before > 100_000
