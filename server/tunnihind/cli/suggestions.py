"""Names the command that the user probably meant."""

from difflib import get_close_matches
from typing import override

import click


class SuggestingGroup(click.Group):
    """A group of commands. If a command is unknown, the error names the command with the most similar name."""

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            similar = get_close_matches(args[0].lower(), self.list_commands(ctx), n=1)
            error.message += "".join(f" Did you mean {name!r}?" for name in similar)
            raise
