"""Search for documents that are versions of the same text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.maintenance.upkeep import Progress, Step
from shared.model.filters import EVERYTHING
from shared.model.weights import DEFAULT_WEIGHTS
from shared.reading.backend import FIRST_CHUNK, Backend, chunks_of, first_of
from shared.reading.documents import summaries
from shared.reading.searcher import open_index
from shared.search.selection import Fingerprinted
from shared.storage.fingerprints import VERSION_RESEMBLANCE

_MOST_CANDIDATES: Final = 50
"""Maximum number of texts that a text is compared with for each of the hashes by which it is found,
so that a sentence that all documents have does not compare them all with each other."""

_BLOCK: Final = 1_000  # documents between two steps


@dataclass(frozen=True, slots=True)
class TextVersion:
    """A document that is one of several versions of a text.

    Attributes:
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
    path: Path | str, *, min_similarity: float = VERSION_RESEMBLANCE, progress: Progress = iter
) -> Duplicates:
    """Find documents that are versions of the same text.

    The fingerprints of all documents are compared. Nothing is written.

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
    index = open_index(path, "batch", DEFAULT_WEIGHTS)
    try:
        return index.call(lambda of: _duplicates(of, min_similarity, progress), EVERYTHING)
    finally:
        index.close()


def _duplicates(backend: Backend, min_similarity: float, progress: Progress) -> Duplicates:
    every: list[Fingerprinted] = []
    for _ in progress(_steps(backend, every)):
        pass

    def described(each: Fingerprinted, similarity: float) -> TextVersion:
        (summary,) = summaries(backend, first_of(chunks_of(each.id)), limit=1)
        return TextVersion(each.id, summary.title, summary.file_path, each.modified, similarity)

    found = groups(every, min_similarity)
    return Duplicates(len(every), [[described(*each) for each in group] for group in found])


def _steps(backend: Backend, every: list[Fingerprinted]) -> Iterator[Step]:
    """Read the fingerprints of all documents, yielding steps."""
    activity, total = "Comparing documents", backend.count(FIRST_CHUNK)
    for each in backend.fingerprinted():
        every.append(each)
        if not len(every) % _BLOCK:
            yield Step(activity, len(every), total)
    yield Step(activity, len(every), total)


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
