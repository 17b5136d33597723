"""`copy`: copies a database, for example from SQLite to PostgreSQL."""

import click

from tunnihind.cli.options import STORE_OPTIONS, option, with_settings
from tunnihind.cli.progress import progress_display
from tunnihind.settings import Settings
from tunnihind.store.copying import copy


@click.command("copy")
@option("to", variable="COPY_TO", required=True, help="SQLAlchemy address of the database to fill.")
@with_settings(STORE_OPTIONS)
def copy_database(settings: Settings, *, to: str) -> None:
    """Copy a database into an empty SQLite or PostgreSQL database, and count the rows of both.

    Stop the server before copying. After copying, start the server with the address of the copy. If the copying is
    interrupted, the copy stays empty. Damaged rows and the pipeline's lease are not copied.
    """
    with progress_display() as show:
        copied = copy(settings.store_url, to, show)
    click.echo(f"{copied.source} is copied to {copied.target}")
    for name, table in copied.tables.items():
        if table.rows or table.left_out:
            left_out = f", {table.left_out} damaged ones left out" if table.left_out else ""
            click.echo(f"  {name}: {table.rows} rows{left_out}")
    click.echo("  counted: each table has all rows on both sides")
