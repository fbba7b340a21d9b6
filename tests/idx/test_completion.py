"""What the shells complete: by their own protocols, and once in a real shell."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared import Document, Index, create
from tests.conftest import Idx
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.programs import PROGRAMS, run_idx
from tests.systems import has_pipes_as_files, has_terminals

if sys.platform != "win32":
    import pty

BASH = shutil.which("bash")

ODD_NAMES = ("my file.txt", "Ana's.txt", "do$(touch run).txt", "ba`touch run`.txt", "a:b=c.txt")


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
    return done.stdout.splitlines()


@pytest.fixture
def papers(empty_index: Path, home: Path) -> Path:
    """The home folder, which has the index of a folder in it."""
    make(home / "papers", "new/lease.txt", "new/later.txt", "old/deep/er/only.txt")
    index_files(empty_index, "papers")
    return home


def test_ids_are_completed_folder_by_folder(papers: Path) -> None:
    assert completed("show", "", folder=papers) == ["new/", "old/", "papers/new/", "papers/old/"]
    assert completed("delete", "", folder=papers) == ["new/", "old/"]
    assert completed("show", "new/l", folder=papers) == ["new/later.txt", "new/lease.txt"]
    # Behind a folder by itself, a shell would put a space.
    assert completed("delete", "o", folder=papers) == ["old/deep/er/only.txt"]


def test_files_of_documents_are_completed_as_they_are_spelled(papers: Path) -> None:
    shutil.rmtree(papers / "papers" / "new")
    for typed in ("~/papers/new/le", "./papers/new/le", f"{papers}/papers/new/le"):
        assert completed("show", typed, folder=papers) == [f"{typed}ase.txt"]


def test_documents_that_were_deleted_are_not_completed(idx: Idx, papers: Path) -> None:
    idx("delete", "old/deep/er/only.txt", "new/lease.txt")
    assert completed("delete", "", folder=papers) == ["new/later.txt"]


def test_fields_and_values_are_completed(papers: Path) -> None:
    assert completed("search", "x", "--sort", "file_n", folder=papers) == ["file_name"]
    assert completed("search", "x", "--facet", "file_t", folder=papers) == ["file_type"]
    assert completed("terms", "--field", "file_n", folder=papers) == ["file_name"]
    assert completed("search", "x", "--filter", "file_", folder=papers) == [
        *(
            "file_extension=",
            "file_modified=",
            "file_name=",
            "file_path=",
            "file_size=",
            "file_type=",
        )
    ]
    named = ["file_name=later.txt", "file_name=lease.txt", "file_name=only.txt"]
    assert completed("search", "x", "--filter", "file_na", folder=papers) == named
    assert completed("search", "--filter", "file_name=o", folder=papers, by="fish") == named[2:]
    path = f"file_path^={papers}/papers/o"
    assert completed("search", "--filter", path, folder=papers, by="zsh") == [
        f"""_arguments '*: :(("{path}ld/deep/er/only.txt"))'"""
    ]


def test_folders_and_commands_are_completed(idx: Idx, papers: Path) -> None:
    idx("folders", "add", "papers")
    assert completed("folders", "remove", "~/p", folder=papers) == ["~/papers"]
    assert completed("folders", "remove", "", folder=papers) == [f"{papers}/papers"]
    assert completed("sh", folder=papers) == ["show"]


@pytest.mark.parametrize(
    "option", [("-i", "~/other"), ("--index-path=other",), ("--index-path", "=", "other")]
)
def test_the_index_of_the_command_line_is_asked(papers: Path, option: tuple[str, ...]) -> None:
    create(papers / "other")
    with Index(papers / "other") as index:
        index.add(Document("elsewhere", "Elsewhere", "words"))
    assert completed("delete", *option, "", folder=papers) == ["elsewhere"]


def test_the_index_of_the_environment_or_the_configuration_is_asked(
    idx: Idx, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (papers / "lucene-index").rename(papers / "other")
    assert completed("delete", "", folder=papers) == []
    configuration = papers / ".config" / "mcp-lucene" / "config.toml"
    configuration.parent.mkdir()
    configuration.write_text(f'index_path = "{papers}/other"')
    assert completed("delete", "n", folder=papers) == ["new/later.txt", "new/lease.txt"]
    monkeypatch.setenv("IDX_INDEX_PATH", str(papers / "nothing"))
    assert completed("delete", "n", folder=papers) == []
    configuration.write_text("index_path = [")
    monkeypatch.delenv("IDX_INDEX_PATH")
    assert completed("delete", "n", folder=papers) == []


def test_what_cannot_be_read_completes_nothing_and_says_nothing(
    papers: Path, index_path: Path
) -> None:
    next(index_path.glob("segments_*")).write_bytes(b"damaged")
    for shell, nothing in (("bash", []), ("fish", []), ("zsh", ["_files"])):
        assert completed("show", "n", folder=papers, by=shell) == nothing
    assert completed("show", "-i", "/dev/null", "n", folder=papers) == []
    assert completed("search", "--filter", "created>=", folder=papers) == []


@has_pipes_as_files
def test_a_shell_does_not_wait_for_ever(papers: Path, index_path: Path) -> None:
    commit = next(index_path.glob("segments_*"))
    commit.unlink()
    os.mkfifo(commit)
    before = time.monotonic()
    done = answer("bash", ("show", "n"), papers)
    assert (done.stdout, done.stderr) == ("", "")
    assert time.monotonic() - before < 30


def odd_index(home: Path) -> Path:
    index_path = home / "lucene-index"
    create(index_path)
    with Index(index_path) as index:
        for name in (*ODD_NAMES, "line\nfeed"):
            index.add(Document(name, "A title", "words"))
    return home


def test_names_are_spelled_for_each_shell_or_left_out(home: Path) -> None:
    odd = odd_index(home)
    assert completed("delete", "", folder=odd) == [
        *("Ana\\'s.txt", "a:b=c.txt", "ba\\`touch\\ run\\`.txt", "do\\$\\(touch\\ run\\).txt"),
        "my\\ file.txt",
    ]
    assert completed("delete", "", folder=odd, by="fish") == sorted(ODD_NAMES)
    zsh = "\n".join(completed("delete", "", folder=odd, by="zsh"))
    assert zsh == """_arguments '*: :(("a\\\\:b=c.txt"\n"my file.txt"))'"""


def test_words_that_bash_takes_apart_are_completed(home: Path) -> None:
    odd = odd_index(home)
    assert completed("delete", "a", ":", "b", folder=odd) == ["b=c.txt"]
    assert completed("delete", "a", ":", folder=odd) == ["b=c.txt"]
    assert completed("delete", '"my', folder=odd) == ["my file.txt"]
    assert completed("delete", '"do', folder=odd) == []
    assert completed("search", "--filter", "=", "source_document", folder=odd) == [
        f"source_document={name}" for name in completed("delete", "", folder=odd)
    ]


@has_terminals
@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_a_real_bash_completes(home: Path) -> None:
    odd = odd_index(home)
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [BASH or "", "--norc", "--noprofile", "-i"],
        cwd=odd,
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
        typed("idx delete do\t", "do\\$\\(touch\\ run\\).txt ")
        typed("\x15idx delete a:\t", "a:b=c.txt ")
        typed("\x15idx delete my\t\r", "Deleted document 'my file.txt'")
        shell.kill()
    os.close(terminal)
    assert not (odd / "run").exists()


def test_completing_imports_only_what_it_needs(papers: Path) -> None:
    program = (
        "import sys; from idx.__main__ import main\n"
        "try: main()\n"
        "finally: print(sorted({'lucene', 'pydantic', 'idx.commands.add'} & sys.modules.keys()))"
    )
    for words, imported in (
        (("",), "[]"),
        (("show", "--"), "[]"),
        (("delete", ""), "['lucene']"),
    ):
        environment = {
            "COMP_WORDS": "\n".join(("idx", *words)),
            "COMP_CWORD": f"{len(words)}",
            "_IDX_COMPLETE": "complete_bash",
        }
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.argv[0] = 'idx'\n{program}"],
            cwd=papers,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == imported
