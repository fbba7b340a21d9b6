"""An index on a cluster, open for reading: every call sees what was published before it began."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from shared.analysis.analyzers import analyzer_of, positions_of
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.messages import utc_time
from shared.model import schema
from shared.model.document import FileState
from shared.model.filters import Limits
from shared.model.folders import IndexedFolders
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.opensearch.compiler import compiled
from shared.opensearch.searches import most_frequent, sort_order
from shared.opensearch.selection import ClusterSelection, fingerprinted
from shared.opensearch.snapshot import (
    MOST_PER_PAGE,
    Cluster,
    ClusterSnapshot,
    all_stored,
    file_states,
)
from shared.opensearch.state import HAS_FINGERPRINT, IS_CHUNK, by_chance, of_documents
from shared.opensearch.terms import MOST_TERMS_OF_A_PATTERN, ClusterTerms
from shared.query.tree import Node
from shared.reading.backend import (
    FIRST_CHUNK,
    Backend,
    Figures,
    FrequentTerms,
    ReadableIndex,
    Result,
    Stored,
)
from shared.search.selection import Fingerprinted
from shared.storage.stored_chunks import SHOWN_FIELDS, details_of

_TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE, schema.STEMS)
_MOST_READ: Final = 300  # chunks whose words are looked at
_MOST_COUNTED: Final = 1_000  # of these words


class IndexOnCluster(ReadableIndex):
    """An index on a cluster."""

    def __init__(self, path: Path | str, program: vm.Program, weights: Weights) -> None:
        self._cluster = Cluster(path, weights, program)
        self.path = self._cluster.path

    @property
    def refreshes(self) -> int:
        return self._cluster.refreshes

    @property
    def requests(self) -> int:
        """Number of requests that were sent to the cluster."""
        return self._cluster.store.connection.requests

    def call(
        self,
        work: Callable[[Backend], Result],
        limits: Limits,
        cancellation: Cancellation | None = None,
        *,
        is_search: bool = False,
    ) -> Result:
        return self._cluster.call(
            lambda snapshot: work(ClusterBackend(snapshot)),
            cancellation,
            limits=limits,
            is_search=is_search,
        )

    def commit(self, limits: Limits) -> str | None:
        # Numbers begin anew in an index that was made anew.
        commit = self._cluster.call(lambda of: f"{of.state.identity}-{of.number}", limits=limits)
        return f"{commit}-{limits.name}" if limits.names else commit

    def close(self) -> None:
        self._cluster.close()


class ClusterBackend(Backend):
    """The state of an index on a cluster, or of a part of it, as one call sees it."""

    has_deletions = False

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self.path = snapshot.path
        self.collections = snapshot.collections

    @property
    def is_part(self) -> bool:
        return bool(self._snapshot.limits.names)

    @property
    def terms(self) -> ClusterTerms:
        return self._snapshot.terms

    @property
    def folders(self) -> IndexedFolders:
        return self._snapshot.folders

    @property
    def fields(self) -> set[str]:
        fields = self.terms.fields - {schema.CHUNK_INDEX}
        return {name for name in fields if not schema.is_number_field(name)}

    def _chunks(self, tree: Node) -> dict[str, Any]:
        return self._snapshot.visible(compiled(tree, scores=False))

    def count(self, tree: Node) -> int:
        return self._snapshot.count(self._chunks(tree))

    def stored(
        self,
        tree: Node,
        fields: Sequence[str],
        sort: str = "",
        offset: int = 0,
        limit: int | None = None,
    ) -> Iterator[Stored]:
        query, source = self._chunks(tree), _source(fields)
        order = sort_order(sort, self.terms.fields) if sort else ["_doc"]
        end = None if limit is None else offset + limit
        if end is None or end > MOST_PER_PAGE:
            return islice(all_stored(self._snapshot, query, order, source), offset, end)
        page = {"from": offset, "size": limit, "sort": order, "_source": source}
        (answer,) = self._snapshot.search([{"query": query, **page}])
        return (hit["_source"]["stored"] for hit in answer["hits"]["hits"])

    def scored(self, tree: Node, limit: int) -> list[tuple[Stored, float]]:
        query = {"bool": {"must": [compiled(tree)], "filter": [self._snapshot.visible()]}}
        body = {"query": query, "size": limit, "_source": _source(SHOWN_FIELDS)}
        (answer,) = self._snapshot.search([body])
        return [(hit["_source"]["stored"], hit["_score"]) for hit in answer["hits"]["hits"]]

    def most_frequent(self, field: str, prefix: str, count: int) -> FrequentTerms:
        if field == schema.ID or (prefix and not schema.is_keyword_field(field)):
            found = list(self.terms.beginning_with(field, prefix))
            is_whole = len(found) < MOST_TERMS_OF_A_PATTERN
            # Each id has one chunk.
            is_ranked = field == schema.ID
            return FrequentTerms(sorted(found, key=_by_frequency), is_whole, is_ranked)
        if field in _TEXT_FIELDS:
            return self._some_words(field)
        if not schema.is_keyword_field(field):
            return FrequentTerms([], is_whole=False)
        terms = most_frequent(field, count, self._snapshot.shards)
        if prefix:
            literal = "".join(sign if sign.isalnum() else f"\\{sign}" for sign in prefix)
            terms["include"] = f"{literal}.*"
        aggregations = {"terms": {"terms": terms}}
        body = {"query": self._snapshot.visible(), "size": 0, "aggs": aggregations}
        (answer,) = self._snapshot.search([body])
        counted = answer["aggregations"]["terms"]
        found = [(str(of["key"]), int(of["doc_count"])) for of in counted["buckets"]]
        # Of several shards, each may have left out terms of which the others have more.
        is_ranked = not counted["doc_count_error_upper_bound"]
        return FrequentTerms(found, len(found) < count, is_ranked)

    def _some_words(self, field: str) -> FrequentTerms:
        """Look at the words of some chunks, for the cluster does not list the most frequent."""
        query = by_chance(self._snapshot.visible())
        source = [*_source((schema.CONTENT, schema.DETAILS)), schema.LANGUAGES]
        (answer,) = self._snapshot.search([{"query": query, "size": _MOST_READ, "_source": source}])
        hits, found = answer["hits"]["hits"], Counter[str]()
        for hit in hits:
            stored, details = hit["_source"]["stored"], details_of(hit["_source"]["stored"])
            (language,) = hit["_source"][schema.LANGUAGES]
            text = details.title if field == schema.TITLE else stored[schema.CONTENT]
            if field == schema.STEMS:
                text = f"{details.title}\n{details.place.get('section', '')}\n{text}"
            found.update({word for _, word in positions_of(analyzer_of(field, language), text)})
        best = [(field, word) for word, _ in found.most_common(_MOST_COUNTED)]
        counts = self.terms.frequencies(best).items()
        pairs = [(word, count) for (_, word), count in counts if count]
        has_all = len(hits) < _MOST_READ
        is_whole = has_all and len(best) == len(found)
        return FrequentTerms(sorted(pairs, key=_by_frequency), is_whole, is_ranked=has_all)

    def load_model(self) -> None:
        self._snapshot.encoder.load(self._snapshot.model)

    def selection(self, request: SearchRequest) -> ClusterSelection:
        return ClusterSelection(self._snapshot, request)

    def document_terms(self) -> list[str]:
        first, field = self._chunks(FIRST_CHUNK), schema.SOURCE_DOCUMENT
        hits = self._snapshot.every(first, _source=False, docvalue_fields=[field])
        return sorted(str(hit["fields"][field][0]) for hit in hits)

    def file_states(self, source_document: str | None = None) -> dict[str, FileState]:
        if source_document is not None:
            return file_states(self._snapshot, of_documents([source_document]))
        states = file_states(self._snapshot)
        if not self.is_part:
            return states
        seen = {*self.document_terms()}
        return {name: state for name, state in states.items() if schema.keyword(name) in seen}

    def fingerprinted(self) -> Iterator[Fingerprinted]:
        if schema.FINGERPRINT not in self.terms.fields:
            return
        query, order = self._snapshot.visible(HAS_FINGERPRINT), [{schema.SOURCE_DOCUMENT: "asc"}]
        every = all_stored(self._snapshot, query, order)
        yield from filter(None, map(fingerprinted, every))

    def figures(self) -> Figures:
        snapshot, store = self._snapshot, self._snapshot.store
        figures = store.connection.get(f"/{store.name}/_stats/docs,store,segments")["_all"]["total"]
        mapping, version = store.mapping()["_meta"], store.connection.get("/")["version"]
        chunks = snapshot.count(snapshot.visible())
        every = snapshot.count({"bool": {"filter": [IS_CHUNK]}})
        # Of all copies of the shards; of a part as much as it has of the chunks.
        size = figures["store"]["size_in_bytes"]
        return Figures(
            deleted_chunks=0 if self.is_part else every - chunks,
            segments=figures["segments"]["count"],
            size_bytes=round(size * chunks / max(1, every)) if self.is_part else size,
            changed=utc_time(snapshot.state.changed),
            schema_version=mapping[schema.COMMIT_SCHEMA],
            software_version=mapping[schema.COMMIT_SOFTWARE],
            lucene_version=f"{version['lucene_version']} (OpenSearch {version['number']})",
        )


def _by_frequency(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _source(fields: Sequence[str]) -> list[str]:
    return [f"stored.{name}" for name in fields]
