"""The documents name only existing commands, options, addresses and links, and their code blocks are valid."""

import ast
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from tests.support import documents
from tests.support.api.api_server import NOW, no_prices
from tests.support.clocks import StillClock
from tests.support.commands import COMMANDS
from tests.support.documents import PROJECT
from tunnihind.api.answers import MAX_HISTORY_DAYS
from tunnihind.api.snapshot import Snapshot
from tunnihind.cli.serve import serve
from tunnihind.core.market import ESTONIA, HOUR_S, PUBLIC_WINDOW_S, SPECIFIED_VAT_RATE
from tunnihind.pipeline.price_ingest import WAIT_FOR_OTHER_SOURCES_S
from tunnihind.service.application import ServedZone, create_app
from tunnihind.settings import Settings
from tunnihind.sources.open_meteo import RUNS_SINCE

DOCUMENTS: Final = sorted(
    path
    for pattern in (
        "*.md",
        ".github/**/*.md",
        ".github/ISSUE_TEMPLATE/*",
        "docs/**/*.md",
        "findings/*.md",
        "packaging/**/*.md",
        "server/**/*.md",
    )
    for path in PROJECT.glob(pattern)
)
OWN_FILES: Final = "https://github.com/tunnihind/tunnihind/blob/main/"
# Parts of pages, which no client calls by itself.
UNDOCUMENTED_ROUTES: Final = {"/static/{digest}/{name}"}
# An address of Home Assistant, and folders of machines, none of which our server serves.
NOT_OURS: Final = ("/api/states/", "/etc/", "/opt/", "/var/lib/")

every_document = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=[path.relative_to(PROJECT).as_posix() for path in DOCUMENTS]
)
both_languages = pytest.mark.parametrize("language", documents.LANGUAGES)
every_guide = pytest.mark.parametrize("guide", documents.GUIDES)


def in_both_languages(guide: str) -> tuple[str, str]:
    return documents.guide(guide, "en"), documents.guide(guide, "et")


def test_every_estonian_document_is_a_guide_and_every_guide_is_there_in_estonian() -> None:
    estonian = {path.relative_to(PROJECT).as_posix() for path in DOCUMENTS if path.name.endswith(".et.md")}
    assert estonian == {f"{guide}.et.md" for guide in documents.GUIDES}


@every_guide
def test_both_languages_of_a_guide_have_the_same_headings_in_number_and_level(guide: str) -> None:
    english, estonian = ([level for level, _ in documents.headings(text)] for text in in_both_languages(guide))
    assert english == estonian


@every_guide
def test_both_languages_of_a_guide_have_the_same_code_blocks(guide: str) -> None:
    english, estonian = map(documents.fences, in_both_languages(guide))
    assert english == estonian


@every_guide
def test_both_languages_of_a_guide_have_the_same_tables_in_number_and_length(guide: str) -> None:
    english, estonian = ([len(table) for table in documents.tables(text)] for text in in_both_languages(guide))
    assert english == estonian


@every_guide
def test_both_languages_of_a_guide_link_to_each_other(guide: str) -> None:
    name = guide.rpartition("/")[2]
    english, estonian = map(documents.links, in_both_languages(guide))
    assert english[0] == f"{name}.et.md"
    assert estonian[0] == f"{name}.md"


@both_languages
def test_the_readme_fits_a_page_and_leads_to_every_guide(language: str) -> None:
    readme, *guides = documents.GUIDES
    assert len(documents.guide(readme, language).splitlines()) <= 80
    assert {f"{guide}{documents.LANGUAGES[language]}" for guide in guides} <= set(
        documents.links(documents.guide(readme, language))
    )


@every_document
def test_every_link_within_the_repository_leads_somewhere(path: Path) -> None:
    for link in documents.links(path.read_text()):
        base = PROJECT if link.startswith(OWN_FILES) else path.parent
        file, _, anchor = link.removeprefix(OWN_FILES).partition("#")
        if re.match(r"\w+:", file):
            continue
        target = (base / file) if file else path
        assert target.exists(), link
        assert not anchor or anchor in documents.anchors(target.read_text()), link


@every_document
def test_every_shell_block_parses(path: Path) -> None:
    for kind, code in documents.fences(path.read_text()):
        if kind == "sh":
            subprocess.run(["bash", "-n"], input=code, text=True, check=True)


def called(words: list[str]) -> str:
    """Return the name of the command that these words call. Fails if an option, a value or an argument is wrong."""
    name = next((name for name in COMMANDS if words[: len(name.split())] == name.split()), None)
    assert name, f"there is no command {' '.join(words)}"
    COMMANDS[name].make_context(name, words[len(name.split()) :])
    return name


SCRIPTS = {"test", "test-oldest-home-assistant", "test-newest-home-assistant", "test-emhass"}
"""What `./run` does not pass on to our command."""


def calls(document: str) -> Iterator[list[str]]:
    """Yield the words of every call of our command, in shell blocks and in the text."""
    lines = [line for kind, code in documents.fences(document) if kind == "sh" for line in code.splitlines()]
    for line in (*lines, *documents.codes(document)):
        call = re.fullmatch(r"(?:(?:(?:docker exec|uvx) .+ )?tunnihind|\./run) (.+)", line)
        if call and call[1].split()[0] not in SCRIPTS | {"uv", "COMMAND"}:
            yield shlex.split(call[1])


@pytest.fixture
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the file FILE, which the documents name."""
    (tmp_path / "FILE").touch()
    monkeypatch.chdir(tmp_path)


@every_document
@pytest.mark.usefixtures("_file")
def test_every_call_of_our_command_is_one_that_it_understands(path: Path) -> None:
    for words in calls(path.read_text()):
        called(words)


def read_by_users() -> Iterator[tuple[str, str]]:
    """Yield every text for users with its place: documents, settings, texts of the pages, messages."""
    for path in DOCUMENTS:
        # After the installation of the wheel, the command is on the path, and uvx puts it there for one call.
        text = re.sub(r"^(uv tool install .*\n|uvx .* )tunnihind ", "", path.read_text(), flags=re.MULTILINE)
        yield str(path), text
    for pattern in ("packaging/**/*.yaml", "custom_components/**/*.json", "server/**/*.json", "server/**/*.yaml"):
        for path in PROJECT.glob(pattern):
            yield str(path), path.read_text()
    for path in PROJECT.glob("server/**/*.py"):
        tree = ast.parse(path.read_text())
        remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        messages = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in remarks]
        yield str(path), "\n".join(text for text in messages if isinstance(text, str))
    for name, command in COMMANDS.items():
        yield f"{name} --help", command.get_help(click.Context(command))


def test_no_text_names_a_command_that_a_clone_does_not_have_on_its_path() -> None:
    names = "|".join({name.split()[0] for name in COMMANDS})
    bare = re.compile(rf"^.*(?<![\w./-])tunnihind\s+(?:{names}|COMMAND)\b.*$", re.MULTILINE)
    found = {
        place: [line for line in bare.findall(text) if "docker exec" not in line] for place, text in read_by_users()
    }
    assert {place: lines for place, lines in found.items() if lines} == {}


@both_languages
@pytest.mark.usefixtures("_file")
def test_every_command_is_in_the_table_of_commands(language: str) -> None:
    [table] = documents.tables(documents.section("Commands", language))
    named = [called(shlex.split(code)) for row in table for code in documents.codes(row[0])]
    assert sorted(named) == sorted(COMMANDS)


def options_of(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


@every_document
def test_every_option_in_the_text_is_one_of_ours(path: Path) -> None:
    ours = {"--help", "--version"}.union(*map(options_of, COMMANDS.values()))
    named = {code.split()[0] for code in documents.codes(path.read_text()) if code.startswith("--")}
    assert named <= ours


@both_languages
def test_the_commands_that_show_a_past_instant_are_named(language: str) -> None:
    [paragraph] = [text for text in documents.section("Commands", language).split("\n\n") if "`--as-of" in text]
    *named, _ = documents.codes(paragraph)
    assert set(named) == {name.split()[0] for name, command in COMMANDS.items() if "--as-of" in options_of(command)}


def described(option: click.Option) -> list[str]:
    """Return the cells that describe an option: its name, its variable, its default, and its help if there is any."""
    text, _, words = (option.help or "").partition("  [default: ")
    match serve.make_context("serve", []).params[str(option.name)]:
        case bool(is_on):
            default = "on" if is_on else "off"
        case float(number):
            default = f"{number:g}"
        case tuple(values):
            default = ",".join(values)
        case value:
            default = words.removesuffix("]") or str(value or "")
    return [" / ".join((*option.opts, *option.secondary_opts)), str(option.envvar), default, *([text] if text else [])]


def test_every_option_of_serve_is_in_the_table_of_settings_with_its_default() -> None:
    document = (PROJECT / "docs/server.md").read_text()
    [table] = [table for table in documents.tables(document) if "TUNNIHIND_PORT" in str(table)]
    rows = {row[0]: row for row in ([cell.replace("`", "") for cell in row] for row in table)}
    options = {cells[0]: cells for cells in (described(one) for one in serve.params if isinstance(one, click.Option))}
    assert rows.keys() == options.keys()
    assert [rows[name][: len(cells)] for name, cells in options.items()] == list(options.values())


@both_languages
def test_every_address_of_the_server_is_in_the_table_of_the_api(language: str) -> None:
    settings, clock = Settings(), StillClock(NOW)
    snapshot = Snapshot(settings, clock)
    router = create_app(
        settings, [ServedZone(snapshot=snapshot, read_prices=no_prices)], clock, instance_id="test"
    ).router
    routes = {resource.canonical for resource in router.resources()} - UNDOCUMENTED_ROUTES
    [table] = documents.tables(documents.section("The API", language))
    named = [code.partition("?")[0] for row in table for code in documents.codes(row[0])]
    assert sorted(named) == sorted(routes)


@both_languages
def test_every_address_in_the_text_is_one_of_the_table(language: str) -> None:
    [table] = documents.tables(documents.section("The API", language))
    known = {code.partition("?")[0] for row in table for code in documents.codes(row[0])}
    text = re.sub(r"http://localhost:8080(?=/)", "", documents.text(language))
    named = {code.partition("?")[0] for code in documents.codes(text) if code.startswith("/")}
    assert {address for address in named if not address.startswith(NOT_OURS)} <= known


def test_the_map_of_the_project_names_every_folder_and_nothing_else() -> None:
    document = (PROJECT / "CONTRIBUTING.md").read_text()
    [map_of_project] = [code for kind, code in documents.fences(document) if not kind]
    named = {line.split()[0].rstrip("/") for line in map_of_project.splitlines()}
    assert all((PROJECT / path).exists() for path in named)
    packages = {
        folder.relative_to(PROJECT).as_posix()
        for inside in ("server/tunnihind", "tests")
        for folder in (PROJECT / inside).iterdir()
        if any(folder.glob("*.py"))
    }
    assert packages <= named


LATE: Final = f"{ESTONIA.publication_watch[1]:%H:%M}"
WEATHER_SINCE: Final = RUNS_SINCE.year


@pytest.mark.parametrize(
    ("guide", "english", "estonian"),
    [
        ("README", f"port {Settings().port}", f"pordil {Settings().port}"),
        ("README", f"prices since {Settings().history_start}", f"hinnad aastast {Settings().history_start}"),
        ("README", f"Weather back to {WEATHER_SINCE}", f"ilmaprognoosid aastast {WEATHER_SINCE}"),
        ("docs/home-assistant/entities", f"after {LATE}", f"pärast kella {LATE}"),
        ("docs/api", f"include VAT: - {SPECIFIED_VAT_RATE:.0%}", f"käibemaksu: - {SPECIFIED_VAT_RATE:.0%}"),
        ("docs/api", f"up to {PUBLIC_WINDOW_S // HOUR_S} hours", f"kuni {PUBLIC_WINDOW_S // HOUR_S} tundi"),
        ("docs/api", f"up to {MAX_HISTORY_DAYS} days", f"kuni {MAX_HISTORY_DAYS} päeva"),
        ("docs/data", f"up to {WAIT_FOR_OTHER_SOURCES_S:.0f} seconds", f"kuni {WAIT_FOR_OTHER_SOURCES_S:.0f} sekundit"),
        ("docs/troubleshooting", f"after {LATE}", f"pärast kella {LATE}"),
    ],
)
def test_figures_in_the_guides_are_those_of_the_code(guide: str, english: str, estonian: str) -> None:
    for text, figure in zip(in_both_languages(guide), (english, estonian), strict=True):
        assert figure in " ".join(text.split())
