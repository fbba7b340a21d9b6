"""Conditions in the query language of the cluster that every request needs."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.state import State

Query = dict[str, Any]

MOST_TERMS: Final = 50_000
"""Number of terms in one condition; the cluster refuses more than 65,536
(`index.max_terms_count`)."""

IS_CHUNK: Final[Query] = {"exists": {"field": schema.CHUNK_INDEX}}
"""Condition that a document is a chunk; others are the states of files and of the index."""

HAS_FINGERPRINT: Final = {"exists": {"field": schema.FINGERPRINT}}
"""Condition that a chunk has the fingerprint of its document."""

IS_FILE: Final = {"term": {layout.KIND: layout.FILE}}
"""Condition that a document is the state of a file."""


def by_chance(query: Query) -> Query:
    """Return a query that scores what another one matches by chance, each time alike."""
    by_number = {"seed": 1, "field": "_seq_no"}
    chosen = {"query": query, "random_score": by_number, "boost_mode": "replace"}
    return {"function_score": chosen}


def hidden(state: State) -> list[Query]:
    """Return conditions on what a search must not see, by the state that it has read."""
    found: list[Query] = [{"range": {layout.BATCH: {"gte": state.next}}}]
    if state.hidden_batches:
        found.append({"terms": {layout.BATCH: state.hidden_batches}})
    if versions := state.hidden_versions:
        found.append(any_of(layout.VERSION, versions))
    return found


def of_documents(source_documents: Iterable[str]) -> Query:
    """Return a condition on chunks, and states of files, of some documents."""
    return any_of(schema.SOURCE_DOCUMENT, [schema.keyword(name) for name in source_documents])


def any_of(field: str, terms: Sequence[str]) -> Query:
    """Return a condition that a field has one of some terms, any number of them."""
    parts: list[Query] = [
        {"terms": {field: list(terms[begin : begin + MOST_TERMS])}}
        for begin in range(0, max(len(terms), 1), MOST_TERMS)
    ]
    return parts[0] if len(parts) == 1 else {"bool": {"should": parts}}


def visible(state: State, *conditions: Query) -> Query:
    """Return a query for what a search may see that meets some conditions, without scores."""
    return {"bool": {"filter": list(conditions), "must_not": hidden(state)}}
