"""Terms of the index with a cache, and the step that removes terms that no chunk has."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from org.apache.lucene.index import LeafReaderContext, Term, TermStates
from org.apache.lucene.search import IndexSearcher, TermQuery

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
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
from shared.storage.commits import cached_per_commit

_MOST_TERMS: Final = 10_000
"""Maximum number of cached terms, with some hundred bytes each."""

_LONGEST: Final = 200
"""Maximum length of a cached term, in characters."""


class IndexTerms:
    """Cache of the terms and fields of a commit; threads may share it.

    Args:
        reader: the reader of the searchers that will run the queries.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._searcher = IndexSearcher(reader)
        self._terms: dict[tuple[str, str], tuple[Any | None, int]] = {}
        self._chunks: dict[str, int] = {}
        self._dictionaries: dict[str, int] = {}

    def query(self, field: str, text: str) -> Any | None:
        """Return a query for a term with its looked-up states; None if no chunk has it."""
        return self._known(field, text)[0]

    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""
        return self._known(field, text)[1]

    def _known(self, field: str, text: str) -> tuple[Any | None, int]:
        key = (field, text)
        try:
            return self._terms[key]
        except KeyError:
            if not self.chunks(field):
                return None, 0
            term = Term(field, text)
            states = TermStates.build(self._searcher, term, True)
            frequency = states.docFreq()
            known = (TermQuery(term, states) if frequency else None, frequency)
            if len(self._terms) >= _MOST_TERMS:
                self._terms.clear()
            if len(text) <= _LONGEST:
                self._terms[key] = known
            return known

    def chunks(self, field: str) -> int:
        """Return the number of chunks that have a field."""
        if field not in self._chunks:
            self._chunks[field] = self._reader.getDocCount(field)
        return self._chunks[field]

    @cached_property
    def total(self) -> int:
        """Number of chunks, with deleted ones that are not merged yet."""
        return int(self._reader.maxDoc())

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

    def dictionary(self, field: str) -> int:
        """Return the number of terms of a field, counted in each segment."""
        if field not in self._dictionaries:
            segments = (LeafReaderContext.cast_(leaf) for leaf in self._reader.leaves())
            terms = (segment.reader().terms(field) for segment in segments)
            self._dictionaries[field] = sum(max(0, of.size()) for of in terms if of is not None)
        return self._dictionaries[field]


@cached_per_commit
def terms_of(reader: Any) -> IndexTerms:
    """Return the terms of an index, with a cache that all queries on the same commit share."""
    return IndexTerms(reader)


def present(node: Node, terms: IndexTerms) -> Node:
    """Return a tree without the terms that no chunk has, which matches the same chunks faster.

    Args:
        node: a tree whose leaves are on fields.
        terms: the terms of the index.
    """
    match node:
        case Terms(field, texts):
            found = tuple(text for text in texts if terms.query(field, text))
            return Terms(field, found) if found else Nothing()
        case TermPhrase(field, positions):
            has_all = all(any(terms.query(field, text) for text in texts) for texts in positions)
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
            return any(terms.query(field, text) for text in texts)
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
