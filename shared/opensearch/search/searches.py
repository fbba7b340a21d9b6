"""The searches of one call, as bodies of requests to the cluster."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Any, Final

from shared.errors import QueryError
from shared.model import schema
from shared.model.filters import Filter
from shared.model.metadata import MODIFIED
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.schema import COLLECTION, FOLDER
from shared.opensearch.opening.snapshot import ClusterSnapshot
from shared.opensearch.search.compiler import compiled, named
from shared.opensearch.search.facets import DOCUMENTS, counting, counting_filters
from shared.opensearch.storage import layout
from shared.opensearch.storage.queries import Query
from shared.query.filters import conditions, in_collections, in_folder
from shared.query.pipeline import ParsedQuery, Part
from shared.query.tree import Clause, Node, Nothing, Terms
from shared.search.answer import TEXTS_OF_A_WORD
from shared.storage.field_names import metadata_field_of

_MOST_HITS: Final = 100_000
"""Maximum number of hits up to the last one of a page (``index.max_result_window``)."""

_COUNTED: Final = 1_000
"""Number of hits that a search counts before it leaves out those that cannot be among the best
(``TotalHits``, as Lucene's ``IndexSearcher`` has it)."""

SOURCE: Final = ["stored", schema.LANGUAGES]
"""What is returned of each hit."""

_MOST_WHOLE: Final = 1_000
_BRIEF: Final = [f"stored.{schema.SOURCE_DOCUMENT}", schema.LANGUAGES]
"""Number of hits up to which a search returns their texts, too, and what it returns of more: only
those of one page are shown."""


class Searches:
    """The searches that a call may send.

    Args:
        snapshot: the state of the index.
        request: the search request.
        query: its query after all steps.
        filters: the filters of the request and of the query.

    Attributes:
        names: the parts of the query that a hit may match, each with its name in the searches.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        request: SearchRequest,
        query: ParsedQuery,
        filters: Sequence[Filter],
    ) -> None:
        self.names: Mapping[Node, str] = _names((*query.parts, *query.rewritten))
        self._snapshot, self._request, self._query = snapshot, request, query
        self._filters = filters
        self._clauses = conditions(filters, snapshot.terms, snapshot.folders, snapshot.collections)

    def body(
        self,
        count: int,
        within: Query | None = None,
        tree: Node | None = None,
        *,
        counts: bool = True,
    ) -> dict[str, Any]:
        """Return a search for the hits with the highest scores.

        Args:
            count: the maximum number of hits.
            within: a condition on the chunks.
            tree: the tree that finds and scores them; None for that of the query.
            counts: false to leave out hits that cannot be among the best without counting them.
        """
        if count > _MOST_HITS:
            raise QueryError(
                f"a cluster shows the first {_MOST_HITS:,} hits only; use a smaller offset"
            )
        parts = {name: node for node, name in self.names.items()}
        return {
            "query": self.selected(
                compiled(tree or self._query.tree), named_parts=parts, within=within
            ),
            "size": count,
            "track_total_hits": counts or _COUNTED,
            "_source": SOURCE if count <= _MOST_WHOLE else _BRIEF,
            **({"docvalue_fields": self.values} if self.values else {}),
        }

    def selected(
        self,
        query: Query,
        clauses: Sequence[Clause] | None = None,
        named_parts: Mapping[str, Node] | None = None,
        within: Query | None = None,
    ) -> Query:
        """Return a query restricted to what the search may see, and to what passes the filters."""
        seen = self._snapshot.visible()["bool"]
        filters = {"must": [*seen["filter"]], "must_not": [*seen["must_not"]]}
        if within:
            filters["must"].append(within)
        for clause in self._clauses if clauses is None else clauses:
            filters[clause.occur].append(compiled(clause.node, scores=False))
        whole = {"must": [query], "filter": filters["must"], "must_not": filters["must_not"]}
        if named_parts:
            whole["should"] = [named(named_parts)]
        return {"bool": whole}

    def best(self, count: int) -> dict[str, Any]:
        """Return the search for the best hits, of which not all are counted."""
        return self.body(count, counts=False)

    def in_order(self, sort: str, count: int, tree: Node | None = None) -> dict[str, Any]:
        """Return the search for the first hits in an order.

        Args:
            sort: the order, as in a request.
            count: the maximum number of hits.
            tree: the tree by which they are scored all the same; None to leave them without scores.
        """
        by_document = sort == BY_SCORE
        order = _document_order() if by_document else sort_order(sort, self._snapshot.terms.fields)
        return {**self.body(count, tree=tree), "sort": order, "track_scores": tree is not None}

    def later(self) -> list[dict[str, Any]]:
        """Return the searches that the rest of the call is going to ask for."""
        later = self.facets(self._request.facets, of_documents=self._request.group == "document")
        if self._request.group == "document":
            later.append(self.documents())
        for condition in self._query.read.filters:
            if condition.field == FOLDER and isinstance(condition.value, list):
                later += [self.files_in(str(name)) for name in condition.value]
        for correction in self._query.spelling.corrections:
            for field in (schema.CONTENT, schema.TITLE):
                later.append(self.texts_with(field, correction.suggestion, TEXTS_OF_A_WORD))
        return later

    def count(self) -> Query:
        """Return the query for all hits, which does not score them."""
        return self.selected(compiled(self._query.tree, ranks=False))

    def counting(self) -> dict[str, Any]:
        """Return the search that counts all hits."""
        return {"query": self.count(), "size": 0, "track_total_hits": True}

    def documents(self) -> dict[str, Any]:
        """Return the search that counts the documents that have hits."""
        return {"query": self.count(), "size": 0, "aggs": {"documents": DOCUMENTS}}

    @property
    def values(self) -> list[str]:
        """Fields whose values come with each hit."""
        return [layout.field(schema.metadata_field(MODIFIED))] if self._request.recency else []

    def facets(self, names: Sequence[str], *, of_documents: bool) -> list[dict[str, Any]]:
        """Return the searches that count the values of metadata keys."""
        matching = compiled(self._query.tree, ranks=False)
        bodies = []
        for name in names:
            field = self.facet_field(name)
            pairs = zip(self._filters, self._clauses, strict=True)
            others = [clause for filter_, clause in pairs if filter_.field != name]
            if field == COLLECTION:
                aggregations = counting_filters(self._collections(), of_documents=of_documents)
            else:
                shards = self._snapshot.shards
                aggregations = counting(name, field, shards, of_documents=of_documents)
            query = self.selected(matching, others)
            bodies.append({"query": query, "size": 0, "aggs": aggregations})
        return bodies

    def facet_field(self, name: str) -> str:
        """Return the field of a facet, or `COLLECTION`.

        Raises:
            FilterError: no document has the key.
        """
        if self._snapshot.collections and name == COLLECTION:
            return COLLECTION
        return metadata_field_of(name, self._snapshot.terms.fields)

    def _collections(self) -> dict[str, Query]:
        """Return a condition on the chunks of each collection."""
        snapshot = self._snapshot
        trees = {
            name: in_collections([collection], snapshot.terms, snapshot.folders)
            for name, collection in snapshot.collections.items()
        }
        return {name: compiled(tree, scores=False) for name, tree in trees.items()}

    def texts_with(self, field: str, term: str, count: int) -> dict[str, Any]:
        """Return the search for stored texts of some chunks that have a term in a field."""
        term_query = compiled(Terms(field, (term,)))
        query = {"bool": {"must": [term_query], "filter": [self._snapshot.visible()]}}
        return {"query": query, "size": count, "_source": [f"stored.{field}"]}

    def files_in(self, folder: str) -> dict[str, Any]:
        """Return the search for any file in a folder, given by name or path."""
        files = compiled(in_folder(folder, self._snapshot.folders), scores=False)
        query = self._snapshot.visible(files)
        return {"query": query, "size": 0, "track_total_hits": 1}


def _names(parts: Sequence[Part]) -> dict[Node, str]:
    """Return a name for each part of a query that a hit may match."""
    nodes = dict.fromkeys(part.found for part in parts if not isinstance(part.found, Nothing))
    return {node: f"p{number}" for number, node in enumerate(nodes)}


def sort_order(sort: str, fields: AbstractSet[str]) -> list[Any]:
    """Return the order that a name in a request means, of an index with some fields."""
    key, is_descending = sort.removeprefix("-"), sort.startswith("-")
    direction = "desc" if is_descending else "asc"
    besides = (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX)
    if key in besides:
        return [{key: direction}, *_document_order()]
    field = metadata_field_of(key, fields, besides)
    number = schema.number_field(key)
    used = number if number in fields else field
    mode = "max" if is_descending else "min"
    by = {"order": direction, "mode": mode, "missing": "_last"}
    return [{layout.field(used): by}, *_document_order()]


def _document_order() -> list[Any]:
    return [{schema.SOURCE_DOCUMENT: "asc"}, {schema.CHUNK_INDEX: "asc"}]
