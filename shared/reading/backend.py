"""Interfaces between reading and an index, which may be in a folder or on a cluster.

All that is asked of an index beside a search is asked by trees of `shared.query.tree`, which each
kind of index compiles to queries of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from shared.java.cancellation import Cancellation
from shared.model import schema
from shared.model.document import FileState
from shared.model.filters import Collections, Limits
from shared.model.folders import IndexedFolders
from shared.model.request import SearchRequest
from shared.query.terms import IndexTerms
from shared.query.tree import Between, Expression, Node, Terms, all_of
from shared.search.selection import Fingerprinted, Selection

Result = TypeVar("Result")

FIRST_CHUNK: Final = Between(schema.CHUNK_INDEX, 1, 1)
"""The first chunk of each document, which represents the document."""


class Stored(Protocol):
    """What is stored of a chunk, by the names of its fields."""

    def get(self, name: str, /) -> Any: ...


@dataclass(frozen=True)
class FrequentTerms:
    """Terms of a field, the most frequent first; see `Backend.most_frequent`."""

    terms: list[tuple[str, int]]  # each with its frequency
    is_whole: bool  # whether there are no others
    is_ranked: bool = False  # whether no other one is more frequent


@dataclass(frozen=True)
class Figures:
    """Figures of a commit that only its kind of index knows; see `IndexStatistics`."""

    deleted_chunks: int
    segments: int
    size_bytes: int
    changed: str
    schema_version: int
    software_version: str
    lucene_version: str


class Backend(ABC):
    """A commit of an index, or of a part of it, as one call sees it."""

    path: Path
    collections: Collections  # that can be named

    @property
    @abstractmethod
    def is_part(self) -> bool:
        """True if it has only the chunks of some collections."""

    @property
    @abstractmethod
    def has_deletions(self) -> bool:
        """True if frequencies of terms include chunks that are gone."""

    @property
    @abstractmethod
    def terms(self) -> IndexTerms: ...

    @property
    @abstractmethod
    def folders(self) -> IndexedFolders:
        """Folders that the documents come from."""

    @property
    @abstractmethod
    def fields(self) -> set[str]:
        """Fields that have terms."""

    @abstractmethod
    def count(self, tree: Node) -> int:
        """Return the number of chunks that a tree matches."""

    @abstractmethod
    def stored(
        self,
        tree: Node,
        fields: Sequence[str],
        sort: str = "",
        offset: int = 0,
        limit: int | None = None,
    ) -> Iterator[Stored]:
        """Yield fields of the chunks that a tree matches, in an order of `SearchRequest.sort`.

        Without one, they come as fast as they can.
        """

    @abstractmethod
    def scored(self, tree: Node, limit: int) -> list[tuple[Stored, float]]:
        """Return the `SHOWN_FIELDS` of the chunks with the highest scores by a tree."""

    @abstractmethod
    def most_frequent(self, field: str, prefix: str, count: int) -> FrequentTerms:
        """Return terms of a field that have a prefix, the most frequent first.

        They are the most frequent of all without a prefix, as far as the backend can tell, or the
        first ones that have it.
        """

    @abstractmethod
    def selection(self, request: SearchRequest) -> Selection:
        """Return what a search selects."""

    @abstractmethod
    def document_terms(self) -> list[str]:
        """Return the terms of the ids of all documents, in alphabetical order."""

    @abstractmethod
    def file_states(self, source_document: str | None = None) -> dict[str, FileState]:
        """Return the state of the file of each document, or of one, by the document's id."""

    @abstractmethod
    def fingerprinted(self) -> Iterator[Fingerprinted]:
        """Yield the documents that have a fingerprint."""

    @abstractmethod
    def figures(self) -> Figures: ...

    def once(self, work: "Callable[[Backend], Result]") -> Result:
        """Return what a function makes of this commit; a backend may remember it."""
        return work(self)

    def nearest(self, chunk_id: str, limit: int) -> list[tuple[Stored, float]] | None:  # noqa: ARG002 - for those that have vectors
        """Return the chunks that are nearest to one in meaning, with their cosines.

        None if nothing is known of its meaning.
        """
        return None

    def load_model(self) -> None:  # noqa: B027 - for those that have vectors
        """Load the sentence model and the vectors, if there are any."""


class ReadableIndex(ABC):
    """An index open for reading by any number of threads at once."""

    path: Path

    @property
    @abstractmethod
    def refreshes(self) -> int:
        """Number of times the index was opened, or reopened for a newer commit."""

    @abstractmethod
    def call(
        self,
        work: Callable[[Backend], Result],
        limits: Limits,
        cancellation: Cancellation | None = None,
        *,
        is_search: bool = False,
    ) -> Result:
        """Do work on the newest commit, or on the part of it within some limits.

        It may be done again if the index changes meanwhile.
        """

    @abstractmethod
    def commit(self, limits: Limits) -> str | None:
        """Return an identity of the newest commit, which no other commit has; None if unknown."""

    @abstractmethod
    def close(self) -> None:
        """Close the index; a later call opens it again."""


def value_of(field: str, value: str) -> Terms:
    """Return a tree for the chunks with a value of a keyword field."""
    return Terms(field, (schema.keyword(value),))


def chunks_of(source_document: str) -> Terms:
    """Return a tree for all chunks of a document."""
    return value_of(schema.SOURCE_DOCUMENT, source_document)


def first_of(tree: Node) -> Node:
    """Return a tree for the first chunk of each document that a tree matches."""
    return all_of(tree, FIRST_CHUNK)


def spelled(backend: Backend, field: str, value: str) -> str:
    """Return a value of a keyword field as it is spelled in the index, itself if not there."""
    spellings = schema.any_spelling(value)
    if spellings is None or backend.count(value_of(field, value)):
        return value
    for stored in backend.stored(Expression(spellings, field), (field,), limit=1):
        return str(stored.get(field))
    return value
