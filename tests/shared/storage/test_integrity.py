"""Files of an index that are compared with their checksums, at once or in the background."""

import errno
from collections.abc import Iterable
from pathlib import Path

import pytest

from shared import Document, IndexDamagedError, Searcher
from shared.files.lucene_files import damage_of
from shared.reading import open_index
from shared.storage import integrity
from tests.conftest import add_documents
from tests.idx.damage import change_a_bit
from tests.idx.raw_index import files_of_lucene
from tests.systems import replaces_open_files
from tests.waiting import wait_for


@pytest.fixture
def segment(empty_index: Path) -> Path:
    """The file with all terms and texts of an index of one document."""
    add_documents(empty_index, Document("a", "A", "common text " * 200))
    (file,) = empty_index.glob("*.cfs")
    return file


def refusal(searcher: Searcher) -> str:
    """What a search is refused with; nothing if it is answered."""
    try:
        searcher.documents()
    except IndexDamagedError as error:
        return str(error)
    return ""


def test_what_is_too_large_to_wait_for_is_found_a_little_later(
    segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_a_bit(segment, of=b"text")
    monkeypatch.setattr(integrity, "_MAX_FOREGROUND_BYTES", 0)
    with Searcher(segment.parent) as searcher:
        wait_for(lambda: f"file {segment.name}: its checksum is wrong" in refusal(searcher))


def test_a_disk_that_cannot_be_read_is_told_too(
    segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(integrity, "_MAX_FOREGROUND_BYTES", 0)
    monkeypatch.setattr(integrity, "damage_of", read)
    with Searcher(segment.parent) as searcher:
        wait_for(lambda: "it cannot be read: Input/output error" in refusal(searcher))


def test_too_many_open_files_are_no_damage(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def read(file: Path) -> None:
        tried.append(file)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(integrity, "_MAX_FOREGROUND_BYTES", 0)
    monkeypatch.setattr(integrity, "damage_of", read)
    with Searcher(segment.parent) as searcher:
        # Each call tries again.
        wait_for(lambda: refusal(searcher) == "" and tried.count(segment) > 1)


@replaces_open_files
def test_files_are_read_once_and_again_when_they_are_written_to(
    segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(file: Path) -> str | None:
        read.append(file.name)
        return damage_of(file)

    monkeypatch.setattr(integrity, "damage_of", noted)
    index = segment.parent
    with Searcher(index) as searcher, Searcher(index) as another:
        for _ in range(3):
            searcher.documents()
            another.documents()
        assert sorted(read) == sorted(files_of_lucene(index))
        read.clear()
        # The same bytes once more.
        segment.write_bytes(segment.read_bytes())
        searcher.documents()
        another.documents()
    assert read == [segment.name]


def test_only_so_many_results_are_kept(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "_MAX_KNOWN_FILES", 2)
    with Searcher(segment.parent) as searcher:
        for _ in range(3):
            searcher.documents()
    assert len(integrity._known) == 2  # noqa: SLF001 - how much it holds


@replaces_open_files
def test_a_file_that_is_cut_short_while_it_is_read_is_an_error(segment: Path) -> None:
    def read_while_it_is_cut() -> None:
        with open_index.OpenIndex(segment.parent, "command").newest() as opened:
            segment.write_bytes(b"")
            opened.storedFields().document(0)

    with Searcher(segment.parent) as searcher:
        with pytest.raises(IndexDamagedError, match="a file was truncated while it was read"):
            read_while_it_is_cut()
        with pytest.raises(IndexDamagedError, match=f"file {segment.name}: it is truncated"):
            searcher.documents()


def test_files_that_a_writer_takes_away_again_and_again_are_no_damage(
    segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = iter(range(6))

    def overtaken(path: Path, names: Iterable[str]) -> list[str]:
        """Commit once more between the opening of the index and the look at its files."""
        for number in commits:
            add_documents(path, Document("a", "A", f"text {number}"))
            break
        return integrity.verify(path, names)

    monkeypatch.setattr(open_index, "verify", overtaken)
    with Searcher(segment.parent) as searcher:
        assert searcher.chunk("a-chunk-001").content == "text 5"
        # What it shows last is the only commit that nobody overtook.
        assert searcher.refreshes == 7


def test_a_file_that_is_missing_is_named(segment: Path) -> None:
    with Searcher(segment.parent) as searcher:
        assert searcher.documents().total_documents == 1
        segment.unlink()
        # It is open still, and whole.
        assert searcher.documents().total_documents == 1
    with Searcher(segment.parent) as searcher, pytest.raises(IndexDamagedError, match=segment.name):
        searcher.documents()
