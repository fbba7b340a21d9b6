"""Catalog of the documents of an index on a cluster."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from shared.errors import (
    DocumentNotFoundError,
)
from shared.model import schema
from shared.model.filters import Limits
from shared.model.index_results import (
    DocumentSummary,
    Names,
)
from shared.model.metadata import chunk_metadata
from shared.model.request import (
    BY_ID,
)
from shared.opensearch import documents as of_cluster, layout
from shared.opensearch.cluster import Cluster
from shared.opensearch.documents import FIRST_CHUNK, prefix_condition
from shared.opensearch.figures import values_of, with_terms
from shared.opensearch.queries import IS_CHUNK
from shared.opensearch.snapshot import ClusterSnapshot
from shared.reading.catalog import Catalog, DocumentVersion
from shared.reading.completion import (
    MAX_COMPLETIONS,
    Purpose,
    fields_for,
    value_field,
)
from shared.storage.field_names import names_of
from shared.storage.terms import FILE_FIELD, shown

Result = TypeVar("Result")

_MOST_VALUES: Final = 10_000


class ClusterCatalog(Catalog):
    """Catalog of the documents of an index on a cluster.

    Args:
        cluster: the index.
        limits: what of the index the catalog has.
    """

    def __init__(self, cluster: Cluster, limits: Limits) -> None:
        self._cluster = cluster
        self._limits = limits

    def _call(self, work: Callable[[ClusterSnapshot], Result]) -> Result:
        return self._cluster.call(work, limits=self._limits)

    def commit(self) -> int:
        """Return a number that changes with every commit."""
        return self._call(lambda snapshot: snapshot.number)

    def documents(
        self, *, after: str | None = None, prefix: str = "", limit: int
    ) -> list[DocumentSummary]:
        """Return documents in the order of their ids; see `Catalog.documents`."""

        def found(snapshot: ClusterSnapshot) -> list[DocumentSummary]:
            conditions = [prefix_condition(schema.SOURCE_DOCUMENT, prefix), FIRST_CHUNK]
            if after is not None:
                conditions.append(
                    {"range": {schema.SOURCE_DOCUMENT: {"gt": schema.keyword(after)}}}
                )
            query, order = snapshot.visible(*conditions), [{schema.SOURCE_DOCUMENT: "asc"}]
            return list(of_cluster.summaries(snapshot, query, order, limit))

        return self._call(found)

    def document_ids(self, prefix: str, limit: int) -> Names:
        """Return the ids of documents that begin with a prefix."""
        found = self._call(
            lambda snapshot: of_cluster.list_documents(snapshot, prefix, 0, limit, BY_ID)
        )
        return Names(found.total_documents, [of.source_document for of in found.documents])

    def documents_of_files(self, paths: Iterable[str], limit: int) -> list[str]:
        """Return the sorted ids of documents that were made from files."""

        def found(snapshot: ClusterSnapshot) -> list[str]:
            terms = [
                schema.keyword(term) for path in paths for term in snapshot.folders.terms(path)
            ]
            field = layout.field(FILE_FIELD)
            spellings = filter(None, map(schema.any_spelling, terms))
            either = [{"regexp": {field: {"value": spelling}}} for spelling in spellings]
            of_files = {"bool": {"should": [{"terms": {field: terms}}, *either]}}
            query, order = (
                snapshot.visible(of_files, FIRST_CHUNK),
                [{schema.SOURCE_DOCUMENT: "asc"}],
            )
            summaries = of_cluster.summaries(snapshot, query, order, limit)
            return sorted(summary.source_document for summary in summaries)

        return self._call(found)

    def complete_ids(self, typed: str) -> list[str]:
        """Return the completions of a document id."""
        return self._completed(schema.SOURCE_DOCUMENT, typed)

    def complete_files(self, typed: str) -> list[str]:
        """Return the completions of an absolute file path."""

        def found(snapshot: ClusterSnapshot) -> list[str]:
            paths = {
                shown(FILE_FIELD, value, snapshot.folders)
                for beginning in snapshot.folders.term_prefixes(typed)
                for value in _values(snapshot, FILE_FIELD, beginning)
            }
            return _cut(paths, typed)

        return self._call(found)

    def complete_values(self, field: str, typed: str) -> list[str]:
        """Return the completions of a value of a field, which has its name in filters."""
        return self._completed(value_field(field), typed)

    def _completed(self, field: str, typed: str) -> list[str]:
        def found(snapshot: ClusterSnapshot) -> list[str]:
            if field not in snapshot.known.fields:
                return []
            return _cut(_values(snapshot, field, typed), typed)

        return self._call(found)

    def complete_fields(self, purpose: Purpose) -> list[str]:
        """Return the names of the fields that can be used for a purpose."""
        return self._call(lambda snapshot: fields_for(purpose, with_terms(snapshot)))

    def document_terms(self) -> set[str]:
        """Return the terms of the document ids."""
        return self._call(of_cluster.document_terms)

    def chunk_ids(self, prefix: str, limit: int) -> Names:
        """Return the ids of chunks that begin with a prefix, at most `limit` of them."""

        def found(snapshot: ClusterSnapshot) -> Names:
            query = snapshot.visible(prefix_condition(schema.ID, prefix), IS_CHUNK)
            order = [{schema.SOURCE_DOCUMENT: "asc"}, {schema.CHUNK_INDEX: "asc"}]
            body = {"query": query, "size": limit, "sort": order, "_source": ["stored.id"]}
            (answer_,) = snapshot.search([body])
            ids = [hit["_source"]["stored"][schema.ID] for hit in answer_["hits"]["hits"]]
            return Names(snapshot.count(query), ids)

        return self._call(found)

    def field_names(self) -> list[str]:
        """Return the public names of the fields that have terms."""
        return self._call(lambda snapshot: names_of(with_terms(snapshot)))

    def digest_of_ids(self) -> str:
        """Return a text that changes if and only if a document is added or deleted."""
        terms = sorted(self.document_terms())
        return hashlib.sha256("\n".join(terms).encode()).hexdigest() if terms else ""

    def versions(
        self, known: Mapping[str, DocumentVersion | None]
    ) -> dict[str, DocumentVersion | None]:
        """Return the present version of some documents; None for those that do not exist."""
        return self._call(lambda snapshot: {name: _version(snapshot, name) for name in known})


def _version(snapshot: ClusterSnapshot, source_document: str) -> DocumentVersion | None:
    try:
        chunks = of_cluster.document_chunks(snapshot, source_document, 1, None).chunks
    except DocumentNotFoundError:
        return None
    details = of_cluster.document_details(snapshot, source_document)
    shown_ = json.dumps([details.title, chunk_metadata(details.metadata)], sort_keys=True)
    digest = hashlib.sha256(shown_.encode())
    for chunk in chunks:
        digest.update(b"\xff" + chunk.content.encode())
    return DocumentVersion(digest.hexdigest(), digest.hexdigest())


def _values(snapshot: ClusterSnapshot, field: str, beginning: str) -> set[str]:
    """Return the values of a field with a prefix; none if there are too many to look at.

    A shell would take some of them for all, and complete what they have in common.
    """
    found = values_of(snapshot, field, beginning, _MOST_VALUES + 1)
    return {of.term for of in found} if len(found) <= _MOST_VALUES else set()


def _cut(values: Iterable[str], typed: str) -> list[str]:
    """Return values as a shell completes paths: each up to the next slash after what was typed."""
    found = set()
    for value in values:
        if value.startswith(typed) and "\0" not in value:
            slash = value.find("/", len(typed))
            found.add(value if slash < 0 else value[: slash + 1])
    only = next(iter(found)) if len(found) == 1 else ""
    if only.endswith("/") and only != typed:
        return _cut(values, only)
    return sorted(found) if len(found) <= MAX_COMPLETIONS else []
