"""Terms and scores of Lucene's queries, for the explanation of a search."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from java.util import HashSet
from org.apache.lucene.index import Term
from org.apache.lucene.search import Explanation, QueryVisitor

from shared.model.search_results import ExplainedTerm
from shared.query.compiler import Compiler
from shared.query.tree import Node
from shared.search.explanation import Explainer
from shared.search.lucene.selection import LuceneSelection
from shared.search.meaning.ranked_hit import RankedHit


class LuceneExplanation:
    """How a score is made, read from Lucene's explanation as far as somebody asks.

    Args:
        explanation: Lucene's.
    """

    def __init__(self, explanation: Any) -> None:
        self._explanation = explanation

    @property
    def description(self) -> str:
        """A sentence on the rule."""
        return str(self._explanation.getDescription())

    @cached_property
    def score(self) -> float:
        """The value; 0 of what does not match."""
        found = self._explanation
        return float(found.getValue().doubleValue()) if found.isMatch() else 0.0

    @cached_property
    def details(self) -> "list[LuceneExplanation]":
        """The explanations of the values that the rule takes."""
        details = self._explanation.getDetails()
        return [LuceneExplanation(Explanation.cast_(part)) for part in details]


class LuceneExplainer(Explainer):
    """Lucene, as it explains the scores of a selection.

    Args:
        selection: the selection.
    """

    def __init__(self, selection: LuceneSelection) -> None:
        self._selection = selection

    def terms(self, tree: Node) -> list[ExplainedTerm]:
        """Return the terms of a tree that some chunk has, those of its patterns, too."""
        found = HashSet()
        rewritten = self._selection.searcher.rewrite(Compiler().query(tree))
        rewritten.visit(QueryVisitor.termCollector(found))
        terms = ((term.field(), term.text()) for term in map(Term.cast_, found))
        return [
            ExplainedTerm(field, text, frequency)
            for field, text in terms
            if (frequency := self._selection.terms.frequency(field, text))
        ]

    def scores(self, hits: Sequence[tuple[RankedHit, Node]]) -> list[LuceneExplanation]:
        """Return how the score of each hit by a tree is made."""
        queries = {self._selection.query.tree: self._selection.ranked}
        found = []
        for hit, tree in hits:
            if tree not in queries:
                queries[tree] = Compiler().query(tree)
            explanation = self._selection.searcher.explain(queries[tree], hit.doc)
            found.append(LuceneExplanation(explanation))
        return found
