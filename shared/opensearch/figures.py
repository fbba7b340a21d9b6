"""Terms, fields and statistics of an index on a cluster."""

from itertools import islice
from typing import Final

from shared.messages import decodable, utc_time
from shared.model import metadata, schema
from shared.model.index_results import (
    FieldList,
    IndexStatistics,
    TermCount,
    TermList,
)
from shared.opensearch import layout
from shared.opensearch.documents import FIRST_CHUNK
from shared.opensearch.queries import IS_CHUNK
from shared.opensearch.search.facets import most_frequent
from shared.opensearch.snapshot import ClusterSnapshot
from shared.reading.fields import described_fields
from shared.reading.terms import MAX_LISTED_TERMS, analyzed_prefix
from shared.storage.field_names import field_named
from shared.storage.terms import FILE_FIELD, shown

_TEXT_FIELDS: Final = (schema.CONTENT, schema.TITLE, schema.STEMS)
_EXAMPLES: Final = 3
_MOST_VALUES: Final = 10_000


def with_terms(snapshot: ClusterSnapshot) -> set[str]:
    """Return the fields that have terms."""
    existing = snapshot.known.fields
    return {field for field in existing if not schema.is_number_field(field)}


def values_of(snapshot: ClusterSnapshot, field: str, prefix: str, size: int) -> list[TermCount]:
    """Return values of a keyword field with a prefix, the most frequent first."""
    if field == schema.ID:
        return []
    pattern = "".join(sign if sign.isalnum() else f"\\{sign}" for sign in prefix)
    terms = most_frequent(field, size, snapshot.shards)
    if prefix:
        terms["include"] = f"{pattern}.*"
    body = {"query": snapshot.visible(), "size": 0, "aggs": {"terms": {"terms": terms}}}
    (found,) = snapshot.search([body])
    buckets = found["aggregations"]["terms"]["buckets"]
    return [TermCount(str(of["key"]), of["doc_count"]) for of in buckets]


def suggest_terms(snapshot: ClusterSnapshot, name: str, prefix: str, limit: int) -> TermList:
    """Return terms with a prefix; see `shared.Searcher.suggest_terms`."""
    field = field_named(name, with_terms(snapshot))
    spelled = analyzed_prefix(field, prefix)
    if not spelled:
        notice = (
            "The prefix has no characters that the index keeps, so no terms match; give another "
            "prefix, or none."
        )
        return TermList(field=name, prefix=spelled, terms=[], complete=False, notice=notice)
    return _term_list(snapshot, name, field, spelled, limit, 1)


def top_terms(snapshot: ClusterSnapshot, name: str, limit: int, min_length: int) -> TermList:
    """Return the most frequent terms; see `shared.Searcher.top_terms`."""
    field = field_named(name, with_terms(snapshot))
    return _term_list(snapshot, name, field, "", limit, min_length)


def _term_list(
    snapshot: ClusterSnapshot, name: str, field: str, prefix: str, limit: int, min_length: int
) -> TermList:
    """Return the most frequent terms with a prefix, of those that can be compared."""
    if schema.is_keyword_field(field):
        folders = snapshot.folders
        prefixes = folders.term_prefixes(prefix) if field == FILE_FIELD and prefix else [prefix]
        found = [
            of for part in prefixes for of in values_of(snapshot, field, part, MAX_LISTED_TERMS)
        ]
        terms = [TermCount(shown(field, of.term, folders), of.chunks) for of in found]
        complete = len(terms) < MAX_LISTED_TERMS
    elif field in _TEXT_FIELDS:
        pairs = snapshot.terms.beginning_with(field, prefix, MAX_LISTED_TERMS)
        terms = [TermCount(term, count) for term, count in pairs]
        complete = not snapshot.terms.has_more(field, prefix, MAX_LISTED_TERMS)
    else:
        terms, complete = [], False
    terms = [of for of in terms if len(of.term) >= min_length]
    terms.sort(key=lambda of: (-of.chunks, of.term))
    return TermList(
        field=name,
        prefix=prefix,
        terms=terms[:limit],
        complete=complete,
        notice=None
        if complete
        else f"On a cluster at most {MAX_LISTED_TERMS:,} terms are compared, of words, stems and "
        "whole values only; give a prefix.",
    )


def list_fields(snapshot: ClusterSnapshot) -> FieldList:
    """Return the fields of the index; see `shared.Searcher.fields`."""
    total = snapshot.count(snapshot.visible())

    def count(field: str) -> int:
        if field not in snapshot.known.fields:
            return 0
        exists = {"exists": {"field": layout.field(field)}}
        return snapshot.count(snapshot.visible(exists))

    def examples(field: str) -> list[str]:
        values = values_of(snapshot, field, "", _EXAMPLES)
        return [shown(field, of.term, snapshot.folders) for of in values]

    return described_fields(with_terms(snapshot), total, count, examples, snapshot.collections)


def statistics(snapshot: ClusterSnapshot) -> IndexStatistics:
    """Return the statistics of the index, of all copies of its shards; of a part its share."""
    store = snapshot.store
    figures = store.connection.get(f"/{store.name}/_stats/docs,store,segments")["_all"]["total"]
    mapping = store.mapping()["_meta"]
    chunks = snapshot.count(snapshot.visible())
    every = snapshot.count({"bool": {"filter": [IS_CHUNK]}})
    is_part = bool(snapshot.limits.names)
    size = figures["store"]["size_in_bytes"]
    version = store.connection.get("/")["version"]
    return IndexStatistics(
        path=str(snapshot.path),
        documents=snapshot.count(snapshot.visible(FIRST_CHUNK)),
        chunks=chunks,
        deleted_chunks=0 if is_part else every - chunks,
        segments=figures["segments"]["count"],
        size_bytes=round(size * chunks / max(1, every)) if is_part else size,
        languages=_documents_by(metadata.LANGUAGE, snapshot),
        formats=_documents_by(metadata.FILE_EXTENSION, snapshot),
        changed=utc_time(snapshot.state.changed),
        folders={decodable(str(of.path)): of.prefix for of in snapshot.folders},
        schema_version=mapping[schema.COMMIT_SCHEMA],
        software_version=mapping[schema.COMMIT_SOFTWARE],
        lucene_version=f"{version['lucene_version']} (OpenSearch {version['number']})",
    )


def _documents_by(key: str, snapshot: ClusterSnapshot) -> dict[str, int]:
    """Return the number of documents by value of a metadata key, the most frequent first."""
    field = schema.metadata_field(key)
    if field not in snapshot.known.fields:
        return {}
    terms = most_frequent(field, _MOST_VALUES, snapshot.shards)
    query = snapshot.visible(FIRST_CHUNK)
    (found,) = snapshot.search([{"query": query, "size": 0, "aggs": {"by": {"terms": terms}}}])
    buckets = found["aggregations"]["by"]["buckets"]
    counts = {str(of["key"]): int(of["doc_count"]) for of in islice(buckets, _MOST_VALUES)}
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
