"""The step that leaves out what the index does not have: terms of no chunk."""

from typing import Any, Final

from org.apache.lucene.index import Term, TermStates

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

_MOST_TERMS: Final = 10_000
"""Terms that are remembered, with some hundred bytes each."""


class IndexTerms:
    """Where terms stand in an index: each is looked up once. Threads may share it.

    Args:
        searcher: the Lucene searcher that will run the query.
    """

    def __init__(self, searcher: Any) -> None:
        self._searcher = searcher
        self._states: dict[tuple[str, str], Any] = {}

    def states(self, field: str, text: str) -> Any:
        """What Lucene knows of a term (``TermStates``), which a ``TermQuery`` can begin with."""
        key = (field, text)
        states = self._states.get(key)
        if states is None:
            states = TermStates.build(self._searcher, Term(field, text), True)
            if len(self._states) >= _MOST_TERMS:
                self._states.clear()
            self._states[key] = states
        return states

    def are_of(self, searcher: Any) -> bool:
        """Whether these are the terms of what a Lucene searcher shows."""
        return bool(self._searcher.getIndexReader().equals(searcher.getIndexReader()))

    def has(self, field: str, text: str) -> bool:
        """Whether some chunk has a term."""
        return bool(self.states(field, text).docFreq())


_newest: IndexTerms | None = None


def terms_of(searcher: Any) -> IndexTerms:
    """The terms of an index, of which those of earlier queries on the same commit are known."""
    global _newest  # noqa: PLW0603 - one commit at a time is the newest
    known = _newest
    if known is None or not known.are_of(searcher):
        known = _newest = IndexTerms(searcher)
    return known


def present(node: Node, terms: IndexTerms) -> Node:
    """A tree without the terms that no chunk has, which finds the same chunks faster.

    Args:
        node: a tree whose leaves are on fields.
        terms: those of the index.
    """
    match node:
        case Terms(field, texts):
            found = tuple(text for text in texts if terms.has(field, text))
            return Terms(field, found) if found else Nothing()
        case TermPhrase(field, positions):
            has_all = all(any(terms.has(field, text) for text in texts) for texts in positions)
            return node if has_all else Nothing()
        case Weighted():
            return weighted(present(node.node, terms), node.weight)
        case Best():
            return best_of(*(present(part, terms) for part in node.nodes))
        case Clauses():
            return _clauses(node, terms)
    return node


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
    # Only what nothing has was excluded.
    return Clauses(tuple(found)) if found or not parts else Everything()
