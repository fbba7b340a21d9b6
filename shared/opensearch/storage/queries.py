"""Conditions in the query language of the cluster that every request needs."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from shared.model import schema
from shared.opensearch.storage import layout
from shared.opensearch.storage.state import State

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


def hidden(state: State) -> list[Query]:
    """Return conditions on what a search must not see.

    Args:
        state: the state of the index, as the search has read it.
    """
    found: list[Query] = [{"range": {layout.BATCH: {"gte": state.next}}}]
    if state.hidden_batches:
        found.append({"terms": {layout.BATCH: state.hidden_batches}})
    for batch, replaced in state.replaced.items():
        earlier = {"range": {layout.BATCH: {"lt": batch}}}
        found.append({"bool": {"filter": [of_terms(replaced.documents), earlier]}})
    return found


def of_documents(source_documents: Iterable[str]) -> Query:
    """Return a condition on chunks, and states of files, of some documents.

    Raises:
        InvalidTextError: an id is not valid Unicode.
    """
    return of_terms([schema.keyword(name) for name in source_documents])


def of_terms(terms: Sequence[str]) -> Query:
    """Return a condition on chunks, and states of files, of the documents with some ids.

    Args:
        terms: the ids as terms of the index, any number of them.
    """
    parts: list[Query] = [
        {"terms": {schema.SOURCE_DOCUMENT: list(terms[begin : begin + MOST_TERMS])}}
        for begin in range(0, max(len(terms), 1), MOST_TERMS)
    ]
    return parts[0] if len(parts) == 1 else {"bool": {"should": parts}}


def visible(state: State, *conditions: Query) -> Query:
    """Return a query for what a search may see that meets some conditions, without scores."""
    return {"bool": {"filter": list(conditions), "must_not": hidden(state)}}
