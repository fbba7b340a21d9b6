"""Interface between ranking and an index, the chunks that a query selects; and ranked hits."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from shared.messages import utc_time
from shared.model.metadata import FILE_MODIFIED, MODIFIED
from shared.model.search_results import ExplainedTerm, Facet
from shared.query.pipeline import ParsedQuery
from shared.query.terms import IndexTerms
from shared.query.tree import Node
from shared.storage.fingerprints import Fingerprint

if TYPE_CHECKING:
    from shared.semantic.encoder import Vector
    from shared.semantic.query_encoder import QueryEncoder
    from shared.semantic.sentence_model import SentenceModel
    from shared.storage.vectors import Sample, Windows

RECENT_HITS: Final = 1_000  # that are ordered by their age, too; those after them stay after them

_SECONDS_OF_A_DAY: Final = 86_400

_UNKNOWN_AGE: Final = 1.0  # half-lives of a document without a date: neither preferred nor buried


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a chunk is to a query in meaning."""

    value: float  # 0 for a text that has nothing to do with it, about 1 for one that answers
    cosine: float  # of the query and the nearest window
    unusual: float  # the cosine's distance from those of unrelated texts, in standard deviations
    by_chance: float  # the value of the nearest of so many texts, if all of them are unrelated
    window: tuple[int, int]  # the begin and the end of the window in the chunk's text


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with its scores, by the first of which hits are ordered."""

    doc: int  # Lucene's number of the chunk
    score: float
    words: float  # the score by words; 0 if it has none of them
    near: Nearness | None = None  # None if nothing is known of its meaning

    @property
    def is_by_meaning(self) -> bool:
        """True if it has no word of the query."""
        return self.near is not None and not self.words


class ChunkVectors(ABC):
    """The vectors of the chunks of a commit that a search may see."""

    @property
    @abstractmethod
    def compared(self) -> int:
        """The number of vectors with which a query is compared to find the nearest."""

    @abstractmethod
    def of(self, chunks: Iterable[int]) -> "Windows":
        """Return the windows of some chunks, of those that have any."""

    @abstractmethod
    def sample(self) -> "Sample":
        """Return the vectors of some chunks, spread over all of them."""

    @abstractmethod
    def similar(self, vector: "Vector") -> Iterable[int]:
        """Return the chunks that may be nearest to a query and pass the filters."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """Meaning of a query."""

    vector: "Vector"  # of length 1
    unrelated: tuple[float, float]  # mean and deviation of the model's cosines of unrelated texts
    most: float  # the greatest weight of the meaning, from 0 to 1
    adds: bool  # whether chunks without any word of the query are found, too
    vectors: ChunkVectors
    alone: bool = False  # whether words have no say at all, to compare


@dataclass(frozen=True, slots=True)
class Found:
    """Some hits of a selection, or of a document in it, in order, and the number of all of them."""

    hits: Sequence[RankedHit]
    total: int
    is_exact: bool  # false if the number is a lower bound


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """Document with the fingerprint of its text."""

    document: str  # its name, as `Selection.documents` returns it
    id: str
    fingerprint: Fingerprint
    modified: str | None  # the time of its last change, see `time_of_change`


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """How a score is made, as Lucene describes it: by a rule, from the scores of details."""

    description: str
    score: float  # 0 of what does not match
    details: "Callable[[], list[ScoreExplanation]]"  # which are many, and read if somebody asks


def time_of_change(metadata: Mapping[str, object]) -> str | None:
    """Return the time by which a document is newer than other versions of its text.

    It decides which of them are shown, so it is that of the file, if there is one, and never later
    than now; what a document says itself only counts without a file.
    """
    for key in (FILE_MODIFIED, MODIFIED):
        value = metadata.get(key)
        values = value if isinstance(value, list) else [value]
        if known := [str(each) for each in values if each is not None]:
            return min(max(known), utc_time())
    return None


class Selection(ABC):
    """The chunks of a commit that match a query and pass the filters of a search.

    Ranking and confidence ask nothing else of an index, whichever kind it is. Neither a hit nor the
    name of a document is of use in another selection.
    """

    query: ParsedQuery
    terms: IndexTerms
    shares: dict[int, float]  # the share of the query in each hit of which it is known
    model: "SentenceModel | None"  # None without search by meaning
    encoder: "QueryEncoder | None"  # None where queries are not embedded

    @abstractmethod
    def best(self, count: int, *, by_topic: bool = True) -> Found:
        """Return the hits with the highest scores by the tree that finds them, best first.

        Those after the first may be reordered by the topic that the best ones have in common.
        """

    @abstractmethod
    def in_order(self, sort: str, count: int) -> Found:
        """Return the first hits in an order, without scores.

        The order is as in a `SearchRequest`; `BY_SCORE` means that of the documents.
        """

    @abstractmethod
    def count(self) -> int:
        """Return the number of hits."""

    @abstractmethod
    def count_documents(self) -> int:
        """Return the number of documents that have hits."""

    @abstractmethod
    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the name of the document of each hit."""

    @abstractmethod
    def modified(self, hits: Sequence[RankedHit]) -> list[str | None]:
        """Return the last time of change of each hit, of a request with `recency`; None if unknown.

        It is the greatest value of the metadata key.
        """

    @abstractmethod
    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, Found]:
        """Return so many of the best hits in each of some documents, if it has any."""

    @abstractmethod
    def fingerprints(self, documents: Sequence[str]) -> list[Fingerprinted]:
        """Return those of some documents that have a fingerprint, even if they are no hits."""

    @abstractmethod
    def fingerprints_sharing(
        self, terms: Sequence[str], count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        """Return documents of the index whose fingerprints have one of some terms.

        So many documents are looked at, whether they are hits or not, and chosen among.
        """

    @abstractmethod
    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        """Return hits reordered after the scores of a tree are added to theirs."""

    def scored(self, hits: Sequence[RankedHit]) -> list[RankedHit]:
        """Return hits in the same order with their scores by the tree that finds them."""
        unscored = [replace(hit, score=0.0, words=0.0) for hit in hits]
        scores = {hit.doc: hit for hit in self.scored_again(unscored, self.query.tree)}
        return [scores[hit.doc] for hit in hits]

    @abstractmethod
    def matches(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> list[list[int]]:
        """Return for each hit the positions of the trees that it matches."""

    @abstractmethod
    def contents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the text of each hit."""

    @abstractmethod
    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the fields of each hit's `ChunkText`, and the number of chunks of its document."""

    @abstractmethod
    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        """Count the values of metadata keys among the hits, or among their documents.

        A filter on a key is not applied to that key's own values, so that they show the other
        choices (drill sideways). Sections, which are those of a chunk, are always counted by hits.
        """

    @abstractmethod
    def explained_terms(self) -> list[ExplainedTerm]:
        """Return the terms of the query that some chunk has, in any order."""

    @abstractmethod
    def explained(self, hits: Sequence[RankedHit]) -> list[ScoreExplanation]:
        """Return how the score of each hit by words is made."""

    @abstractmethod
    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        """Yield stored texts of some chunks, filtered out or not, that have a term in a field."""

    @abstractmethod
    def has_no_file_in(self, folder: str) -> bool:
        """Check whether no file of the index lies in a folder, given by name or path."""

    @abstractmethod
    def vectors(self) -> ChunkVectors: ...

    def take_problem(self) -> str | None:
        """Return the reason why hits are ranked by words only, if nobody was told of it yet."""
        return self.encoder.take_problem() if self.encoder and self.model else None

    @property
    @abstractmethod
    def is_stopped(self) -> bool:
        """True if a search ended early, so that hits may be missing."""


@dataclass(frozen=True)
class Recency:
    """How scores fall with the age of a document.

    A score is multiplied by ``0.5 ** (age / half_life)``. All scores fall alike as time passes, so
    the order of the hits does not depend on when the search is made.
    """

    half_life: float  # in days
    now: datetime

    def factors(self, selection: Selection, hits: Sequence[RankedHit]) -> list[float]:
        """Return for each hit the factor of its score, from 0 to 1."""
        dates = map(_date, selection.modified(hits))
        # A date in the future has no age.
        days = (
            None if date is None else (self.now - date).total_seconds() / _SECONDS_OF_A_DAY
            for date in dates
        )
        return [
            0.5 ** (_UNKNOWN_AGE if age is None else max(0.0, age) / self.half_life) for age in days
        ]

    def applied(self, selection: Selection, hits: Sequence[RankedHit]) -> list[RankedHit]:
        """Return the hits in the order of their scores times their factors."""
        factors = self.factors(selection, hits)
        aged = [
            replace(hit, score=hit.score * factor)
            for hit, factor in zip(hits, factors, strict=True)
        ]
        first = sorted(aged[:RECENT_HITS], key=lambda hit: -hit.score)
        return [*first, *aged[RECENT_HITS:]]


def _date(text: str | None) -> datetime | None:
    """Return the beginning of an ISO 8601 date, a month or a year; None if it is none."""
    if text is None:
        return None
    for rest in ("", "-01", "-01-01"):
        try:
            date = datetime.fromisoformat(text + rest)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the scores of an answer were combined."""

    weight: float  # of the meaning, from 0 to 1
    without_words: float  # the same of hits without a word of the query
    scale: float  # the best score by words, with which nearness is multiplied; 1 without any
    unknown: float  # nearness of a chunk without vectors, if it has the best score by words
    compared: int  # the number of vectors that were compared to find the nearest; 0 for none
    added: int  # the number of hits without a word of the query

    def scored(self, hit: RankedHit, near: Nearness | None) -> RankedHit:
        """Return a hit with its combined score; the nearness is None if it has no vector."""
        # A chunk without a vector that has a lower score by words is not as near, either.
        meant = self.unknown * hit.words / self.scale if near is None else max(0.0, near.value)
        weight = self.weight if hit.words else self.without_words
        score = (1 - weight) * hit.words + weight * self.scale * meant
        return RankedHit(hit.doc, score, hit.words, near)


@dataclass(frozen=True)
class Ranking:
    """Hits in order, best first unless a request asks for another order."""

    found: Found  # the hits by words, with their number
    hits: Sequence[RankedHit]
    best: Sequence[RankedHit]  # the first ones by their scores, whatever the order
    fusion: Fusion | None = None  # how meaning took part in the scores; None if it did not
    recency: Recency | None = None  # how scores fall with the age of a document, if they do
