"""Comparison of answers from an index on a cluster with those from a folder."""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.relevance import Collection
from shared import Document, Index, Searcher
from shared.model.search_results import Hit, SearchAnswer, SimilarDocuments

SCORE = 1e-4


def differences(
    folder: Searcher, cluster: Searcher, queries: Iterable[dict[str, Any]]
) -> list[tuple[Any, ...]]:
    """Return what is different in the answers to some searches, each the fields of a request."""
    found = []
    for fields in queries:
        expected, got = folder.search(**fields), cluster.search(**fields)
        different = difference(expected, got)
        if different:
            found.append((fields, different, shown(expected.results), shown(got.results)))
    return found


def difference(expected: SearchAnswer, got: SearchAnswer) -> str:  # noqa: PLR0911 - a reason each
    """Return the first difference between two answers; hits with equal scores may be swapped."""
    if expected.totalHits != got.totalHits:
        return f"{expected.totalHits} and {got.totalHits} hits"
    pairs = list(zip(expected.results, got.results, strict=True))
    if any(abs(one.score - other.score) > SCORE for one, other in pairs):
        return "scores"
    # Whether the last hits of a page are tied with those of the next one is not known.
    end = None if expected.totalHits == len(pairs) else -1
    if grouped(expected.results)[:end] != grouped(got.results)[:end]:
        return "order"
    named = {hit.id: hit for hit in expected.results}
    both = [(named[hit.id], hit) for hit in got.results if hit.id in named]
    if any(one.confidence != pytest.approx(other.confidence, abs=2e-3) for one, other in both):
        return "confidence"
    if any(_of_document(one) != _of_document(other) for one, other in both):
        return "other chunks of a document"
    corrected = ("suggestion", "suggestion_applied", "note")
    for name in (*corrected, "low_confidence", "total_documents", "facets", "partial"):
        if getattr(expected, name) != getattr(got, name):
            return f"{name}: {getattr(expected, name)} and {getattr(got, name)}"
    return ""


def _of_document(hit: Hit) -> tuple[list[str], int | None, SimilarDocuments | None]:
    """Return what is shown of the document of a hit, and of others with its text."""
    return [other.id for other in hit.others or ()], hit.more, hit.similar_documents


def grouped(hits: Sequence[Hit]) -> list[set[str]]:
    """Return the ids of hits, together where their scores are the same."""
    groups: list[tuple[float, set[str]]] = []
    for hit in hits:
        if groups and abs(groups[-1][0] - hit.score) <= SCORE:
            groups[-1][1].add(hit.id)
        else:
            groups.append((hit.score, {hit.id}))
    return [ids for _, ids in groups]


def shown(hits: Sequence[Hit]) -> list[tuple[str, float, float]]:
    return [(hit.id, round(hit.score, 4), hit.confidence) for hit in hits[:6]]


def documents_of(collection: Collection) -> list[Document]:
    """Return the documents of a collection."""
    lines = collection.documents.read_text("utf-8").splitlines()
    entries = ({key.lower(): value for key, value in json.loads(line).items()} for line in lines)
    return [
        Document(str(of["id"]), of.get("title") or str(of["id"]), of["content"])
        for of in entries
        if of["content"].strip()
    ]


def written(path: Path | str, documents: Sequence[Document]) -> float:
    """Write an index, and return the number of chunks per second."""
    begun = time.perf_counter()
    with Index(path, create=True) as index:
        chunks = sum(count for _, count in index.add_all(documents))
    return chunks / (time.perf_counter() - begun)
