"""What is asked to learn how far confidence can be trusted, with the evidence of each hit."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from benchmarks.calibration import Asked
from benchmarks.collection import Collection
from benchmarks.misspelled import misspelled
from benchmarks.off_topic import OFF_TOPIC
from benchmarks.suite import library
from idx.evaluation.collection import read_documents, read_judgements, read_queries
from shared import Searcher
from shared.query.pipeline import ParsedQuery
from shared.search.confidence import evidence
from tests.relevance.queries import read as read_suite

HITS: Final = 10
"""Hits of each query."""

EVERY: Final = 10
"""Of so many documents one is looked for by its title, and another by some of its words."""

WORDS: Final = 12
"""Words in the middle of a text by which it is looked for."""


@dataclass(frozen=True, slots=True)
class Asking:
    """All that was asked of the collection.

    Attributes:
        queries: its own.
        misspelled: the same with two words of each misspelled.
        off_topic: questions on other topics, by kind.
        known_items: words of one document, which is to be found; only the first hit is looked at.
    """

    queries: Sequence[Asked]
    misspelled: Sequence[Asked]
    off_topic: Mapping[str, Sequence[Asked]]
    known_items: Mapping[str, Sequence[Asked]]

    @property
    def all_off_topic(self) -> list[Asked]:
        """The questions on other topics of all kinds."""
        return [asked for kind in self.off_topic.values() for asked in kind]

    @property
    def all_known_items(self) -> list[Asked]:
        """The known items of all kinds."""
        return [asked for kind in self.known_items.values() for asked in kind]


Ask = Callable[..., Asked]
"""Asks a text; which of its hits are relevant is told by their document; any further options."""


@contextmanager
def asked_for_evidence(index_path: Path) -> Iterator[Ask]:
    """What asks an index for hits, and tells the evidence of each in place of its confidence."""
    told: list[tuple[float, float]] = []

    def tell(searcher: Any, query: ParsedQuery, hits: Sequence[Any]) -> list[float]:
        told[:] = evidence(searcher, query, hits) if query.parts else [(1.0, 1.0)] * len(hits)
        return [1.0] * len(hits)

    def ask(
        text: str, is_relevant: Callable[[str], bool], hits: int = HITS, **options: Any
    ) -> Asked:
        told.clear()
        found = searcher.search(text, limit=hits, content="none", **options).results
        documents = [hit.source_document for hit in found]
        # The evidence of the first hits, which decide on low confidence, precedes that of all.
        return Asked(text, told[len(told) - len(found) :], list(map(is_relevant, documents)))

    with (
        Searcher(index_path, program="batch") as searcher,
        patch("shared.search.answer.confidences", new=tell),
    ):
        yield ask


def asked_of_collection(collection: Collection, index_path: Path) -> Asking:
    """Ask the collection its own queries, questions on other topics, and for known items."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    documents = list(read_documents(collection.documents))
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    with asked_for_evidence(index_path) as ask:
        return Asking(
            queries=[
                ask(query.text, judged(judgements.relevance, query.id), syntax="plain")
                for query in queries
            ],
            off_topic={
                kind: [ask(question, never) for question in questions]
                for kind, questions in OFF_TOPIC.items()
            },
            known_items={
                "titles": [
                    ask(document.title, document.id.__eq__, hits=1, syntax="plain")
                    for document in documents[::EVERY]
                ],
                "twelve words of a text, in a row": [
                    ask(in_the_middle(document.content), document.id.__eq__, 1, syntax="plain")
                    for document in documents[EVERY // 2 :: EVERY]
                ],
            },
            misspelled=[
                ask(
                    misspelled(query.text, 2, generator),
                    judged(judgements.relevance, query.id),
                    syntax="plain",
                )
                for query in queries
            ],
        )


def in_the_middle(text: str) -> str:
    """Some words of a text, in a row."""
    words = text.split()
    begin = (len(words) - WORDS) // 2
    return " ".join(words[max(0, begin) :][:WORDS])


def judged(relevance: dict[str, dict[str, int]], query: str) -> Callable[[str], bool]:
    """Whether a document answers a query, by the judgements."""
    return lambda document: relevance[query].get(document, 0) > 0


def never(_: str) -> bool:
    """No document answers."""
    return False


def asked_of_library() -> Iterator[tuple[str, list[Asked]]]:
    """Ask the documents of tests/relevance their own queries."""
    suite = read_suite()
    answered = [
        query
        for query in suite
        if (query.first or query.top) and not query.filters and query.category != "off-topic"
    ]
    with library() as path, asked_for_evidence(path) as ask:
        yield (
            "the library: its queries",
            [
                ask(
                    query.query,
                    {query.first, *query.top}.__contains__,
                    operator=query.operator or "or",
                    syntax=query.syntax or "auto",
                )
                for query in answered
            ],
        )
        yield (
            "the library: its questions on other topics",
            [ask(query.query, never) for query in suite if query.category == "off-topic"],
        )
