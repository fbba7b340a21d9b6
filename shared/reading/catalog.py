"""Catalog: the documents of an index as a list that every commit may change."""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, Final

from java.util import Arrays
from org.apache.lucene.facet import (
    FacetResult,
    FacetsCollectorManager,
    StringDocValuesReaderState,
    StringValueFacetCounts,
)
from org.apache.lucene.index import DirectoryReader, SegmentReader, Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    ConstantScoreQuery,
    RegexpQuery,
    TermInSetQuery,
    TermQuery,
)
from org.apache.lucene.util import BytesRef

from shared.model import schema
from shared.model.index_results import DocumentSummary, Names
from shared.model.metadata import chunk_metadata
from shared.reading.completion import (
    Purpose,
    complete_fields,
    complete_files,
    complete_values,
    value_field,
)
from shared.reading.opening.limited_index import LimitedIndex
from shared.reading.opening.open_index import OpenIndex
from shared.reading.stored_documents import stored_document
from shared.storage.chunk_queries import first_chunks, known_value, prefix_query
from shared.storage.commits import Snapshot, cached_per_commit, indexed_folders
from shared.storage.field_names import names_with_terms
from shared.storage.stored_chunks import SUMMARY_FIELDS, stored_fields, summary_from_lucene
from shared.storage.terms import FILE_FIELD, terms_with_prefix


@dataclass(frozen=True)
class DocumentVersion:
    """Version of a document; versions are equal if text, title and metadata are.

    Attributes:
        digest: hash of everything that is shown of the document.
        place: its location in Lucene's segments; a document that has not moved has not changed.
    """

    digest: str
    place: str = field(compare=False)


class Catalog:
    """Catalog of the documents of an index; every call answers from the newest commit.

    Args:
        index: the index, or a part of it.
    """

    def __init__(self, index: OpenIndex | LimitedIndex) -> None:
        self._index = index

    def commit(self) -> int:
        """Return a number that changes with every commit."""
        with self._index.newest() as searcher:
            return _number_of_commit(searcher.getIndexReader())

    def documents(
        self, *, after: str | None = None, prefix: str = "", limit: int
    ) -> list[DocumentSummary]:
        """Return documents in the order of their ids.

        Unlike an offset, an id keeps its place in the list while documents are added and deleted.

        Args:
            after: only documents whose id comes after this one, which need not exist.
            prefix: only documents whose id has this prefix.
            limit: the maximum number of documents, from 1.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        with self._index.newest() as searcher:
            return list(islice(self._documents(searcher, after, prefix), limit))

    def document_ids(self, prefix: str, limit: int) -> Names:
        """Return the ids of documents that begin with a prefix.

        Raises:
            InvalidTextError: the prefix is not valid Unicode.
        """
        with self._index.newest() as searcher:
            found = islice(self._documents(searcher, None, prefix), limit)
            ids = [summary.source_document for summary in found]
            total = searcher.count(first_chunks(prefix_query(schema.SOURCE_DOCUMENT, prefix)))
            return Names(total, ids)

    def documents_of_files(self, paths: Iterable[str], limit: int) -> list[str]:
        """Return the sorted ids of documents that were made from files.

        Args:
            paths: the absolute paths of the files, which need not exist any more.
            limit: the maximum number of ids, from 1.

        Raises:
            InvalidTextError: a path is not valid Unicode.
        """
        with self._index.newest() as searcher:
            folders = indexed_folders(searcher.getIndexReader(), self._index.path)
            terms = [schema.keyword(term) for path in paths for term in folders.terms(path)]
            either = BooleanQuery.Builder()
            exact = TermInSetQuery(FILE_FIELD, Arrays.asList([*map(BytesRef, terms)]))
            either.add(exact, BooleanClause.Occur.SHOULD)
            for spellings in filter(None, map(schema.any_spelling, terms)):
                expression = RegexpQuery(Term(FILE_FIELD, spellings))
                either.add(expression, BooleanClause.Occur.SHOULD)
            of_files = either.build()
            stored, fields = searcher.storedFields(), stored_fields(schema.SOURCE_DOCUMENT)
            found = searcher.search(first_chunks(of_files), limit).scoreDocs
            ids = (stored.document(hit.doc, fields).get(schema.SOURCE_DOCUMENT) for hit in found)
            return sorted(map(str, ids))

    def complete_ids(self, typed: str) -> list[str]:
        """Return the completions of a document id; see `shared.reading.completion`."""
        with self._index.newest() as searcher:
            return complete_values(searcher, schema.SOURCE_DOCUMENT, typed)

    def complete_files(self, typed: str) -> list[str]:
        """Return the completions of an absolute file path; see `shared.reading.completion`."""
        with self._index.newest() as searcher:
            return complete_files(Snapshot(searcher, self._index.path), typed)

    def complete_values(self, field: str, typed: str) -> list[str]:
        """Return the completions of a value of a field, which has its name in filters."""
        with self._index.newest() as searcher:
            return complete_values(searcher, value_field(field), typed)

    def complete_fields(self, purpose: Purpose) -> list[str]:
        """Return the names of the fields that can be used for a purpose."""
        with self._index.newest() as searcher:
            return complete_fields(searcher.getIndexReader(), purpose)

    def document_terms(self) -> set[str]:
        """Return the terms of the document ids; see `shared.model.schema.keyword`.

        Terms of deleted documents are included until their segment is merged.
        """
        with self._index.newest() as searcher:
            reader = searcher.getIndexReader()
            return {term for term, _ in terms_with_prefix(reader, schema.SOURCE_DOCUMENT, "")}

    def chunk_ids(self, prefix: str, limit: int) -> Names:
        """Return the ids of chunks that begin with a prefix, at most `limit` of them.

        Raises:
            InvalidTextError: the prefix is not valid Unicode.
        """
        with self._index.newest() as searcher:
            terms = terms_with_prefix(
                searcher.getIndexReader(), schema.ID, schema.keyword_prefix(prefix)
            )
            ids = (
                term
                for term, _ in terms
                # The term of a very long id contains only its beginning.
                if "\0" not in term and searcher.count(TermQuery(Term(schema.ID, term)))
            )
            total = searcher.count(prefix_query(schema.ID, prefix))
            return Names(total, list(islice(ids, limit)))

    def field_names(self) -> list[str]:
        """Return the public names of the fields that have terms."""
        with self._index.newest() as searcher:
            return names_with_terms(searcher.getIndexReader())

    def digest_of_ids(self) -> str:
        """Return a text that changes if and only if a document is added or deleted.

        Java makes one text of 100,000 ids in 0.1 s; Python would take a second.
        """
        with self._index.newest() as searcher:
            reader = searcher.getIndexReader()
            if not reader.numDocs():
                return ""
            state = StringDocValuesReaderState(reader, schema.SOURCE_DOCUMENT)
            unscored = ConstantScoreQuery(first_chunks())
            manager = FacetsCollectorManager()
            found = FacetsCollectorManager.search(searcher, unscored, 1, manager)
            counts = StringValueFacetCounts(state, found.facetsCollector())
            ids = FacetResult.cast_(counts.getAllChildren(schema.SOURCE_DOCUMENT, [])).toString()
            # They are in alphabetical order unless most documents were deleted.
            return hashlib.sha256("\n".join(sorted(ids.split("\n"))).encode()).hexdigest()

    def versions(
        self, known: Mapping[str, DocumentVersion | None]
    ) -> dict[str, DocumentVersion | None]:
        """Return the present version of some documents; None for those that do not exist.

        Args:
            known: the last known version of each document, if any: a document that has not moved
                since is not read again.
        """
        with self._index.newest() as searcher:
            return {name: _version(searcher, name, last) for name, last in known.items()}

    def _documents(
        self, searcher: Any, after: str | None, prefix: str
    ) -> Iterator[DocumentSummary]:
        reader = searcher.getIndexReader()
        folders = indexed_folders(reader, self._index.path)
        last = None if after is None else schema.keyword(after)
        beginning = schema.keyword_prefix(prefix)
        stored = searcher.storedFields()
        fields = stored_fields(*SUMMARY_FIELDS)
        for term, _ in terms_with_prefix(
            reader, schema.SOURCE_DOCUMENT, beginning, start=last or ""
        ):
            # Terms of replaced or deleted documents stay until segments merge.
            if term != last and (number := _lucene_number(searcher, term)) is not None:
                yield summary_from_lucene(stored.document(number, fields), folders)


_numbers: Final = count(1)


@cached_per_commit
def _number_of_commit(_reader: Any) -> int:
    """Return a number that no other commit of any index has in this process."""
    return next(_numbers)


def _lucene_number(searcher: Any, term: str) -> int | None:
    """Return Lucene's number of a document's first chunk; None if there is no such document."""
    query = first_chunks(TermQuery(Term(schema.SOURCE_DOCUMENT, term)))
    found = searcher.search(query, 1).scoreDocs
    return found[0].doc if len(found) else None


def _version(
    searcher: Any, source_document: str, last: DocumentVersion | None
) -> DocumentVersion | None:
    known = known_value(searcher, schema.SOURCE_DOCUMENT, source_document)
    number = _lucene_number(searcher, schema.keyword(known))
    if number is None:
        return None
    # The chunks of a document are written together, so the first one stands for all.
    place = _state_in_segment(searcher.getIndexReader(), number)
    if last is not None and last.place == place:
        return last
    stored = stored_document(searcher, number)
    document = stored.document
    shown = json.dumps([document.title, chunk_metadata(document.metadata)], sort_keys=True)
    digest = hashlib.sha256(shown.encode())
    for chunk, _ in stored.chunks:
        # UTF-8 text never contains this byte, so it separates the chunks unambiguously.
        digest.update(b"\xff" + chunk.content.encode())
    return DocumentVersion(digest.hexdigest(), place)


def _state_in_segment(reader: Any, number: int) -> str:
    """Return the location of a chunk: the random id of its segment and its number within it."""
    bases, segments = _segments(reader)
    segment = bisect_right(bases, number) - 1
    return f"{segments[segment]}:{number - bases[segment]}"


@cached_per_commit
def _segments(reader: Any) -> tuple[list[int], list[str]]:
    """Return the number of the first chunk in each segment, and the ids of the segments."""
    bases, ids = [], []
    for context in DirectoryReader.cast_(reader).leaves():
        bases.append(int(context.docBase))
        info = SegmentReader.cast_(context.reader()).getSegmentInfo().info
        ids.append(bytes(byte & 0xFF for byte in info.getId()).hex())
    return bases, ids
