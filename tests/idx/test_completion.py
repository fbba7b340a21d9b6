"""What the shells complete: by their own protocols, and once in a real shell."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared import Document, Index, create
from tests.conftest import Idx, add_documents
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.programs import PROGRAMS, Started, run, run_idx
from tests.systems import has_pipes_as_files, has_terminals

if sys.platform != "win32":
    import pty

BASH = shutil.which("bash")


def answer(shell: str, words: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """What `idx` says to a shell that asks to complete the last of some words."""
    line = {"COMP_WORDS": "\n".join(("idx", *words)), "COMP_CWORD": f"{len(words)}"}
    if shell != "bash":
        line = {"_TYPER_COMPLETE_ARGS": " ".join(("idx", *words))}
    line |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_IDX_COMPLETE": f"complete_{shell}"}
    with pytest.MonkeyPatch.context() as environment:
        for name, value in line.items():
            environment.setenv(name, value)
        return run_idx([], folder)


def completed(*words: str, folder: Path, by: str = "bash") -> list[str]:
    """The completions that a shell is given for the last of some words."""
    done = answer(by, words, folder)
    for _ in range(5):
        if not done.returncode:
            break
        # On a busy machine, it may have taken longer than a shell waits.
        done = answer(by, words, folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip().splitlines()


@pytest.fixture
def papers(empty_index: Path, home: Path) -> Path:
    """The home folder, which has the index of a folder in it."""
    make(home / "papers", "new/lease.txt", "new/later.txt", "old/deep/er/only.txt")
    index_files(empty_index, "papers")
    return home


def test_fields_are_completed(papers: Path) -> None:
    assert completed("search", "x", "--sort", "file_n", folder=papers) == ["file_name"]
    assert completed("search", "x", "--facet", "file_t", folder=papers) == ["file_type"]
    assert completed("terms", "--field", "file_n", folder=papers) == ["file_name"]
    names = ("extension", "modified", "name", "path", "size", "type")
    fields = [f"file_{name}=" for name in names]
    assert completed("search", "x", "--filter", "file_", folder=papers) == fields
    # The shell does not put a space behind one of two.
    assert completed("search", "--filter", "file_na", folder=papers, by="fish") == [
        "file_name=",
        "file_name!=",
    ]


def test_names_and_values_are_completed(idx: Idx, papers: Path) -> None:
    assert completed("sh", folder=papers) == ["show"]
    engines = completed("sync", "--pdf-engine", "pdf", folder=papers)
    assert engines == ["pdfium", "pdfplumber"]
    clients = completed("mcp-config", "cl", folder=papers)
    assert clients == ["claude-desktop", "claude-code", "cline"]
    idx("collections", "add", "contracts", "--filter", "language=de")
    assert completed("collections", "remove", "c", folder=papers) == ["contracts"]


@pytest.mark.parametrize("option", [("-i", "~/other"), ("-i", "other")])
def test_the_index_of_the_command_line_is_asked(papers: Path, option: tuple[str, ...]) -> None:
    with Index(papers / "other", create=True) as index:
        index.add(Document("elsewhere", "Elsewhere", "words", {"signed_by": "Ann"}))
    assert completed("search", *option, "--filter", "sig", folder=papers) == [
        "signed_by=",
        "signed_by!=",
    ]


def test_the_index_of_the_environment_or_the_configuration_is_asked(idx: Idx, papers: Path) -> None:
    fields = ("terms", "--field", "file_n")
    (papers / "lucene-index").rename(papers / "other")
    assert completed(*fields, folder=papers) == []
    configuration = papers / ".config" / "mcp-lucene" / "config.toml"
    configuration.parent.mkdir()
    configuration.write_text(f'index_path = "{papers}/other"')
    assert completed(*fields, folder=papers) == ["file_name"]
    idx.setenv("IDX_INDEX_PATH", str(papers / "nothing"))
    assert completed(*fields, folder=papers) == []
    configuration.write_text("index_path = [")
    idx.delenv("IDX_INDEX_PATH")
    assert completed(*fields, folder=papers) == []


def test_what_cannot_be_read_completes_nothing_and_says_nothing(
    papers: Path, index_path: Path
) -> None:
    next(index_path.glob("segments_*")).write_bytes(b"damaged")
    for shell, nothing in (("bash", []), ("fish", []), ("zsh", ["_files"])):
        assert completed("terms", "--field", "n", folder=papers, by=shell) == nothing
    assert completed("terms", "-i", "/dev/null", "--field", "n", folder=papers) == []


@has_pipes_as_files
def test_a_shell_does_not_wait_for_ever(papers: Path, index_path: Path) -> None:
    commit = next(index_path.glob("segments_*"))
    commit.unlink()
    os.mkfifo(commit)
    before = time.monotonic()
    done = answer("bash", ("terms", "--field", "n"), papers)
    assert (done.stdout.strip(), done.stderr) == ("", "")
    assert time.monotonic() - before < 30


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_names_that_a_shell_could_run_are_not_offered(home: Path, shell: str) -> None:
    index_path = home / "lucene-index"
    create(index_path)
    names = ["plain", "my field", "do$(touch run)", "ba`touch run`", "a:b", "it's"]
    add_documents(index_path, Document("a", "A title", "words", dict.fromkeys(names, "x")))
    found = completed("search", "--facet", "", folder=home, by=shell)
    assert any("plain" in line for line in found)
    assert not any(name in line for line in found for name in names[1:])


@has_terminals
@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_a_real_bash_completes(papers: Path) -> None:
    terminal, end = pty.openpty()
    with Started(
        *(BASH or "", "--norc", "--noprofile", "-i"),
        cwd=papers,
        stdin=end,
        stdout=end,
        stderr=end,
        env={**os.environ, "TERM": "dumb", "PATH": f"{PROGRAMS}:{os.environ['PATH']}"},
        start_new_session=True,
    ) as shell:
        os.close(end)

        def typed(text: str, until: str) -> None:
            os.write(terminal, text.encode())
            seen = ""
            deadline = time.monotonic() + 60
            while until not in seen:
                assert time.monotonic() < deadline, seen
                seen += os.read(terminal, 65536).decode()

        typed('eval "$(_IDX_COMPLETE=source_bash idx)" && echo re""ady\r', "ready")
        typed("idx terms --field file_n\t", "file_name ")
        typed("\r", "later.txt")
        typed("idx search x --filter file_na\tx", "mex")
        shell.kill()
    os.close(terminal)


def test_completing_imports_only_what_it_needs(papers: Path) -> None:
    program = (
        "import sys; from idx.__main__ import main\n"
        "try: main()\n"
        "finally: print(sorted({'lucene', 'pydantic', 'idx.commands.add'} & sys.modules.keys()))"
    )
    for words, imported in (
        (("",), "[]"),
        (("show", "--"), "[]"),
        (("delete", ""), "[]"),
        (("terms", "--field", ""), "['lucene']"),
    ):
        environment = {
            "COMP_WORDS": "\n".join(("idx", *words)),
            "COMP_CWORD": f"{len(words)}",
            "_IDX_COMPLETE": "complete_bash",
        }
        done = run(
            *(sys.executable, "-c", f"import sys; sys.argv[0] = 'idx'\n{program}"),
            cwd=papers,
            env={**os.environ, **environment},
            timeout=60,
        )
        assert done.stdout.splitlines()[-1] == imported
