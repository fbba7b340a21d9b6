"""The chunks of an index on a cluster that a query selects, in as few requests as possible."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, Final

from shared.java.cancellation import is_ending
from shared.model import schema
from shared.model.request import SearchRequest
from shared.model.search_results import ExplainedTerm, Facet
from shared.opensearch import layout
from shared.opensearch.queries import HAS_FINGERPRINT, Query, of_documents
from shared.opensearch.search.compiler import compiled, named
from shared.opensearch.search.facets import facet
from shared.opensearch.search.searches import SOURCE, Searches
from shared.opensearch.search.terms import ClusterTerms
from shared.opensearch.snapshot import ClusterSnapshot
from shared.query.limits import running
from shared.query.pipeline import ParsedQuery, parse_query
from shared.query.tree import Node, TermPhrase, Terms, leaves
from shared.search.confidence import FIRST_HITS
from shared.search.grouping import resolved
from shared.search.selection import (
    Fingerprinted,
    Found,
    Meaning,
    RankedHit,
    ScoreExplanation,
    Selection,
    time_of_change,
)
from shared.storage.fingerprints import Fingerprint
from shared.storage.stored_chunks import details_of, values_from_lucene

_MOST_ROUNDS: Final = 10
"""Number of times that a query is parsed until all that it needs of the index is known."""

_FINGERPRINTED: Final = [
    f"stored.{name}" for name in (schema.FINGERPRINT, schema.SOURCE_DOCUMENT, schema.DETAILS)
]


def parsed(request: SearchRequest, snapshot: ClusterSnapshot) -> ParsedQuery:
    """Parse a query, and look up what it needs of the index.

    It is parsed as if all of its words were known, then again with what the cluster says of them,
    until nothing is missing. Most queries take two rounds, and one request.

    Raises:
        QueryError: as `shared.query.pipeline.parse_query`.
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
    with running():
        return parse_query(request, terms, snapshot.weights)


class ClusterSelection(Selection):
    """The chunks that match a query and pass the filters of a search.

    What a call is known to ask for later is sent along with its first search, and its answer kept.

    Args:
        snapshot: the state of the index.
        request: the search request.

    Attributes:
        filters: the filters of the request and of the query.
    """

    terms: ClusterTerms

    def __init__(self, snapshot: ClusterSnapshot, request: SearchRequest) -> None:
        self.terms = snapshot.terms
        self.query = parsed(request, snapshot)
        self._snapshot = snapshot
        self._is_partial = False
        self.filters = resolved(self, (*request.filters, *self.query.read.filters))
        self._searches = Searches(snapshot, request, self.query, self.filters)
        self._names = {**self._searches.names}
        self._hits: dict[int, Mapping[str, Any]] = {}
        self._numbers: dict[str, int] = {}
        self._scores: dict[int, float] = {}
        self.shares = {}
        self._all: Sequence[RankedHit] | None = None
        self._answers: dict[str, Any] = {}

    def best(self, count: int) -> Found:
        """Return the hits with the highest scores by the tree that finds them, best first."""
        later = [self._searches.counting(), *self._searches.later()]
        (found,) = self._search([self._searches.best(count)], later)
        return self._noted(self._found(found))

    def in_order(self, sort: str, count: int) -> Found:
        """Return the first hits in an order, without scores."""
        if self.query.browses:
            body = self._searches.in_order(sort, count)
            return self._noted(self._found(*self._search([body], self._searches.later())))
        body = self._searches.in_order(sort, count, self.query.tree)
        # The best hits decide on the confidence, and the hits in order are shown with their scores.
        later = [self._searches.best(FIRST_HITS), *self._searches.later()]
        found = self._found(*self._search([body], later))
        self._scores |= {hit.doc: hit.score for hit in found.hits}
        self._noted(Found(_best_first([*found.hits]), found.total, found.is_exact))
        return found

    def _noted(self, found: Found) -> Found:
        """Remember the hits if they are all that there are, and return them."""
        if found.is_exact and len(found.hits) == found.total:
            self._all = found.hits
        return found

    def count(self) -> int:
        """Return the number of hits."""
        (answer,) = self._search([self._searches.counting()])
        return int(answer["hits"]["total"]["value"])

    def count_documents(self) -> int:
        """Return the number of documents that have hits; above 40,000 an estimate."""
        (answer,) = self._search([self._searches.documents()])
        return int(answer["aggregations"]["documents"]["value"])

    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the id of the document of each hit."""
        stored = (self._hits[hit.doc]["_source"]["stored"] for hit in hits)
        return [values[schema.SOURCE_DOCUMENT] for values in stored]

    def values(self, key: str, hits: Sequence[RankedHit]) -> list[str | None]:
        """Return the greatest value of a metadata key of each hit; None for one without any."""
        field = layout.field(schema.metadata_field(key))
        known = [self._hits[hit.doc] for hit in hits]
        ids = [hit["_id"] for hit in known]
        if field in self._searches.values:
            found = {hit["_id"]: hit.get("fields", {}) for hit in known}
        else:
            query = {"bool": {"filter": [{"ids": {"values": ids}}]}}
            body = {"query": query, "size": len(ids), "_source": False, "docvalue_fields": [field]}
            (answer,) = self._search([body])
            found = {hit["_id"]: hit.get("fields", {}) for hit in answer["hits"]["hits"]}
        return [max(found.get(id_, {}).get(field, ()), default=None) for id_ in ids]

    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, Found]:
        """Return the best hits in each of some documents; those without hits are left out."""
        if not documents:
            return {}
        if self._all is not None:
            found_in: dict[str, list[RankedHit]] = {}
            for hit, document in zip(self._all, self.documents(self._all), strict=True):
                found_in.setdefault(document, []).append(hit)
            return {
                document: Found(of[:count], len(of), is_exact=True)
                for document in documents
                if (of := found_in.get(document))
            }
        bodies = [
            self._searches.body(count, {"term": {schema.SOURCE_DOCUMENT: schema.keyword(document)}})
            for document in documents
        ]
        found = map(self._found, self._search(bodies))
        return {document: of for document, of in zip(documents, found, strict=True) if of.hits}

    def fingerprints(self, documents: Sequence[str]) -> list[Fingerprinted]:
        """Return some documents of the index with their fingerprints, those that have one."""
        if not documents or schema.FINGERPRINT not in self.terms.fields:
            return []
        return self._fingerprinted(len(documents), of_documents(documents), HAS_FINGERPRINT)

    def fingerprints_sharing(
        self, terms: Sequence[str], count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        """Return documents of the index whose fingerprints have one of some terms."""
        found = self._fingerprinted(count, {"terms": {schema.FINGERPRINT: [*terms]}})
        return [each for each in found if is_wanted(each.fingerprint)]

    def _fingerprinted(self, count: int, *conditions: Query) -> list[Fingerprinted]:
        query = self._snapshot.visible(*conditions)
        body = {"query": query, "size": count, "_source": _FINGERPRINTED}
        with running():
            (answer,) = self._snapshot.search([body], may_be_partial=True)
        self._look_at(answer)
        every = (hit["_source"]["stored"] for hit in answer["hits"]["hits"])
        return [found for stored in every if (found := fingerprinted(stored))]

    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        """Return hits reordered after the scores of a tree are added to theirs."""
        if tree is self.query.tree and all(hit.doc in self._scores for hit in hits):
            return _best_first([_plus(hit, self._scores[hit.doc]) for hit in hits])
        ids = [self._hits[hit.doc]["_id"] for hit in hits]
        scored: Query = {"bool": {"filter": [{"ids": {"values": ids}}], "should": [compiled(tree)]}}
        body = {"query": scored, "size": len(ids), "_source": False}
        (answer,) = self._search([body])
        added = {self._numbers[hit["_id"]]: hit["_score"] for hit in answer["hits"]["hits"]}
        return _best_first([_plus(hit, added.get(hit.doc, 0.0)) for hit in hits])

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
        """Return how the score of each hit by words is made."""
        if not hits:
            return []
        ids = [self._hits[hit.doc]["_id"] for hit in hits]
        tree = compiled(self.query.tree)
        query = {"bool": {"must": [tree], "filter": [{"ids": {"values": ids}}]}}
        body = {"query": query, "size": len(ids), "_source": False, "explain": True}
        (answer,) = self._search([body])
        found = {hit["_id"]: hit["_explanation"] for hit in answer["hits"]["hits"]}
        return [_explanation(found[id_]) for id_ in ids]

    def matches(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> list[list[int]]:
        """Return for each hit the positions of the trees that it matches."""
        unknown = [tree for tree in trees if tree not in self._names and not _is_language(tree)]
        if unknown and hits:
            self._ask_for(unknown, hits)
        return [
            [place for place, tree in enumerate(trees) if self._matches(tree, hit)] for hit in hits
        ]

    def _matches(self, tree: Node, hit: RankedHit) -> bool:
        found = self._hits[hit.doc]
        if isinstance(tree, Terms) and _is_language(tree):
            return not set(tree.texts).isdisjoint(found["_source"].get(schema.LANGUAGES, ()))
        return self._names[tree] in found.get("matched_queries", ())

    def _ask_for(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> None:
        """Ask which hits match more trees than were named in the search for them."""
        for tree in trees:
            self._names.setdefault(tree, f"n{len(self._names)}")
        ids = [self._hits[hit.doc]["_id"] for hit in hits]
        asked = named({self._names[tree]: tree for tree in trees})
        query = {"bool": {"filter": [{"ids": {"values": ids}}], "should": [asked]}}
        (answer,) = self._search([{"query": query, "size": len(ids), "_source": False}])
        for hit in answer["hits"]["hits"]:
            number = self._numbers[hit["_id"]]
            known = self._hits[number]
            both = [*known.get("matched_queries", ()), *hit.get("matched_queries", ())]
            self._hits[number] = {**known, "matched_queries": both}

    def contents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the text of each hit."""
        self._complete(hits)
        return [self._hits[hit.doc]["_source"]["stored"][schema.CONTENT] for hit in hits]

    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the fields of each hit's chunk, and the number of chunks of its document."""
        self._complete(hits)
        for hit in hits:
            stored = self._hits[hit.doc]["_source"]["stored"]
            yield values_from_lucene(stored, self._snapshot.folders)

    def _complete(self, hits: Sequence[RankedHit]) -> None:
        """Ask for what is stored of those hits that came without, since there were many."""
        known = (self._hits[hit.doc] for hit in hits)
        ids = [hit["_id"] for hit in known if schema.CONTENT not in hit["_source"]["stored"]]
        if not ids:
            return
        query = {"bool": {"filter": [{"ids": {"values": ids}}]}}
        with running():
            (answer,) = self._snapshot.search(
                [{"query": query, "size": len(ids), "_source": SOURCE}]
            )
        for hit in answer["hits"]["hits"]:
            number = self._numbers[hit["_id"]]
            self._hits[number] = {**self._hits[number], "_source": hit["_source"]}

    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        """Count the values of metadata keys among the hits, or among their documents."""
        if not names:
            return []
        fields = map(self._searches.facet_field, names)
        answers = self._search(self._searches.facets(names, of_documents=of_documents))
        folders = self._snapshot.folders
        return [
            facet(name, field, answer["aggregations"], folders)
            for name, field, answer in zip(names, fields, answers, strict=True)
        ]

    def with_id(self, chunk_id: str) -> RankedHit | None:
        """Return the chunk with an id as a hit; None if there is none."""
        condition = {"term": {schema.ID: schema.keyword(chunk_id)}}
        body = {"query": self._snapshot.visible(condition), "size": 1, "_source": SOURCE}
        (answer,) = self._search([body])
        return next(iter(self._ranked(answer)), None)

    def scored_by(self, tree: Node, count: int) -> list[RankedHit]:
        """Return the chunks with the highest scores by another tree."""
        body = {"query": self._searches.selected(compiled(tree)), "size": count, "_source": SOURCE}
        (answer,) = self._search([body])
        return self._ranked(answer)

    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        """Yield stored texts of some chunks that have a term in a field."""
        (answer,) = self._search([self._searches.texts_with(field, term, count)])
        return (hit["_source"]["stored"][field] for hit in answer["hits"]["hits"])

    def has_no_file_in(self, folder: str) -> bool:
        """Check whether no file of the index lies in a folder, given by name or path."""
        (answer,) = self._search([self._searches.files_in(folder)])
        return not answer["hits"]["total"]["value"]

    def meaning(self, request: SearchRequest) -> Meaning | None:  # noqa: ARG002 - as a folder's
        """Return None: there are no vectors on a cluster."""
        return None

    def take_problem(self) -> str | None:
        """Return None: nothing is missing."""
        return None

    @property
    def is_stopped(self) -> bool:
        """True if a search ended early or a shard did not answer, so that hits may be missing."""
        return self._is_partial or is_ending()

    def _search(
        self, bodies: Sequence[Mapping[str, Any]], later: Sequence[Mapping[str, Any]] = ()
    ) -> list[Any]:
        """Run searches, unless they were sent along with earlier ones.

        Args:
            bodies: the searches.
            later: searches whose answers will be asked for later.
        """
        keys = [json.dumps(body) for body in bodies]
        if not self._answers.keys() >= set(keys):
            unknown = {json.dumps(body): body for body in (*bodies, *later)}
            asked = {key: body for key, body in unknown.items() if key not in self._answers}
            with running():
                answers = self._snapshot.search(list(asked.values()), may_be_partial=True)
            for key, answer in zip(asked, answers, strict=True):
                self._look_at(answer)
                self._answers[key] = answer
        return [self._answers[key] for key in keys]

    def _look_at(self, answer: Mapping[str, Any]) -> None:
        """Notice an answer that is not complete."""
        # A shard that is on no node does not count as failed.
        shards = answer["_shards"]
        if answer.get("timed_out") or shards["successful"] < shards["total"]:
            self._is_partial = True

    def _note(self, hit: Mapping[str, Any]) -> int:
        number = self._numbers.setdefault(hit["_id"], len(self._numbers))
        self._hits.setdefault(number, hit)
        return number

    def _ranked(self, answer: Mapping[str, Any]) -> list[RankedHit]:
        return [
            _plus(RankedHit(self._note(hit), 0.0, 0.0), hit.get("_score") or 0.0)
            for hit in answer["hits"]["hits"]
        ]

    def _found(self, answer: Mapping[str, Any]) -> Found:
        total = answer["hits"]["total"]
        return Found(self._ranked(answer), total["value"], total["relation"] == "eq")


def fingerprinted(stored: Mapping[str, Any]) -> Fingerprinted | None:
    """Return the document of a chunk that has its fingerprint; None if that cannot be read.

    Args:
        stored: what is stored of the chunk.
    """
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


def _is_language(tree: Node) -> bool:
    return isinstance(tree, Terms) and tree.field == schema.LANGUAGES


def _explanation(found: Mapping[str, Any]) -> ScoreExplanation:
    """Return how a score is made, with the names of the schema's fields."""
    return ScoreExplanation(
        layout.readable(found["description"]),
        float(found["value"]),
        lambda: [_explanation(part) for part in found["details"]],
    )


def _best_first(hits: list[RankedHit]) -> list[RankedHit]:
    """Return hits by their scores; on a tie the order stays, as Lucene's rescorer leaves it."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.doc))
