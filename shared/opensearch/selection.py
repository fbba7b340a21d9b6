"""The chunks of an index on a cluster that a query selects."""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from shared.errors import QueryError
from shared.java.cancellation import is_ending
from shared.model import schema
from shared.model.request import SearchRequest
from shared.model.search_results import ExplainedTerm, Facet
from shared.opensearch import layout
from shared.opensearch.chunk_documents import value_in, vectors_id
from shared.opensearch.cluster_errors import part_missing
from shared.opensearch.compiler import compiled
from shared.opensearch.searches import Searches, date_of, facet_in
from shared.opensearch.snapshot import ClusterSnapshot
from shared.opensearch.state import HAS_FINGERPRINT, Query, by_chance, of_documents, visible
from shared.opensearch.terms import ClusterTerms
from shared.query.filters import in_folder
from shared.query.limits import running
from shared.query.pipeline import ParsedQuery, parse_query
from shared.query.tree import Node, TermPhrase, Terms, leaves
from shared.search.grouping import resolved
from shared.search.selection import (
    ChunkVectors,
    Fingerprinted,
    Found,
    RankedHit,
    ScoreExplanation,
    Selection,
    time_of_change,
)
from shared.storage.fingerprints import Fingerprint
from shared.storage.stored_chunks import details_of, values_from_lucene
from shared.storage.vectors import SAMPLED, Sample, Windows, sample_of, windows_of

if TYPE_CHECKING:
    from shared.semantic.encoder import Vector

_MOST_ROUNDS: Final = 10
"""Number of times that a query is parsed until all that it needs of the index is known."""

_FINGERPRINTED: Final = [
    f"stored.{name}" for name in (schema.FINGERPRINT, schema.SOURCE_DOCUMENT, schema.DETAILS)
]


def _parsed(request: SearchRequest, snapshot: ClusterSnapshot) -> ParsedQuery:
    """Parse a query, and look up what it needs of the index.

    It is parsed as if all of its words were known, then again with what the cluster says of them,
    until nothing is missing. Most queries take two rounds, and one request.
    """
    terms = snapshot.terms
    terms.is_deferring = True
    try:
        for _ in range(_MOST_ROUNDS):
            with running():
                query = parse_query(request, terms, snapshot.weights)
            if not terms.fetch():
                return query
    finally:
        terms.is_deferring = False
    # More is asked for than is remembered.
    with running():
        return parse_query(request, terms, snapshot.weights)


_VECTOR: Final = f"stored.{schema.VECTOR}"


class ClusterVectors(ChunkVectors):
    """The vectors of the chunks that a search sees, which cannot be searched.

    It takes a function that runs searches, and one that returns the id on the cluster of a hit.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        ask: Callable[[Sequence[Mapping[str, Any]]], list[Any]],
        id_of: Callable[[int], str],
    ) -> None:
        self._snapshot, self._ask, self._id_of = snapshot, ask, id_of

    @property
    def compared(self) -> int:
        return 0

    def of(self, chunks: Iterable[int]) -> Windows:
        return self._windows({self._id_of(chunk): chunk for chunk in sorted(chunks)})

    def sample(self) -> Sample:
        known = self._snapshot.known
        if known.sample is None:
            # Of chunks, since nothing tells which collections vectors belong to.
            chosen = {"query": by_chance(self._snapshot.visible()), "size": SAMPLED}
            (answer,) = self._ask([{**chosen, "_source": False}])
            ids = (hit["_id"] for hit in answer["hits"]["hits"])
            known.sample = sample_of(self._windows({id_: of for of, id_ in enumerate(ids)}))
        return known.sample

    def similar(self, vector: "Vector") -> Iterable[int]:
        del vector
        return ()

    def _windows(self, numbers: Mapping[str, int]) -> Windows:
        """Return the windows of chunks, by numbers, that are given by their ids on the cluster."""
        model = self._snapshot.model
        wanted = {vectors_id(id_, model): number for id_, number in numbers.items()}
        found = {}
        if wanted:
            query = visible(self._snapshot.state, {"ids": {"values": [*wanted]}})
            (answer,) = self._ask([{"query": query, "size": len(wanted), "_source": [_VECTOR]}])
            found = {hit["_id"]: hit["_source"].get("stored") for hit in answer["hits"]["hits"]}
        values = {number: value_in(found.get(id_) or {}) for id_, number in wanted.items()}
        return windows_of(values, model.dimensions if model else 0)


class ClusterSelection(Selection):
    """The chunks that match a query and pass the filters of a search.

    A hit is known by the place of its document of the cluster among those seen so far.
    """

    terms: ClusterTerms

    def __init__(self, snapshot: ClusterSnapshot, request: SearchRequest) -> None:
        self.terms = snapshot.terms
        self.query = _parsed(request, snapshot)
        self.shares = {}
        self.model, self.encoder = snapshot.model, snapshot.encoder
        if self.model and request.search == "meaning":
            raise QueryError("a cluster ranks hits by their words, too; search by both, or words")
        self._snapshot = snapshot
        self._is_partial = False
        filters = resolved(self, (*request.filters, *self.query.read.filters))
        self._searches = Searches(snapshot, request, self.query, filters)
        self._ids: dict[str, int] = {}
        self._hits: list[dict[str, Any]] = []

    def best(self, count: int, *, by_topic: bool = True) -> Found:  # noqa: ARG002 - it never is
        # To count hits apart takes less than to score all of them.
        searches = [self._searches.hits(count, counts=False), self._searches.total()]
        found, counted = self._ask(searches)
        return Found(self._ranked(found), _total(counted), is_exact=True)

    def in_order(self, sort: str, count: int) -> Found:
        return self._found(*self._ask([self._searches.in_order(sort, count)]))

    def count(self) -> int:
        (answer,) = self._ask([self._searches.total()])
        return _total(answer)

    def count_documents(self) -> int:
        (answer,) = self._ask([self._searches.documents()])
        return int(answer["aggregations"]["documents"]["value"])

    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        return [self._stored(hit)[schema.SOURCE_DOCUMENT] for hit in hits]

    def _stored(self, hit: RankedHit) -> dict[str, Any]:
        stored: dict[str, Any] = self._hits[hit.doc]["_source"]["stored"]
        return stored

    def modified(self, hits: Sequence[RankedHit]) -> list[str | None]:
        return [date_of(self._hits[hit.doc]) for hit in hits]

    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, Found]:
        if not documents:
            return {}
        own = ({"term": {schema.SOURCE_DOCUMENT: schema.keyword(of)}} for of in documents)
        answers = self._ask([self._searches.hits(count, [within]) for within in own])
        every = zip(documents, map(self._found, answers), strict=True)
        return {document: found for document, found in every if found.hits}

    def fingerprints(self, documents: Sequence[str]) -> list[Fingerprinted]:
        if not documents or schema.FINGERPRINT not in self.terms.fields:
            return []
        return self._fingerprinted(len(documents), of_documents(documents), HAS_FINGERPRINT)

    def fingerprints_sharing(
        self, terms: Sequence[str], count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        found = self._fingerprinted(count, {"terms": {schema.FINGERPRINT: [*terms]}})
        return [each for each in found if is_wanted(each.fingerprint)]

    def _fingerprinted(self, count: int, *conditions: Query) -> list[Fingerprinted]:
        query = self._snapshot.visible(*conditions)
        (answer,) = self._ask([{"query": query, "size": count, "_source": _FINGERPRINTED}])
        every = (hit["_source"]["stored"] for hit in answer["hits"]["hits"])
        return [found for stored in every if (found := fingerprinted(stored))]

    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        if tree is self.query.tree:
            # Every search for hits but that of all chunks has them scored by it.
            found: Sequence[Mapping[str, Any]] = [self._hits[hit.doc] for hit in hits]
        else:
            found = self._of_hits(hits, {"_source": False}, should=[compiled(tree)])
        scored = [_plus(hit, of["_score"]) for hit, of in zip(hits, found, strict=True)]
        # On a tie the order stays, as Lucene's rescorer leaves it.
        return sorted(scored, key=lambda hit: (-hit.score, hit.doc))

    def explained_terms(self) -> list[ExplainedTerm]:
        """Return the terms of the query that some chunk has; those of patterns are not known."""
        found: dict[tuple[str, str], None] = {}
        for leaf in leaves(self.query.tree):
            match leaf:
                case Terms(field, texts):
                    found.update(dict.fromkeys((field, text) for text in texts))
                case TermPhrase(field, positions):
                    found.update(dict.fromkeys((field, t) for texts in positions for t in texts))
        counts = self.terms.frequencies(found)
        return [ExplainedTerm(*pair, count) for pair, count in counts.items() if count]

    def explained(self, hits: Sequence[RankedHit]) -> list[ScoreExplanation]:
        asked = {"_source": False, "explain": True}
        found = self._of_hits(hits, asked, must=[compiled(self.query.tree)])
        return [_explanation(of["_explanation"]) for of in found]

    def matches(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> list[list[int]]:
        """Return for each hit the positions of the trees, all parts of the query, it matches."""
        names = [self._searches.names[tree] for tree in trees]
        matched = (self._hits[hit.doc].get("matched_queries", ()) for hit in hits)
        return [[place for place, name in enumerate(names) if name in of] for of in matched]

    def contents(self, hits: Sequence[RankedHit]) -> list[str]:
        self._complete(hits)
        return [self._stored(hit)[schema.CONTENT] for hit in hits]

    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[dict[str, Any], int]]:
        self._complete(hits)
        folders = self._snapshot.folders
        return (values_from_lucene(self._stored(hit), folders) for hit in hits)

    def _complete(self, hits: Sequence[RankedHit]) -> None:
        """Ask for what is stored of those hits that came without, since there were many."""
        brief = [hit for hit in hits if schema.CONTENT not in self._stored(hit)]
        found = self._of_hits(brief, {"_source": ["stored"]})
        for hit, of in zip(brief, found, strict=True):
            self._hits[hit.doc]["_source"] = of["_source"]

    def _of_hits(
        self, hits: Sequence[RankedHit], asked: Mapping[str, Any], **clauses: Any
    ) -> list[Mapping[str, Any]]:
        """Ask for more of some hits."""
        if not hits:
            return []
        ids = [self._hits[hit.doc]["_id"] for hit in hits]
        query = {"bool": {"filter": [{"ids": {"values": ids}}], **clauses}}
        (answer,) = self._ask([{"query": query, "size": len(ids), **asked}])
        found = {hit["_id"]: hit for hit in answer["hits"]["hits"]}
        if len(found) < len(ids):
            raise part_missing(self._snapshot.path)
        return [found[id_] for id_ in ids]

    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        bodies = [self._searches.facet(name, of_documents=of_documents) for name in names]
        answers = self._ask(bodies) if bodies else []
        return [
            facet_in(
                *(answer["aggregations"], name, self._searches.facet_field(name)),
                self._snapshot.folders,
            )
            for name, answer in zip(names, answers, strict=True)
        ]

    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        # Scored, so that they are those of a folder.
        with_term = [compiled(Terms(field, (term,)))]
        query = {"bool": {"must": with_term, "filter": [self._snapshot.visible()]}}
        body = {"query": query, "size": count, "_source": [f"stored.{field}"]}
        (answer,) = self._ask([body])
        return (hit["_source"]["stored"][field] for hit in answer["hits"]["hits"])

    def has_no_file_in(self, folder: str) -> bool:
        files = compiled(in_folder(folder, self._snapshot.folders), scores=False)
        query = self._snapshot.visible(files)
        (answer,) = self._ask([{"query": query, "size": 0, "track_total_hits": 1}])
        return not answer["hits"]["total"]["value"]

    def vectors(self) -> ClusterVectors:
        return ClusterVectors(self._snapshot, self._ask, lambda hit: str(self._hits[hit]["_id"]))

    @property
    def is_stopped(self) -> bool:
        """True if a search ended early or a shard did not answer, so that hits may be missing."""
        return self._is_partial or is_ending()

    def _ask(self, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Run searches, and notice if an answer is not complete."""
        with running():
            answers = self._snapshot.search(bodies, may_be_partial=True)
        for answer in answers:
            # A shard that is on no node does not count as failed.
            shards = answer["_shards"]
            if answer.get("timed_out") or shards["successful"] < shards["total"]:
                self._is_partial = True
        return answers

    def _found(self, answer: Mapping[str, Any]) -> Found:
        return Found(self._ranked(answer), _total(answer), is_exact=True)

    def _ranked(self, answer: Mapping[str, Any]) -> list[RankedHit]:
        hits = []
        for hit in answer["hits"]["hits"]:
            number = self._ids.setdefault(hit["_id"], len(self._ids))
            if number == len(self._hits):
                self._hits.append(hit)
            hits.append(_plus(RankedHit(number, 0.0, 0.0), hit.get("_score") or 0.0))
        return hits


def _total(answer: Mapping[str, Any]) -> int:
    return int(answer["hits"]["total"]["value"])


def fingerprinted(stored: Mapping[str, Any]) -> Fingerprinted | None:
    """Return the document of a chunk that has its fingerprint; None if that cannot be read."""
    fingerprint = Fingerprint.load(b64decode(stored[schema.FINGERPRINT]))
    if fingerprint is None:
        return None
    id_, metadata = stored[schema.SOURCE_DOCUMENT], details_of(stored).metadata
    return Fingerprinted(id_, id_, fingerprint, time_of_change(metadata))


_FLOAT: Final = Struct("f")


def _plus(hit: RankedHit, score: float) -> RankedHit:
    """Return a hit with a score added to its own, with the precision that Lucene's scores have."""
    added = _single(hit.score + _single(score))
    return RankedHit(hit.doc, added, added)


def _single(score: float) -> float:
    """Return a score with the precision that it has in Lucene; JSON shortens it."""
    found: float = _FLOAT.unpack(_FLOAT.pack(score))[0]
    return found


def _explanation(found: Mapping[str, Any]) -> ScoreExplanation:
    """Return how a score is made, with the names of the schema's fields."""
    return ScoreExplanation(
        layout.readable(found["description"]),
        float(found["value"]),
        lambda: [_explanation(part) for part in found["details"]],
    )
