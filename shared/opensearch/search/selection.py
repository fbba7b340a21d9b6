"""The chunks of an index on a cluster that a query selects, in as few requests as possible."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, Final

from shared.analysis.fingerprints import Fingerprint
from shared.errors import QueryError
from shared.java.cancellation import is_ending
from shared.model import schema
from shared.model.filters import COLLECTION
from shared.model.metadata import MODIFIED
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import MAX_FACET_VALUES, ChunkText, Facet, FacetValue
from shared.opensearch.cluster import ClusterSnapshot
from shared.opensearch.search.compiler import Query, compiled, named
from shared.opensearch.storage import layout
from shared.opensearch.storage.queries import HAS_FINGERPRINT, IS_CHUNK, of_documents
from shared.query.limits import running
from shared.query.parts import Part
from shared.query.pipeline import ParsedQuery, parse_query
from shared.query.steps.filters.conditions import conditions, in_collections
from shared.query.steps.filters.folders import in_folder
from shared.query.tree import Clause, Node, Nothing, Terms
from shared.search.feedback import topic_words
from shared.search.grouping.versions import resolved
from shared.search.meaning.query_meaning import Meaning
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.ranking import RESCORED
from shared.search.selection import DocumentHits, Fingerprinted, Found, Selection
from shared.storage.field_names import metadata_field_of
from shared.storage.mapping import counted_from_lucene, metadata_text
from shared.storage.stored_details import details_of
from shared.storage.terms import shown

_MOST_ROUNDS: Final = 10
"""Number of times that a query is parsed until all that it needs of the index is known."""

_MOST_HITS: Final = 100_000
"""Maximum number of hits up to the last one of a page (``index.max_result_window``)."""

_MOST_DISTINCT: Final = 40_000
"""Number of distinct values that the cluster counts exactly."""

_DOCUMENTS: Final = {
    "cardinality": {"field": schema.SOURCE_DOCUMENT, "precision_threshold": _MOST_DISTINCT}
}
"""Aggregation that counts documents."""

_FLOAT: Final = Struct("f")


_FINGERPRINTED: Final = [
    f"stored.{name}" for name in (schema.FINGERPRINT, schema.SOURCE_DOCUMENT, schema.DETAILS)
]

_SOURCE: Final = ["stored", schema.LANGUAGES]


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
            query = parse_query(request, terms, snapshot.weights)
            if not terms.fetch():
                return query
    finally:
        terms.is_deferring = False
    return parse_query(request, terms, snapshot.weights)


class ClusterSelection(Selection):
    """The chunks that match a query and pass the filters of a search.

    Args:
        snapshot: the state of the index.
        request: the search request.

    Attributes:
        filters: the filters of the request and of the query.
    """

    def __init__(self, snapshot: ClusterSnapshot, request: SearchRequest) -> None:
        self.terms = snapshot.terms
        self.query = parsed(request, snapshot)
        self._snapshot = snapshot
        self.filters = resolved(self, (*request.filters, *self.query.read.filters))
        self._clauses = conditions(self.filters, self.terms, snapshot.folders, snapshot.collections)
        self._names = _names((*self.query.parts, *self.query.rewritten))
        self._hits: dict[int, Mapping[str, Any]] = {}
        self._numbers: dict[str, int] = {}
        self._rescored: list[RankedHit] | None = None
        self._is_partial = False

    def best(self, count: int) -> Found:
        """Return the hits with the highest scores by the tree that finds them, best first.

        The same request scores them again by the parts that only rescore. Without feedback nobody
        needs to know how they were scored before.
        """
        plain = self._body(count)
        if isinstance(self.query.rescored, Nothing):
            return self._found(self._search([plain])[0])
        again = {**plain, "rescore": _rescore(self.query.rescored)}
        needs_plain = self.query.weights.feedback and topic_words(self.query.telling)
        *first, last = self._search([plain, again] if needs_plain else [again])
        self._rescored = self._ranked(last)[:RESCORED]
        return self._found(first[0] if first else last)

    def in_order(self, sort: str, count: int) -> Found:
        """Return the first hits in an order, without scores."""
        order = _document_order() if sort == BY_SCORE else self._order(sort)
        return self._found(self._search([{**self._body(count), "sort": order}])[0])

    def _order(self, sort: str) -> list[Any]:
        key, is_descending = sort.removeprefix("-"), sort.startswith("-")
        direction = "desc" if is_descending else "asc"
        if key in {schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX}:
            return [{key: direction}, *_document_order()]
        besides = (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX)
        field = metadata_field_of(key, self.terms.fields, besides)
        number = schema.number_field(key)
        used = number if number in self.terms.fields else field
        mode = "max" if is_descending else "min"
        by = {"order": direction, "mode": mode, "missing": "_last"}
        return [{layout.field(used): by}, *_document_order()]

    def count(self) -> int:
        """Return the number of hits."""
        return self._snapshot.count(self._selected(compiled(self.query.tree, ranks=False)))

    def count_documents(self) -> int:
        """Return the number of documents that have hits; above 40,000 an estimate."""
        query = self._selected(compiled(self.query.tree, ranks=False))
        (answer,) = self._search([{"query": query, "size": 0, "aggs": {"documents": _DOCUMENTS}}])
        return int(answer["aggregations"]["documents"]["value"])

    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the id of the document of each hit."""
        stored = (self._hits[hit.doc]["_source"]["stored"] for hit in hits)
        return [values[schema.SOURCE_DOCUMENT] for values in stored]

    def values(self, key: str, hits: Sequence[RankedHit]) -> list[str | None]:
        """Return the greatest value of a metadata key of each hit; None for one without any."""
        field = layout.field(schema.metadata_field(key))
        ids = [self._hits[hit.doc]["_id"] for hit in hits]
        query = {"bool": {"filter": [{"ids": {"values": ids}}]}}
        body = {"query": query, "size": len(ids), "_source": False, "docvalue_fields": [field]}
        (answer,) = self._search([body])
        found = {hit["_id"]: hit.get("fields", {}) for hit in answer["hits"]["hits"]}
        return [max(found.get(id_, {}).get(field, ()), default=None) for id_ in ids]

    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, DocumentHits]:
        """Return the best hits in each of some documents; those without hits are left out."""
        if not documents:
            return {}
        bodies = [
            self._body(count, {"term": {schema.SOURCE_DOCUMENT: schema.keyword(document)}})
            for document in documents
        ]
        found = map(self._found, self._search(bodies))
        return {
            document: DocumentHits(of.hits, of.total)
            for document, of in zip(documents, found, strict=True)
            if of.hits
        }

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
            (answer,) = self._snapshot.search([body])
        every = (hit["_source"]["stored"] for hit in answer["hits"]["hits"])
        return [found for stored in every if (found := fingerprinted(stored))]

    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        """Return hits reordered after the scores of a tree are added to theirs."""
        if tree == self.query.rescored and self._rescored is not None:
            return self._rescored
        ids = [self._hits[hit.doc]["_id"] for hit in hits]
        scored: Query = {"bool": {"filter": [{"ids": {"values": ids}}], "should": [compiled(tree)]}}
        body = {"query": scored, "size": len(ids), "_source": False}
        (answer,) = self._search([body])
        added = {self._numbers[hit["_id"]]: hit["_score"] for hit in answer["hits"]["hits"]}
        again = [_plus(hit, added.get(hit.doc, 0.0)) for hit in hits]
        # On a tie the order stays, as Lucene's rescorer leaves it.
        return sorted(again, key=lambda hit: (-hit.score, hit.doc))

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
        return [self._hits[hit.doc]["_source"]["stored"][schema.CONTENT] for hit in hits]

    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[ChunkText, int]]:
        """Yield the chunk of each hit, and the number of chunks of its document."""
        for hit in hits:
            stored = self._hits[hit.doc]["_source"]["stored"]
            yield counted_from_lucene(stored, self._snapshot.folders)

    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        """Count the values of metadata keys among the hits, or among their documents."""
        if not names:
            return []
        known = self._snapshot.collections
        fields = [
            COLLECTION
            if known and name == COLLECTION
            else metadata_field_of(name, self.terms.fields)
            for name in names
        ]
        matching = compiled(self.query.tree, ranks=False)
        bodies = []
        for name, field in zip(names, fields, strict=True):
            pairs = zip(self.filters, self._clauses, strict=True)
            others = [clause for filter_, clause in pairs if filter_.field != name]
            if field == COLLECTION:
                selected = self._selected(matching, others)
                bodies.append(self._of_collections(selected, of_documents=of_documents))
                continue
            values: dict[str, Any] = {
                "terms": {"field": layout.field(field), "size": MAX_FACET_VALUES}
            }
            if of_documents and name != schema.SECTION:
                values["terms"]["order"] = [{"documents": "desc"}, {"_key": "asc"}]
                values["aggs"] = {"documents": _DOCUMENTS}
            distinct = {"field": layout.field(field), "precision_threshold": _MOST_DISTINCT}
            bodies.append(
                {
                    "query": self._selected(matching, others),
                    "size": 0,
                    "aggs": {"values": values, "distinct": {"cardinality": distinct}},
                }
            )
        return [
            self._facet(name, field, answer["aggregations"])
            for name, field, answer in zip(names, fields, self._search(bodies), strict=True)
        ]

    def _of_collections(self, selected: Query, *, of_documents: bool) -> dict[str, Any]:
        """Return a search that counts the chunks or documents in each collection."""
        snapshot = self._snapshot
        trees = {
            name: in_collections([collection], self.terms, snapshot.folders)
            for name, collection in snapshot.collections.items()
        }
        filters = {name: compiled(tree, scores=False) for name, tree in trees.items()}
        values: dict[str, Any] = {"filters": {"filters": filters}}
        if of_documents:
            values["aggs"] = {"documents": _DOCUMENTS}
        return {"query": selected, "size": 0, "aggs": {"values": values}}

    def _facet(self, name: str, field: str, counted: Mapping[str, Any]) -> Facet:
        if field == COLLECTION:
            return Facet.of(
                COLLECTION,
                {
                    collection: bucket["documents"]["value"]
                    if "documents" in bucket
                    else bucket["doc_count"]
                    for collection, bucket in counted["values"]["buckets"].items()
                },
            )
        folders = self._snapshot.folders
        values = [
            FacetValue(
                shown(field, bucket["key"], folders),
                bucket["documents"]["value"] if "documents" in bucket else bucket["doc_count"],
            )
            for bucket in counted["values"]["buckets"]
        ]
        return Facet(name, values, counted["distinct"]["value"])

    def with_id(self, chunk_id: str) -> RankedHit | None:
        """Return the chunk with an id as a hit; None if there is none."""
        condition = {"term": {schema.ID: schema.keyword(chunk_id)}}
        body = {"query": self._snapshot.visible(condition), "size": 1, "_source": _SOURCE}
        (answer,) = self._search([body])
        return next(iter(self._ranked(answer)), None)

    def scored_by(self, tree: Node, count: int) -> list[RankedHit]:
        """Return the chunks with the highest scores by another tree."""
        body = {"query": self._selected(compiled(tree)), "size": count, "_source": _SOURCE}
        (answer,) = self._search([body])
        return self._ranked(answer)

    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        """Yield stored texts of some chunks that have a term in a field."""
        term_query = compiled(Terms(field, (term,)))
        query = {"bool": {"must": [term_query], "filter": [self._snapshot.visible(IS_CHUNK)]}}
        body = {"query": query, "size": count, "_source": [f"stored.{field}"]}
        (answer,) = self._search([body])
        return (hit["_source"]["stored"][field] for hit in answer["hits"]["hits"])

    def has_no_file_in(self, folder: str) -> bool:
        """Check whether no file of the index lies in a folder, given by name or path."""
        files = compiled(in_folder(folder, self._snapshot.folders), scores=False)
        return not self._snapshot.count(self._snapshot.visible(IS_CHUNK, files))

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

    def _body(self, count: int, within: Query | None = None) -> dict[str, Any]:
        """Return a search for the hits with the highest scores, of all or of some chunks."""
        if count > _MOST_HITS:
            raise QueryError(
                f"a cluster shows the first {_MOST_HITS:,} hits only; use a smaller offset"
            )
        tree = compiled(self.query.tree)
        parts = {name: node for node, name in self._names.items()}
        return {
            "query": self._selected(tree, named_parts=parts, within=within),
            "size": count,
            "track_total_hits": True,
            "_source": _SOURCE,
        }

    def _selected(
        self,
        query: Query,
        clauses: Sequence[Clause] | None = None,
        named_parts: Mapping[str, Node] | None = None,
        within: Query | None = None,
    ) -> Query:
        """Return a query restricted to what the search may see, and to what passes the filters."""
        filters = {"must": [IS_CHUNK], "must_not": [*self._snapshot.visible()["bool"]["must_not"]]}
        if within:
            filters["must"].append(within)
        for clause in self._clauses if clauses is None else clauses:
            filters[clause.occur].append(compiled(clause.node, scores=False))
        whole = {"must": [query], "filter": filters["must"], "must_not": filters["must_not"]}
        if named_parts:
            whole["should"] = [named(named_parts)]
        return {"bool": whole}

    def _search(self, bodies: Sequence[Mapping[str, Any]]) -> list[Any]:
        with running():
            answers = self._snapshot.search(bodies)
        for answer in answers:
            if answer.get("timed_out") or answer["_shards"]["failed"]:
                self._is_partial = True
            for hit in answer["hits"]["hits"]:
                if "_source" in hit:
                    self._note(hit)
        return answers

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
    id_, modified = stored[schema.SOURCE_DOCUMENT], details_of(stored).metadata.get(MODIFIED)
    values = modified if isinstance(modified, list) else [modified]
    newest = max((metadata_text(value) for value in values if value is not None), default=None)
    return Fingerprinted(id_, id_, fingerprint, newest)


def _names(parts: Sequence[Part]) -> dict[Node, str]:
    """Return a name for each part of a query that a hit may match."""
    nodes = dict.fromkeys(part.found for part in parts if not isinstance(part.found, Nothing))
    return {node: f"p{number}" for number, node in enumerate(nodes)}


def _is_language(tree: Node) -> bool:
    return isinstance(tree, Terms) and tree.field == schema.LANGUAGES


def _rescore(tree: Node) -> dict[str, Any]:
    return {
        "window_size": RESCORED,
        "query": {
            "rescore_query": compiled(tree),
            "query_weight": 1.0,
            "rescore_query_weight": 1.0,
            "score_mode": "total",
        },
    }


def _plus(hit: RankedHit, score: float) -> RankedHit:
    added = _single(hit.score + _single(score))
    return RankedHit(hit.doc, added, added)


def _single(score: float) -> float:
    """Return a score with the precision that it has in Lucene; JSON shortens it."""
    found: float = _FLOAT.unpack(_FLOAT.pack(score))[0]
    return found


def _document_order() -> list[Any]:
    return [{schema.SOURCE_DOCUMENT: "asc"}, {schema.CHUNK_INDEX: "asc"}]
