import os
import sys
import threading
from pathlib import Path

import pytest

from shared import Document, Index, Searcher, create
from shared.errors import (
    DocumentNotFoundError,
    IndexDamagedError,
    IndexLockedError,
    IndexPathError,
)
from shared.model.document import Metadata
from shared.writing import index as index_module, writer
from tests.idx.files import ids
from tests.programs import Started, run
from tests.systems import limits_names

LONG = " ".join(f"word{number}" for number in range(600))


@limits_names
def test_an_index_that_the_system_refuses_to_look_at_is_named(tmp_path: Path) -> None:
    # As one behind a closed folder.
    with pytest.raises(IndexPathError, match="File name too long"):
        Index(tmp_path / ("x" * 300))


def test_adding_tells_the_number_of_chunks(empty_index: Path) -> None:
    with Index(empty_index) as index:
        assert index.add(Document("one", "One", "a few words")) == 1
        assert index.add(Document("three", "Three", LONG)) == 3
        assert index.add(Document("none", "None", " \n")) == 0
        assert index.chunk_count("three") == 3
        assert index.chunk_count("none") == 0


def test_adding_an_id_again_replaces_all_its_chunks(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "Old", LONG))
        index.add(Document("ab", "Other", "text"))
    with Index(empty_index) as index:
        index.add(Document("a", "New", "short now"))
    with Searcher(empty_index) as searcher:
        answer = searcher.document_chunks("a")
        assert [(chunk.title, chunk.content) for chunk in answer.chunks] == [("New", "short now")]
        assert searcher.search("word1").totalHits == 0
    assert ids(empty_index) == ["a", "ab"]


def test_replacing_needs_something_to_replace(empty_index: Path) -> None:
    with Index(empty_index) as index:
        with pytest.raises(DocumentNotFoundError, match="'a'"):
            index.replace(Document("a", "A", "text"))
        index.add(Document("a", "A", LONG))
        assert index.replace(Document("a", "A", "text")) == 1
    assert ids(empty_index) == ["a"]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_takes_back_what_was_not_committed(
    empty_index: Path, error: type[BaseException]
) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "A", "text"))
        index.commit()
        index.add(Document("b", "B", "text"))
        index.commit()
    with pytest.raises(error), Index(empty_index) as index:  # noqa: PT012 - on purpose
        index.add(Document("a", "A", "other"))
        index.delete("b")
        index.submit(Document("c", "C", "text"))
        raise error
    assert ids(empty_index) == ["a", "b"]
    with Searcher(empty_index) as searcher:
        assert searcher.chunk("a-chunk-001").content == "text"


def test_readers_see_nothing_before_the_commit_and_all_after_it(empty_index: Path) -> None:
    with Searcher(empty_index) as searcher:
        with Index(empty_index) as index:
            index.add(Document("a", "A", LONG))
            assert searcher.search("").totalHits == 0
            index.commit()
            assert searcher.search("").totalHits == 3
            index.add(Document("a", "A", "short"))
            assert searcher.search("").totalHits == 3
        assert searcher.search("").totalHits == 1


def test_a_commit_without_changes_writes_nothing(empty_index: Path) -> None:
    before = {file.name: file.stat().st_mtime_ns for file in empty_index.iterdir()}
    with Index(empty_index) as index:
        index.delete("nobody")
    assert {file.name: file.stat().st_mtime_ns for file in empty_index.iterdir()} == before


@pytest.mark.parametrize(
    "document_id",
    [
        "x" * 9_999,
        "🦦" * 9_999,
        "a/b\\c",
        "quotes \" and ' and `",
        "line\nfeed\r\n\ttab",
        "🦦 otter",
        " leading and trailing ",
        "ünï-çödé",
        "a\0b",
        "-chunk-001",
        "*?~^:+-&|!(){}[]",
    ],
)
def test_any_id_but_an_empty_one_works(empty_index: Path, document_id: str) -> None:
    with Index(empty_index) as index:
        index.add(Document(document_id, "T", LONG))
        index.add(Document(document_id + "x", "T", "another"))
    with Searcher(empty_index) as searcher:
        first = searcher.document_chunks(document_id).chunks[0]
        assert first.id == f"{document_id}-chunk-001"
        assert first.source_document == document_id
        following = searcher.next_chunk(first.id).chunk
        assert following is not None
        assert following.chunk_index == 2
        listed = searcher.documents(prefix=document_id).documents
        assert sorted(entry.source_document for entry in listed) == [document_id, document_id + "x"]
    with Index(empty_index) as index:
        assert index.delete(document_id) == 3
        assert index.delete(document_id + "x") == 1


def holder(process: int) -> str:
    """The pattern of what is said of the process that has the lock."""
    if sys.platform != "linux":
        return "an unknown process"
    other = rf"process {process} \(.*python"
    return f"this process, {process}" if process == os.getpid() else other


def test_a_second_writer_waits_and_then_says_who_holds_the_lock(empty_index: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from shared import Index\n"
        "with Index(Path(sys.argv[1])): print('open', flush=True); sys.stdin.read()"
    )
    with Started(sys.executable, "-c", script, empty_index) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(IndexLockedError, match=rf"{holder(other.pid)}.*0\.2 s\)"):
            Index(empty_index, wait=0.2)
        threading.Timer(0.5, other.stdin.close).start()
        with Index(empty_index, wait=20) as index:
            index.add(Document("a", "A", "text"))
    assert ids(empty_index) == ["a"]


def test_two_writers_in_one_process_exclude_each_other_too(empty_index: Path) -> None:
    other = (
        "import sys; from shared import Index, IndexLockedError\n"
        "try: Index(sys.argv[1], wait=0)\n"
        "except IndexLockedError: print('refused')"
    )
    with Index(empty_index):
        with pytest.raises(IndexLockedError, match=holder(os.getpid())):
            Index(empty_index, wait=0)
        # Asking who holds the lock must not let go of it.
        done = run(sys.executable, "-c", other, empty_index)
        assert done.stdout == "refused\n"


def test_keys_beyond_those_that_are_allowed_become_texts(empty_index: Path) -> None:
    full: Metadata = {"other": "before", **{f"key{number}": number for number in range(51)}}
    with Index(empty_index) as index:
        assert index.add(Document("full", "Full", "A text", full)) == 1
    with Searcher(empty_index) as searcher:
        (document,) = searcher.documents().documents
    assert len(document.metadata) == 50
    assert document.metadata["other"] == ["before", "key49: 49", "key50: 50"]


def test_creating_while_another_process_creates_wipes_nothing(
    index_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = writer.open_writer

    def slowly(*arguments: object) -> object:
        monkeypatch.setattr(index_module, "open_writer", opened)
        assert create(index_path)
        with Index(index_path) as index:
            index.add(Document("a", "A", "text"))
        return opened(*arguments)  # type: ignore[arg-type] # passed on as they came

    monkeypatch.setattr(index_module, "open_writer", slowly)
    assert not create(index_path)
    assert ids(index_path) == ["a"]


def test_a_closed_index_says_so(empty_index: Path) -> None:
    with Index(empty_index) as index:
        pass
    for use in (index.commit, lambda: index.delete("a"), lambda: index.chunk_count("a")):
        with pytest.raises(ValueError, match="is closed"):
            use()


def test_an_index_without_its_commit_is_damaged_not_missing(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "A", "text"))
    for commit in empty_index.glob("segments_*"):
        commit.unlink()
    for use in (create, Index, lambda path: Searcher(path).search("x")):
        with pytest.raises(IndexDamagedError, match="segments_N file"):
            use(empty_index)


def test_a_file_that_is_named_like_one_of_lucene_makes_no_index(tmp_path: Path) -> None:
    (tmp_path / "segments.csv").write_text("a,b")
    with pytest.raises(IndexPathError, match="it holds other files"):
        create(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["segments.csv"]


def test_threads_may_share_a_writer(empty_index: Path) -> None:
    with Index(empty_index) as index:

        def add(thread: int) -> None:
            for number in range(20):
                index.add(Document(f"{thread}-{number}", "T", LONG))

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(ids(empty_index)) == 80
