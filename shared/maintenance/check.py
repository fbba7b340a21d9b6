"""Check of an index: its files, its segments, and its documents."""

import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from java.util import Arrays
from org.apache.lucene.index import (
    CheckIndex,
    DirectoryReader,
    IndexWriter,
    SegmentCommitInfo,
    SegmentInfos,
    Term,
)
from org.apache.lucene.search import IndexSearcher, Sort, TermQuery
from org.apache.lucene.store import ByteBuffersDirectory

from shared.backends import chosen
from shared.errors import (
    DocumentDamagedError,
    IndexDamagedError,
    IndexFolderError,
    IndexLuceneVersionError,
    IndexSchemaError,
    PartDamagedError,
)
from shared.files import index_folder
from shared.files.index_folder import size_bytes
from shared.files.lucene_files import damage_or_absence
from shared.maintenance.upkeep import Progress, Step
from shared.messages import quantity
from shared.model import schema
from shared.model.document import chunk_id, chunk_title
from shared.query.lucene import Compiler, terms_with_prefix
from shared.query.tree import Clause, Clauses, Exists
from shared.reading.backend import Stored
from shared.settings.defaults import DEFAULT_WAIT
from shared.storage import lucene_errors
from shared.storage.commits import check_schema
from shared.storage.stored_chunks import CHUNK_FIELDS, details_of, stored_fields
from shared.writing.writer import locked, opened

_MAX_REPORTED_PROBLEMS: Final = 1_000
"""Maximum number of problems that are reported one by one; nobody reads more."""

_MAX_LISTED_NUMBERS: Final = 10

_SEGMENT: Final = re.compile("_[0-9a-z]+")
"""Start of the names of a segment's files."""


@dataclass(frozen=True, slots=True)
class SegmentState:
    """State of a segment, a part of an index with its own files, which begin with its name.

    `chunks` are those that are not deleted.
    """

    name: str
    chunks: int
    deleted_chunks: int
    size_bytes: int
    sound: bool


@dataclass(slots=True)
class Checked:
    """Result of a check: what is in the index, if the files can be read, and what is wrong.

    Attributes:
        errors: the problems, up to 1,000 of them.
        unlisted: the number of further problems.
    """

    documents: int = 0
    chunks: int = 0
    segments: list[SegmentState] = field(default_factory=list)
    errors: list[IndexFolderError] = field(default_factory=list)
    unlisted: int = 0

    @property
    def problem_count(self) -> int:
        """Number of problems, including those that are not listed."""
        return len(self.errors) + self.unlisted

    @property
    def problems(self) -> list[str]:
        """The problems, one line each, with the next step to take."""
        return self.lines(str)

    @property
    def sound(self) -> bool:
        """True if there are no problems."""
        return not self.errors

    def lines(self, message: Callable[[IndexFolderError], str]) -> list[str]:
        """Return the problems, one line each, in the words of a program."""
        more = [f"and {quantity(self.unlisted, 'more problem')}"] if self.unlisted else []
        return [*map(message, self.errors), *more]

    def report(self, error: IndexFolderError) -> None:
        """Add a problem; beyond the maximum, only their number is kept."""
        if len(self.errors) < _MAX_REPORTED_PROBLEMS:
            self.errors.append(error)
        else:
            self.unlisted += 1


def check(path: Path | str, *, wait: float = DEFAULT_WAIT, progress: Progress = iter) -> Checked:
    """Check an index: files by their checksums, segments by Lucene, documents by our own rules.

    Damaged parts are not read any further. Nothing is written, and writers are locked out, unless
    this user may only read the index.

    Args:
        path: the index folder.
        wait: seconds to wait for a writer to end.
        progress: a function that passes on the steps of the check.

    Raises:
        IndexMissingError: there is no index at the path.
        IndexLockedError: a writer held the lock for the whole time.
        IndexPathError: the operating system refuses access.
    """
    if other := chosen(path, "check"):
        checked: Checked = other(path, wait=wait, progress=progress)
        return checked
    path = index_folder.absolute(path)
    checked = Checked()
    with opened(path) as directory:
        # A folder without an index gets no lock file.
        _read_commit(directory, path, checked)
        if checked.sound:
            with _lock_out_writers(directory, path, wait) as lock:
                for _ in progress(_steps(directory, path, lock, checked)):
                    pass
    return checked


def _lock_out_writers(directory: Any, path: Path, wait: float) -> AbstractContextManager[Any]:
    """Lend the lock of the index, or a dummy lock if this user may not write to the folder."""
    if os.access(path, os.W_OK):
        return locked(directory, path, wait)
    return closing(ByteBuffersDirectory().obtainLock(IndexWriter.WRITE_LOCK_NAME))


def _read_commit(directory: Any, path: Path, checked: Checked) -> Any:
    """Return the segment infos of the last commit; None if they cannot be read."""
    try:
        with lucene_errors.reading(path):
            return SegmentInfos.readLatestCommit(directory)
    except IndexDamagedError as error:
        checked.report(PartDamagedError(path, "the last commit", error.reason))
    except IndexLuceneVersionError as error:
        checked.report(error)
    # Lucene does not always name the file that it could not read: the commit's or a segment's.
    matches = [_SEGMENT.match(file.name) for file in path.glob("_*")]
    names = {f"{match[0]}.si" for match in matches if match}
    commits = {file.name for file in path.glob("segments_*")}
    for _ in _damaged_files(path, sorted(names | commits), checked):
        pass
    return None


def _steps(directory: Any, path: Path, lock: Any, checked: Checked) -> Iterator[Step]:
    # Read again: another writer may have been at work until now.
    commit = _read_commit(directory, path, checked)
    if commit is None:
        return
    yield from check_segments(directory, path, commit, lock, checked)
    if checked.sound:
        with closing(DirectoryReader.open(directory)) as reader:
            yield from _check_documents(reader, path, checked)


def check_segments(
    directory: Any, path: Path, commit: Any, lock: Any, checked: Checked
) -> Iterator[Step]:
    """Check the files and the segments of a commit."""
    infos = [SegmentCommitInfo.cast_(info) for info in commit.asList()]
    files = {str(info.info.name): [str(name) for name in info.files()] for info in infos}
    unsound = yield from _damaged_segments(directory, path, lock, files, checked)
    for info in infos:
        name = str(info.info.name)
        deleted = int(info.getDelCount())
        size = size_bytes(path / file for file in files[name])
        checked.segments.append(
            SegmentState(name, info.info.maxDoc() - deleted, deleted, size, name not in unsound)
        )
    checked.chunks = sum(segment.chunks for segment in checked.segments)


def _damaged_files(path: Path, names: list[str], checked: Checked) -> Generator[Step, None, bool]:
    """Compare each file with its checksum; return True if one is damaged."""
    total, done, found = size_bytes(path / name for name in names), 0, False
    for name in names:
        yield Step("Checking files", done, total)
        done += size_bytes([path / name])
        if damage := damage_or_absence(path / name):
            found = True
            checked.report(PartDamagedError(path, f"file {name}", damage))
    return found


def _damaged_segments(
    directory: Any, path: Path, lock: Any, segments: dict[str, list[str]], checked: Checked
) -> Generator[Step, None, set[str]]:
    """Let Lucene read each segment completely; return the names of unsound segments.

    Lucene compares the files with their checksums first. It does not always name the damaged one,
    so that those of an unsound segment are compared once more.
    """
    unsound = set()
    examination = CheckIndex(directory, lock)
    for number, (name, files) in enumerate(segments.items()):
        yield Step("Checking segments", number, len(segments))
        status = examination.checkIndex(Arrays.asList([name]))
        if status.missingSegments:
            # The last commit was read before; Lucene also reads older ones.
            last = SegmentInfos.getLastCommitSegmentsFileName(directory)
            older = sorted(file.name for file in path.glob("segments_*") if file.name != last)
            checked.report(
                IndexFolderError(
                    path,
                    "a commit before the last one cannot be read",
                    "delete its file, and those of all others before the last one: "
                    f"{', '.join(older)}",
                )
            )
            break
        (found,) = map(CheckIndex.Status.SegmentInfoStatus.cast_, status.segmentInfos)
        if found.error is not None:
            unsound.add(name)
            if not (yield from _damaged_files(path, files, checked)):
                damage = lucene_errors.text(found.error)
                checked.report(PartDamagedError(path, f"segment {name}", damage))
    return unsound


def _check_documents(reader: Any, path: Path, checked: Checked) -> Iterator[Step]:
    try:
        check_schema(reader, path)
    except IndexSchemaError as error:
        checked.report(error)
        # Documents of an older schema are checked, too; those of another program are not.
        if not error.rebuilds:
            return
    done = 0
    for document in checked_documents(reader):
        done += document.chunks
        checked.documents += 1
        for problem in document.problems:
            checked.report(DocumentDamagedError(path, document.id, problem))
        yield Step("Checking documents", done, checked.chunks)
    if lost := IndexSearcher(reader).count(without_document()):
        checked.report(PartDamagedError(path, f"{quantity(lost, 'chunk')} without a document"))


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """Result of checking a document.

    Attributes:
        term: the term of its id in the chunks.
        problems: the problems, in words that follow the document's id.
    """

    id: str
    term: str
    chunks: int
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class _StoredChunk:
    """Values of a chunk that are checked: its number, and those of its document."""

    index: int
    title: str
    count: int
    problem: str | None


def checked_documents(reader: Any) -> Iterator[CheckedDocument]:
    """Check one document after the other, in the order of their ids.

    Chunks are looked up by the id of their document, so that only the chunks of one document are in
    memory at a time.
    """
    searcher = IndexSearcher(reader)
    for key, _ in terms_with_prefix(reader, schema.SOURCE_DOCUMENT, ""):
        query = TermQuery(Term(schema.SOURCE_DOCUMENT, key))
        # Terms of deleted documents stay until their segments merge.
        if count := int(searcher.count(query)):
            yield _checked(searcher, key, query, count)


def without_document() -> Any:
    """Return a Lucene query for chunks without the id of a document."""
    return Compiler().query(Clauses((Clause(Exists(schema.SOURCE_DOCUMENT), "must_not"),)))


def _checked(searcher: Any, key: str, query: Any, count: int) -> CheckedDocument:
    stored = searcher.storedFields()
    fields = stored_fields(*CHUNK_FIELDS)
    hits = searcher.search(query, count, Sort.INDEXORDER).scoreDocs
    return checked_chunks(key, (stored.document(hit.doc, fields) for hit in hits))


def checked_chunks(key: str, stored: Iterable[Stored]) -> CheckedDocument:
    """Check the chunks of a document, given by the term of its id."""
    chunks, names, problems, count = [], set(), [], 0
    for document in stored:
        count += 1
        names.add(document.get(schema.SOURCE_DOCUMENT) or key)
        missing = [name for name in CHUNK_FIELDS if document.get(name) is None]
        if missing:
            problems.append(f"a chunk has no stored {' and no '.join(missing)}")
            continue
        try:
            chunks.append(_stored_chunk(document))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"the chunk {document.get(schema.ID)!r} cannot be read: {error!r}")
    if not problems:
        problems += _problems_of_numbers(chunks)
    if [*map(schema.keyword, names)] != [key]:
        problems.append(
            f"its chunks say that they belong to {' and '.join(map(repr, sorted(names)))}"
        )
    problems += [chunk.problem for chunk in chunks if chunk.problem]
    return CheckedDocument(min(names), key, count, problems)


def _stored_chunk(stored: Stored) -> _StoredChunk:
    """Return the values of a chunk, and check that id and title follow from the rest."""
    details = details_of(stored)
    index, count = int(stored.get(schema.CHUNK_INDEX)), details.chunk_count
    title = details.title
    rules = {
        schema.ID: chunk_id(stored.get(schema.SOURCE_DOCUMENT), index),
        schema.TITLE: chunk_title(title, index, count),
    }
    wrong = [
        f"the {name} of chunk {index} is {stored.get(name)!r}, not {expected!r}"
        for name, expected in rules.items()
        if stored.get(name) != expected
    ]
    return _StoredChunk(index, title, count, " and ".join(wrong) or None)


def _problems_of_numbers(chunks: Sequence[_StoredChunk]) -> Iterator[str]:
    """Yield the problems if the chunks are not those of one version, each once."""
    counts = {chunk.count for chunk in chunks}
    seen = Counter(chunk.index for chunk in chunks)
    expected = range(1, max(counts) + 1)
    doubled = sorted(index for index, times in seen.items() if times > 1)
    if doubled or len(counts) > 1 or len({chunk.title for chunk in chunks}) > 1:
        yield "it has chunks of more than one version" + (
            f": {_numbers(doubled)} more than once" if doubled else ""
        )
    if missing := [index for index in expected if index not in seen]:
        yield f"of its {quantity(max(counts), 'chunk')} {_numbers(missing)} are missing"
    if beyond := sorted(index for index in seen if index not in expected):
        yield f"it has {quantity(max(counts), 'chunk')}, but also number {_numbers(beyond)}"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MAX_LISTED_NUMBERS]))
    return shown if len(numbers) <= _MAX_LISTED_NUMBERS else f"{shown} …"
