"""Terms of an index as queries need them, and the step that removes terms that no chunk has."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar, cast

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
from shared.query.steps.metadata_values import ValueWords
from shared.query.tree import (
    Best,
    Clause,
    Clauses,
    Everything,
    Node,
    Nothing,
    TermPhrase,
    Terms,
    Weighted,
    best_of,
    weighted,
)

Result = TypeVar("Result")


class IndexTerms(ABC):
    """Terms and fields of a commit; threads may share it.

    The steps of a query ask nothing else of an index, whichever kind it is. Numbers of chunks
    include deleted ones that are not merged yet.
    """

    def __init__(self) -> None:
        self._results: dict[Callable[[Any], Any], Any] = {}

    @abstractmethod
    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""

    @abstractmethod
    def chunks(self, field: str) -> int:
        """Return the number of chunks that have a field."""

    @abstractmethod
    def dictionary(self, field: str) -> int:
        """Return the approximate number of terms of a field."""

    @property
    @abstractmethod
    def total(self) -> int:
        """Number of chunks."""

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]:
        """All fields of the index, by their names in `shared.model.schema`."""

    @abstractmethod
    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency."""

    @abstractmethod
    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        """Return the terms that differ from a text by a few letters, with their frequencies.

        Args:
            field: the field.
            text: the text.
            edits: the maximum distance of Damerau and Levenshtein, 1 or 2.
            beginning: the number of letters at the beginning that must match.
        """

    @abstractmethod
    def spelled_as(self, field: str, expression: str) -> Mapping[str, int]:
        """Return the terms that a regular expression matches, with their frequencies."""

    @abstractmethod
    def more_frequent(self, text: str, above: int) -> str | None:
        """Return the most similar word of the content one edit away in more chunks than a number.

        The first letter is the same. None if there is no such word.
        """

    @abstractmethod
    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""

    def once(self, work: "Callable[[IndexTerms], Result]") -> Result:
        """Return the result of a function of these terms, which runs once for each commit."""
        if work not in self._results:
            self._results[work] = work(self)
        return cast("Result", self._results[work])

    def rarity_of(self, frequency: int) -> float:
        """Return the inverse document frequency of a term that some chunks have."""
        return math.log(1 + (self.total - frequency + 0.5) / (frequency + 0.5))

    @cached_property
    def languages(self) -> Mapping[str, float]:
        """Languages of the index, each with the share of its chunks, from 0 to 1."""
        counts = {
            code: self.frequency(schema.LANGUAGES, code) for code in (*LANGUAGES, UNDETERMINED)
        }
        return {code: min(1.0, count / self.total) for code, count in counts.items() if count}


def present(node: Node, terms: IndexTerms) -> Node:
    """Return a tree without the terms that no chunk has, which matches the same chunks faster.

    Args:
        node: a tree whose leaves are on fields.
        terms: the terms of the index.
    """
    match node:
        case Terms(field, texts):
            found = tuple(text for text in texts if terms.frequency(field, text))
            return Terms(field, found) if found else Nothing()
        case TermPhrase(field, positions):
            has_all = all(
                any(terms.frequency(field, text) for text in texts) for texts in positions
            )
            return node if has_all else Nothing()
        case Weighted():
            return weighted(present(node.node, terms), node.weight)
        case Best():
            return best_of(*(present(part, terms) for part in node.nodes))
        case Clauses():
            return _clauses(node, terms)
    return node


def is_present(node: Node, terms: IndexTerms) -> bool:
    """Check whether any chunk may match a tree, that is, `present` leaves something of it.

    Args:
        node: a tree whose leaves are on fields.
        terms: the terms of the index.
    """
    match node:
        case Terms(field, texts):
            return any(terms.frequency(field, text) for text in texts)
        case Weighted():
            return is_present(node.node, terms)
        case Best():
            return any(is_present(part, terms) for part in node.nodes)
        case Clauses((_, *_)) if all(clause.occur == "should" for clause in node.clauses):
            return any(is_present(clause.node, terms) for clause in node.clauses)
    return not isinstance(present(node, terms), Nothing)


def _clauses(node: Clauses, terms: IndexTerms) -> Node:
    parts = [Clause(present(clause.node, terms), clause.occur) for clause in node.clauses]
    found = [part for part in parts if not isinstance(part.node, Nothing)]
    if len(found) < len(parts):
        required = [part for part in parts if part.occur == "must"]
        lacks_required = any(isinstance(part.node, Nothing) for part in required)
        was_optional = not required and any(part.occur == "should" for part in parts)
        has_optional = any(part.occur == "should" for part in found)
        if lacks_required or (was_optional and not has_optional):
            return Nothing()
    if [part.occur for part in found] == ["should"]:
        return found[0].node
    # Only terms that no chunk has were excluded.
    return Clauses(tuple(found)) if found or not parts else Everything()


def rarity(node: Node, terms: IndexTerms) -> float:
    """Return the inverse document frequency of a part, as in Lucene's ``BM25Similarity``.

    Args:
        node: a tree whose leaves are on fields; of alternatives the most common one counts.
        terms: the terms of the index.

    Returns:
        The greatest value possible if the frequency is not known, or no chunk has the part.
    """
    match node:
        case Terms(field, texts):
            found = terms.rarity_of(max(terms.frequency(field, text) for text in texts))
        case TermPhrase(field, positions):
            found = sum(rarity(Terms(field, texts), terms) for texts in positions)
        case Weighted():
            found = rarity(node.node, terms)
        case Best(nodes):
            found = min(rarity(part, terms) for part in nodes)
        case Clauses(clauses):
            roles = [(clause.node, clause.occur) for clause in clauses]
            required, optional = (
                [rarity(part, terms) for part, occur in roles if occur == wanted]
                for wanted in ("must", "should")
            )
            found = sum(required) if required else min(optional, default=terms.rarity_of(0))
        case _:
            found = terms.rarity_of(0)
    return found
