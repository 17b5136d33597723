"""The command `tunnihind` and its exit status: 0 done, 1 failed, 2 wrong usage."""

import os
from importlib import import_module
from typing import Any, Final, override

import click

from tunnihind import __version__
from tunnihind.errors import SettingsError, TunnihindError
from tunnihind.settings import COMMAND

# The model's matrices are small. More threads only slow it down, and take processor time from serving.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_COMMANDS: Final = {
    "serve": "serve:serve",
    "ingest": "serve:ingest",
    "import": "files:import_",
    "forecast": "forecast:forecast",
    "backtest": "backtest:backtest",
    "export": "files:export",
    "openapi": "inspect:openapi",
    "status": "inspect:status",
    "check": "check:check",
    "copy": "copy:copy_database",
    "healthcheck": "healthcheck:healthcheck",
}
"""The module and function of each command. They are loaded when called, because all together take a second to load."""


class _Commands(click.Group):
    """Loads commands when they are called, and turns our errors into a line for the user and an exit status."""

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
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
        except TunnihindError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tunnihind", message="%(prog)s %(version)s")
def main() -> None:
    """Hourly electricity prices of Estonia, Latvia, Lithuania and Finland, with a probabilistic forecast."""
