"""Bulk files, good and bad; a bad one changes nothing."""

import json
import signal
import subprocess

import pytest

from idx.sync.events import uninterrupted
from shared import Document
from tests.conftest import Idx, add_documents
from tests.idx.files import documents, ids
from tests.programs import PROGRAMS, Started
from tests.systems import sends_signals

pytestmark = pytest.mark.usefixtures("empty_index")

ENTRIES = [
    {"Id": "one", "Title": "First", "Content": "Some words."},
    {"id": "two", "TITLE": "Second", "content": " ".join(["word"] * 300)},
]


ARRAY = json.dumps(ENTRIES)
LINES = "\r\n".join(json.dumps(entry) for entry in ENTRIES)

FORMS = {
    "array": ARRAY.encode(),
    "indented array": json.dumps(ENTRIES, indent=4).encode(),
    "array with mark": ARRAY.encode("utf-8-sig"),
    "array after blanks": b"\n" * 9_000 + b" " * 9_000 + ARRAY.encode(),
    "array in UTF-16": ARRAY.encode("utf-16"),
    "lines": LINES.replace("\r\n", "\n\n ").encode() + b"\n",
    "lines with mark": LINES.encode("utf-8-sig"),
    "lines in UTF-16": f"{LINES}\n".encode("utf-16"),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS)
def test_an_array_and_json_lines(idx: Idx, data: bytes) -> None:
    (idx.folder / "documents.json").write_bytes(data)
    added = idx("bulk", "--json-file", "documents.json")
    assert added.stdout == "Successfully added 2 documents as 3 total chunks to index\n"
    assert [(entry.source_document, entry.title) for entry in documents(idx.index)] == [
        ("one", "First"),
        ("two", "Second"),
    ]


def test_other_keys_become_metadata(idx: Idx) -> None:
    entry = {
        **ENTRIES[0],
        "Author": "Ann",
        "year": 2020,
        "tags": ["a", 1],
        "nested": {"a": [1]},
        "nothing": None,
    }
    idx("bulk", "-j", "-", stdin=json.dumps([entry]))
    assert documents(idx.index)[0].metadata == {
        "Author": "Ann",
        "year": 2020,
        "tags": ["a", 1],
        "nested": '{"a": [1]}',
    }


def test_an_entry_without_id_or_title_is_skipped_by_number(idx: Idx) -> None:
    entries = [{"Title": "T", "Content": "c"}, {"Id": "x"}, {"Id": "", "Title": "T"}, *ENTRIES]
    added = idx("bulk", "-j", "-", stdin=json.dumps(entries))
    assert added.stderr.splitlines() == [
        "Skipped entry 1: it has no id.",
        "Skipped entry 2: it has no title.",
        "Skipped entry 3: it has no id.",
    ]
    assert ids(idx.index) == ["one", "two"]


def test_empty_content_removes_the_old_chunks_with_a_warning(idx: Idx) -> None:
    add_documents(
        idx.index, Document("one", "First", "Some words."), Document("two", "Second", "word")
    )
    emptied = idx("bulk", "-j", "-", stdin='[{"Id": "one", "Title": "First", "Content": ""}]')
    assert emptied.stdout == "Successfully added 0 documents as 0 total chunks to index\n"
    assert "Warning: the content of document 'one' is empty" in emptied.stderr
    assert ids(idx.index) == ["two"]


def test_only_documents_with_content_are_counted(idx: Idx) -> None:
    entries = [*ENTRIES, {"Id": "three", "Title": "Third", "Content": " \n"}]
    added = idx("bulk", "-j", "-", stdin=json.dumps(entries))
    assert added.stdout == "Successfully added 2 documents as 3 total chunks to index\n"
    assert added.stderr == (
        "Warning: the content of document 'three' is empty; if it had chunks, they were removed\n"
    )
    as_json = idx("bulk", "-j", "-", "--json", stdin=json.dumps(entries))
    assert json.loads(as_json.stdout) == {"documents": 2, "chunks": 3, "empty": 1, "skipped": 0}


def test_nothing_to_add_is_no_error(idx: Idx) -> None:
    for text in ("[]", "", "\n"):
        added = idx("bulk", "-j", "-", stdin=text)
        assert added.stdout == "Successfully added 0 documents as 0 total chunks to index\n"


GOOD_LINE = json.dumps({"Id": "new", "Title": "New", "Content": "new"})

BROKEN = {
    "[1, 2": "is not valid JSON: Expecting ',' delimiter at line 1, column 6",
    "{nonsense": "line 1: is not valid JSON",
    '"text"': "entry 1: is str, not an object",
    "42": "entry 1: is int, not an object",
    f'{GOOD_LINE}\n{{"Id": ': "line 2: is not valid JSON",
    f"{GOOD_LINE}\n[1]": "entry 2: is list, not an object",
    f"[{GOOD_LINE}, 7]": "entry 2: is int, not an object",
    f"[{GOOD_LINE}, null]": "entry 2: is NoneType, not an object",
    f'[{GOOD_LINE}, {{"Id": 7, "Title": "T"}}]': "entry 2: 'id' is int, not text",
    f'[{GOOD_LINE}, {{"Id": "b", "Title": ["T"]}}]': "entry 2: 'title' is list, not text",
    f'[{GOOD_LINE}, {{"Id": "b", "Title": "T", "Content": {{}}}}]': "entry 2: 'content' is dict",
    f'[{GOOD_LINE}, {{"Id": "\\ud800", "Title": "T"}}]': "entry 2: the id of",
    f'[{GOOD_LINE}, {{"Id": "b", "Title": "T", "x": NaN}}]': "entry 2: the metadata 'x'",
    f'[{GOOD_LINE}, {{"Id": "b", "Title": "T", "y": 1{"0" * 400}}}]': "entry 2: the metadata 'y'",
    f'[{GOOD_LINE}, {{"Id": "b", "Title": "T", "z": {{"a": [1e999]}}}}]': "entry 2: the metadata",
    "[" * 100_000: "is not JSON that can be read",
    "\0\1": "is not valid JSON",
}


@pytest.mark.parametrize(("text", "reason"), BROKEN.items(), ids=BROKEN.values())
def test_a_broken_file_is_explained_and_changes_nothing(idx: Idx, text: str, reason: str) -> None:
    add_documents(idx.index, Document("old", "Old", "text"))
    (idx.folder / "broken.json").write_text(text)
    failed = idx("bulk", "-j", "broken.json", code=1)
    assert failed.stdout == ""
    (line,) = failed.stderr.splitlines()
    assert line.startswith("Error: broken.json")
    assert reason in line
    assert ids(idx.index) == ["old"]


def test_bytes_that_are_no_text_are_named_with_their_place(idx: Idx) -> None:
    (idx.folder / "latin.jsonl").write_bytes(GOOD_LINE.encode() + b'\n{"Id": "\xe4"}')
    failed = idx("bulk", "-j", "latin.jsonl", code=1)
    assert "latin.jsonl, line 2: is not utf-8 text: byte 0xe4 at offset 8" in failed.stderr


@pytest.mark.soak
def test_long_metadata_stand_in_every_chunk_but_not_in_memory_at_once(idx: Idx) -> None:
    idx.setenv("IDX_JAVA_HEAP", "64")
    entry = {"Id": "a", "Title": "A", "Content": "word " * 105_000, "creator": "c" * 200_000}
    added = idx("bulk", "-j", "-", stdin=json.dumps(entry))
    assert added.stdout == "Successfully added 1 documents as 500 total chunks to index\n"


def test_too_long_metadata_are_refused(idx: Idx) -> None:
    entry = {"Id": "a", "Title": "A", "Content": "text", "creator": "c" * 1_000_000}
    failed = idx("bulk", "-j", "-", stdin=json.dumps(entry), code=1)
    assert failed.stderr == (
        "Error: the metadata of the document 'a' have 1,000,015 characters as JSON; at most "
        "1,000,000 are allowed, because every chunk contains them: put long text into the content\n"
    )
    assert ids(idx.index) == []


@sends_signals
def test_an_interrupted_run_says_that_nothing_was_changed(idx: Idx) -> None:
    with Started(
        PROGRAMS / "idx", "bulk", "-j", "-", cwd=idx.folder, stdout=subprocess.DEVNULL
    ) as running:
        # A skipped entry tells that the one before it was read.
        running.stdin.write(f'{json.dumps(ENTRIES[0])}\n{{"Id": "no title"}}\n')
        running.stdin.flush()
        assert running.stderr.readline() == "Skipped entry 2: it has no title.\n"
        running.send_signal(signal.SIGINT)
        assert running.stderr.read() == "Interrupted: nothing was changed.\n"
        assert running.wait() == 130
    assert ids(idx.index) == []


@sends_signals
def test_an_interruption_during_the_commit_waits_for_its_end() -> None:
    done = []

    def commit() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        commit()
    assert done
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
