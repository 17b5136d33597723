"""`check`: checks whether each configured source answers as expected."""

import asyncio
from pathlib import Path
from typing import Final

import click

from tunnihind import __version__
from tunnihind.cli.options import SOURCES_OPTIONS, with_settings
from tunnihind.errors import TunnihindError
from tunnihind.service.check import CheckResult, check_sources
from tunnihind.settings import Settings
from tunnihind.sources.upstream import RecordedAnswer

_WRONG_ANSWER_STATUS: Final = 1
_NO_ANSWER_STATUS: Final = 3
"""These two exit statuses differ from 2, the status with which click reports a wrong option."""


@click.command()
@click.option(
    "--save",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Save the answers in a folder for a bug report, without the token.",
)
@with_settings(SOURCES_OPTIONS)
def check(settings: Settings, *, save: Path | None) -> None:
    """Send a few small requests to each configured source, and report faults. No database is needed.

    The exit status is 0 if all is well, and 1 if an answer is wrong. The exit status is 3 if the only faults are
    missing answers.
    """
    click.echo("asking the sources, which takes up to two minutes if one doesn't answer", err=True)
    recorded: list[RecordedAnswer] = []
    found = asyncio.run(check_sources(settings, recorded.append if save else None))
    report = "\n".join([*map(_result_text, found), *_unasked_source_lines(settings), _summary_line(found)])
    click.echo(report)
    if save:
        _save_answers(save, report, recorded)
        click.echo(f"{len(recorded)} answers are in {save}, without the token", err=True)
    if wrong := [one for one in found if one.faults]:
        is_answer_wrong = any(one.has_answered for one in wrong)
        click.get_current_context().exit(_WRONG_ANSWER_STATUS if is_answer_wrong else _NO_ANSWER_STATUS)


def _result_text(one: CheckResult) -> str:
    head = f"{one.subject}: "
    if not one.faults:
        return f"{head}good, in {one.seconds:.1f} s: {one.reach}"
    reach = f"; it has {one.reach}" if one.reach else ""
    verdict = "WRONG" if one.has_answered else "NO ANSWER"
    return f"{head}{verdict}, after {one.seconds:.1f} s{reach}" + "".join(f"\n  - {fault}" for fault in one.faults)


def _unasked_source_lines(settings: Settings) -> list[str]:
    silent = []
    if not settings.entsoe_token:
        silent.append("entsoe: not asked, because there is no token (--entsoe-token-file)")
    if not settings.weather:
        silent.append("open-meteo: not asked, because it is switched off (--no-weather)")
    return silent


def _summary_line(found: list[CheckResult]) -> str:
    wrong = sum(bool(one.faults) for one in found)
    return f"{wrong} of {len(found)} checks failed." if wrong else "All is well."


def _save_answers(folder: Path, report: str, recorded: list[RecordedAnswer]) -> None:
    """Write the report to `check.txt`, and each answer to its own file. Raises TunnihindError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"tunnihind {__version__}", report, ""]
        for number, one in enumerate(recorded, 1):
            name = f"{number:02}-{one.source}.{_file_extension(one.text)}"
            (folder / name).write_text(one.text, encoding="utf-8")
            lines.append(f"{name}: HTTP {one.status} from {one.url}")
        (folder / "check.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    except OSError as error:
        raise TunnihindError(f"the answers can't be saved in {folder}: {error.strerror or error}") from error


def _file_extension(text: str) -> str:
    match text.lstrip("\ufeff \r\n\t")[:1]:
        case "<":
            return "html" if "<html" in text[:1000].lower() else "xml"
        case "{" | "[":
            return "json"
        case _:
            return "txt"
