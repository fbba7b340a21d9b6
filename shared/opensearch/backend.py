"""An index on a cluster, open for reading: every call sees what was published before it began."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Final

from shared.analysis.analyzers import analyzer_of, positions_of
from shared.errors import ClusterBusyError, IndexFolderError, McpLuceneError
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.messages import utc_time
from shared.model import schema
from shared.model.document import FileState
from shared.model.filters import EVERYTHING, Limits
from shared.model.request import SearchRequest
from shared.model.weights import DEFAULT_WEIGHTS, Weights
from shared.opensearch import layout
from shared.opensearch.cluster_errors import part_missing
from shared.opensearch.compiler import compiled
from shared.opensearch.connection import Connection
from shared.opensearch.searches import most_frequent, sort_order
from shared.opensearch.selection import ClusterSelection, fingerprinted
from shared.opensearch.snapshot import MOST_PER_PAGE, ClusterSnapshot, StaleError
from shared.opensearch.state import (
    HAS_FINGERPRINT,
    IS_CHUNK,
    IS_FILE,
    by_chance,
    of_documents,
    visible,
)
from shared.opensearch.store import Store
from shared.opensearch.terms import MOST_TERMS_OF_A_PATTERN, KnownTerms, PartTerms
from shared.query.filters import within
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
from shared.semantic.query_encoder import QueryEncoder
from shared.storage.mapping import unpack
from shared.storage.stored_chunks import SHOWN_FIELDS, details_of

_TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE, schema.STEMS)
_MOST_READ: Final = 300  # chunks whose words are looked at
_MOST_COUNTED: Final = 1_000  # of these words


class ClusterBackend(ClusterSnapshot, Backend):
    """The state of an index on a cluster, or of a part of it, as one call sees it."""

    has_deletions = False

    @property
    def is_part(self) -> bool:
        return bool(self.limits.names)

    @property
    def fields(self) -> set[str]:
        fields = self.terms.fields - {schema.CHUNK_INDEX}
        return {name for name in fields if not schema.is_number_field(name)}

    def _chunks(self, tree: Node) -> dict[str, Any]:
        return self.visible(compiled(tree, scores=False))

    def count(self, tree: Node) -> int:
        return self.number_of(self._chunks(tree))

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
            return islice(self.every_stored(query, order, source), offset, end)
        page = {"from": offset, "size": limit, "sort": order, "_source": source}
        (answer,) = self.search([{"query": query, **page}])
        return (hit["_source"]["stored"] for hit in answer["hits"]["hits"])

    def scored(self, tree: Node, limit: int) -> list[tuple[Stored, float]]:
        query = {"bool": {"must": [compiled(tree)], "filter": [self.visible()]}}
        body = {"query": query, "size": limit, "_source": _source(SHOWN_FIELDS)}
        (answer,) = self.search([body])
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
        terms = most_frequent(field, count, self.shards)
        if prefix:
            terms["include"] = f"{schema.literal(prefix)}.*"
        aggregations = {"terms": {"terms": terms}}
        body = {"query": self.visible(), "size": 0, "aggs": aggregations}
        (answer,) = self.search([body])
        counted = answer["aggregations"]["terms"]
        found = [(str(of["key"]), int(of["doc_count"])) for of in counted["buckets"]]
        # Of several shards, each may have left out terms of which the others have more.
        is_ranked = not counted["doc_count_error_upper_bound"]
        return FrequentTerms(found, len(found) < count, is_ranked)

    def _some_words(self, field: str) -> FrequentTerms:
        """Look at the words of some chunks, for the cluster does not list the most frequent."""
        query = by_chance(self.visible())
        source = [*_source((schema.CONTENT, schema.DETAILS)), schema.LANGUAGES]
        (answer,) = self.search([{"query": query, "size": _MOST_READ, "_source": source}])
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
        self.encoder.load(self.model)

    def selection(self, request: SearchRequest) -> ClusterSelection:
        return ClusterSelection(self, request)

    def document_terms(self) -> list[str]:
        first, field = self._chunks(FIRST_CHUNK), schema.SOURCE_DOCUMENT
        hits = self.every(first, _source=False, docvalue_fields=[field])
        return sorted(str(hit["fields"][field][0]) for hit in hits)

    def file_states(self, source_document: str | None = None) -> dict[str, FileState]:
        named = () if source_document is None else (of_documents([source_document]),)
        query = visible(self.state, IS_FILE, *named)
        found = self.every_stored(query, ["_doc"])
        states = dict(unpack(stored[schema.FILE_STATE]) for stored in found)
        if source_document is not None or not self.is_part:
            return states
        seen = {*self.document_terms()}
        return {name: state for name, state in states.items() if schema.keyword(name) in seen}

    def fingerprinted(self) -> Iterator[Fingerprinted]:
        if schema.FINGERPRINT not in self.terms.fields:
            return
        query, order = self.visible(HAS_FINGERPRINT), [{schema.SOURCE_DOCUMENT: "asc"}]
        every = self.every_stored(query, order)
        yield from filter(None, map(fingerprinted, every))

    def figures(self) -> Figures:
        store = self.store
        figures = store.connection.get(f"/{store.name}/_stats/docs,store,segments")["_all"]["total"]
        mapping, version = (
            store.described()["mappings"]["_meta"],
            store.connection.get("/")["version"],
        )
        chunks = self.number_of(self.visible())
        every = self.number_of({"bool": {"filter": [IS_CHUNK]}})
        # Of all copies of the shards; of a part as much as it has of the chunks.
        size = figures["store"]["size_in_bytes"]
        return Figures(
            deleted_chunks=0 if self.is_part else every - chunks,
            segments=figures["segments"]["count"],
            size_bytes=round(size * chunks / max(1, every)) if self.is_part else size,
            changed=utc_time(self.state.changed),
            schema_version=mapping[schema.COMMIT_SCHEMA],
            software_version=mapping[schema.COMMIT_SOFTWARE],
            lucene_version=f"{version['lucene_version']} (OpenSearch {version['number']})",
        )


def _by_frequency(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _source(fields: Sequence[str]) -> list[str]:
    return [f"stored.{name}" for name in fields]


_MOST_ATTEMPTS: Final = 20
"""Number of times that a call begins anew because the state of the index has changed."""

_MOST_ROUTINGS: Final = 10_000
"""Number of routing values that are tried until each shard has one."""


_MAX_PARTS: Final = 16
"""Maximum number of parts, each of some collections, of which something is known."""


class IndexOnCluster(ReadableIndex):
    """An index on a cluster that is open for reading, by any number of threads at once."""

    def __init__(
        self,
        path: Path | str,
        program: vm.Program,
        weights: Weights = DEFAULT_WEIGHTS,
        *,
        versions: Collection[int] = (schema.SCHEMA_VERSION,),
    ) -> None:
        self.store = Store(Connection(path), versions=versions)
        self.path = self.store.path
        self._refreshes = 0
        self._weights = weights
        self._program = program
        self._encoder = QueryEncoder()
        self._lock = Lock()
        self._newest: ClusterBackend | None = None

    @property
    def refreshes(self) -> int:
        return self._refreshes

    def commit(self, limits: Limits) -> str | None:
        # Batches begin anew in an index that was made anew.
        commit = self.call(
            lambda of: f"{of.state.identity}-{of.state.next}-{of.state.changed}", limits
        )
        return f"{commit}-{limits.name}" if limits.names else commit

    def close(self) -> None:
        self._newest = None
        self.store.connection.close()

    def call(
        self,
        work: Callable[[ClusterBackend], Result],
        limits: Limits = EVERYTHING,
        cancellation: Cancellation | None = None,
        *,
        is_search: bool = False,
    ) -> Result:
        """Do work on the state of the index, again if the state changes meanwhile.

        A search may begin with the last known state, since it asks for the state itself.
        """
        applied = cancellation.applies() if cancellation else nullcontext()
        with vm.attached(self._program), applied:
            for attempt in range(_MOST_ATTEMPTS):
                snapshot = self.newest(is_checked=is_search and not attempt)
                try:
                    return work(self._within(limits, snapshot))
                except StaleError:
                    continue
                except McpLuceneError as error:
                    # What is missed, such as a field, may have been written since an earlier call.
                    if snapshot.read_at is not None or isinstance(error, IndexFolderError):
                        raise
            raise ClusterBusyError(
                self.path, "the index changes faster than it can be read", "ask again later"
            )

    def newest(self, *, is_checked: bool = False) -> ClusterBackend:
        """Return the state of the index, which may be an earlier one if the caller checks it.

        What it looks up is its own.
        """
        with self._lock:
            last = self._newest
            if last is not None and is_checked:
                return replace(last, read_at=None)
            now = time.monotonic()
            described = self.store.described() if last is None else None
            state, _ = self.store.state()
            if last is None or last.state != state:
                described = described or self.store.described()
                shards = int(described["settings"]["index"]["number_of_shards"])
                if last and (last.state.identity, last.shards) == (state.identity, shards):
                    routings = last.known.routings
                else:
                    # Another index may have taken the name.
                    routings = self._find_routings(shards)
                fields = layout.fields_of(described["mappings"])
                known = KnownTerms(self.store, routings, fields)
                of = (self.store, state, known, self.path, self._weights, shards, self._encoder)
                self._newest = last = ClusterBackend(*of)
                self._refreshes += 1
            return replace(last, read_at=now)

    def _within(self, limits: Limits, whole: ClusterBackend) -> ClusterBackend:
        """Return what a call may see of a state of the index.

        Every question is asked of the chunks within the limits: each request has a condition on
        them, and terms are counted there. Only scores take frequencies from the whole index, as in
        a folder.
        """
        if not limits.names:
            return replace(whole, limits=limits)
        parts = whole.known.parts
        part = parts.get(limits.names)
        if part is None:
            condition = compiled(within(limits, whole.terms, whole.folders), scores=False)
            chunks = {"bool": {"filter": [IS_CHUNK, condition]}}
            part = chunks, PartTerms(self.store, whole.known.fields, visible(whole.state, chunks))
            if len(parts) >= _MAX_PARTS:
                parts.clear()
            parts[limits.names] = part
        return replace(whole, limits=limits, chunks=part[0], known=part[1])

    def _find_routings(self, shards: int) -> Sequence[str | None]:
        if shards == 1:
            return [None]
        found: dict[int, str | None] = {}
        for number in range(_MOST_ROUTINGS):
            answer = self.store.connection.get(
                f"/{self.store.name}/_search_shards", routing=str(number)
            )
            (copies,) = answer["shards"]
            if not copies:
                raise part_missing(self.path)
            found.setdefault(copies[0]["shard"], str(number))
            if len(found) == shards:
                break
        return list(found.values())
