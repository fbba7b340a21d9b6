"""Parts of a query, such as its words, as they are found in the index."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.analysis.analyzers import tokens
from shared.analysis.identifiers import names_in
from shared.model import schema
from shared.model.weights import Weights
from shared.query.index_terms import IndexTerms, present, rarity
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Node,
    Nothing,
    Terms,
    Weighted,
    Word,
    leaves,
    weighted,
)

_MANY_WORDS: Final = 5
"""Number of words from which on `Weights.exact` applies as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query.

    Attributes:
        asked: the part as parsed.
        found: the part on fields, without terms that no chunk has; `Nothing` if none is left.
        rarity: the inverse document frequency of its most common form.
        alike: the similarity of the word that is searched to the one that was typed, from 0 to 1.
        is_word: true if it is a word without signs that is searched as it was typed.
    """

    asked: Node
    found: Node
    rarity: float
    alike: float
    is_word: bool


def clauses_of(tree: Node) -> list[Clause]:
    """Return the clauses of a query: those of the whole tree, or the tree as the only one."""
    match tree:
        case Clauses(clauses):
            return list(clauses)
        case Nothing():
            return []
    return [Clause(tree)]


def tree_of(clauses: Iterable[Clause]) -> Node:
    """Return the tree of some clauses; those that became nothing are not conditions."""
    left = tuple(clause for clause in clauses if not isinstance(clause.node, Nothing))
    if len(left) == 1 and left[0].occur == "should":
        return left[0].node
    return Clauses(left) if left else Nothing()


def parts_of(
    asked: Sequence[Clause], words: Sequence[Clause], on_fields: Sequence[Clause], terms: IndexTerms
) -> list[Part]:
    """Return the parts of a query that a hit should have.

    Args:
        asked: the clauses as parsed.
        words: the same clauses before their words are put on fields.
        on_fields: the same clauses after that.
        terms: the terms of the index.
    """
    parts = []
    for clause, word, whole in zip(asked, words, on_fields, strict=True):
        is_condition = clause.occur in {"should", "must"} and not isinstance(
            clause.node, Everything
        )
        # Without a letter, it is none.
        if is_condition and not isinstance(whole.node, Nothing):
            found = present(whole.node, terms)
            alike = (leaf.alike for leaf in leaves(word.node) if isinstance(leaf, Word))
            parts.append(
                Part(
                    _unweighted(clause.node),
                    found,
                    rarity(found, terms),
                    max(alike, default=1.0),
                    is_word=_is_word(word) and not names_in([str(_unweighted(word.node))]),
                )
            )
    return parts


def _unweighted(node: Node) -> Node:
    return node.node if isinstance(node, Weighted) else node


def exact_words(clauses: Sequence[Clause], weights: Weights) -> Iterator[Node]:
    """Yield the words of a query as they were typed, on the content.

    Args:
        clauses: the clauses before their words are put on fields.
        weights: the weights of the search.
    """
    words = [clause.node for clause in clauses if _is_of_words(clause)]
    # The fewer words there are, the more each may be meant as it was typed.
    weight = weights.exact * max(1.0, _MANY_WORDS / max(1, len(words)))
    for node in words if weight else ():
        factor = weight * (node.weight if isinstance(node, Weighted) else 1.0)
        # Similar words stand for one that was misspelled.
        for word in leaves(node):
            match tokens(schema.CONTENT, word.text if isinstance(word, Word) else ""):
                case ((term,),):
                    alike = word.alike if isinstance(word, Word) else 1.0
                    yield weighted(Terms(schema.CONTENT, (term,)), factor * alike)


def _is_of_words(clause: Clause) -> bool:
    return clause.occur != "must_not" and all(
        isinstance(leaf, Word) and leaf.field is None for leaf in leaves(clause.node)
    )


def _is_word(clause: Clause) -> bool:
    word = _unweighted(clause.node)
    return clause.occur != "must_not" and isinstance(word, Word) and word.field is None
