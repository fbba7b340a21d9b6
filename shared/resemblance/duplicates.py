"""Search for documents that are versions of the same text."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shared.files import index_folder
from shared.java import vm
from shared.maintenance.progress import Progress, Step
from shared.model.metadata import MODIFIED
from shared.reading.stored_documents import StoredDocument, stored_documents
from shared.resemblance.sketch import Sketch, resemblance
from shared.storage.chunk_queries import document_count
from shared.storage.commits import indexed_folders, open_last_commit
from shared.storage.integrity import open_directory

DEFAULT_MIN_SIMILARITY: Final = 0.8
"""Default similarity from which two documents are versions of the same text: a letter with another
date and another paragraph has it, two letters from the same template do not."""

_LEADING_NUMBERS: Final = 16
"""Number of hashes by which similar texts are found: those with four fifths in common share at
least one of these unless by a chance of one in ten billion."""

_MOST_CANDIDATES: Final = 50
"""Maximum number of texts that a text is compared with for each of these hashes, so that a sentence
that all documents have does not compare them all with each other."""


@dataclass(frozen=True, slots=True)
class TextVersion:
    """A document that is one of several versions of a text.

    Attributes:
        source_document: its id.
        title: its title.
        file_path: its file; None without one.
        modified: the time of its last change, as in its metadata; None if it is not known.
        similarity: the estimated share of sequences of four words in common with the newest
            version, from 0 to 1.
    """

    source_document: str
    title: str
    file_path: str | None
    modified: str | None
    similarity: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Documents that are versions of the same text.

    Attributes:
        documents: the number of documents that were compared.
        groups: the versions of each text that has several, the newest first, those without a time
            last.
    """

    documents: int
    groups: list[list[TextVersion]]


@dataclass(frozen=True, slots=True)
class _Sketched:
    version: TextVersion
    numbers: Sequence[int]


def duplicates(
    path: Path | str, *, min_similarity: float = DEFAULT_MIN_SIMILARITY, progress: Progress = iter
) -> Duplicates:
    """Find documents that are versions of the same text.

    The texts of all documents are read, which takes about a second for a thousand pages. Nothing
    is written.

    Args:
        path: the index folder.
        min_similarity: the least similarity of a version and the newest one, from 0 to 1.
        progress: a function that passes on the steps of the search.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
        ValueError: the similarity is out of its range.
    """
    if not 0 < min_similarity <= 1:
        raise ValueError(f"min_similarity is out of range: {min_similarity!r}")
    path = index_folder.absolute(path)
    index_folder.identify(path)
    sketched: list[_Sketched] = []
    with (
        vm.attached("batch"),
        closing(open_directory(path)) as directory,
        closing(open_last_commit(directory, path)) as reader,
    ):
        for _ in progress(_steps(reader, path, sketched)):
            pass
    return Duplicates(len(sketched), _groups(sketched, min_similarity))


def _steps(reader: Any, path: Path, sketched: list[_Sketched]) -> Iterator[Step]:
    from org.apache.lucene.search import IndexSearcher

    folders = indexed_folders(reader, path)
    total = document_count(IndexSearcher(reader))
    for stored in stored_documents(reader):
        document, file = stored.document, stored.document.file
        modified = document.metadata.get(MODIFIED)
        version = TextVersion(
            document.id,
            document.title,
            folders.file_path(file.state.folder, file.path) if file else None,
            str(modified) if modified is not None else None,
            1.0,
        )
        sketched.append(_Sketched(version, _numbers(stored)))
        yield Step("Comparing documents", len(sketched), total)


def _numbers(stored: StoredDocument) -> Sequence[int]:
    sketch = Sketch()
    for chunk, _ in stored.chunks:
        sketch.add(chunk.content)
    return sketch.numbers


def _groups(sketched: list[_Sketched], min_similarity: float) -> list[list[TextVersion]]:
    """Put each document, from the newest to the oldest, with the newer one that it resembles most.

    All versions of a text resemble the newest one, so that texts do not become one through a chain
    of versions between them.
    """
    by_id = sorted(sketched, key=lambda each: each.version.source_document)
    newest_first = sorted(by_id, key=lambda each: each.version.modified or "", reverse=True)
    groups: dict[int, list[TextVersion]] = {}
    with_number: dict[int, list[int]] = {}
    for place, each in enumerate(newest_first):
        leading = each.numbers[:_LEADING_NUMBERS]
        candidates = {newer for number in leading for newer in with_number.get(number, ())}
        similar = {
            newer: resemblance(each.numbers, newest_first[newer].numbers) for newer in candidates
        }
        newest = max(similar, key=lambda newer: (similar[newer], -newer), default=None)
        if newest is not None and similar[newest] >= min_similarity:
            shown = each.version
            groups[newest].append(
                TextVersion(
                    shown.source_document,
                    shown.title,
                    shown.file_path,
                    shown.modified,
                    round(similar[newest], 2),
                )
            )
            continue
        groups[place] = [each.version]
        for number in leading:
            known = with_number.setdefault(number, [])
            if len(known) < _MOST_CANDIDATES:
                known.append(place)
    return [versions for versions in groups.values() if len(versions) > 1]
