"""`idx add --file -`: the text of a document through a pipe."""

import os
import sys
from pathlib import Path

import pytest

from shared import Searcher
from tests.conftest import Idx
from tests.idx.test_add_files import pdf_of
from tests.programs import PROGRAMS, Started
from tests.systems import has_terminals, uses_a_unix_shell

if sys.platform != "win32":
    import pty

ARGUMENTS = ("add", "--id", "piped", "--title", "Piped", "--file", "-")


def through(command: str) -> tuple[str, ...]:
    """Run a command of the shell whose last part is `idx`, as ``"$@"``."""
    return ("sh", "-c", command, "sh")


def content(index: Path) -> str:
    with Searcher(index) as searcher:
        (chunk,) = searcher.document_chunks("piped").chunks
    assert (chunk.title, chunk.file_path) == ("Piped", None)
    return chunk.content


def test_a_text_comes_through_a_pipe(idx: Idx, empty_index: Path) -> None:
    done = idx(*ARGUMENTS, stdin="The café is\nclosed.\n")
    assert done.stdout == "Successfully added document 'piped' as 1 chunks to index\n"
    assert done.stderr == ""
    assert content(empty_index) == "The café is\nclosed.\n"
    with Searcher(empty_index) as searcher:
        known = searcher.document_details("piped").metadata
    assert not known.keys() & {"file_name", "file_path", "file_extension", "modified"}


@uses_a_unix_shell
def test_bytes_are_decoded_as_those_of_a_file(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    text = "Der Käufer zahlt die Gebühr für die Prüfung über das Büro in Köln."
    (tmp_path / "words.txt").write_bytes(text.encode("cp1252"))
    idx(*ARGUMENTS, prefix=through('exec "$@" < words.txt'))
    assert content(empty_index) == text
    refused = idx(
        *ARGUMENTS, "--encoding", "utf-8", prefix=through('exec "$@" < words.txt'), code=1
    )
    assert refused.stderr.startswith("Error: standard input: is not utf-8 text: ")


@uses_a_unix_shell
def test_what_it_is_its_content_says(idx: Idx, empty_index: Path, tmp_path: Path) -> None:
    (tmp_path / "lease.pdf").write_bytes(pdf_of(["The notice period is three months."]))
    idx(*ARGUMENTS, prefix=through('cat lease.pdf | "$@"'))
    assert "three months" in content(empty_index)


@uses_a_unix_shell
@pytest.mark.parametrize("producer", ["yes", "head --bytes 1000001 /dev/zero"])
def test_no_more_is_read_than_is_allowed(idx: Idx, empty_index: Path, producer: str) -> None:
    refused = idx(*ARGUMENTS, "--max-size", "1", prefix=through(f'{producer} | "$@"'), code=1)
    assert refused.stderr == (
        "Error: standard input: is larger than the allowed 1 MB; allow more with --max-size MB\n"
    )


@uses_a_unix_shell
def test_what_cannot_be_read_is_said(idx: Idx, empty_index: Path) -> None:
    refused = idx(*ARGUMENTS, prefix=through('exec "$@" 0> words.txt'), code=1)
    assert refused.stderr == "Error: standard input: cannot be read: Bad file descriptor\n"


@pytest.mark.soak
@has_terminals
def test_a_terminal_is_told_what_is_waited_for(empty_index: Path) -> None:
    terminal, end = pty.openpty()
    with Started(PROGRAMS / "idx", *ARGUMENTS, "-i", empty_index, stdin=end) as process:
        os.close(end)
        assert "Ctrl-D" in process.stderr.readline()
        os.write(terminal, b"typed words\n\x04")
        assert process.wait(timeout=120) == 0
    os.close(terminal)
    assert content(empty_index) == "typed words\n"
