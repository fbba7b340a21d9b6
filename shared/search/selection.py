"""Interface between ranking and an index: the chunks that a query and its filters select."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.analysis.fingerprints import Fingerprint
from shared.model.request import SearchRequest
from shared.model.search_results import ChunkText, Facet
from shared.query.index_terms import IndexTerms
from shared.query.pipeline import ParsedQuery
from shared.query.tree import Node

if TYPE_CHECKING:
    from shared.semantic.vectors import Vector


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with its scores.

    Attributes:
        doc: Lucene's number of the chunk.
        score: its score, by which hits are ordered.
        words: its score by words; 0 if it has none of them.
        cosine: the cosine of its vector and the query's; None if it is not known.
    """

    doc: int
    score: float
    words: float
    cosine: float | None = None

    @property
    def is_by_meaning(self) -> bool:
        """True if it has no word of the query."""
        return self.cosine is not None and not self.words


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """Meaning of a query.

    Attributes:
        vector: its vector, of length 1.
        most: the greatest weight of the meaning, from 0 to 1.
        adds: whether chunks without any word of the query are found, too.
        alone: whether words have no say at all, to compare.
        searcher: Lucene's searcher of the chunks with vectors.
        allowed: a query for the chunks that pass the filters; None without filters.
    """

    vector: "Vector"
    most: float
    adds: bool
    searcher: Any
    alone: bool = False
    allowed: Any | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Hits of a selection.

    Attributes:
        hits: some of the hits, in order.
        total: the number of all hits, or a lower bound.
        is_exact: true if it is not only a bound.
    """

    hits: Sequence[RankedHit]
    total: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """Hits in one document.

    Attributes:
        hits: the best of them, best first, before any is scored again.
        total: the number of all of them.
    """

    hits: Sequence[RankedHit]
    total: int


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """Document with the fingerprint of its text.

    Attributes:
        document: its name, as `Selection.documents` returns it.
        id: its id.
        fingerprint: the fingerprint.
        modified: the time of its last change, as in its metadata; None if it is not known.
    """

    document: str
    id: str
    fingerprint: Fingerprint
    modified: str | None


class Selection(ABC):
    """The chunks of a commit that match a query and pass the filters of a search.

    Ranking and confidence ask nothing else of an index, whichever kind it is.
    A hit of one selection is of no use in another one.

    Attributes:
        query: the query after all steps.
        terms: the terms of the commit.
        shares: the share of the query in each hit of which it is known.
    """

    query: ParsedQuery
    terms: IndexTerms
    shares: dict[int, float]

    @abstractmethod
    def best(self, count: int) -> Found:
        """Return the hits with the highest scores by the tree that finds them, best first."""

    @abstractmethod
    def in_order(self, sort: str, count: int) -> Found:
        """Return the first hits in an order, without scores.

        Args:
            sort: as in a `SearchRequest`; `BY_SCORE` for the order of the documents.
            count: the maximum number of hits.

        Raises:
            FilterError: no document has the field of the sort order.
        """

    @abstractmethod
    def count(self) -> int:
        """Return the number of hits."""

    @abstractmethod
    def count_documents(self) -> int:
        """Return the number of documents that have hits."""

    @abstractmethod
    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the document of each hit, by a name that is of use in this selection only."""

    @abstractmethod
    def values(self, key: str, hits: Sequence[RankedHit]) -> list[str | None]:
        """Return the greatest value of a metadata key of each hit; None for one without any."""

    @abstractmethod
    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, DocumentHits]:
        """Return the best hits in each of some documents; those without hits are left out.

        Args:
            documents: the names of the documents, as `documents` returns them.
            count: the maximum number of hits in each document.
        """

    @abstractmethod
    def fingerprints(self, documents: Sequence[str]) -> list[Fingerprinted]:
        """Return some documents of the index with their fingerprints, those that have one.

        Neither the query nor the filters count.

        Args:
            documents: the names of the documents, as `documents` returns them.
        """

    @abstractmethod
    def fingerprints_sharing(
        self, terms: Sequence[str], count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        """Return documents of the index whose fingerprints have one of some terms.

        Neither the query nor the filters count.

        Args:
            terms: terms of fingerprints (`Fingerprint.terms`).
            count: the maximum number of documents to look at.
            is_wanted: chooses among them by their fingerprints.
        """

    @abstractmethod
    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        """Return hits reordered after the scores of a tree are added to theirs."""

    @abstractmethod
    def matches(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> list[list[int]]:
        """Return for each hit the positions of the trees that it matches."""

    @abstractmethod
    def contents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the text of each hit."""

    @abstractmethod
    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[ChunkText, int]]:
        """Yield the chunk of each hit, and the number of chunks of its document."""

    @abstractmethod
    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        """Count the values of metadata keys among the hits.

        A filter on a key is not applied to that key's own values, so that they show the other
        choices (drill sideways).

        Args:
            names: the metadata keys.
            of_documents: whether the documents that have hits are counted instead of the hits.
                Sections, which are those of a chunk, are always counted by hits.

        Raises:
            FilterError: no document has one of the keys.
        """

    @abstractmethod
    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        """Yield stored texts of some chunks, filtered out or not, that have a term in a field."""

    @abstractmethod
    def has_no_file_in(self, folder: str) -> bool:
        """Check whether no file of the index lies in a folder, given by name or path."""

    @abstractmethod
    def meaning(self, request: SearchRequest) -> Meaning | None:
        """Return the meaning of the query; None if it is ranked by its words only."""

    @abstractmethod
    def take_problem(self) -> str | None:
        """Return the reason why hits are ranked by words only, if nobody was told of it yet."""

    @property
    @abstractmethod
    def is_stopped(self) -> bool:
        """True if a search ended early, so that hits may be missing."""
