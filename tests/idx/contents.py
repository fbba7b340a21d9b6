"""All that an index says, to compare one with another."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from shared import Hit, Searcher


def chunks(index: Path) -> list[Hit]:
    """All chunks in the order of their ids."""
    with Searcher(index) as searcher:
        listed = searcher.documents().documents
        # Sorted by document and number, as all chunks are that no query scores.
        found = searcher.search("", limit=20_000).results
    counts = {name: len([*of_document]) for name, of_document in groupby(found, _document)}
    assert counts == {document.source_document: document.chunk_count for document in listed}
    return found


def _document(hit: Hit) -> str:
    return hit.source_document


def contents(index: Path) -> dict[str, list[Any]]:
    """All that an index says, but for the time when it was made."""
    with Searcher(index) as searcher:
        documents = searcher.documents().documents
        folders, states = searcher.files()
        failures = searcher.failures().failures
    return {
        "chunks": chunks(index),
        "documents": [
            replace(document, metadata={**document.metadata, "indexed": ""})
            for document in documents
        ],
        "folders": [folders],
        "states": sorted((name, state.size, state.content_hash) for name, state in states.items()),
        "failures": [replace(failure, tried="") for failure in failures],
    }
