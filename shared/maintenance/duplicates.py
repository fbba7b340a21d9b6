"""Search for documents that are versions of the same text."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from org.apache.lucene.search import IndexSearcher, ScoreDoc, Sort

from shared.backends import chosen
from shared.files import index_folder
from shared.java import vm
from shared.maintenance.upkeep import Progress, Step
from shared.model.index_results import DocumentSummary
from shared.reading.stored_documents import StoredDocument, stored_documents
from shared.search.lucene_selection import fingerprinted
from shared.search.selection import Fingerprinted, time_of_change
from shared.storage.chunk_queries import document_count, document_query
from shared.storage.commits import indexed_folders, open_last_commit
from shared.storage.fingerprints import VERSION_RESEMBLANCE, Fingerprinter, with_fingerprint
from shared.storage.integrity import open_directory
from shared.storage.stored_chunks import SUMMARY_FIELDS, stored_fields, summary_from_lucene

_MOST_CANDIDATES: Final = 50
"""Maximum number of texts that a text is compared with for each of the hashes by which it is found,
so that a sentence that all documents have does not compare them all with each other."""

_BLOCK: Final = 1_000
"""Number of documents whose fingerprints are read at once."""


@dataclass(frozen=True, slots=True)
class TextVersion:
    """A document that is one of several versions of a text.

    Attributes:
        source_document: its id.
        title: its title.
        file_path: its file; None without one.
        modified: the time of its last change: that of its file, or else the one in its metadata;
            None if it is not known.
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


Group = list[tuple[Fingerprinted, float]]
"""Versions of a text, the newest first, each with its similarity to the newest."""


def duplicates(
    path: Path | str,
    *,
    min_similarity: float = VERSION_RESEMBLANCE,
    progress: Progress = iter,
) -> Duplicates:
    """Find documents that are versions of the same text.

    The fingerprints of all documents are compared. Of documents without one, which an earlier
    version of this software has indexed, the texts are read, about a thousand pages in a second.
    Nothing is written.

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
    if other := chosen(path, "duplicates"):
        on_cluster: Duplicates = other(path, min_similarity=min_similarity, progress=progress)
        return on_cluster
    path = index_folder.absolute(path)
    index_folder.identify(path)
    every: list[Fingerprinted] = []
    with (
        vm.attached("batch"),
        closing(open_directory(path)) as directory,
        closing(open_last_commit(directory, path)) as reader,
    ):
        for _ in progress(_steps(reader, every)):
            pass
        folders = indexed_folders(reader, path)
        searcher = IndexSearcher(reader)

        def described(each: Fingerprinted, similarity: float) -> TextVersion:
            hit = searcher.search(document_query(each.id), 1).scoreDocs[0]
            stored = searcher.storedFields().document(hit.doc, stored_fields(*SUMMARY_FIELDS))
            return text_version(each, similarity, summary_from_lucene(stored, folders))

        found = groups(every, min_similarity)
        return Duplicates(len(every), [[described(*each) for each in group] for group in found])


def _steps(reader: Any, every: list[Fingerprinted]) -> Iterator[Step]:
    """Read all documents, yielding a step after each block of them."""
    activity = "Comparing documents"
    searcher = IndexSearcher(reader)
    total = document_count(searcher)
    count = max(1, int(searcher.count(with_fingerprint())))
    hits = searcher.search(with_fingerprint(), count, Sort.INDEXORDER).scoreDocs
    chunks = [ScoreDoc.cast_(hit).doc for hit in hits]
    for begin in range(0, len(chunks), _BLOCK):
        every += fingerprinted(searcher, chunks[begin : begin + _BLOCK])
        yield Step(activity, len(every), total)
    if len(every) < total:
        known = {each.id for each in every}
        for stored in stored_documents(reader):
            if stored.document.id not in known:
                every.append(_from_text(stored))
                yield Step(activity, len(every), total)


def _from_text(stored: StoredDocument) -> Fingerprinted:
    document = stored.document
    fingerprinter = Fingerprinter()
    for chunk, _ in stored.chunks:
        fingerprinter.add(chunk.content)
    return Fingerprinted(
        document.id, document.id, fingerprinter.fingerprint, time_of_change(document.metadata)
    )


def text_version(each: Fingerprinted, similarity: float, summary: DocumentSummary) -> TextVersion:
    """Return a document as one of several versions of a text."""
    return TextVersion(each.id, summary.title, summary.file_path, each.modified, similarity)


def groups(every: Sequence[Fingerprinted], min_similarity: float) -> list[Group]:
    """Put each document, from the newest to the oldest, with the newer one that it resembles most.

    All versions of a text resemble the newest one, so that texts do not become one through a chain
    of versions between them.
    """
    by_id = sorted(every, key=lambda each: each.id)
    newest_first = sorted(by_id, key=lambda each: each.modified or "", reverse=True)
    found: dict[int, Group] = {}
    with_number: dict[int, list[int]] = {}
    for place, each in enumerate(newest_first):
        candidates = {
            newer for number in each.fingerprint.leading for newer in with_number.get(number, ())
        }
        similar = {
            newer: each.fingerprint.resemblance(newest_first[newer].fingerprint)
            for newer in candidates
        }
        newest = max(similar, key=lambda newer: (similar[newer], -newer), default=None)
        if newest is not None and similar[newest] >= min_similarity:
            found[newest].append((each, round(similar[newest], 2)))
            continue
        found[place] = [(each, 1.0)]
        for number in each.fingerprint.leading:
            known = with_number.setdefault(number, [])
            if len(known) < _MOST_CANDIDATES:
                known.append(place)
    return [group for group in found.values() if len(group) > 1]
