"""`copy`: takes a database over into another one, such as from SQLite to PostgreSQL."""

import click

from tunnihind.cli.options import STORE, option, with_settings
from tunnihind.cli.progress import shown_progress
from tunnihind.settings import Settings
from tunnihind.store.copying import Copied, copy


@click.command("copy")
@option("to", required=True, help="Where to copy the data to: an SQLAlchemy address.")
@with_settings(STORE)
def copy_(settings: Settings, *, to: str) -> None:
    """Copy all data into another database, SQLite or PostgreSQL, and compare both.

    The other database is to be empty, or a copy that this command has made before: what it has already stays, and only
    what differs is written. Interrupted, it goes on where it was. A server may run on the database that is copied from;
    run the command again once it is stopped, then start servers on the copy.
    """
    with shown_progress() as progress:
        copied = copy(settings.store_url, to, progress.show)
    _tell(copied)


def _tell(copied: Copied) -> None:
    click.echo(f"{copied.source} is copied to {copied.target}")
    for name, table in copied.tables.items():
        if table.rows or table.left_out:
            left_out = f", {table.left_out} damaged ones left out" if table.left_out else ""
            click.echo(f"  {name}: {table.rows} rows, {table.written} of them written now{left_out}")
    click.echo("  compared: every row is the same on both sides")
    if copied.source_has_moved:
        click.echo("The source has been written to meanwhile. Stop its server and run this again: it takes less time.")
