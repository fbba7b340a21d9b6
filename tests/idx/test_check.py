"""`idx check`: documents and files that are not as they should be, and an index that is."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import lucene  # noqa: F401 - the packages of Java can be imported after it only
import pytest
from java.util import Arrays
from org.apache.lucene.document import (
    Document as LuceneDocument,
    Field,
    SortedDocValuesField,
    StoredField,
    StringField,
)
from org.apache.lucene.util import BytesRef

from shared import Document, Index
from shared.chunking import placed_chunks
from shared.storage.mapping import placed_to_lucene, to_lucene
from tests.conftest import Idx
from tests.idx.damage import damaged, file_of_each_kind, fill_with_every_kind, flip
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.idx.raw_index import files_of_lucene, mark_as
from tests.idx.segments import fill
from tests.programs import run
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED

LONG = Document("long", "Long", " ".join(f"word{number}" for number in range(900)))


@pytest.fixture
def filled(idx: Idx, empty_index: Path) -> Path:
    """An index of files and others, in several segments, with deletions."""
    fill(empty_index, documents=12)
    index_files(empty_index, make(empty_index.parent / "papers", "a.txt", "b/c.txt"))
    with Index(empty_index) as index:
        index.add(Document("🦦" * 9_000, "Otter", "text"))
        index.add(Document("ärger/größe", "Ümläut", LONG.content, {"n": 3}))
    return empty_index


@has_modes
def test_an_index_that_this_user_may_only_read(idx: Idx, filled: Path) -> None:
    (filled / "write.lock").unlink(missing_ok=True)
    filled.chmod(0o555)
    try:
        done = idx("check", prefix=UNPRIVILEGED)
    finally:
        filled.chmod(0o700)
    assert done.stdout.startswith("The index is sound: ")
    assert not (filled / "write.lock").exists()


def test_a_sound_index(idx: Idx, filled: Path) -> None:
    figures = idx.json("stats")
    before = {file.name: file.read_bytes() for file in filled.iterdir()}
    done = idx("check")
    assert done.stdout == (
        f"The index is sound: {figures['documents']} documents, {figures['chunks']} chunks, "
        f"{figures['segments']} segments\n"
    )
    assert done.stderr == ""
    answer = idx.json("check")
    segments = answer.pop("segments")
    assert answer == {
        "sound": True,
        "documents": figures["documents"],
        "chunks": figures["chunks"],
        "problems": [],
    }
    assert sum(segment["chunks"] for segment in segments) == figures["chunks"]
    assert sum(segment["deleted_chunks"] for segment in segments) == figures["deleted_chunks"] > 0
    assert 0 < sum(segment["size_bytes"] for segment in segments) < figures["size_bytes"]
    assert all(segment["sound"] for segment in segments)
    assert {file.name: file.read_bytes() for file in filled.iterdir()} == before


def test_an_index_without_documents(idx: Idx, empty_index: Path) -> None:
    assert idx("check").stdout == "The index is sound: 0 documents, 0 chunks, 0 segments\n"


def write(path: Path, batch: Sequence[Any]) -> None:
    with Index(path) as index:
        index._writer.addDocuments(Arrays.asList([*batch]))  # noqa: SLF001 - no public way does that


def changed(document: Document, **change: Any) -> list[Any]:
    """The chunks of a document, the second of which is changed."""
    placed = list(placed_chunks(document))
    placed[1] = (replace(placed[1][0], **change), placed[1][1])
    return [chunk for _, batch in placed_to_lucene(document, placed) for chunk in batch]


def whole(document: Document) -> list[Any]:
    return [chunk for _, batch in to_lucene(document) for chunk in batch]


def bare(*fields: Any) -> Any:
    chunk = LuceneDocument()
    for field in fields:
        chunk.add(field)
    return chunk


def of_document(name: str) -> tuple[Any, Any]:
    return (
        StringField("source_document", name, Field.Store.YES),
        SortedDocValuesField("source_document", BytesRef(name)),
    )


def without(document: Document, name: str, *others: Any) -> list[Any]:
    """The chunk of a short document that lacks a field, and has other ones."""
    (chunk,) = whole(replace(document, content="short"))
    kept = [field for field in chunk if Field.cast_(field).name() != name]
    return [Arrays.asList([*kept, *others])]


VIOLATIONS: dict[str, tuple[Callable[[Document], list[Any]], str]] = {
    "hole": (lambda it: [*whole(it)[:1], *whole(it)[2:4]], "of its 5 chunks 2, 5 are missing"),
    "beginning": (lambda it: whole(it)[1:], "of its 5 chunks 1 are missing"),
    "twice": (
        lambda it: [*whole(it), whole(it)[2]],
        "it has chunks of more than one version: 3 more than once",
    ),
    "versions": (
        lambda it: [*whole(it), *whole(replace(it, content="short", title="New"))],
        "it has chunks of more than one version: 1 more than once",
    ),
    "beyond": (
        lambda it: changed(it, index=7, id="beyond-chunk-007", title="Long - Part 7"),
        "it has 5 chunks, but also number 7",
    ),
    "id": (
        lambda it: changed(it, id="id-chunk-2"),
        "the id of chunk 2 is 'id-chunk-2', not 'id-chunk-002'",
    ),
    "title": (
        lambda it: changed(it, title="Long"),
        "the title of chunk 2 is 'Long', not 'Long - Part 2'",
    ),
    "text": (lambda it: without(it, "content"), "a chunk has no stored content"),
    "details": (
        lambda it: without(it, "details", StoredField("details", "{")),
        "the chunk 'details-chunk-001' cannot be read: StoredDetailsError",
    ),
}
"""Documents that are not as they should be, and what is told of each."""


def test_documents_that_are_not_whole_are_named(idx: Idx, filled: Path) -> None:
    for name, (make_batch, _) in VIOLATIONS.items():
        write(filled, make_batch(replace(LONG, id=name)))
    failed = idx("check", code=1)
    told = failed.stdout.splitlines()
    for name, (_, problem) in VIOLATIONS.items():
        (line, *_) = (line for line in told if line.startswith(f"document '{name}': {problem}"))
        assert "idx delete" in line
    assert {line.split("'")[1] for line in told} == VIOLATIONS.keys()
    assert failed.stderr == f"Error: the index is not sound; {len(told)} problems\n"
    answer = idx.json("check", code=1)
    assert not answer["sound"]
    assert answer["problems"] == told
    assert "'beginning': a chunk is missing" in idx("show", "beginning", "--details", code=1).stderr
    # What it says helps.
    idx("delete", *VIOLATIONS)
    idx("check")


def test_chunks_of_no_document_are_counted(idx: Idx, filled: Path) -> None:
    write(filled, [bare(StringField("id", str(number), Field.Store.YES)) for number in range(3)])
    (line,) = idx("check", code=1).stdout.splitlines()
    assert line.startswith("3 chunks without a document")


def test_very_many_problems_are_not_all_told(idx: Idx, empty_index: Path) -> None:
    write(empty_index, [bare(*of_document(str(number))) for number in range(1_200)])
    done = idx("check", code=1)
    lines = done.stdout.splitlines()
    assert done.stderr == "Error: the index is not sound; 1,200 problems\n"
    assert len(lines) == 1_001
    assert lines[-1] == "and 200 more problems"


@pytest.mark.parametrize(
    ("version", "help_"), [(4, "idx rebuild"), (9, "pip install --upgrade mcp-lucene")]
)
def test_another_schema_is_named(idx: Idx, filled: Path, version: int, help_: str) -> None:
    mark_as(filled, version)
    (line,) = idx("check", code=1).stdout.splitlines()
    assert f"has schema version {version}" in line
    assert help_ in line


# One process for all: a crash of the virtual machine ends it, and is seen.
CHECKS = """
import json, sys
from shared import IndexFolderError
from shared.maintenance.check import check
for folder in sys.argv[1:]:
    try:
        print(json.dumps(check(folder).problems), flush=True)
    except IndexFolderError as error:
        print(json.dumps(f"Error: {error}"), flush=True)
"""


@pytest.fixture
def every_kind(idx: Idx, empty_index: Path) -> Path:
    return fill_with_every_kind(idx, empty_index)


def check_all(folders: list[Path]) -> list[list[str] | str]:
    done = run(sys.executable, "-c", CHECKS, *folders, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_damage_to_any_kind_of_file_is_found_and_named(every_kind: Path, tmp_path: Path) -> None:
    copies: list[tuple[str, Path]] = []

    def copy(name: str) -> Path:
        folder = tmp_path / f"damaged-{len(copies)}"
        shutil.copytree(every_kind, folder)
        copies.append((name, folder))
        return folder / name

    for name in file_of_each_kind(every_kind):
        for content in damaged((every_kind / name).read_bytes()):
            copy(name).write_bytes(content)
        copy(name).unlink()
    found = check_all([folder for _, folder in copies])
    for (name, folder), problems in zip(copies, found, strict=True):
        assert problems, (name, folder)
        told = " ".join([problems] if isinstance(problems, str) else problems)
        assert name in told or "its segments_N file, which names the others, is missing" in told, (
            told
        )


@pytest.mark.soak
def test_the_answer_names_file_segment_and_help(idx: Idx, every_kind: Path) -> None:
    (file,) = every_kind.glob("*.fdt")
    flip(file)
    failed = idx("check", code=1)
    assert failed.stdout == (
        f"file {file.name}: its checksum is wrong, so it was changed after Lucene wrote it; "
        "restore a backup with idx restore, or save the rest with idx repair\n"
    )
    answer = idx.json("check", code=1)
    assert [part["name"] for part in answer["segments"] if not part["sound"]] == [
        file.name.removesuffix(".fdt")
    ]
    assert answer["documents"] == 0
    assert answer["chunks"] > 80


@pytest.mark.soak
def test_a_segment_with_right_checksums_that_does_not_fit_is_found(
    idx: Idx, every_kind: Path, tmp_path: Path
) -> None:
    # A file of another index with the same name: its checksum is right, the segment is not.
    other = tmp_path / "other"
    shutil.copytree(every_kind, other)
    idx("add", "-i", "other", "-d", "d08", "-t", "T", "-c", "text")
    (deletions,) = (name for name in files_of_lucene(other) if name.endswith("_2.liv"))
    shutil.copy(other / deletions, every_kind / deletions.replace("_2.liv", "_1.liv"))
    (line,) = idx("check", code=1).stdout.splitlines()
    assert line.startswith(f"segment {deletions.partition('_2.liv')[0]}: ")
    assert "idx restore" in line


@pytest.mark.soak
def test_what_is_left_of_an_older_commit_is_told(idx: Idx, every_kind: Path) -> None:
    (every_kind / "segments_1").touch()
    (line,) = idx("check", code=1).stdout.splitlines()
    assert line.startswith("a commit before the last one cannot be read; delete its file, ")
    assert line.endswith(": segments_1")
    (every_kind / "segments_1").unlink()
    idx("check")
