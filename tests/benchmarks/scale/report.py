"""The findings of a benchmark, as a table for a page."""

from dataclasses import dataclass, field

import click


@dataclass(frozen=True, slots=True)
class Finding:
    """One measurement. `reached` says whether the goal was reached, or is None without a goal."""

    what: str
    figure: str
    goal: str = ""
    reached: bool | None = None


@dataclass
class Report:
    """All findings, in order."""

    findings: list[Finding] = field(default_factory=list)

    def add(self, *found: Finding) -> None:
        """Add a finding, and print it at once, because the whole run takes minutes."""
        self.findings += found
        for one in found:
            click.echo(f"  {one.what}: {one.figure}{'' if one.reached is not False else ' (NOT REACHED)'}", err=True)

    def table(self) -> str:
        """Return a table in Markdown."""
        marks = {None: "", True: "yes", False: "**no**"}
        rows = [
            f"| {one.what} | {one.figure} | {one.goal} | {marks[one.reached]} |".replace("  ", " ")
            for one in self.findings
        ]
        return "\n".join(["| What | Measured | Goal | Reached |", "|---|---|---|---|", *rows])
