"""Which of the hits should decide whether an answer is one of low confidence.

Asks each test collection its own queries and questions on other topics, and counts how many answers
would be of low confidence if the first hit, the first three, or any of ten decided.
"""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.calibration import Asked
from benchmarks.collection import Collection
from benchmarks.confidence_questions import HITS, asked_for_evidence, judged, never
from benchmarks.off_topic import OFF_TOPIC
from idx.evaluation.collection.judgements import read_judgements
from idx.evaluation.collection.queries import read_queries
from idx.evaluation.experiment import temporary_index
from shared.search.confidence import FIRST_HITS, LOW, probability

COLLECTIONS: Final = ("cranfield", "cacm", "cisi")
"""Folders beside each other; those that are missing are left out."""

DECIDING: Final = (1, 2, FIRST_HITS, 5, HITS)


def is_low(asked: Asked, first_hits: int = FIRST_HITS) -> bool:
    """Whether an answer is of low confidence if so many of its first hits decide."""
    return best_confidence(asked, first_hits) < LOW


def best_confidence(asked: Asked, first_hits: int = FIRST_HITS) -> float:
    """The greatest confidence of the first hits of a query; 0 if there are none."""
    return max(map(probability, asked.evidence[:first_hits]), default=0.0)


def first_hits_table(folder: Path) -> Iterator[str]:
    """How many answers of each collection are of low confidence, by the hits that decide.

    Args:
        folder: where the collections are.
    """
    numbers = " | ".join(f"first {number}" if number > 1 else "first" for number in DECIDING)
    yield f"| asked | questions | {numbers} |"
    yield f"|---|---:|{'---:|' * len(DECIDING)}"
    for name in COLLECTIONS:
        collection = Collection(folder / name)
        if not collection.documents.is_file():
            continue
        queries, off_topic = _asked(collection)
        answered = [asked for asked in queries if any(asked.relevant[:FIRST_HITS])]
        yield _row(f"{name}: queries with an answer among the first three", answered)
        others = [asked for asked in queries if not any(asked.relevant[:FIRST_HITS])]
        yield _row(f"{name}: its other queries", others)
        yield _row(f"{name}: questions on other topics", off_topic)


def _asked(collection: Collection) -> tuple[list[Asked], list[Asked]]:
    """The queries of a collection, and the questions that it does not answer."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    with (
        temporary_index(collection.documents) as (index_path, _),
        asked_for_evidence(index_path) as ask,
    ):
        return (
            [
                ask(query.text, judged(judgements.relevance, query.id), syntax="plain")
                for query in queries
            ],
            [ask(question, never) for questions in OFF_TOPIC.values() for question in questions],
        )


def _row(name: str, asked: Sequence[Asked]) -> str:
    shares = (statistics.mean(is_low(one, number) for one in asked) for number in DECIDING)
    return f"| {name} | {len(asked)} | {' | '.join(f'{share:.0%}' for share in shares)} |"
