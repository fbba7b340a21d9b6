"""The commands as the contract's table says them: arguments, stdout, exit codes."""

import json
import subprocess
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import Idx, add_documents
from tests.idx.files import files
from tests.programs import PROGRAMS, Started, run
from tests.systems import uses_a_unix_shell

LONG = " ".join(f"word{number}" for number in range(500))


def test_init_creates_an_index_and_then_changes_nothing(idx: Idx, index_path: Path) -> None:
    assert idx("init").stdout == "Successfully initialized Lucene index at: lucene-index\n"
    before = {file.name: file.stat().st_mtime_ns for file in index_path.iterdir()}
    assert idx("init").stdout == "There is already an index at lucene-index; nothing was changed.\n"
    assert {file.name: file.stat().st_mtime_ns for file in index_path.iterdir()} == before
    assert idx.json("init") == {"index_path": "lucene-index", "created": False}


@pytest.mark.parametrize(
    "arguments",
    [
        *(["sync", ""], ["sync", ".", ""], ["sync", ".", "--moved-from", ""], ["watch", ""]),
        *(["add", ""], ["add", ".", "--allow-secret", ""], ["bulk", "--json-file", ""]),
        *(["add", "--id", "a", "--title", "A", "--file", ""], ["backup", ""], ["restore", ""]),
        *(["folders", "add", ""], ["collections", "add", "a", "--folder", ""], ["stats", "-i", ""]),
        *(["eval", "--queries", "", "--qrels", "a"], ["doctor", "--index-path", ""]),
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_current_folder(
    idx: Idx, empty_index: Path, arguments: list[str]
) -> None:
    before = files(empty_index.parent)
    said = idx(*arguments, code=2).stderr.replace("│", "")
    assert "the path is empty" in " ".join(said.split())
    assert files(empty_index.parent) == before


def test_add_delete_list_show(idx: Idx, empty_index: Path) -> None:
    added = idx("add", "-d", "lease", "-t", "The lease", "-c", LONG)
    assert added.stdout == "Successfully added document 'lease' as 3 chunks to index\n"
    idx("add", "--id", "note", "--title", "Note", "--content", "Call Ann.")
    listed = idx("list").stdout
    assert "lease" in listed
    assert "The lease" in listed
    assert listed.endswith("2 documents, 4 chunks\n")
    fields = ("source_document", "title", "chunk_count", "max_chunk_index")
    documents = [("lease", "The lease", 3, 3), ("note", "Note", 1, 1)]
    assert idx.json("list") == {
        "total_documents": 2,
        "total_chunks": 4,
        "documents": [
            dict(zip(fields, document, strict=True)) | {"metadata": {}} for document in documents
        ],
        "notice": None,
    }
    assert idx("show", "note").stdout == "# Note  [note-chunk-001]\n\nCall Ann.\n\n"
    shown = idx.json("show", "lease", "--chunk", "3")
    assert shown["total_chunks"] == 3
    (chunk,) = shown["chunks"]
    assert (chunk["id"], chunk["title"]) == ("lease-chunk-003", "The lease - Part 3")
    assert chunk["content"] == " ".join(LONG.split()[420:])
    deleted = idx("delete", "lease", "nobody", "lease")
    assert deleted.stdout == "Deleted document 'lease' (3 chunks)\n"
    assert deleted.stderr == "No document has the id 'nobody'.\n"
    gone = idx("delete", "lease", "--json", code=1)
    assert gone.stderr == "Error: no document has the id 'lease'.\n"
    assert json.loads(gone.stdout) == {"deleted": {}, "unknown": ["lease"]}


def test_show_names_what_is_not_there(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "A", "text"))
    assert "no document has the id 'b'" in idx("show", "b", code=1).stderr
    beyond = idx("show", "a", "--chunk", 2, code=1)
    assert "there is no chunk 2 of 'a', which has 1 chunk:" in beyond.stderr


def test_an_empty_content_removes_the_old_chunks_with_a_warning(
    idx: Idx, empty_index: Path
) -> None:
    def add(text: str, *options: str) -> subprocess.CompletedProcess[str]:
        return idx("add", "-d", "a", "-t", "A", "-c", text, *options)

    add(LONG)
    emptied = add("")
    assert emptied.stdout == ""
    empty = "Warning: the content of document 'a' is empty;"
    assert emptied.stderr == f"{empty} removed 3 chunks that it had before\n"
    assert add(" \n").stderr == f"{empty} there was nothing to remove\n"
    add("text")
    as_json = add("", "--json")
    assert as_json.stderr == f"{empty} removed 1 chunk that it had before\n"
    assert json.loads(as_json.stdout) == {
        "added": [],
        "removed": [{"source_document": "a", "chunks": 1}],
        "failed": [],
    }
    assert json.loads(add("text", "--json").stdout) == {
        "added": [{"source_document": "a", "chunks": 1}],
        "removed": [],
        "failed": [],
    }
    add("")
    assert idx.json("list")["total_documents"] == 0


@pytest.mark.parametrize("sources", [[], ["-c", "text", "-f", "file.txt"]])
def test_a_document_has_exactly_one_source(idx: Idx, empty_index: Path, sources: list[str]) -> None:
    failed = idx("add", "-d", "a", "-t", "A", *sources, code=1)
    assert failed.stderr == "Error: a document has one source: give --content or --file\n"


def test_search_prints_ranked_chunks_with_the_matches_marked(idx: Idx, empty_index: Path) -> None:
    add_documents(
        empty_index,
        Document("a", "First", "The café opens at noon."),
        Document("b", "Second", "Cafe cafe CAFÉ"),
    )
    found = idx("search", "cafe")
    first, second = found.stdout.split("\n\n", 1)
    assert first.startswith("1. Second  likely (0.")
    assert first.splitlines()[1] == "   b-chunk-001"
    assert second.startswith("2. First  likely (0.")
    assert "**café** opens" in found.stdout
    assert found.stderr == "2 chunks match; shown: 1 to 2.\n"
    assert idx("search", "cafe", "--limit", 1, "--offset", 1).stdout.startswith("2. First")
    assert idx("search", "cafe noon", "--operator", "and").stdout.count("-chunk-") == 1
    assert idx("search", "nothing").stdout == ""


def test_search_as_json_has_the_shape_of_the_tool(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "First", "The café opens at noon."))
    answer = idx.json("search", "cafe")
    (hit,) = answer.pop("results")
    assert answer == {
        "query": "cafe",
        "totalHits": 1,
        "low_confidence": False,
        "facets": [],
        "suggestion": None,
        "partial": False,
        "suggestion_applied": False,
        "notice": None,
    }
    assert hit.pop("score") > 0
    assert 0.7 < hit.pop("confidence") < 1
    assert hit == {
        "id": "a-chunk-001",
        "title": "First",
        "content": "The café opens at noon.",
        "source_document": "a",
        "chunk_index": 1,
        "has_next": False,
        "has_previous": False,
        "passages": None,
        "metadata": {},
        "line_start": 1,
        "line_end": 1,
        "char_start": 0,
        "char_end": 23,
    }
    assert idx.json("search", "nothing")["results"] == []


def test_the_stars_of_markdown_are_no_matches(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "T", "This is **very** important for the battery"))
    answer = idx("search", "battery", "--json").stdout
    assert "**very**" in answer
    from shared import Searcher

    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("battery", content="passages").results
    assert hit.passages == ["This is **very** important for the <mark>battery</mark>"]


@pytest.mark.soak
def test_an_answer_that_cannot_be_written_is_an_error(idx: Idx, empty_index: Path) -> None:
    idx("add", "-d", "a", "-t", "A", "-c", "text")
    for command in (["list"], ["stats", "--json"], ["search", "text"], ["show", "a"]):
        with Path("/dev/full").open("w") as full:
            done = run(PROGRAMS / "idx", *command, "-i", empty_index, stdout=full, check=False)
        assert done.returncode == 1
        reason = "Error: the output could not be written: No space left on device\n"
        assert done.stderr.endswith(reason)
        assert "Traceback" not in done.stderr


@uses_a_unix_shell
def test_closed_streams_are_no_crash(idx: Idx, empty_index: Path) -> None:
    for closing in ("<&-", ">&-", "2>&-"):
        done = run(
            "/bin/sh", "-c", f'"$0" bulk -j - -i "$1" {closing}', PROGRAMS / "idx", empty_index
        )
        assert "Traceback" not in done.stderr


def test_ids_that_are_no_unicode_are_named(idx: Idx, empty_index: Path) -> None:
    for command in (["delete"], ["show"], ["list", "--prefix"], ["search", "x", "--filter"]):
        assert "is not valid Unicode" in idx(*command, "id=a\udcff", code=1).stderr


def test_lines_are_shown_as_they_stand(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "T", "one\r\ntwo\n"))
    assert idx("show", "a").stdout == "# T  [a-chunk-001]\n\none\ntwo\n\n\n"


def test_stats(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "A", LONG))
    figures = idx.json("stats")
    assert (figures["documents"], figures["chunks"], figures["schema_version"]) == (1, 3, 5)
    assert figures["path"] == str(empty_index)
    assert "Chunks" in idx("stats").stdout


@pytest.mark.soak
def test_a_pipe_that_closes_early_is_no_error(idx: Idx, empty_index: Path) -> None:
    entries = [{"Id": f"{n:04}", "Title": "T" * 50, "Content": "x"} for n in range(3000)]
    idx("bulk", "-j", "-", stdin=json.dumps(entries))
    with Started(PROGRAMS / "idx", "list", "-i", empty_index) as listing:
        listing.stdout.readline()
        listing.stdout.close()
        assert listing.stderr.read() == ""


def test_a_search_takes_questions_and_syntax(idx: Idx, empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "Networks", "TCP/IP is a family of protocols"))
    assert "**TCP/IP**" in idx("search", "What is TCP/IP?").stdout
    failed = idx("search", "What is TCP/IP?", "--syntax", "lucene", code=1)
    assert failed.stderr.startswith("Error: Parse error:")
    assert "**protocols**" in idx("search", "prot?cols").stdout
    assert idx("search", "prot?cols", "--syntax", "plain").stdout == ""
