"""An index in a folder, open for reading, and its parts by the collections that they consist of."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

from org.apache.lucene.index import MultiTerms
from org.apache.lucene.misc import HighFreqTerms, TermStats
from org.apache.lucene.search import ScoreDoc

from shared.files.index_folder import size_bytes
from shared.java import vm
from shared.java.cancellation import Cancellation
from shared.messages import utc_time
from shared.model import schema
from shared.model.document import FileState
from shared.model.filters import Limits, Names
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.query.lucene import Compiler, LuceneTerms, terms_of, terms_with_prefix
from shared.query.tree import Exists, Node
from shared.reading.backend import (
    FIRST_CHUNK,
    Backend,
    Figures,
    FrequentTerms,
    ReadableIndex,
    Result,
    Stored,
    chunks_of,
    first_of,
    value_of,
)
from shared.reading.limited_index import LimitedIndex
from shared.reading.open_index import OpenIndex
from shared.search.facets import document_terms, order
from shared.search.lucene_selection import LuceneSelection, fingerprinted
from shared.search.selection import Fingerprinted, Meaning
from shared.semantic.models import missing_library
from shared.semantic.query_encoder import QueryEncoder
from shared.storage.commits import Snapshot, cached_per_commit, is_limited, user_data
from shared.storage.field_names import fields_with_terms
from shared.storage.mapping import file_state, file_states
from shared.storage.stored_chunks import SHOWN_FIELDS, stored_fields
from shared.storage.vectors import all_vectors

_MAX_OPEN: Final = 16
"""Maximum number of parts that stay open; the one that was used least recently is closed."""

_BLOCK: Final = 1_000  # documents whose fingerprints are read at once

_CONDITIONS: Final = Compiler(scores=False)


class IndexFolder(ReadableIndex):
    """An index folder, and the parts of it that are open.

    The folder is not touched until the first call: the index may be created, replaced or deleted
    at any time.
    """

    def __init__(self, path: Path | str, program: vm.Program, weights: Weights) -> None:
        self._whole = OpenIndex(path, program, weights)
        self.path = self._whole.path
        self._weights = weights
        self._encoder = QueryEncoder()
        self._lock = threading.Lock()
        self._parts: OrderedDict[Names, LimitedIndex] = OrderedDict()
        self._closed: list[LimitedIndex] = []

    @property
    def refreshes(self) -> int:
        return self._whole.refreshes

    def call(
        self,
        work: Callable[[Backend], Result],
        limits: Limits,
        cancellation: Cancellation | None = None,
        *,
        is_search: bool = False,  # noqa: ARG002 - of a cluster
    ) -> Result:
        with self._index(limits).newest(cancellation) as searcher:
            of = (searcher, self.path, self._weights, self._encoder, limits.collections)
            return work(LuceneBackend(*of))

    def commit(self, limits: Limits) -> str | None:
        return self._index(limits).commit()

    def close(self) -> None:
        # The parts have links to files of the index, which Windows keeps while either is in use.
        self._whole.close()
        with self._lock:
            parts = [*self._parts.values(), *self._closed]
            self._parts.clear()
            self._closed.clear()
        for part in parts:
            part.close()
        # Those that were closed first had links to files that others had open.
        for part in parts:
            part.delete_links()

    def _index(self, limits: Limits) -> OpenIndex | LimitedIndex:
        """Return the part within some limits, as an index of its own."""
        if not limits.names:
            return self._whole
        least = None
        with self._lock:
            part = self._parts.setdefault(limits.names, LimitedIndex(self._whole, limits))
            self._parts.move_to_end(limits.names)
            if len(self._parts) > _MAX_OPEN:
                least = self._parts.popitem(last=False)[1]
            self._closed = [each for each in self._closed if not each.delete_links()]
            if least is not None:
                self._closed.append(least)
        if least is not None:
            # Calls that still read it keep it open until they end.
            least.close()
        return part


class LuceneBackend(Snapshot, Backend):
    """A commit of an index folder, or of a part of it, as one call sees it."""

    @cached_property
    def is_part(self) -> bool:
        return is_limited(self.reader)

    @cached_property
    def has_deletions(self) -> bool:
        return bool(self.reader.hasDeletions())

    @property
    def terms(self) -> LuceneTerms:
        return terms_of(self.reader)

    @property
    def fields(self) -> set[str]:
        return fields_with_terms(self.reader)

    def count(self, tree: Node) -> int:
        return int(self.searcher.count(_CONDITIONS.query(tree)))

    def stored(
        self,
        tree: Node,
        fields: Sequence[str],
        sort: str = "",
        offset: int = 0,
        limit: int | None = None,
    ) -> Iterator[Stored]:
        end = self.count(tree) if limit is None else offset + limit
        if end <= offset:
            return
        found = self._numbers(tree, end, sort)
        stored, loaded = self.searcher.storedFields(), stored_fields(*fields)
        for number in islice(found, offset, None):
            yield stored.document(number, loaded)

    def _numbers(self, tree: Node, count: int, sort: str = "") -> Iterator[int]:
        """Yield Lucene's numbers of the first chunks that a tree matches."""
        query = _CONDITIONS.query(tree)
        in_order = (order(sort, self.reader),) if sort else ()
        return (hit.doc for hit in self.searcher.search(query, count, *in_order).scoreDocs)

    def scored(self, tree: Node, limit: int) -> list[tuple[Stored, float]]:
        hits = self.searcher.search(Compiler(self.terms).query(tree), limit).scoreDocs
        return self._loaded((hit.doc, hit.score) for hit in map(ScoreDoc.cast_, hits))

    def _loaded(self, chunks: Iterator[tuple[int, float]]) -> list[tuple[Stored, float]]:
        stored, loaded = self.searcher.storedFields(), stored_fields(*SHOWN_FIELDS)
        return [(stored.document(number, loaded), score) for number, score in chunks]

    def most_frequent(self, field: str, prefix: str, count: int) -> FrequentTerms:
        reader = self.stoppable().reader
        if prefix:
            terms = terms_with_prefix(reader, field, prefix)
            found = list(islice(terms, count))
            is_whole = next(terms, None) is None
        elif MultiTerms.getTerms(reader, field) is None:
            return FrequentTerms([], is_whole=True)
        else:
            # Java iterates over all terms in a fifth of the time that Python needs.
            by_frequency = HighFreqTerms.DocFreqComparator()
            stats = HighFreqTerms.getHighFreqTerms(reader, count, field, by_frequency)
            each = map(TermStats.cast_, stats)
            found = [(one.termtext.utf8ToString(), one.docFreq) for one in each]
            is_whole = len(found) < count
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        return FrequentTerms(found, is_whole, is_ranked=not prefix)

    def selection(self, request: SearchRequest) -> LuceneSelection:
        return LuceneSelection(self, request)

    def document_terms(self) -> list[str]:
        if not self.reader.numDocs():
            return []
        return document_terms(self.searcher, _CONDITIONS.query(FIRST_CHUNK))

    def file_states(self, source_document: str | None = None) -> dict[str, FileState]:
        if source_document is None:
            return file_states(self.reader)
        (first,) = self._numbers(first_of(chunks_of(source_document)), 1)
        state = file_state(self.reader, first)
        return {source_document: state} if state else {}

    def fingerprinted(self) -> Iterator[Fingerprinted]:
        last_chunks = Exists(schema.FINGERPRINT)
        chunks = [*self._numbers(last_chunks, max(1, self.count(last_chunks)))]
        for begin in range(0, len(chunks), _BLOCK):
            yield from fingerprinted(self.searcher, chunks[begin : begin + _BLOCK])

    def figures(self) -> Figures:
        commit, data = self.reader.getIndexCommit(), user_data(self.reader)
        size = size_bytes(self.path / str(name) for name in commit.getFileNames())
        # Those of a part say nothing of the rest.
        share = self.reader.numDocs() / max(1, self.reader.maxDoc()) if self.is_part else 1.0
        return Figures(
            deleted_chunks=0 if self.is_part else self.reader.numDeletedDocs(),
            segments=commit.getSegmentCount(),
            size_bytes=round(size * share),
            changed=_time_of_change(self.path / str(commit.getSegmentsFileName())),
            schema_version=int(data[schema.COMMIT_SCHEMA]),
            software_version=data[schema.COMMIT_SOFTWARE],
            lucene_version=data[schema.COMMIT_LUCENE],
        )

    def once(self, work: Callable[[Backend], Result]) -> Result:
        results = _results(self.reader)
        if work not in results:
            results[work] = work(self)
        return cast("Result", results[work])

    def nearest(self, chunk_id: str, limit: int) -> list[tuple[Stored, float]] | None:
        model = self.model
        if model is None or missing_library() is not None:
            return None
        from shared.search.lucene_vectors import FolderVectors
        from shared.search.meaning import LEAST, chunk_vector, nearest

        (chunk,) = self._numbers(value_of(schema.ID, chunk_id), 1)
        vectors = FolderVectors(self.searcher)
        vector = chunk_vector(vectors, chunk)
        if vector is None:
            return None
        meaning = Meaning(vector, model.unrelated, 1.0, True, vectors)
        near = nearest(meaning, limit + 1, LEAST).items()
        others = [(number, found.cosine) for number, found in near if number != chunk]
        return self._loaded(iter(others[:limit]))

    def load_model(self) -> None:
        if self.encoder.load(self.model):
            all_vectors(self.reader)


@cached_per_commit
def _results(_: Any) -> dict[Callable[[Backend], Any], Any]:
    """Return what was made once of a commit."""
    return {}


def _time_of_change(commit: Path) -> str:
    """Return the time of a commit from its file; now if a newer commit has just replaced it."""
    try:
        changed = commit.stat().st_mtime
    except FileNotFoundError:
        changed = time.time()
    return utc_time(changed)
