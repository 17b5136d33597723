"""The command `tunnihind`.

The exit status is 0 after success, 1 after a failure and 2 after wrong usage. The command `check` also uses status 3.
"""

import os
from importlib import import_module
from typing import Any, Final, override

import click

from tunnihind import __version__
from tunnihind.errors import SettingsError, TunnihindError
from tunnihind.settings import COMMAND

# The model's matrices are so small that more than one thread would only make the model slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_COMMANDS: Final = {
    "serve": "serve:serve",
    "ingest": "serve:ingest",
    "import": "files:import_",
    "forecast": "forecast:forecast",
    "backtest": "backtest:backtest",
    "export": "files:export",
    "compare": "compare:compare",
    "openapi": "inspect:openapi",
    "status": "inspect:status",
    "check": "check:check",
    "copy": "copy:copy_database",
    "healthcheck": "healthcheck:healthcheck",
}
"""The module and function of each command, as text, because importing all modules would take a second."""


class _CommandGroup(click.Group):
    """Imports a command's module when the command is needed. Shows Tunnihind's own errors without a traceback."""

    @override
    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return super().make_context(COMMAND, args, parent, **extra)

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(f"tunnihind.cli.{module}"), name)
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            # By itself, click suggests only commands that are already imported.
            raise click.NoSuchCommand(error.command_name, possibilities=_COMMANDS, ctx=ctx) from None

    @override
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
        except TunnihindError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tunnihind", message="%(prog)s %(version)s")
def main() -> None:
    """Electricity prices of Estonia, Latvia, Lithuania and Finland, with a probabilistic forecast."""
